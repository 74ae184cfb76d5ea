#include "solvers/cubature/compress_rows.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "solvers/cubature/column_products.hpp"
#include "solvers/cubature/cubature.hpp"
#include "solvers/dense/pack.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
constexpr int block_width = 128;     // sketch columns per round
constexpr int signs_per_column = 4;  // places of a sketch block a column of G goes to
constexpr int row_chunk = 512;

// splitmix64, Steele, Lea & Flood 2014
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// G Omega with Omega: columns x block_width, `signs_per_column` entries +-1/sqrt(signs) in each row. E || G Omega
// ||_F^2 = || G ||_F^2.
Matrix sketch(const ColumnMatrix& G, std::uint64_t seed) {
  Matrix Y = Matrix::Zero(G.rows, block_width);
  const double size = 1 / std::sqrt(static_cast<double>(signs_per_column));
  const int chunks = (G.rows + row_chunk - 1) / row_chunk;
#pragma omp parallel for schedule(dynamic)
  for (int b = 0; b < chunks; ++b) {
    const int first = b * row_chunk, height = std::min(row_chunk, G.rows - first);
    for (int i = 0; i < G.columns; ++i) {
      const std::uint64_t bits = mix(seed ^ mix(static_cast<std::uint64_t>(i)));
      for (int t = 0; t < signs_per_column; ++t) {
        const unsigned draw = static_cast<unsigned>(bits >> (16 * t)) & 0xffffu;
        // One place in each quarter of the block: the places of a column differ.
        const int width = block_width / signs_per_column, place = t * width + static_cast<int>(draw >> 1) % width;
        add_scaled(Y.col(place).data() + first, draw & 1u ? size : -size, G.column(i) + first, height);
      }
    }
  }
  return Y;
}

// Q^T G by chunks of columns.
Matrix project(const Matrix& Q, const ColumnMatrix& G) {
  Matrix R(Q.cols(), G.columns);
  const int chunks = (G.columns + column_chunk - 1) / column_chunk;
#pragma omp parallel for schedule(dynamic)
  for (int b = 0; b < chunks; ++b) {
    const int first = b * column_chunk, width = std::min(column_chunk, G.columns - first);
    R.middleCols(first, width).noalias() = Q.transpose() * Eigen::Map<const Matrix>(G.column(first), G.rows, width);
  }
  return R;
}

double squared_norm(const double* data, int rows, int columns) {
  std::vector<double> part(columns);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < columns; ++i) {
    const double* column = data + static_cast<std::size_t>(i) * rows;
    part[i] = dot(column, column, rows);
  }
  double sum = 0;
  for (double p : part) sum += p;
  return sum;
}

Matrix thin_q(const Matrix& A) {
  const Eigen::HouseholderQR<Matrix> qr(A);
  return qr.householderQ() * Matrix::Identity(A.rows(), A.cols());
}

// Appends an orthonormal basis of the columns of Y outside the span of Q.
void extend(Matrix& Q, Matrix Y) {
  const int old = static_cast<int>(Q.cols());
  const int width = std::min<int>(static_cast<int>(Y.cols()), static_cast<int>(Q.rows()) - old);
  Y.conservativeResize(Eigen::NoChange, width);
  for (int pass = 0; pass < 2; ++pass) {
    Y -= Q * (Q.transpose() * Y).eval();
    Y = thin_q(Y);
  }
  Q.conservativeResize(Eigen::NoChange, old + width);
  Q.rightCols(width) = Y;
}

// R R^T, lower triangle, tiles in parallel.
Matrix row_gram(const Eigen::Ref<const Matrix>& R) {
  constexpr int tile = 128;
  const int n = static_cast<int>(R.rows()), tiles = (n + tile - 1) / tile;
  Matrix gram = Matrix::Zero(n, n);
#pragma omp parallel for schedule(dynamic)
  for (int t = 0; t < tiles * tiles; ++t) {
    const int i = t / tiles * tile, j = t % tiles * tile;
    if (j > i) continue;
    const int height = std::min(tile, n - i), width = std::min(tile, n - j);
    gram.block(i, j, height, width).noalias() = R.middleRows(i, height) * R.middleRows(j, width).transpose();
  }
  return gram;
}

CompressedRows exact(const ColumnMatrix& G) {
  CompressedRows result;
  result.rows = std::min(G.rows, G.columns);
  if (G.rows <= G.columns) {
    result.matrix.assign(G.data, G.data + static_cast<std::size_t>(G.rows) * G.columns);
    return result;
  }
  const Eigen::HouseholderQR<Matrix> qr(Eigen::Map<const Matrix>(G.data, G.rows, G.columns));
  const Matrix R = qr.matrixQR().topRows(G.columns).triangularView<Eigen::Upper>();
  result.matrix.assign(R.data(), R.data() + R.size());
  return result;
}

}  // namespace

CompressedRows compress_rows(std::span<const double> data, int rows, int columns, double tolerance,
                             std::uint64_t seed) {
  SUPPLE_EXPECT(data.size() == static_cast<std::size_t>(rows) * columns && tolerance >= 0);
  const ColumnMatrix G{data.data(), rows, columns};
  const double total = squared_norm(G.data, rows, columns);
  if (tolerance == 0 || total == 0 || rows < 2) return exact(G);

  // Half of the (squared) error is for the range, half for dropping weak directions. q_0 = G 1 / || G 1 || always
  // stays.
  const double budget = tolerance * tolerance * total / 2;
  const std::vector<double> sum = column_sum(data, rows, columns);
  Matrix Q = Eigen::Map<const Matrix>(sum.data(), rows, 1);
  if (!(Q.norm() > 0)) Q(0, 0) = 1;
  Q /= Q.norm();
  for (std::uint64_t round = 0; Q.cols() < rows; ++round) {
    // A fresh sketch is independent of Q, so its part outside Q estimates || (I - Q Q^T) G ||_F without bias.
    const Matrix Y = sketch(G, mix(seed + 0x51ed27u * round));
    const double outside = (Y - Q * (Q.transpose() * Y).eval()).squaredNorm();
    if (outside <= budget / 2) break;
    extend(Q, Y);
  }
  if (Q.cols() >= std::min(rows, columns)) return exact(G);
  Matrix R = project(Q, G);

  // Eigenvectors of R_1 R_1^T, ascending, R_1 = R without its first row: drop while the sum of eigenvalues fits the
  // budget.
  const int rest = static_cast<int>(R.rows()) - 1;
  const double range_error = std::max(0.0, total - squared_norm(R.data(), rest + 1, columns));
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(row_gram(R.bottomRows(rest)));
  double dropped = range_error;
  int drop = 0;
  while (drop < rest && dropped + std::max(0.0, eigen.eigenvalues()(drop)) <= 2 * budget)
    dropped += std::max(0.0, eigen.eigenvalues()(drop++));
  Matrix rotated(rest + 1, rest + 1 - drop);
  rotated.setZero();
  rotated(0, 0) = 1;
  rotated.bottomRightCorner(rest, rest - drop) = eigen.eigenvectors().rightCols(rest - drop);
  const Matrix kept = project(rotated, {R.data(), rest + 1, columns});
  CompressedRows result;
  result.rows = rest + 1 - drop;
  result.matrix.assign(kept.data(), kept.data() + kept.size());
  result.relative_error = std::sqrt(std::max(0.0, total - squared_norm(kept.data(), result.rows, columns)) / total);
  return result;
}

}  // namespace supple
