// Which of CUDA's errors the machine is answerable for, and which this program.

#include <gtest/gtest.h>

#include "kernels/cuda/check.hpp"

namespace supple {
namespace {

TEST(CudaErrors, OfThisProgramAreNotTakenForAMissingGpu) {
  for (const cudaError_t status :
       {cudaErrorInvalidValue, cudaErrorInvalidConfiguration, cudaErrorInvalidDevicePointer,
        cudaErrorInvalidResourceHandle, cudaErrorIllegalAddress, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorIllegalInstruction, cudaErrorHardwareStackError,
        cudaErrorAssert, cudaErrorLaunchOutOfResources, cudaErrorLaunchFailure})
    EXPECT_THROW(check_cuda(status, "work"), RunError) << status;
}

TEST(CudaErrors, OfTheMachineAreNot) {
  for (const cudaError_t status :
       {cudaErrorMemoryAllocation, cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction,
        cudaErrorUnsupportedPtxVersion, cudaErrorInvalidPtx, cudaErrorNoDevice, cudaErrorInsufficientDriver})
    EXPECT_THROW(check_cuda(status, "work"), CapabilityError) << status;
  EXPECT_NO_THROW(check_cuda(cudaSuccess, "work"));
}

}  // namespace
}  // namespace supple
