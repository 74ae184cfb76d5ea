#include "solvers/cubature/scores.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "solvers/dense/pack.hpp"

namespace supple {
namespace {

constexpr long parallel_from = 2000000;  // entries touched
constexpr double rounding = 1e-12;       // mu below this fraction of ||g_i|| ||y|| counts as zero
constexpr double dependent = 1e-10;      // ||g_i||^2 left outside the span of Q, relative

int chunk_count(const ColumnMatrix& G) {
  return (G.columns + column_chunk - 1) / column_chunk;
}

}  // namespace

std::vector<double> squared_lengths(const ColumnMatrix& G) {
  std::vector<double> squared(G.columns);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < G.columns; ++i) squared[i] = dot(G.column(i), G.column(i), G.rows);
  return squared;
}

std::vector<double> score_thresholds(const std::vector<double>& squared, const double* y, int rows) {
  const double length = std::sqrt(dot(y, y, rows));
  std::vector<double> threshold(squared.size());
  for (std::size_t i = 0; i < squared.size(); ++i) threshold[i] = rounding * std::sqrt(squared[i]) * length;
  return threshold;
}

int best_gradient(const std::vector<double>& mu, const std::vector<double>& threshold,
                  const std::vector<char>& excluded) {
  int best = -1;
  for (int i = 0; i < static_cast<int>(mu.size()); ++i)
    if (!excluded[i] && mu[i] > threshold[i] && (best < 0 || mu[i] > mu[best])) best = i;
  return best;
}

int best_orthogonal(const std::vector<double>& mu, const std::vector<double>& left, const std::vector<double>& squared,
                    const std::vector<double>& threshold, const std::vector<char>& excluded) {
  int best = -1;
  double best_score = 0;
  for (int i = 0; i < static_cast<int>(mu.size()); ++i) {
    if (excluded[i] || !(mu[i] > threshold[i]) || !(left[i] > dependent * squared[i])) continue;
    const double score = mu[i] * mu[i] / left[i];
    if (score > best_score) best_score = score, best = i;
  }
  return best;
}

GradientScore::GradientScore(const ColumnMatrix& G, const double* y)
    : G_(G), mu_(G.columns), threshold_(score_thresholds(squared_lengths(G), y, G.rows)) {}

void GradientScore::update(const PassiveSet& passive) {
  transpose_multiply(G_, passive.residual().data(), mu_.data());
}

OrthogonalScore::OrthogonalScore(const ColumnMatrix& G, const double* y)
    : G_(G), mu_(G.columns), target_(G.columns), squared_(squared_lengths(G)), left_(squared_) {
  threshold_ = score_thresholds(squared_, y, G.rows);
  transpose_multiply(G, y, target_.data());
}

void OrthogonalScore::rebuild(const PassiveSet& passive) {
  using Matrix = Eigen::MatrixXd;
  const int n = passive.size();
  left_ = squared_;
  T_.assign(n, std::vector<double>(G_.columns));
  if (n == 0) return;
  Matrix chosen(G_.rows, n), L = Matrix::Zero(n, n);
  for (int k = 0; k < n; ++k) {
    std::copy(G_.column(passive.columns()[k]), G_.column(passive.columns()[k]) + G_.rows, chosen.col(k).data());
    for (int j = 0; j <= k; ++j) L(k, j) = passive.factor_row(k)[j];
  }
  // L T = G_S^T G, by chunks of columns.
#pragma omp parallel for schedule(dynamic)
  for (int b = 0; b < chunk_count(G_); ++b) {
    const int first = b * column_chunk, width = std::min(column_chunk, G_.columns - first);
    const Eigen::Map<const Matrix> part(G_.column(first), G_.rows, width);
    Matrix t = chosen.transpose() * part;
    L.triangularView<Eigen::Lower>().solveInPlace(t);
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < width; ++i) {
        T_[k][first + i] = t(k, i);
        left_[first + i] -= t(k, i) * t(k, i);
      }
  }
}

void OrthogonalScore::update(const PassiveSet& passive) {
  // mu = G^T y - (Q^T G)^T L^T w
  const int n = passive.size();
  std::vector<double> v(n, 0.0);
  for (int i = 0; i < n; ++i) add_scaled(v.data(), passive.weights()[i], passive.factor_row(i).data(), i + 1);
#pragma omp parallel for schedule(static) if (static_cast <long>(n) * G_.columns > parallel_from)
  for (int b = 0; b < chunk_count(G_); ++b) {
    const int first = b * column_chunk, width = std::min(column_chunk, G_.columns - first);
    std::copy_n(target_.data() + first, width, mu_.data() + first);
    for (int k = 0; k < n; ++k) add_scaled(mu_.data() + first, -v[k], T_[k].data() + first, width);
  }
}

void OrthogonalScore::appended(const PassiveSet& passive) {
  const int n = passive.size() - 1;
  const std::vector<double>& l = passive.factor_row(n);
  const double* g = G_.column(passive.columns()[n]);
  std::vector<double>& t = T_.emplace_back(G_.columns);
  // t = (g^T G - sum_k l_k T_k) / l_n
#pragma omp parallel for schedule(static) if (static_cast <long>(n + G_.rows) * G_.columns > parallel_from)
  for (int b = 0; b < chunk_count(G_); ++b) {
    const int first = b * column_chunk, width = std::min(column_chunk, G_.columns - first);
    double* part = t.data() + first;
    for (int i = 0; i < width; ++i) part[i] = dot(G_.column(first + i), g, G_.rows);
    for (int k = 0; k < n; ++k) add_scaled(part, -l[k], T_[k].data() + first, width);
    for (int i = 0; i < width; ++i) {
      part[i] /= l[n];
      left_[first + i] -= part[i] * part[i];
    }
  }
}

void OrthogonalScore::removed(const Removal& removal) {
#pragma omp parallel for schedule(static) if (static_cast <long>(removal.rotations.size()) * G_.columns > parallel_from)
  for (int b = 0; b < chunk_count(G_); ++b) {
    const int first = b * column_chunk, last = std::min(first + column_chunk, G_.columns);
    int k = removal.position;
    for (const auto& [c, s] : removal.rotations) {
      double *upper = T_[k].data(), *lower = T_[k + 1].data();
      for (int i = first; i < last; ++i) {
        const double u = upper[i], l = lower[i];
        upper[i] = c * u + s * l;
        lower[i] = c * l - s * u;
      }
      ++k;
    }
    for (int i = first; i < last; ++i) left_[i] += T_[k][i] * T_[k][i];
  }
  T_.pop_back();
}

}  // namespace supple
