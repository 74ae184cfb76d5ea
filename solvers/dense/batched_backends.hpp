#pragma once
// The GPU half of batched.hpp and qr.hpp, for batched.cpp and qr.cpp only. Defined by batched_cuda.cpp, in builds without
// CUDA by batched_absent.cpp.

#include "solvers/dense/batched.hpp"

namespace supple {

std::shared_ptr<CudaDense> make_cuda_dense(const Device& device);

template <class S>
void gemm_cuda(CudaDense& cuda, int m, int n, int k, S alpha, const Operand<S>& A, const Operand<S>& B, S beta,
               const Target<S>& C, int batch);
template <class S>
void potrf_batched_cuda(CudaDense& cuda, int n, S* A, int ld, std::ptrdiff_t stride, int* info, int batch);
template <class S>
void potrs_batched_cuda(CudaDense& cuda, int n, int count, const S* L, int ld, std::ptrdiff_t stride, S* X, int ldx,
                        std::ptrdiff_t stride_x, int batch);

void geqrf_cuda(CudaDense& cuda, int m, int n, double* A, int ld);
std::size_t geqrf_bytes_cuda(CudaDense& cuda, int m, int n);

}  // namespace supple
