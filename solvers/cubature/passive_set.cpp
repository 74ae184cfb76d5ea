#include "solvers/cubature/passive_set.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "solvers/dense/pack.hpp"

namespace supple {
namespace {
// A column whose part outside the span of the chosen ones is below this fraction of it (squared lengths) counts as
// dependent.
constexpr double dependent = 1e-11;
// Columns and rows of the blocks that Gram matrices are made of: two of them stay in the cache (0.5 MB).
constexpr int gram_tile = 32, gram_rows = 1024;
}  // namespace

PassiveSet::PassiveSet(const ColumnMatrix& G, const double* y) : G_(G), y_(y) {
  y_norm_ = std::sqrt(dot(y, y, G.rows));
  residual_.resize(G.rows);
  update_residual();
}

void PassiveSet::update_residual() {
  const double norm = supple::residual(G_, columns_, weights_.data(), y_, residual_.data());
  relative_residual_ = y_norm_ > 0 ? norm / y_norm_ : norm;
}

bool PassiveSet::append_products(int column, double weight, std::vector<double> row, double length) {
  const int n = size();
  // L l = G_S^T g, d^2 = g^T g - l^T l
  for (int i = 0; i < n; ++i) row[i] = (row[i] - dot(factor_[i].data(), row.data(), i)) / factor_[i][i];
  const double left = length - dot(row.data(), row.data(), n);
  if (!(left > dependent * length)) return false;
  row.push_back(std::sqrt(left));
  factor_.push_back(std::move(row));
  columns_.push_back(column);
  weights_.push_back(weight);
  target_.push_back(dot(G_.column(column), y_, G_.rows));
  return true;
}

bool PassiveSet::append(int column, double weight) {
  const double* g = G_.column(column);
  std::vector<double> row(columns_.size());
  transpose_multiply(G_, columns_, g, row.data());
  if (!append_products(column, weight, std::move(row), dot(g, g, G_.rows))) return false;
  if (weight != 0) update_residual();
  return true;
}

void PassiveSet::append_all(std::span<const int> columns, std::span<const double> weights) {
  SUPPLE_EXPECT(size() == 0 && columns.size() == weights.size());
  using Matrix = Eigen::MatrixXd;
  const int n = static_cast<int>(columns.size()), tiles = (n + gram_tile - 1) / gram_tile;
  // G^T G of all columns, tile by tile and block of rows by block of rows: every entry is one thread's.
  Matrix gram(n, n);
#pragma omp parallel
  {
    Matrix left(gram_rows, gram_tile), right(gram_rows, gram_tile), product(gram_tile, gram_tile);
#pragma omp for schedule(dynamic)
    for (int pair = 0; pair < tiles * tiles; ++pair) {
      const int i = pair / tiles * gram_tile, j = pair % tiles * gram_tile;
      if (j > i) continue;
      const int height = std::min(gram_tile, n - i), width = std::min(gram_tile, n - j);
      product.setZero();
      for (int first = 0; first < G_.rows; first += gram_rows) {
        const int count = std::min(gram_rows, G_.rows - first);
        for (int k = 0; k < height; ++k) std::copy_n(G_.column(columns[i + k]) + first, count, left.col(k).data());
        for (int k = 0; k < width; ++k) std::copy_n(G_.column(columns[j + k]) + first, count, right.col(k).data());
        product.topLeftCorner(height, width).noalias() +=
            left.topLeftCorner(count, height).transpose() * right.topLeftCorner(count, width);
      }
      gram.block(i, j, height, width) = product.topLeftCorner(height, width);
    }
  }
  std::vector<int> kept;
  for (int k = 0; k < n; ++k) {
    std::vector<double> row;
    for (const int other : kept) row.push_back(gram(k, other));
    if (append_products(columns[k], weights[k], std::move(row), gram(k, k))) kept.push_back(k);
  }
  update_residual();
}

Removal PassiveSet::remove(int position) {
  Removal removal{columns_[position], position, {}};
  columns_.erase(columns_.begin() + position);
  weights_.erase(weights_.begin() + position);
  target_.erase(target_.begin() + position);
  factor_.erase(factor_.begin() + position);
  // Rows from `position` on have one entry too many on the right: rotate column k + 1 into column k.
  for (int k = position; k < size(); ++k) {
    const double a = factor_[k][k], b = factor_[k][k + 1], r = std::hypot(a, b), c = a / r, s = b / r;
    removal.rotations.emplace_back(c, s);
    for (int i = k; i < size(); ++i) {
      const double left = factor_[i][k], right = factor_[i][k + 1];
      factor_[i][k] = c * left + s * right;
      factor_[i][k + 1] = c * right - s * left;
    }
    factor_[k].resize(k + 1);
  }
  return removal;
}

void PassiveSet::solve(std::vector<double>& x) const {
  const int n = size();
  for (int i = 0; i < n; ++i) x[i] = (x[i] - dot(factor_[i].data(), x.data(), i)) / factor_[i][i];
  for (int i = n - 1; i >= 0; --i) {
    x[i] /= factor_[i][i];
    add_scaled(x.data(), -x[i], factor_[i].data(), i);
  }
}

std::vector<Removal> PassiveSet::refit() {
  std::vector<Removal> removals;
  std::vector<double> step, scratch(G_.rows);
  while (size() > 0) {
    // z = H^-1 G_S^T y, refined once with the residual formed from G_S: the Gram matrix squares the condition.
    std::vector<double> z = target_;
    solve(z);
    supple::residual(G_, columns_, z.data(), y_, scratch.data());
    step.resize(z.size());
    transpose_multiply(G_, columns_, scratch.data(), step.data());
    solve(step);
    for (int i = 0; i < size(); ++i) z[i] += step[i];

    double alpha = 1;
    int blocking = -1;
    for (int i = 0; i < size(); ++i) {
      if (z[i] > 0) continue;
      const double fraction = weights_[i] > 0 ? weights_[i] / (weights_[i] - z[i]) : 0;
      if (blocking < 0 || fraction < alpha) alpha = fraction, blocking = i;
    }
    if (blocking < 0) {
      weights_ = z;
      break;
    }
    for (int i = 0; i < size(); ++i) weights_[i] += alpha * (z[i] - weights_[i]);
    weights_[blocking] = 0;
    for (int i = size() - 1; i >= 0; --i)
      if (weights_[i] <= 0 && z[i] <= 0) removals.push_back(remove(i));
  }
  update_residual();
  return removals;
}

std::vector<double> PassiveSet::inverse_gram() const {
  const int n = size();
  // Rows of M = L^-1, then H^-1 = M^T M, both by contiguous row updates.
  std::vector<double> inverse(static_cast<std::size_t>(n) * n, 0.0), M(inverse.size(), 0.0);
  for (int i = 0; i < n; ++i) {
    double* row = M.data() + static_cast<std::size_t>(i) * n;
    row[i] = 1;
    for (int j = 0; j < i; ++j) add_scaled(row, -factor_[i][j], M.data() + static_cast<std::size_t>(j) * n, j + 1);
    for (int j = 0; j <= i; ++j) row[j] /= factor_[i][i];
  }
  for (int k = 0; k < n; ++k) {
    const double* row = M.data() + static_cast<std::size_t>(k) * n;
    for (int i = 0; i <= k; ++i) add_scaled(inverse.data() + static_cast<std::size_t>(i) * n, row[i], row, k + 1);
  }
  return inverse;
}

}  // namespace supple
