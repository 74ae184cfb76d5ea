#include "solvers/cubature/device_scores.hpp"

#include <Eigen/Dense>
#include <algorithm>

#include "kernels/array/launch.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

constexpr int least_rows = 64;  // of T

std::span<const double> entries(const ColumnMatrix& G) {
  return {G.data, extent(G.rows, G.columns)};
}

}  // namespace

DeviceGradientScore::DeviceGradientScore(const Device& device, const ColumnMatrix& G, const double* y)
    : rows_(G.rows),
      columns_(G.columns),
      context_(device),
      G_(device, entries(G)),
      residual_(device, extent(G.rows)),
      mu_there_(device, extent(G.columns)),
      mu_(extent(G.columns)),
      threshold_(score_thresholds(squared_lengths(G), y, G.rows)) {}

void DeviceGradientScore::update(const PassiveSet& passive) {
  residual_.upload(passive.residual());
  gemm(context_, columns_, 1, rows_, 1.0, {G_.data(), rows_, Transpose::yes}, {residual_.data(), rows_}, 0,
       {mu_there_.data(), columns_});
  mu_there_.download(mu_);
}

DeviceOrthogonalScore::DeviceOrthogonalScore(const Device& device, const ColumnMatrix& G, const double* y)
    : rows_(G.rows),
      columns_(G.columns),
      context_(device),
      G_(device, entries(G)),
      T_(device, 0),
      coefficients_(device, 0),
      target_(device, extent(G.columns)),
      mu_there_(device, extent(G.columns)),
      rotations_(device, 0),
      mu_(extent(G.columns)),
      squared_(squared_lengths(G)),
      threshold_(score_thresholds(squared_, y, G.rows)),
      left_(squared_),
      scratch_(extent(G.columns)) {
  const Array<double> right(device, std::span<const double>(y, extent(rows_)));
  gemm(context_, columns_, 1, rows_, 1.0, {G_.data(), rows_, Transpose::yes}, {right.data(), rows_}, 0,
       {target_.data(), columns_});
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
    copy_bytes(device, chosen.data() + extent(k, rows_), device,
               G_.data() + extent(passive.columns()[extent(k)], rows_), extent(rows_) * sizeof(double));
    for (int j = 0; j <= k; ++j) L(k, j) = passive.factor_row(k)[extent(j)];
  }
  const Eigen::MatrixXd inverse = L.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(n, n));
  upload_coefficients({inverse.data(), extent(n, n)});
  reserve(n);
  gemm(context_, columns_, n, rows_, 1.0, {G_.data(), rows_, Transpose::yes}, {chosen.data(), rows_}, 0,
       {products.data(), columns_});
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
  gemm(context_, columns_, 1, rows_, scale, {G_.data(), rows_, Transpose::yes},
       {G_.data() + extent(passive.columns()[extent(n)], rows_), rows_}, 0, {row(n), columns_});
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
