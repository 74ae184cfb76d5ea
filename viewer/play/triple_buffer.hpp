#pragma once
// The newest value from one thread to another, without either ever waiting: three slots, of which the writer owns one,
// the reader one, and the third holds the newest value. Slots are assigned, not moved, so that what they have allocated
// is used again.

#include <array>
#include <atomic>

namespace supple::view {

template <class T>
class TripleBuffer {
 public:
  explicit TripleBuffer(const T& value = {}) : slots_{value, value, value} {}

  // Writer: puts a value in the newest slot.
  void write(const T& value) {
    slots_[writing_] = value;
    writing_ = shared_.exchange(writing_ | fresh, std::memory_order_acq_rel) & index;
  }
  // Reader: takes the newest value if there is one since the last call; false: value() is still the newest.
  bool update() {
    if ((shared_.load(std::memory_order_relaxed) & fresh) == 0) return false;
    reading_ = shared_.exchange(reading_, std::memory_order_acq_rel) & index;
    return true;
  }
  const T& value() const { return slots_[reading_]; }

 private:
  static constexpr unsigned fresh = 4, index = 3;
  std::array<T, 3> slots_;
  unsigned writing_ = 0, reading_ = 1;
  std::atomic<unsigned> shared_{2};
};

}  // namespace supple::view
