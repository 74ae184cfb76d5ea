#include "solvers/cubature/device_scores.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <string>

#include "kernels/array/launch.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

constexpr int least_rows = 64;  // of T
// Rows of T that room is kept for: domains rarely have more units. More are tried all the same.
constexpr int expected_rows = 512;

// Of the orthogonal score: T while it doubles, and two vectors.
std::size_t beside(const ColumnMatrix& G) {
  const int rows = std::max(least_rows, std::min(expected_rows, G.rows));
  return extent(G.columns) * (static_cast<std::size_t>(rows) * 3 / 2 + 2) * sizeof(double);
}

}  // namespace

DeviceColumns::DeviceColumns(const DeviceRoom& room, const ColumnMatrix& G, std::size_t beside)
    : context_(room.device),
      G_(G),
      width_(static_cast<int>(room.portion("the scores of " + std::to_string(G.columns) + " candidates", beside,
                                           extent(G.rows) * sizeof(double), extent(std::min(G.columns, column_chunk)),
                                           extent(G.columns)))),
      columns_(room.device, extent(width_, G.rows)),
      one_(room.device, whole() ? 0 : extent(G.rows)) {
  if (whole()) columns_.upload({G.data, extent(G.rows, G.columns)});
}

void DeviceColumns::multiply(double scale, const double* X, int count, double* out) {
  for (int first = 0; first < G_.columns; first += width_) {
    const int width = std::min(width_, G_.columns - first);
    if (!whole()) columns_.upload({G_.column(first), extent(width, G_.rows)});
    gemm(context_, width, count, G_.rows, scale, {columns_.data(), G_.rows, Transpose::yes}, {X, G_.rows}, 0,
         {out + first, G_.columns});
  }
}

const double* DeviceColumns::column(int i) {
  if (whole()) return columns_.data() + extent(i, G_.rows);
  one_.upload({G_.column(i), extent(G_.rows)});
  return one_.data();
}

std::shared_ptr<DeviceColumns> DeviceGradientScore::columns(const DeviceRoom& room, const ColumnMatrix& G) {
  return std::make_shared<DeviceColumns>(room, G, extent(G.rows + G.columns) * sizeof(double));
}

DeviceGradientScore::DeviceGradientScore(std::shared_ptr<DeviceColumns> there, const ColumnMatrix& G, const double* y)
    : G_(std::move(there)),
      residual_(G_->context().device(), extent(G.rows)),
      mu_there_(G_->context().device(), extent(G.columns)),
      mu_(extent(G.columns)),
      threshold_(score_thresholds(squared_lengths(G), y, G.rows)) {}

void DeviceGradientScore::update(const PassiveSet& passive) {
  residual_.upload(passive.residual());
  G_->multiply(1.0, residual_.data(), 1, mu_there_.data());
  mu_there_.download(mu_);
}

std::shared_ptr<DeviceColumns> DeviceOrthogonalScore::columns(const DeviceRoom& room, const ColumnMatrix& G) {
  return std::make_shared<DeviceColumns>(room, G, beside(G));
}

DeviceOrthogonalScore::DeviceOrthogonalScore(std::shared_ptr<DeviceColumns> there, const ColumnMatrix& G,
                                             const double* y)
    : rows_(G.rows),
      columns_(G.columns),
      G_(std::move(there)),
      context_(G_->context()),
      T_(context_.device(), 0),
      coefficients_(context_.device(), 0),
      target_(context_.device(), extent(G.columns)),
      mu_there_(context_.device(), extent(G.columns)),
      rotations_(context_.device(), 0),
      mu_(extent(G.columns)),
      squared_(squared_lengths(G)),
      threshold_(score_thresholds(squared_, y, G.rows)),
      left_(squared_),
      scratch_(extent(G.columns)) {
  const Array<double> right(context_.device(), std::span<const double>(y, extent(rows_)));
  G_->multiply(1.0, right.data(), 1, target_.data());
}

