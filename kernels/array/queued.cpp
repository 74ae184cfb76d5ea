#include "kernels/array/queued.hpp"

#include "kernels/base/error.hpp"

namespace supple {

#ifdef SUPPLE_HAVE_CUDA
// kernels/cuda/memory.cu
void* allocate_pinned_cuda(int device, std::size_t bytes);
void release_pinned_cuda(int device, void* data) noexcept;
void copy_queued_cuda(int device, void* target, const void* source, std::size_t bytes);
std::shared_ptr<void> make_event_cuda(int device);
void record_event_cuda(int device, void* event);
void wait_event_cuda(int device, void* event);
double event_seconds_cuda(int device, void* from, void* to);
#else
namespace {
[[noreturn]] void* allocate_pinned_cuda(int, std::size_t) {
  throw CapabilityError("no CUDA code in this build", "configure with -DSUPPLE_CUDA=ON, or use --device cpu");
}
[[noreturn]] std::shared_ptr<void> make_event_cuda(int) {
  throw CapabilityError("no CUDA code in this build", "configure with -DSUPPLE_CUDA=ON, or use --device cpu");
}
// Without memory of a GPU nothing can ask for these.
void release_pinned_cuda(int, void*) noexcept {}
void copy_queued_cuda(int, void*, const void*, std::size_t) {}
void record_event_cuda(int, void*) {}
void wait_event_cuda(int, void*) {}
double event_seconds_cuda(int, void*, void*) {
  return 0;
}
}  // namespace
#endif

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
