#include "kernels/array/queued.hpp"

#include "kernels/array/gpu.hpp"

namespace supple {

void* allocate_pinned(const Device& device, std::size_t bytes) {
  return device.kind == Device::Kind::cpu ? allocate_bytes(device, bytes) : allocate_pinned_cuda(device.index, bytes);
}

void release_pinned(const Device& device, void* data) noexcept {
  if (data == nullptr) return;
  if (device.kind == Device::Kind::cpu)
    release_bytes(device, data);
  else
    release_pinned_cuda(device.index, data);
}

void copy_queued(const Device& device, void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (device.kind == Device::Kind::cpu)
    copy_bytes(device, target, device, source, bytes);
  else
    copy_queued_cuda(device.index, target, source, bytes);
}

Mark::Mark(const Device& device) : device_(device) {
  if (device.kind == Device::Kind::cuda) event_ = make_event_cuda(device.index);
}

void Mark::set() {
  if (event_)
    record_event_cuda(device_.index, event_.get());
  else
    time_ = std::chrono::steady_clock::now();
}

void Mark::wait() const {
  if (event_) wait_event_cuda(device_.index, event_.get());
}

double Mark::seconds_since(const Mark& earlier) const {
  return event_ ? event_seconds_cuda(device_.index, earlier.event_.get(), event_.get())
                : std::chrono::duration<double>(time_ - earlier.time_).count();
}

}  // namespace supple