void DeviceOrthogonalScore::reserve(int rows) {
  if (T_.size() >= extent(rows, columns_)) return;
  const Device& device = context_.device();
  Array<double> larger(device, extent(std::max(least_rows, 2 * rows), columns_));
  copy_bytes(device, larger.data(), device, T_.data(), extent(size_, columns_) * sizeof(double));
  T_ = std::move(larger);
}

void DeviceOrthogonalScore::upload_coefficients(std::span<const double> values) {
  if (coefficients_.size() < values.size()) coefficients_ = Array<double>(context_.device(), 2 * values.size());
  coefficients_.upload(values);
}

void DeviceOrthogonalScore::add_squares(int k, double sign) {
  copy_bytes(cpu(), scratch_.data(), context_.device(), row(k), scratch_.size() * sizeof(double));
  for (std::size_t i = 0; i < left_.size(); ++i) left_[i] += sign * scratch_[i] * scratch_[i];
}

// T = L^-1 G_S^T G.
void DeviceOrthogonalScore::rebuild(const PassiveSet& passive) {
  const Device& device = context_.device();
  const int n = passive.size();
  size_ = 0;
  left_ = squared_;
  if (n == 0) return;
  Eigen::MatrixXd L = Eigen::MatrixXd::Zero(n, n);
  Array<double> chosen(device, extent(n, rows_)), products(device, extent(n, columns_));
  for (int k = 0; k < n; ++k) {
    copy_bytes(device, chosen.data() + extent(k, rows_), device, G_->column(passive.columns()[extent(k)]),
               extent(rows_) * sizeof(double));
    for (int j = 0; j <= k; ++j) L(k, j) = passive.factor_row(k)[extent(j)];
  }
  const Eigen::MatrixXd inverse = L.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(n, n));
  upload_coefficients({inverse.data(), extent(n, n)});
  reserve(n);
  G_->multiply(1.0, chosen.data(), n, products.data());
  gemm(context_, columns_, n, n, 1.0, {products.data(), columns_}, {coefficients_.data(), n, Transpose::yes}, 0,
       {T_.data(), columns_});
  size_ = n;
  for (int k = 0; k < n; ++k) add_squares(k, -1);
}

void DeviceOrthogonalScore::update(const PassiveSet& passive) {
  // mu = G^T y - (Q^T G)^T L^T w
  const int n = passive.size();
  std::vector<double> v(extent(n), 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) v[extent(j)] += passive.weights()[extent(i)] * passive.factor_row(i)[extent(j)];
  const Device& device = context_.device();
  copy_bytes(device, mu_there_.data(), device, target_.data(), extent(columns_) * sizeof(double));
  if (n > 0) {
    upload_coefficients(v);
    gemm(context_, columns_, 1, n, -1.0, {T_.data(), columns_}, {coefficients_.data(), n}, 1,
         {mu_there_.data(), columns_});
  }
  mu_there_.download(mu_);
}

void DeviceOrthogonalScore::appended(const PassiveSet& passive) {
  // t = (g^T G - sum_k l_k T_k) / l_n
  const int n = passive.size() - 1;
  const std::vector<double>& l = passive.factor_row(n);
  const double scale = 1 / l[extent(n)];
  reserve(n + 1);
  G_->multiply(scale, G_->column(passive.columns()[extent(n)]), 1, row(n));
  if (n > 0) {
    upload_coefficients(std::span(l).first(extent(n)));
    gemm(context_, columns_, 1, n, -scale, {T_.data(), columns_}, {coefficients_.data(), n}, 1, {row(n), columns_});
  }
  size_ = n + 1;
  add_squares(n, -1);
}

void DeviceOrthogonalScore::removed(const Removal& removal) {
  std::vector<PlaneRotation> rotations;
  for (const auto& [c, s] : removal.rotations) rotations.push_back({c, s});
  if (rotations_.size() < rotations.size()) rotations_ = Array<PlaneRotation>(context_.device(), 2 * rotations.size());
  rotations_.upload(rotations);
  launch(context_.device(), columns_,
         RotateRowsOp{T_.data(), columns_, removal.position, static_cast<int>(rotations.size()), rotations_.data()});
  add_squares(--size_, 1);
}

}  // namespace supple
