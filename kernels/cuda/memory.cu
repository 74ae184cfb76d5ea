// Device memory behind the plain functions of kernels/array/array.cpp; addresses of batches.

#include <algorithm>
#include <cstddef>

#include "kernels/array/addresses.hpp"
#include "kernels/cuda/launch.cuh"

namespace supple {

void* allocate_cuda(int device, std::size_t bytes) {
  if (device >= cuda_device_count())
    throw CapabilityError("no CUDA device " + std::to_string(device) + " (" + cuda_absence_reason() + ")",
                          "--device cpu");
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  void* data = nullptr;
  bytes = std::max<std::size_t>(bytes, 1);
  check_cuda(cudaMalloc(&data, bytes), "reserving GPU memory");
  check_cuda(cudaMemset(data, 0, bytes), "clearing GPU memory");
  return data;
}

void release_cuda(int device, void* data) noexcept {
  // Nothing can be done about an error here; one of earlier work shows at the next checked call.
  (void)cudaSetDevice(device);
  (void)cudaFree(data);
}

// One address space holds the host and every device, so the addresses say where they lie. Comes after earlier work of
// the device's default stream.
void copy_cuda(int device, void* target, const void* source, std::size_t bytes) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  check_cuda(cudaMemcpy(target, source, bytes, cudaMemcpyDefault), "copying to or from the GPU");
}

void synchronize_cuda(int device) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  check_cuda(cudaDeviceSynchronize(), "work on the GPU");
}

SUPPLE_LAUNCH(AddressOp);

}  // namespace supple
