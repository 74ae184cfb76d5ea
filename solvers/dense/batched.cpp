#include "solvers/dense/batched.hpp"

#include <Eigen/Core>
#include <algorithm>

#include "kernels/array/launch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/dense/cholesky.hpp"
#include "solvers/dense/batched_backends.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

// Whether this much work (multiply-adds) is worth waking other threads for: some ten microseconds of one core.
[[maybe_unused]] bool worth_threads(double work) {
  return work > 2e5;
}

// Columns of C that one thread computes at a time, whatever the number of threads. Eigen sums a column in another order
// where it stands in a panel of fewer columns than its kernels take, so that pieces are filled up to whole panels: the
// bits of a column depend on A and that column alone.
constexpr int columns_per_piece = 32, columns_per_panel = 4;
// Below, Eigen takes products coefficient by coefficient if the columns are few as well.
constexpr int least_rows_and_depth = 20;

template <class S>
using ColumnMajor = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
template <class S>
using View = Eigen::Map<const ColumnMajor<S>, 0, Eigen::OuterStride<>>;

// C += alpha A B by Eigen: compiled for this build's instruction set, one thread, no state.
template <class S>
void add_product(int m, int n, int k, S alpha, const S* A, int lda, Transpose a, const S* B, int ldb, Transpose b, S* C,
                 int ldc) {
  Eigen::Map<ColumnMajor<S>, 0, Eigen::OuterStride<>> out(C, m, n, Eigen::OuterStride<>(ldc));
  const bool at = a == Transpose::yes, bt = b == Transpose::yes;
  const View<S> left(A, at ? k : m, at ? m : k, Eigen::OuterStride<>(lda));
  const View<S> right(B, bt ? n : k, bt ? k : n, Eigen::OuterStride<>(ldb));
  if (at && bt)
    out.noalias() += alpha * (left.transpose() * right.transpose());
  else if (at)
    out.noalias() += alpha * (left.transpose() * right);
  else if (bt)
    out.noalias() += alpha * (left * right.transpose());
  else
    out.noalias() += alpha * (left * right);
}

// The same for so few rows and sums that Eigen's way would depend on the number of columns.
template <class S>
void add_small_product(int m, int n, int k, S alpha, const S* A, int lda, Transpose a, const S* B, int ldb, Transpose b,
                       S* C, int ldc) {
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      S sum = 0;
      for (int l = 0; l < k; ++l)
        sum += (a == Transpose::yes ? A[static_cast<std::ptrdiff_t>(i) * lda + l]
                                    : A[static_cast<std::ptrdiff_t>(l) * lda + i]) *
               (b == Transpose::yes ? B[static_cast<std::ptrdiff_t>(l) * ldb + j]
                                    : B[static_cast<std::ptrdiff_t>(j) * ldb + l]);
      C[static_cast<std::ptrdiff_t>(j) * ldc + i] += alpha * sum;
    }
}

// The same for columns that fill no panel, by way of ones that do.
template <class S>
void add_filled_product(int m, int n, int k, S alpha, const S* A, int lda, Transpose a, const S* B, int ldb,
                        Transpose b, S* C, int ldc) {
  const int filled = (n + columns_per_panel - 1) / columns_per_panel * columns_per_panel;
  ColumnMajor<S> right = ColumnMajor<S>::Zero(k, filled), out = ColumnMajor<S>::Zero(m, filled);
  const View<S> given(B, b == Transpose::yes ? n : k, b == Transpose::yes ? k : n, Eigen::OuterStride<>(ldb));
  Eigen::Map<ColumnMajor<S>, 0, Eigen::OuterStride<>> target(C, m, n, Eigen::OuterStride<>(ldc));
  if (b == Transpose::yes)
    right.leftCols(n) = given.transpose();
  else
    right.leftCols(n) = given;
  out.leftCols(n) = target;
  add_product(m, filled, k, alpha, A, lda, a, right.data(), k, Transpose::no, out.data(), m);
  target = out.leftCols(n);
}

template <class S>
void gemm_cpu(int m, int n, int k, S alpha, const Operand<S>& A, const Operand<S>& B, S beta, const Target<S>& C,
              int batch) {
  const int pieces = (n + columns_per_piece - 1) / columns_per_piece;
#pragma omp parallel for collapse(2) schedule(static) if (worth_threads(1.0 * m * n * k * batch))
  for (int b = 0; b < batch; ++b)
    for (int piece = 0; piece < pieces; ++piece) {
      const int first = piece * columns_per_piece, columns = std::min(columns_per_piece, n - first);
      S* c = C.data + b * C.stride + static_cast<std::ptrdiff_t>(first) * C.ld;
      if (beta != S(1))
        for (int j = 0; j < columns; ++j)
          for (int i = 0; i < m; ++i) {
            S& entry = c[static_cast<std::ptrdiff_t>(j) * C.ld + i];
            entry = beta == S(0) ? S(0) : beta * entry;
          }
      const std::ptrdiff_t skip = B.transpose == Transpose::yes ? first : static_cast<std::ptrdiff_t>(first) * B.ld;
      const auto add = m + k < least_rows_and_depth       ? add_small_product<S>
                       : columns % columns_per_panel == 0 ? add_product<S>
                                                          : add_filled_product<S>;
      add(m, columns, k, alpha, A.data + b * A.stride, A.ld, A.transpose, B.data + b * B.stride + skip, B.ld,
          B.transpose, c, C.ld);
    }
}

