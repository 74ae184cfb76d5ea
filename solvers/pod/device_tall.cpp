#include "solvers/pod/device_tall.hpp"

#include <algorithm>

#include "kernels/base/extent.hpp"
#include "solvers/dense/qr.hpp"

namespace supple {

using Matrix = Eigen::MatrixXd;

namespace {

std::span<const double> entries(const Matrix& A) {
  return {A.data(), static_cast<std::size_t>(A.size())};
}

// R of the factors of geqrf.
Matrix upper_part(const Array<double>& factors, int rows, int columns) {
  const int height = std::min(rows, columns);
  Matrix R = Matrix::Zero(height, columns);
  for (int j = 0; j < columns; ++j)
    copy_bytes(cpu(), R.col(j).data(), factors.device(), factors.data() + extent(j, rows),
               extent(std::min(j + 1, height)) * sizeof(double));
  return R;
}

}  // namespace

template <class Bytes>
int DeviceTall::panel_height(Eigen::Index rows, Eigen::Index least, const Bytes& bytes) const {
  auto height = static_cast<int>(rows);
  const std::size_t room = room_.bytes();
  while (height > least && bytes(height) > room) height = std::max(static_cast<int>(least), (height + 1) / 2);
  (void)room_.portion("the modes", bytes(height), 0, 0, 0);
  return height;
}

Matrix DeviceTall::triangle(const Matrix& S) {
  const int rows = static_cast<int>(S.rows()), columns = static_cast<int>(S.cols());
  Matrix R(0, columns);
  if (rows == 0 || columns == 0) return R;
  const auto stacked_rows = [&](int height) { return height < rows ? height + columns : height; };
  const int height = panel_height(rows, std::min(rows, columns), [&](int panel) {
    return extent(stacked_rows(panel), columns) * sizeof(double) + geqrf_bytes(context_, stacked_rows(panel), columns);
  });
  Array<double> panel(room_.device, extent(stacked_rows(height), columns));
  for (int first = 0; first < rows; first += height) {
    const int size = std::min(height, rows - first), above = static_cast<int>(R.rows());
    if (size == rows) {
      panel.upload(entries(S));
    } else {
      Matrix stacked(above + size, columns);
      stacked.topRows(above) = R;
      stacked.bottomRows(size) = S.middleRows(first, size);
      panel.upload(entries(stacked));
    }
    geqrf(context_, above + size, columns, panel.data(), above + size);
    R = upper_part(panel, above + size, columns);
  }
  return R;
}

Matrix DeviceTall::multiply(const Matrix& S, const Matrix& V) {
  const int rows = static_cast<int>(S.rows()), inner = static_cast<int>(S.cols()), columns = static_cast<int>(V.cols());
  Matrix P(rows, columns);
  if (rows == 0 || columns == 0) return P;
  const int height = panel_height(rows, 1, [&](int panel) {
    return (extent(panel, inner) + extent(panel, columns) + extent(inner, columns)) * sizeof(double);
  });
  const Array<double> right(room_.device, entries(V));
  Array<double> left(room_.device, extent(height, inner)), product(room_.device, extent(height, columns));
  for (int first = 0; first < rows; first += height) {
    const int size = std::min(height, rows - first);
    if (size == rows)
      left.upload(entries(S));
    else
      left.upload(entries(Matrix(S.middleRows(first, size))));
    gemm(context_, size, columns, inner, 1.0, {left.data(), size}, {right.data(), inner}, 0.0, {product.data(), size});
    Matrix part(size, columns);
    product.download({part.data(), static_cast<std::size_t>(part.size())});
    P.middleRows(first, size) = part;
  }
  return P;
}

void DeviceTall::orthonormalise(Matrix& S) {
  const Matrix R = triangle(S);
  S = multiply(S, R.triangularView<Eigen::Upper>().solve(Matrix::Identity(S.cols(), S.cols())));
}

}  // namespace supple
