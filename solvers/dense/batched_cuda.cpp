// cuBLAS and cuSOLVER behind solvers/dense/batched.hpp.

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <array>
#include <string>

#include "kernels/array/addresses.hpp"
#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/base/error.hpp"
#include "kernels/cuda/check.hpp"
#include "solvers/dense/batched_backends.hpp"

namespace supple {

namespace {

// What the machine lacks is no failure of the run (kernels/cuda/check.hpp).
[[noreturn]] void fail(const char* what, const std::string& why, bool lacking) {
  (void)cudaGetLastError();  // as check_cuda does
  const std::string words = std::string(what) + " failed (" + why + ")";
  if (lacking) throw CapabilityError(words, "a smaller batch, or --device cpu");
  throw RunError(words, "--device cpu");
}
void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(what, cublasGetStatusString(status),
         status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_ARCH_MISMATCH ||
             status == CUBLAS_STATUS_NOT_INITIALIZED);
}
void check(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    fail(what, "cuSOLVER answers " + std::to_string(static_cast<int>(status)),
         status == CUSOLVER_STATUS_ALLOC_FAILED || status == CUSOLVER_STATUS_ARCH_MISMATCH ||
             status == CUSOLVER_STATUS_NOT_INITIALIZED);
}

// Addresses of a batch's matrices in GPU memory, written there by a kernel: nothing waits for a copy.
class Addresses {
 public:
  void** of(const Device& device, std::byte* data, std::ptrdiff_t stride_bytes, int batch) {
    if (list_.device() != device || list_.size() < static_cast<std::size_t>(batch))
      list_ = Array<std::byte*>(device, static_cast<std::size_t>(batch));
    launch(device, batch, AddressOp{data, stride_bytes, list_.data()});
    return reinterpret_cast<void**>(list_.data());
  }

