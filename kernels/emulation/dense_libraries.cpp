// cuBLAS and cuSOLVER on the emulated device: plain loops, column-major as theirs. Arguments are checked when a call is
// made, lists of addresses when it runs, for only then they are written.

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "kernels/emulation/emulated_device.hpp"

using supple::emulation::Call;
using supple::emulation::Device;
using supple::emulation::stop;

struct cublasContext {
  int unused = 0;
};
struct cusolverDnContext {
  int unused = 0;
};

namespace {

// Bytes from the first to the last entry of a column-major matrix.
template <class S>
std::size_t extent_of(int rows, int columns, int ld) {
  if (rows == 0 || columns == 0) return 0;
  return (static_cast<std::size_t>(ld) * static_cast<std::size_t>(columns - 1) + static_cast<std::size_t>(rows)) *
         sizeof(S);
}

// Bytes of the entries of so many matrices.
template <class S>
std::size_t entries(int rows, int columns, int count) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * static_cast<std::size_t>(count) *
         sizeof(S);
}

template <class S>
void need(const S* data, int rows, int columns, int ld, const char* what) {
  if (const std::size_t bytes = extent_of<S>(rows, columns, ld); bytes > 0)
    Device::instance().memory.need(data, bytes, what);
}

template <class S>
struct Matrix {
  const S* data;
  std::ptrdiff_t ld;
  bool transposed;
  S operator()(int i, int j) const { return transposed ? data[j + i * ld] : data[i + j * ld]; }
};

template <class S>
void multiply(int m, int n, int k, S alpha, const Matrix<S>& A, const Matrix<S>& B, S beta, S* C, int ldc) {
  std::vector<S> column(static_cast<std::size_t>(m));
  for (int j = 0; j < n; ++j) {
    std::fill(column.begin(), column.end(), S(0));
    for (int l = 0; l < k; ++l) {
      const S b = B(l, j);
      for (int i = 0; i < m; ++i) column[static_cast<std::size_t>(i)] += A(i, l) * b;
    }
    S* c = C + static_cast<std::ptrdiff_t>(j) * ldc;
    // With beta = 0 C is not read: it may hold NaN.
    for (int i = 0; i < m; ++i)
      c[i] = alpha * column[static_cast<std::size_t>(i)] + (beta == S(0) ? S(0) : beta * c[i]);
  }
}

