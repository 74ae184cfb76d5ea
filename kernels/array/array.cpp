#include "kernels/array/array.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "kernels/array/aligned.hpp"
#include "kernels/array/gpu.hpp"

namespace supple {

void* allocate_bytes(const Device& device, std::size_t bytes) {
  if (device.kind != Device::Kind::cpu) return allocate_cuda(device.index, bytes);
  char* data = AlignedAllocator<char>{}.allocate(std::max<std::size_t>(bytes, 1));
  std::memset(data, 0, bytes);
  return data;
}

void release_bytes(const Device& device, void* data) noexcept {
  if (data == nullptr) return;
  if (device.kind == Device::Kind::cpu)
    AlignedAllocator<char>{}.deallocate(static_cast<char*>(data), 0);
  else
    release_cuda(device.index, data);
}

void copy_bytes(const Device& to, void* target, const Device& from, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (to == cpu() && from == cpu()) {
    std::memcpy(target, source, bytes);
    return;
  }
  // The copy queues up on one device; work on another that it depends on is waited for.
  if (to != cpu() && from != cpu() && to != from) synchronize(from);
  copy_cuda(to == cpu() ? from.index : to.index, target, source, bytes);
}

std::size_t free_bytes(const Device& device) {
  if (device.kind != Device::Kind::cpu) return free_cuda(device.index);
  std::ifstream stream("/proc/meminfo");
  std::string key;
  for (std::size_t kilobytes; stream >> key >> kilobytes;
       stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (key == "MemAvailable:") return 1024 * kilobytes;
  return std::numeric_limits<std::size_t>::max();  // not told: what does not fit will say so
}

void synchronize(const Device& device) {
  if (device.kind != Device::Kind::cpu) synchronize_cuda(device.index);
}

}  // namespace supple
