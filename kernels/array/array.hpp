#pragma once
// Array<T>: memory on a device, owned. Zeroed when made; data() is a plain pointer that only work on that device may
// follow. On the CPU data begin on a cache line.

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "kernels/array/device.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

// Zeroed bytes on a device. Throws CapabilityError for a device this build or machine lacks, or that has no memory
// left.
void* allocate_bytes(const Device& device, std::size_t bytes);
void release_bytes(const Device& device, void* data) noexcept;
// Between any two devices; returns when the bytes are there and may be read or reused.
void copy_bytes(const Device& to, void* target, const Device& from, const void* source, std::size_t bytes);
// Memory that is free on a device now; of the main memory what Linux reports as available, where it does. Throws as
// allocate_bytes does.
std::size_t free_bytes(const Device& device);
// Waits for all work queued on the device; throws RunError if some of it failed.
void synchronize(const Device& device);

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>, "an array travels between devices byte by byte");

 public:
  // Empty, without an address.
  Array() : device_(cpu()), size_(0), data_(nullptr, {cpu()}) {}
  Array(const Device& device, std::size_t size)
      : device_(device), size_(size), data_(static_cast<T*>(allocate_bytes(device, size * sizeof(T))), {device}) {}
  Array(const Device& device, std::span<const T> values) : Array(device, values.size()) { upload(values); }

  const Device& device() const { return device_; }
  std::size_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }

  // The first values.size() entries, from and to host memory.
  void upload(std::span<const T> values) {
    SUPPLE_EXPECT(values.size() <= size_);
    copy_bytes(device_, data(), cpu(), values.data(), values.size_bytes());
  }
  void download(std::span<T> values) const {
    SUPPLE_EXPECT(values.size() <= size_);
    copy_bytes(cpu(), values.data(), device_, data(), values.size_bytes());
  }

 private:
  struct Release {
    Device device;
    void operator()(T* data) const noexcept { release_bytes(device, data); }
  };
  Device device_;
  std::size_t size_;
  std::unique_ptr<T[], Release> data_;
};

}  // namespace supple
