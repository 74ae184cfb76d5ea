// CUDA's runtime on the emulated device. One queue: streams run in the order of the calls.

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "kernels/emulation/emulated_device.hpp"

using supple::emulation::Call;
using supple::emulation::Device;
using supple::emulation::stop;
using supple::emulation::Work;

struct CUstream_st {
  int unused = 0;
};
struct CUevent_st {
  std::uint64_t number = 0;  // of the work behind which it lies
  bool recorded = false;
  // Of work that may outlive the event.
  std::shared_ptr<std::chrono::steady_clock::time_point> time =
      std::make_shared<std::chrono::steady_clock::time_point>();
};
struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::vector<Work> work;
};

namespace {

// Few, so that teams share scratch.
constexpr int multiprocessors = 1;

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t answer(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

struct Side {
  bool device = false, pinned = false;
};
Side side(const Device& device, const void* data, std::size_t bytes, const char* what) {
  const Side found{device.memory.holds(data), device.is_pinned(data, bytes)};
  if (found.device) device.memory.need(data, bytes, what);
  return found;
}

Work copy(const char* name, void* target, const void* source, std::size_t bytes) {
  const supple::emulation::DeviceMemory& memory = Device::instance().memory;
  return {name, [=] { std::memcpy(target, source, bytes); }, memory.holds(source) ? bytes : 0,
          memory.holds(target) ? bytes : 0};
}

}  // namespace

extern "C" {

cudaError_t cudaSetDevice(int device) {
  return answer(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (attribute != cudaDevAttrMultiProcessorCount || device != 0) return answer(cudaErrorInvalidValue);
  *value = multiprocessors;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    default:
      return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of the emulated GPU";
}

cudaError_t supple_cuda_malloc(void** data, std::size_t bytes) {
  Call call;
  *data = call.device.memory.allocate(bytes);
  return answer(*data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

// Waits for all work first, as the device does.
cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  Call call;
  call.device.run_all();
  call.device.memory.release(data);
  return cudaSuccess;
}

cudaError_t supple_cuda_malloc_host(void** data, std::size_t bytes) {
  Call call;
  *data = std::malloc(bytes);
  if (*data == nullptr) return answer(cudaErrorMemoryAllocation);
  std::memset(*data, 0xff, bytes);
  call.device.pinned[static_cast<std::byte*>(*data)] = bytes;
  return cudaSuccess;
}

// Waits for all work first, as the device does.
cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return cudaSuccess;
  Call call;
  call.device.run_all();
  if (call.device.pinned.erase(static_cast<std::byte*>(data)) == 0) stop("cudaFreeHost of memory that is not pinned");
  std::free(data);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  Call call;
  call.device.memory.need(data, bytes, "cudaMemset");
  call.device.queue({"cudaMemset", [=] { std::memset(data, value, bytes); }, 0, bytes});
  return cudaSuccess;
}
// Returns before it is done, as the device's does.
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return cudaMemsetAsync(data, value, bytes, nullptr);
}

cudaError_t cudaMemcpy(void* target, const void* source, std::size_t bytes, cudaMemcpyKind) {
  Call call;
  (void)side(call.device, target, bytes, "the target of cudaMemcpy");
  (void)side(call.device, source, bytes, "the source of cudaMemcpy");
  call.device.run_until(call.device.queue(copy("cudaMemcpy", target, source, bytes)));
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  Call call;
  for (const void* data : {static_cast<const void*>(target), source}) {
    const Side found = side(call.device, data, bytes, "cudaMemcpyAsync");
    if (!found.device && !found.pinned) stop("cudaMemcpyAsync of host memory that is not pinned");
  }
  call.device.queue(copy("cudaMemcpyAsync", target, source, bytes));
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  Call call;
  *free = call.device.memory.free();
  *total = call.device.memory.total();
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  Call call;
  call.device.run_all();
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  Call call;
  event->recorded = true;
  event->number =
      call.device.queue({"cudaEventRecord", [time = event->time] { *time = std::chrono::steady_clock::now(); }});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  Call call;
  if (event->recorded) call.device.run_until(event->number);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  Call call;
  for (const cudaEvent_t event : {from, to}) {
    if (!event->recorded) return answer(cudaErrorInvalidResourceHandle);
    if (event->number > call.device.finished()) return answer(cudaErrorNotReady);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*to->time - *from->time).count();
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Call call;
  call.device.run_all();
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  Call call;
  call.device.run_all();
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Call call;
  if (stream == nullptr || call.device.capturing != nullptr) return answer(cudaErrorStreamCaptureUnsupported);
  call.device.capturing = stream;
  call.device.captured.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  Call call;
  if (call.device.capturing != stream) return answer(cudaErrorInvalidValue);
  call.device.capturing = nullptr;
  *graph = new CUgraph_st{std::move(call.device.captured)};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  Call call;
  for (const Work& work : executable->work) call.device.queue(work);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

}  // extern "C"