// 0 or the number (from 1) of a leading minor that is not positive.
int factor(double* a, int n, int ld) {
  return cholesky_factor(a, n, ld).status == DenseFactorStatus::ok ? 0 : n;
}
int factor(float* a, int n, int ld) {
  const int done = cholesky_factor(SingleTeam{}, a, n, ld);
  return done == n ? 0 : done + 1;
}
void substitute(const double* a, int n, int ld, double* x, int count, int ldx) {
  cholesky_solve(a, n, ld, x, count, ldx);
}
void substitute(const float* a, int n, int ld, float* x, int count, int ldx) {
  cholesky_solve(SingleTeam{}, a, n, ld, x, count, ldx);
}

}  // namespace

DenseContext::DenseContext(const Device& device) : device_(device) {
  if (device.kind == Device::Kind::cuda) cuda_ = make_cuda_dense(device);
}

template <class S>
void gemm(DenseContext& context, int m, int n, int k, S alpha, const std::type_identity_t<Operand<S>>& A,
          const std::type_identity_t<Operand<S>>& B, std::type_identity_t<S> beta,
          const std::type_identity_t<Target<S>>& C, int batch) {
  SUPPLE_EXPECT(m >= 0 && n >= 0 && k >= 0 && batch >= 0 && C.ld >= m);
  SUPPLE_EXPECT(A.ld >= (A.transpose == Transpose::yes ? k : m) && B.ld >= (B.transpose == Transpose::yes ? n : k));
  if (m == 0 || n == 0 || batch == 0) return;
  if (context.cuda())
    gemm_cuda(*context.cuda(), m, n, k, alpha, A, B, beta, C, batch);
  else
    gemm_cpu(m, n, k, alpha, A, B, beta, C, batch);
}

template <class S>
void potrf_batched(DenseContext& context, int n, S* A, int ld, std::ptrdiff_t stride, int* info, int batch) {
  SUPPLE_EXPECT(n >= 0 && ld >= n && batch >= 0);
  if (batch == 0) return;
  if (context.cuda()) {
    potrf_batched_cuda(*context.cuda(), n, A, ld, stride, info, batch);
    return;
  }
#pragma omp parallel for schedule(static) if (worth_threads(n * (n * (n / 6.0)) * batch))
  for (int b = 0; b < batch; ++b) info[b] = factor(A + b * stride, n, ld);
}

template <class S>
void potrs_batched(DenseContext& context, int n, int count, const S* L, int ld, std::ptrdiff_t stride, S* X, int ldx,
                   std::ptrdiff_t stride_x, int batch) {
  SUPPLE_EXPECT(n >= 0 && count >= 0 && ld >= n && ldx >= n && batch >= 0);
  if (n == 0 || count == 0 || batch == 0) return;
  if (context.cuda()) {
    potrs_batched_cuda(*context.cuda(), n, count, L, ld, stride, X, ldx, stride_x, batch);
    return;
  }
#pragma omp parallel for schedule(static) if (worth_threads(1.0 * n * n * count * batch))
  for (int b = 0; b < batch; ++b) substitute(L + b * stride, n, ld, X + b * stride_x, count, ldx);
}

void ldlt_batched(DenseContext& context, int n, double* A, int ld, std::ptrdiff_t stride, int* pivots,
                  LdltReport* found, int batch) {
  SUPPLE_EXPECT(n >= 0 && ld >= n && batch >= 0);
  if (batch == 0) return;
  if (context.cuda()) {
    launch_robots(context.device(), batch, LdltFactorTeamOp{n, ld, stride, A, pivots, found});
    return;
  }
#pragma omp parallel for schedule(static) if (worth_threads(n * (n * (n / 6.0)) * batch))
  for (int b = 0; b < batch; ++b) {
    const DenseFactorReport report = ldlt_factor(A + b * stride, n, ld, pivots + static_cast<std::ptrdiff_t>(n) * b);
    found[b] = {report.status == DenseFactorStatus::ok ? 0 : 1, report.negative_pivots};
  }
}

void ldlt_solve_batched(DenseContext& context, int n, int count, const double* A, int ld, std::ptrdiff_t stride,
                        const int* pivots, const LdltReport* found, double* X, int ldx, std::ptrdiff_t stride_x,
                        int batch) {
  SUPPLE_EXPECT(n >= 0 && count >= 0 && ld >= n && ldx >= n && batch >= 0);
  if (n == 0 || count == 0 || batch == 0) return;
  if (context.cuda()) {
    launch_robots(context.device(), batch, LdltSolveTeamOp{n, count, ld, stride, A, pivots, found, X, ldx, stride_x});
    return;
  }
#pragma omp parallel for schedule(static) if (worth_threads(1.0 * n * n * count * batch))
  for (int b = 0; b < batch; ++b) {
    if (found[b].singular != 0) continue;
    ldlt_solve(A + b * stride, n, ld, pivots + static_cast<std::ptrdiff_t>(n) * b, X + b * stride_x, count, ldx);
  }
}

#define SUPPLE_BATCHED(S)                                                                                           \
  template void gemm<S>(DenseContext&, int, int, int, S, const Operand<S>&, const Operand<S>&, S, const Target<S>&, \
                        int);                                                                                       \
  template void potrf_batched<S>(DenseContext&, int, S*, int, std::ptrdiff_t, int*, int);                           \
  template void potrs_batched<S>(DenseContext&, int, int, const S*, int, std::ptrdiff_t, S*, int, std::ptrdiff_t, int)

SUPPLE_BATCHED(double);
SUPPLE_BATCHED(float);

}  // namespace supple
