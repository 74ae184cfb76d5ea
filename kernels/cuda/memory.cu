// The GPU itself: whether there is one, its memory, copies, events (kernels/array/gpu.hpp).

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "kernels/array/gpu.hpp"
#include "kernels/cuda/launch.cuh"

namespace supple {

int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  (void)cudaGetLastError();
  return 0;
}
std::string cuda_absence_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count > 0 ? "" : "the CUDA driver sees no GPU";
  int driver = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess) {
    const auto release = [](int version) {
      return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    return driver == 0
               ? "no NVIDIA driver is installed"
               : "the NVIDIA driver knows CUDA " + release(driver) + ", this build needs " + release(CUDART_VERSION);
  }
  return std::string("CUDA answers: ") + cudaGetErrorString(status);
}

// Teams that a multiprocessor has room for beside each other: as many as find memory that their threads share
// (stage_bytes). Of the emulated GPU fewer, so that a team has several robots in tests.
#ifdef SUPPLE_EMULATED_CUDA
constexpr int teams_per_multiprocessor = 4;
#else
constexpr int teams_per_multiprocessor = 8;
#endif

int cuda_team_count(int device) {
  int multiprocessors = 0;
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking the GPU");
  return teams_per_multiprocessor * multiprocessors;
}

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

void* allocate_pinned_cuda(int device, std::size_t bytes) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  void* data = nullptr;
  bytes = std::max<std::size_t>(bytes, 1);
  check_cuda(cudaMallocHost(&data, bytes), "reserving pinned memory");
  std::memset(data, 0, bytes);
  return data;
}

void release_pinned_cuda(int device, void* data) noexcept {
  (void)cudaSetDevice(device);
  (void)cudaFreeHost(data);
}

void copy_queued_cuda(int device, void* target, const void* source, std::size_t bytes) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  check_cuda(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault), "copying to or from the GPU");
}

// The event itself, cudaEvent_t, is the pointer.
std::shared_ptr<void> make_event_cuda(int device) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "making a CUDA event");
  return {event, [device](void* made) {
            (void)cudaSetDevice(device);
            (void)cudaEventDestroy(static_cast<cudaEvent_t>(made));
          }};
}

void record_event_cuda(int device, void* event) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(event)), "marking the GPU's work");
}

void wait_event_cuda(int device, void* event) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  check_cuda(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "work on the GPU");
}

double event_seconds_cuda(int device, void* from, void* to) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(from), static_cast<cudaEvent_t>(to)),
             "timing the GPU's work");
  return 1e-3 * static_cast<double>(milliseconds);
}

std::size_t free_cuda(int device) {
  check_cuda(cudaSetDevice(device), "choosing the CUDA device");
  std::size_t free = 0, all = 0;
  check_cuda(cudaMemGetInfo(&free, &all), "asking for free GPU memory");
  return free;
}

}  // namespace supple