template <class S>
cublasStatus_t gemm(cublasOperation_t a, cublasOperation_t b, int m, int n, int k, S alpha, const S* A, int lda,
                    long long stride_a, const S* B, int ldb, long long stride_b, S beta, S* C, int ldc,
                    long long stride_c, int batch) {
  Call call;
  const int rows_a = a == CUBLAS_OP_N ? m : k, rows_b = b == CUBLAS_OP_N ? k : n;
  if (m < 0 || n < 0 || k < 0 || batch < 0 || lda < std::max(1, rows_a) || ldb < std::max(1, rows_b) ||
      ldc < std::max(1, m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (batch == 0) return CUBLAS_STATUS_SUCCESS;
  const bool apart = stride_c >= static_cast<long long>(ldc) * (n - 1) + m;      // one behind the other
  const bool side_by_side = stride_c >= m && (batch - 1) * stride_c + m <= ldc;  // in the columns of one matrix
  if (batch > 1 && !apart && !side_by_side) stop("a matrix product: the results overlap");
  for (const int member : {0, batch - 1}) {
    need(A + member * stride_a, rows_a, a == CUBLAS_OP_N ? k : m, lda, "the left operand of a matrix product");
    need(B + member * stride_b, rows_b, b == CUBLAS_OP_N ? n : k, ldb, "the right operand of a matrix product");
    need(C + member * stride_c, m, n, ldc, "the result of a matrix product");
  }
  call.device.queue({"cublas gemm",
                     [=] {
                       for (int member = 0; member < batch; ++member)
                         multiply<S>(m, n, k, alpha, {A + member * stride_a, lda, a == CUBLAS_OP_T},
                                     {B + member * stride_b, ldb, b == CUBLAS_OP_T}, beta, C + member * stride_c, ldc);
                     },
                     entries<S>(m, k, stride_a == 0 ? 1 : batch) + entries<S>(k, n, stride_b == 0 ? 1 : batch) +
                         (beta == S(0) ? 0 : entries<S>(m, n, batch)),
                     entries<S>(m, n, batch)});
  return CUBLAS_STATUS_SUCCESS;
}

// op(A) X = alpha B in place, A triangular.
template <class S>
void solve_triangular(bool upper, bool transposed, bool unit, int n, int count, S alpha, const S* A, int lda, S* B,
                      int ldb) {
  const Matrix<S> T{A, lda, transposed};
  const bool forward = upper == transposed;
  for (int j = 0; j < count; ++j) {
    S* x = B + static_cast<std::ptrdiff_t>(j) * ldb;
    for (int i = 0; i < n; ++i) x[i] *= alpha;
    for (int step = 0; step < n; ++step) {
      const int i = forward ? step : n - 1 - step;
      S value = x[i];
      for (int l = forward ? 0 : i + 1; l < (forward ? i : n); ++l) value -= T(i, l) * x[l];
      x[i] = unit ? value : value / T(i, i);
    }
  }
}

template <class S>
cublasStatus_t trsm(cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t operation,
                    cublasDiagType_t diagonal, int m, int n, S alpha, const S* const* A, int lda, S* const* B, int ldb,
                    int batch) {
  Call call;
  if (m < 0 || n < 0 || batch < 0 || lda < std::max(1, m) || ldb < std::max(1, m)) return CUBLAS_STATUS_INVALID_VALUE;
  if (side != CUBLAS_SIDE_LEFT) stop("trsmBatched from the right is not emulated");
  const std::size_t list = static_cast<std::size_t>(batch) * sizeof(S*);
  if (batch > 0) call.device.memory.need(A, list, "the list of matrices of a triangular solve");
  if (batch > 0) call.device.memory.need(B, list, "the list of right-hand sides of a triangular solve");
  call.device.queue({"cublas trsmBatched",
                     [=] {
                       for (int member = 0; member < batch; ++member) {
                         need(A[member], m, m, lda, "a matrix of a triangular solve");
                         need(B[member], m, n, ldb, "a right-hand side of a triangular solve");
                         solve_triangular<S>(fill == CUBLAS_FILL_MODE_UPPER, operation == CUBLAS_OP_T,
                                             diagonal == CUBLAS_DIAG_UNIT, m, n, alpha, A[member], lda, B[member], ldb);
                       }
                     },
                     entries<S>(m, m, batch) / 2 + entries<S>(m, n, batch), entries<S>(m, n, batch)});
  return CUBLAS_STATUS_SUCCESS;
}

// The triangle of A = L L^T or U^T U in place; 0, or the number of the minor that is not positive, and NaN from there.
// cuSOLVER works in the other triangle, too: what it leaves there is NaN here.
template <class S>
int factor(bool upper, int n, S* A, int lda) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (upper ? i > j : i < j) A[i + std::ptrdiff_t{j} * lda] = std::numeric_limits<S>::quiet_NaN();
  const auto at = [&](int i, int j) -> S& {
    return upper ? A[j + std::ptrdiff_t{i} * lda] : A[i + std::ptrdiff_t{j} * lda];
  };
  for (int j = 0; j < n; ++j) {
    S value = at(j, j);
    for (int l = 0; l < j; ++l) value -= at(j, l) * at(j, l);
    if (!(value > 0)) {
      for (int c = j; c < n; ++c)
        for (int i = c; i < n; ++i) at(i, c) = std::numeric_limits<S>::quiet_NaN();
      return j + 1;
    }
    const S root = std::sqrt(value);
    at(j, j) = root;
    for (int i = j + 1; i < n; ++i) {
      S rest = at(i, j);
      for (int l = 0; l < j; ++l) rest -= at(i, l) * at(j, l);
      at(i, j) = rest / root;
    }
  }
  return 0;
}

template <class S>
cusolverStatus_t potrf(cublasFillMode_t fill, int n, S** A, int lda, int* info, int batch) {
  Call call;
  if (n < 0 || batch < 0 || lda < std::max(1, n)) return CUSOLVER_STATUS_INVALID_VALUE;
  if (batch > 0) {
    call.device.memory.need(A, static_cast<std::size_t>(batch) * sizeof(S*), "the list of matrices of a factorisation");
    call.device.memory.need(info, static_cast<std::size_t>(batch) * sizeof(int), "info of a factorisation");
  }
  call.device.queue({"cusolver potrfBatched",
                     [=] {
                       std::set<const S*> seen;
                       for (int member = 0; member < batch; ++member) {
                         need(A[member], n, n, lda, "a matrix of a factorisation");
                         if (!seen.insert(A[member]).second) stop("a matrix is factored twice in one call");
                         info[member] = factor<S>(fill == CUBLAS_FILL_MODE_UPPER, n, A[member], lda);
                       }
                     },
                     entries<S>(n, n, batch) / 2, entries<S>(n, n, batch) / 2});
  return CUSOLVER_STATUS_SUCCESS;
}

// Householder reflections as LAPACK stores them: R above, vectors with a leading 1 below the diagonal.
void factor_qr(int m, int n, double* A, int lda, double* tau) {
  for (int k = 0; k < std::min(m, n); ++k) {
    double* v = A + k + std::ptrdiff_t{k} * lda;
    double below = 0;
    for (int i = 1; i < m - k; ++i) below = std::hypot(below, v[i]);
    tau[k] = 0;
    if (below == 0) continue;
    const double beta = -std::copysign(std::hypot(v[0], below), v[0]);
    tau[k] = (beta - v[0]) / beta;
    for (int i = 1; i < m - k; ++i) v[i] /= v[0] - beta;
    v[0] = beta;
    for (int j = k + 1; j < n; ++j) {
      double* column = A + k + std::ptrdiff_t{j} * lda;
      double sum = column[0];
      for (int i = 1; i < m - k; ++i) sum += v[i] * column[i];
      sum *= tau[k];
      column[0] -= sum;
      for (int i = 1; i < m - k; ++i) column[i] -= sum * v[i];
    }
  }
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  Call call;
  call.device.run_all();
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) {
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "an error of the emulated cuBLAS";
}

#define SUPPLE_BLAS(letter, S)                                                                                       \
  cublasStatus_t cublas##letter##gemm(cublasHandle_t, cublasOperation_t a, cublasOperation_t b, int m, int n, int k, \
                                      const S* alpha, const S* A, int lda, const S* B, int ldb, const S* beta, S* C, \
                                      int ldc) {                                                                     \
    return gemm<S>(a, b, m, n, k, *alpha, A, lda, 0, B, ldb, 0, *beta, C, ldc, 0, 1);                                \
  }                                                                                                                  \
  cublasStatus_t cublas##letter##gemmStridedBatched(cublasHandle_t, cublasOperation_t a, cublasOperation_t b, int m, \
                                                    int n, int k, const S* alpha, const S* A, int lda,               \
                                                    long long stride_a, const S* B, int ldb, long long stride_b,     \
                                                    const S* beta, S* C, int ldc, long long stride_c, int batch) {   \
    return gemm<S>(a, b, m, n, k, *alpha, A, lda, stride_a, B, ldb, stride_b, *beta, C, ldc, stride_c, batch);       \
  }                                                                                                                  \
  cublasStatus_t cublas##letter##trsmBatched(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill,           \
                                             cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,   \
                                             const S* alpha, const S* const* A, int lda, S* const* B, int ldb,       \
                                             int batch) {                                                            \
    return trsm<S>(side, fill, operation, diagonal, m, n, *alpha, A, lda, B, ldb, batch);                            \
  }
