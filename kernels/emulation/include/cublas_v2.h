#pragma once
// The part of cuBLAS that Supple uses, for builds against the emulated GPU.

#include "cuda_runtime_api.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8
};
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT };
using cublasHandle_t = struct cublasContext*;

extern "C" {
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
const char* cublasGetStatusString(cublasStatus_t status);

#define SUPPLE_BLAS(letter, S)                                                                                         \
  cublasStatus_t cublas##letter##gemm(cublasHandle_t, cublasOperation_t a, cublasOperation_t b, int m, int n, int k,   \
                                      const S* alpha, const S* A, int lda, const S* B, int ldb, const S* beta, S* C,   \
                                      int ldc);                                                                        \
  cublasStatus_t cublas##letter##gemmStridedBatched(                                                                   \
      cublasHandle_t, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, const S* alpha, const S* A,       \
      int lda, long long stride_a, const S* B, int ldb, long long stride_b, const S* beta, S* C, int ldc,              \
      long long stride_c, int batch);                                                                                  \
  cublasStatus_t cublas##letter##trsmBatched(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,    \
                                             cublasDiagType_t, int m, int n, const S* alpha, const S* const* A,        \
                                             int lda, S* const* B, int ldb, int batch);
SUPPLE_BLAS(D, double)
SUPPLE_BLAS(S, float)
#undef SUPPLE_BLAS
}
