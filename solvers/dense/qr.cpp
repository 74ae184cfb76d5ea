#include "solvers/dense/qr.hpp"

#include <Eigen/Dense>
#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/batched_backends.hpp"

namespace supple {

void geqrf(DenseContext& context, int m, int n, double* A, int ld) {
  SUPPLE_EXPECT(m >= 0 && n >= 0 && ld >= m);
  if (m == 0 || n == 0) return;
  if (context.cuda()) {
    geqrf_cuda(*context.cuda(), m, n, A, ld);
    return;
  }
  using Strided = Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> matrix(A, m, n, Eigen::OuterStride<>(ld));
  Strided view(matrix);
  const Eigen::HouseholderQR<Strided> qr(view);  // in place
}

std::size_t geqrf_bytes(DenseContext& context, int m, int n) {
  if (context.cuda()) return geqrf_bytes_cuda(*context.cuda(), m, n);
  // Eigen's panels of 48 columns.
  return (extent(std::min(m, n)) + 2 * extent(48, n)) * sizeof(double);
}

}  // namespace supple
