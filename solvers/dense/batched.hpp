#pragma once
// Dense algebra on batches of equal matrices that lie on a device: products, factors, solves. Pointers are to memory
// of the context's device (kernels/array/array.hpp). On the CPU batches are spread over threads in pieces that do not
// depend on their number, so neither do the bits, and a product's columns have the same bits however many there are. On
// a GPU the work is cuBLAS's and cuSOLVER's, queued on the default stream: launch(), these calls and copies to or from
// arrays run in the order in which they are written.
//
// Products take column-major matrices. Factors are row-major with the lower triangle, as everywhere in this project
// (symmetric_factor.hpp). Row-major lower and column-major upper are the same memory, so the GPU factors the transpose:
// A = U^T U with U = L^T, "upper".
//
// Instantiated for double and float. Batches beyond 32-bit counts of matrices are not supported; byte offsets are
// 64-bit.

#include <cstddef>
#include <memory>
#include <type_traits>

#include "kernels/array/device.hpp"
#include "kernels/dense/ldlt.hpp"

namespace supple {

struct CudaDense;  // library handles and address lists of one GPU, solvers/dense/batched_cuda.cpp

/// A device with what its libraries need between calls. Not to be used by two threads at once.
class DenseContext {
 public:
  /// Throws CapabilityError where the device does not exist.
  explicit DenseContext(const Device& device);
  const Device& device() const { return device_; }
  CudaDense* cuda() const { return cuda_.get(); }

 private:
  Device device_;
  std::shared_ptr<CudaDense> cuda_;
};

enum class Transpose { no, yes };

/// A column-major operand: entry (i, j) of matrix b at data[b * stride + j * ld + i], before it is transposed.
template <class S>
struct Operand {
  const S* data;
  int ld;
  Transpose transpose = Transpose::no;
  std::ptrdiff_t stride = 0;  // 0: every product of the batch takes the same matrix
};
template <class S>
struct Target {
  S* data;
  int ld;
  std::ptrdiff_t stride = 0;
};

/// C = alpha A B + beta C for each of `batch` matrices: A is m x k, B k x n, C m x n. C is not read where beta = 0. The
/// matrices C may interleave (stride < ld) but share no entry.
template <class S>
void gemm(DenseContext& context, int m, int n, int k, S alpha, const std::type_identity_t<Operand<S>>& A,
          const std::type_identity_t<Operand<S>>& B, std::type_identity_t<S> beta,
          const std::type_identity_t<Target<S>>& C, int batch = 1);

/// A = L L^T in place for `batch` matrices n x n, row stride ld, `stride` entries from one to the next; only lower
/// triangles are read, and hold L. On a GPU the strict upper ones are undefined afterwards: cuSOLVER works there.
/// info[b] = 0, or a positive number where matrix b is not positive definite and holds no factor.
template <class S>
void potrf_batched(DenseContext& context, int n, S* A, int ld, std::ptrdiff_t stride, int* info, int batch);

/// L L^T X = B in place with the factors of potrf_batched: `count` right-hand sides per matrix, each contiguous with
/// `ldx` entries from one to the next.
template <class S>
void potrs_batched(DenseContext& context, int n, int count, const S* L, int ld, std::ptrdiff_t stride, S* X, int ldx,
                   std::ptrdiff_t stride_x, int batch);

/// A = P L B L^T P^T in place with the pivoting of ldlt_factor (symmetric_factor.hpp) for matrices that may be
/// indefinite, laid out as those of potrf_batched; pivots [batch x n]. On a GPU one thread block factors each
/// (kernels/dense/ldlt.hpp).
void ldlt_batched(DenseContext& context, int n, double* A, int ld, std::ptrdiff_t stride, int* pivots,
                  LdltReport* found, int batch);
/// As potrs_batched, with the factors of ldlt_batched; right-hand sides of singular matrices are left as they are.
void ldlt_solve_batched(DenseContext& context, int n, int count, const double* A, int ld, std::ptrdiff_t stride,
                        const int* pivots, const LdltReport* found, double* X, int ldx, std::ptrdiff_t stride_x,
                        int batch);

}  // namespace supple