SUPPLE_BLAS(D, double)
SUPPLE_BLAS(S, float)
#undef SUPPLE_BLAS

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  Call call;
  call.device.run_all();
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t, cudaStream_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDpotrfBatched(cusolverDnHandle_t, cublasFillMode_t fill, int n, double** A, int lda,
                                         int* info, int batch) {
  return potrf<double>(fill, n, A, lda, info, batch);
}
cusolverStatus_t cusolverDnSpotrfBatched(cusolverDnHandle_t, cublasFillMode_t fill, int n, float** A, int lda,
                                         int* info, int batch) {
  return potrf<float>(fill, n, A, lda, info, batch);
}

cusolverStatus_t cusolverDnDgeqrf_bufferSize(cusolverDnHandle_t, int m, int n, double*, int lda, int* numbers) {
  if (m < 0 || n < 0 || lda < std::max(1, m)) return CUSOLVER_STATUS_INVALID_VALUE;
  *numbers = std::max(1, n);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDgeqrf(cusolverDnHandle_t, int m, int n, double* A, int lda, double* tau, double* work,
                                  int numbers, int* info) {
  Call call;
  if (m < 0 || n < 0 || lda < std::max(1, m) || numbers < n) return CUSOLVER_STATUS_INVALID_VALUE;
  need(A, m, n, lda, "the matrix of a QR factorisation");
  need(tau, std::min(m, n), 1, std::max(1, std::min(m, n)), "tau of a QR factorisation");
  need(work, numbers, 1, std::max(1, numbers), "the workspace of a QR factorisation");
  call.device.memory.need(info, sizeof(int), "info of a QR factorisation");
  call.device.queue({"cusolver geqrf", [=] {
                       std::fill_n(work, numbers, std::numeric_limits<double>::quiet_NaN());
                       factor_qr(m, n, A, lda, tau);
                       *info = 0;
                     }});
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
