#pragma once
// CUDA's answers as errors of this program: what the machine lacks (memory, a GPU this build has code for, a GPU that
// is still there) is a CapabilityError, what only a bug leads to a RunError.

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/base/error.hpp"

namespace supple {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  // Else the next launch would be told of an error that its caller has survived.
  (void)cudaGetLastError();
  const std::string words =
      std::string(what) + " failed (" + cudaGetErrorName(status) + ": " + cudaGetErrorString(status) + ")";
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw CapabilityError(std::string(what) + " failed (the GPU has no memory left)",
                            "a smaller batch, or --device cpu");
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidPtx:
      throw CapabilityError(
          std::string(what) + " failed (this build has no code for this GPU: " + cudaGetErrorName(status) + ")",
          "a build with its architecture in CMAKE_CUDA_ARCHITECTURES, or --device cpu");
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorIllegalAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorAssert:
    case cudaErrorLaunchOutOfResources:
      throw RunError(words, "--device cpu");
    default:
      throw CapabilityError(words, "--device cpu");
  }
}

}  // namespace supple
