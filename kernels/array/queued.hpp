#pragma once
// Copies that do not wait: host memory that a GPU reads and writes by itself (pinned), copies queued behind the
// device's other work, and marks in that work which the host waits for. On the CPU copies are done at once and marks
// are times.

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "kernels/array/array.hpp"

namespace supple {

// Zeroed host memory for copies to and from a device. Throws CapabilityError where there is none.
void* allocate_pinned(const Device& device, std::size_t bytes);
void release_pinned(const Device& device, void* data) noexcept;
// Comes after earlier work of the device and before later; the pinned side must be left alone until a later mark is
// reached.
void copy_queued(const Device& device, void* target, const void* source, std::size_t bytes);

template <class T>
class PinnedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedArray() : PinnedArray(cpu(), 0) {}
  PinnedArray(const Device& device, std::size_t size)
      : device_(device), size_(size), data_(static_cast<T*>(allocate_pinned(device, size * sizeof(T))), {device}) {}

  std::size_t size() const { return size_; }
  std::span<T> span() { return {data_.get(), size_}; }
  std::span<const T> span() const { return {data_.get(), size_}; }
  T* data() { return data_.get(); }
  T& operator[](std::size_t k) { return data_[k]; }
  const T& operator[](std::size_t k) const { return data_[k]; }

  void queue_to(Array<T>& target) const {
    SUPPLE_EXPECT(target.size() >= size_ && target.device() == device_);
    copy_queued(device_, target.data(), data_.get(), size_ * sizeof(T));
  }
  void queue_from(const Array<T>& source) {
    SUPPLE_EXPECT(source.size() >= size_ && source.device() == device_);
    copy_queued(device_, data_.get(), source.data(), size_ * sizeof(T));
  }

 private:
  struct Release {
    Device device;
    void operator()(T* data) const noexcept { release_pinned(device, data); }
  };
  Device device_;
  std::size_t size_;
  std::unique_ptr<T[], Release> data_;
};

// A place in a device's work.
class Mark {
 public:
  explicit Mark(const Device& device);
  // Here, behind everything queued so far.
  void set();
  // Returns when the device's work has come here. Throws RunError if it failed.
  void wait() const;
  // Both must be reached.
  double seconds_since(const Mark& earlier) const;

 private:
  Device device_;
  std::chrono::steady_clock::time_point time_;
  std::shared_ptr<void> event_;
};

}  // namespace supple
