#pragma once
// Mirrored<T>: an array on a device and what the host has of it. On a CPU both are the same memory, and copies do
// nothing. On a GPU the host's side is pinned memory that is made when it is first asked for; copies are queued behind
// the device's other work (queued.hpp).

#include <optional>
#include <span>
#include <utility>

#include "kernels/array/queued.hpp"

namespace supple {

template <class T>
class Mirrored {
 public:
  Mirrored() = default;
  // Zeroed on both sides.
  Mirrored(const Device& device, std::size_t size) : array_(device, size) {}

  std::size_t size() const { return array_.size(); }
  // On the device.
  T* data() { return array_.data(); }
  const T* data() const { return array_.data(); }
  std::span<T> span() { return {array_.data(), array_.size()}; }

  // On the host.
  std::span<T> host() {
    if (array_.device().kind == Device::Kind::cpu) return span();
    if (!host_) host_.emplace(array_.device(), array_.size());
    return host_->span();
  }
  // Queues the copy to the host: it is there when a later Mark has been reached.
  void fetch() {
    if (array_.device().kind == Device::Kind::cpu) return;
    (void)host();
    host_->queue_from(array_);
  }
  // Queues the copy to the device. The host's side must be left alone until a later Mark has been reached.
  void send() {
    if (array_.device().kind == Device::Kind::cpu) return;
    (void)host();
    host_->queue_to(array_);
  }

 private:
  Array<T> array_;
  std::optional<PinnedArray<T>> host_;
};

}  // namespace supple
