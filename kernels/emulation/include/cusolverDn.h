#pragma once
// The part of cuSOLVER that Supple uses, for builds against the emulated GPU.

#include "cublas_v2.h"

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4
};
using cusolverDnHandle_t = struct cusolverDnContext*;

extern "C" {
cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle);
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle);
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream);
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t, cublasFillMode_t, int n, double** A, int lda, int* info,
                                         int batch);
cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t, cublasFillMode_t, int n, float** A, int lda, int* info,
                                         int batch);
cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t, int m, int n, double* A, int lda, int* numbers);
cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t, int m, int n, double* A, int lda, double* tau, double* work,
                                  int numbers, int* info);
}