 private:
  Array<std::byte*> list_;
};

cublasOperation_t operation(Transpose transpose) {
  return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

struct CudaDense {
  Device device;
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;
  Addresses matrices, right_sides;

  explicit CudaDense(const Device& on) : device(on) {
    select();
    check(cublasCreate(&blas), "starting cuBLAS");
    const cusolverStatus_t status = cusolverDnCreate(&solver);
    if (status != CUSOLVER_STATUS_SUCCESS) cublasDestroy(blas);
    check(status, "starting cuSOLVER");
  }
  ~CudaDense() {
    cusolverDnDestroy(solver);
    cublasDestroy(blas);
  }
  CudaDense(const CudaDense&) = delete;
  CudaDense& operator=(const CudaDense&) = delete;

  // Handles belong to the device that was current when they were made and must be used under it.
  void select() const { check_cuda(cudaSetDevice(device.index), "choosing the CUDA device"); }

  template <class S>
  S** addresses(Addresses& list, S* data, std::ptrdiff_t stride, int batch) {
    return reinterpret_cast<S**>(
        list.of(device, reinterpret_cast<std::byte*>(data), stride * static_cast<std::ptrdiff_t>(sizeof(S)), batch));
  }
};

std::shared_ptr<CudaDense> make_cuda_dense(const Device& device) {
  if (device.index >= cuda_device_count())
    throw CapabilityError("no CUDA device " + std::to_string(device.index) + " (" + cuda_absence_reason() + ")",
                          "--device cpu");
  return std::make_shared<CudaDense>(device);
}

template <class S>
void gemm_cuda(CudaDense& cuda, int m, int n, int k, S alpha, const Operand<S>& A, const Operand<S>& B, S beta,
               const Target<S>& C, int batch) {
  cuda.select();
  const auto a = operation(A.transpose), b = operation(B.transpose);
  cublasStatus_t status;
  if constexpr (std::is_same_v<S, double>)
    status = batch == 1 ? cublasDgemm(cuda.blas, a, b, m, n, k, &alpha, A.data, A.ld, B.data, B.ld, &beta, C.data, C.ld)
                        : cublasDgemmStridedBatched(cuda.blas, a, b, m, n, k, &alpha, A.data, A.ld, A.stride, B.data,
                                                    B.ld, B.stride, &beta, C.data, C.ld, C.stride, batch);
  else
    status = batch == 1 ? cublasSgemm(cuda.blas, a, b, m, n, k, &alpha, A.data, A.ld, B.data, B.ld, &beta, C.data, C.ld)
                        : cublasSgemmStridedBatched(cuda.blas, a, b, m, n, k, &alpha, A.data, A.ld, A.stride, B.data,
                                                    B.ld, B.stride, &beta, C.data, C.ld, C.stride, batch);
  check(status, "a matrix product on the GPU");
}

template <class S>
void potrf_batched_cuda(CudaDense& cuda, int n, S* A, int ld, std::ptrdiff_t stride, int* info, int batch) {
  cuda.select();
  S** matrices = cuda.addresses(cuda.matrices, A, stride, batch);
  // Row-major lower is column-major upper (batched.hpp).
  cusolverStatus_t status;
  if constexpr (std::is_same_v<S, double>)
    status = cusolverDnDpotrfBatched(cuda.solver, CUBLAS_FILL_MODE_UPPER, n, matrices, ld, info, batch);
  else
    status = cusolverDnSpotrfBatched(cuda.solver, CUBLAS_FILL_MODE_UPPER, n, matrices, ld, info, batch);
  check(status, "a batch of Cholesky factorisations on the GPU");
}

// cuSOLVER's potrsBatched takes one right-hand side, so: U^T Y = B, then U X = Y.
template <class S>
void potrs_batched_cuda(CudaDense& cuda, int n, int count, const S* L, int ld, std::ptrdiff_t stride, S* X, int ldx,
                        std::ptrdiff_t stride_x, int batch) {
  cuda.select();
  S** matrices = cuda.addresses(cuda.matrices, const_cast<S*>(L), stride, batch);
  S** right_sides = cuda.addresses(cuda.right_sides, X, stride_x, batch);
  const S one = 1;
  for (const cublasOperation_t part : std::array{CUBLAS_OP_T, CUBLAS_OP_N}) {
    cublasStatus_t status;
    if constexpr (std::is_same_v<S, double>)
      status = cublasDtrsmBatched(cuda.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, part, CUBLAS_DIAG_NON_UNIT, n,
                                  count, &one, matrices, ld, right_sides, ldx, batch);
    else
      status = cublasStrsmBatched(cuda.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, part, CUBLAS_DIAG_NON_UNIT, n,
                                  count, &one, matrices, ld, right_sides, ldx, batch);
    check(status, "a batch of triangular solves on the GPU");
  }
}

namespace {

// Numbers of the workspace. The query reads no entry of A.
int geqrf_numbers(CudaDense& cuda, int m, int n, double* A, int ld) {
  int numbers = 0;
  check(cusolverDnDgeqrf_bufferSize(cuda.solver, m, n, A, ld, &numbers), "asking for the workspace of a QR");
  return numbers;
}

}  // namespace

std::size_t geqrf_bytes_cuda(CudaDense& cuda, int m, int n) {
  cuda.select();
  const std::size_t numbers =
      static_cast<std::size_t>(geqrf_numbers(cuda, m, n, nullptr, m)) + static_cast<std::size_t>(std::min(m, n));
  return numbers * sizeof(double) + sizeof(int);
}

// Bad arguments alone make info negative; they are none of the machine's.
void geqrf_cuda(CudaDense& cuda, int m, int n, double* A, int ld) {
  cuda.select();
  const int numbers = geqrf_numbers(cuda, m, n, A, ld);
  Array<double> tau(cuda.device, static_cast<std::size_t>(std::min(m, n))),
      work(cuda.device, static_cast<std::size_t>(numbers));
  Array<int> info(cuda.device, 1);
  check(cusolverDnDgeqrf(cuda.solver, m, n, A, ld, tau.data(), work.data(), numbers, info.data()),
        "a QR factorisation on the GPU");
  synchronize(cuda.device);  // before its workspace goes
}

#define SUPPLE_BATCHED_CUDA(S)                                                                                        \
  template void gemm_cuda<S>(CudaDense&, int, int, int, S, const Operand<S>&, const Operand<S>&, S, const Target<S>&, \
                             int);                                                                                    \
  template void potrf_batched_cuda<S>(CudaDense&, int, S*, int, std::ptrdiff_t, int*, int);                           \
  template void potrs_batched_cuda<S>(CudaDense&, int, int, const S*, int, std::ptrdiff_t, S*, int, std::ptrdiff_t, int)

SUPPLE_BATCHED_CUDA(double);
SUPPLE_BATCHED_CUDA(float);

}  // namespace supple
