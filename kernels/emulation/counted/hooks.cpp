// Loads and stores of device code, which is compiled for the thread sanitizer: its calls come here, and are counted
// (kernels/emulation/traffic.hpp). The sanitizer itself is not linked.

#include <cuda_runtime.h>

#include "kernels/emulation/emulated_device.hpp"

// Of the library that this file is part of, where variables lie that kernels call __shared__.
extern "C" {
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
}

namespace {

using supple::emulation::Device;

[[maybe_unused]] const bool reported = supple::emulation::traffic_is_reported = true;

void count(const void* place, const void* address, std::size_t bytes, bool writes) {
  Device& device = Device::instance();
  if (!device.traffic.counts()) return;
  const auto* at = static_cast<const char*>(address);
  const bool shared = at >= __bss_start && at < _end;
  if (shared || device.memory.holds(address)) device.traffic.access(threadIdx.x, place, address, bytes, writes, shared);
}

}  // namespace

#define SUPPLE_HOOK(name, bytes, writes)                        \
  void __tsan_##name(void* address) {                           \
    count(__builtin_return_address(0), address, bytes, writes); \
  }
#define SUPPLE_HOOKS(bytes)                        \
  SUPPLE_HOOK(read##bytes, bytes, false)           \
  SUPPLE_HOOK(write##bytes, bytes, true)           \
  SUPPLE_HOOK(unaligned_read##bytes, bytes, false) \
  SUPPLE_HOOK(unaligned_write##bytes, bytes, true)

extern "C" {
SUPPLE_HOOKS(1)
SUPPLE_HOOKS(2)
SUPPLE_HOOKS(4)
SUPPLE_HOOKS(8)
SUPPLE_HOOKS(16)
void __tsan_read_range(void* address, std::size_t bytes) {
  count(__builtin_return_address(0), address, bytes, false);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  count(__builtin_return_address(0), address, bytes, true);
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
