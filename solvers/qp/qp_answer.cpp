// What a solve reports: residuals, certificates, the answer in the caller's units.
#include <algorithm>
#include <cmath>

#include "solvers/qp/qp_solver.hpp"

namespace supple::qp {
namespace {

constexpr double negative_pivot = 1e-9;  // of P^, not convex

double ratio(double value, double size) {
  return value == 0 ? 0 : value / size;
}

}  // namespace

// Elimination of P^ with the largest diagonal first: what remains once that is gone is zero, or P is not convex.
bool QpSolver::convex() {
  const int n = qp_.n, ld = qp_.ld;
  double* A = matrix_;
  std::copy_n(qp_.P, n * ld, A);
  std::fill_n(pivots_, n, 0);  // 1: eliminated
  for (int step = 0; step < n; ++step) {
    int best = -1;
    for (int i = 0; i < n; ++i)
      if (!pivots_[i] && (best < 0 || A[i * ld + i] > A[best * ld + best])) best = i;
    const double* pivot = A + best * ld;
    if (!(pivot[best] > 1e-3 * negative_pivot)) break;
    pivots_[best] = 1;
    for (int i = 0; i < n; ++i) {
      if (pivots_[i]) continue;
      add_scaled(A + i * ld, -A[i * ld + best] / pivot[best], pivot, ld);
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      if (!pivots_[i] && !pivots_[j] && (i == j ? -A[i * ld + i] : std::abs(A[i * ld + j])) > negative_pivot)
        return false;
  return true;
}

double QpSolver::evaluate() {
  const int n = qp_.n, ld = qp_.ld;
  double *x = set_.x, *u = set_.u, *r = residual_, *size = set_.z;
  for (int j = 0; j < factor_.size; ++j)
    if (factor_.constraint[j] < n) x[factor_.constraint[j]] = set_.limit(j);
  for (int i = 0; i < n; ++i) x[i] = std::min(std::max(x[i], qp_.lower[i]), qp_.upper[i]);
  // r = P x + g - sum u a, size = |P||x| + |g| + sum |u||a|
  std::fill_n(r, ld, 0.0);
  std::fill_n(size, ld, 0.0);
  for (int j = 0; j < n; ++j) {
    const double *row = qp_.P + j * ld, value = x[j], magnitude = std::abs(value);
    for (int i = 0; i < ld; ++i) r[i] += value * row[i], size[i] += magnitude * std::abs(row[i]);
  }
  double objective = 0;
  for (int i = 0; i < n; ++i) {
    objective += x[i] * (0.5 * r[i] + qp_.g[i]);
    r[i] += qp_.g[i];
    size[i] += std::abs(qp_.g[i]);
  }
  const double largest_x = largest(x, n);
  double complementarity = 0, dual_sign = 0, primal = 0;
  for (int j = 0; j < factor_.size; ++j) {
    const int k = factor_.constraint[j];
    const double wrong = set_.wrong_sign(j, u[j]);
    if (wrong > 0) dual_sign = std::max(dual_sign, wrong), u[j] = 0;
    const double limit = set_.limit(j), magnitude = std::abs(u[j]);
    const double distance = std::abs(qp_.value(k, x) - limit);
    complementarity = std::max(complementarity, magnitude * ratio(distance, largest_x + std::abs(limit)));
    if (k < n) {
      r[k] -= u[j];
      size[k] += magnitude;
    } else {
      const double* row = qp_.row_of(k);
      for (int i = 0; i < ld; ++i) r[i] -= u[j] * row[i], size[i] += magnitude * std::abs(row[i]);
    }
  }
  for (int k = n; k < qp_.constraints(); ++k) {
    const double value = qp_.value(k, x), below = qp_.lower[k] - value, above = value - qp_.upper[k];
    if (below > 0) primal = std::max(primal, below / (largest_x + std::abs(qp_.lower[k])));
    if (above > 0) primal = std::max(primal, above / (largest_x + std::abs(qp_.upper[k])));
  }
  const double largest_size = largest(size, n);
  const double stationarity = ratio(largest(r, n), largest_size);
  complementarity = ratio(complementarity, largest_size);
  dual_sign = ratio(dual_sign, largest_size);
  const double worst = std::max(std::max(stationarity, primal), std::max(complementarity, dual_sign));
  if (worst < best_) {
    best_ = worst;
    report_.objective = objective;
    report_.stationarity = stationarity;
    report_.primal = primal;
    report_.complementarity = complementarity;
    report_.dual_sign = dual_sign;
    std::copy_n(x, n, best_x_);
    std::copy_n(set_.side, qp_.constraints(), best_side_);
    std::fill_n(best_u_, qp_.constraints(), 0.0);
    for (int j = 0; j < factor_.size; ++j) best_u_[factor_.constraint[j]] = u[j];
  }
  return worst;
}

double QpSolver::limit_given(int k, QpSide side) const {
  const bool low = side == QpSide::lower;
  if (k < qp_.n) return (low ? problem_.lower : problem_.upper)[extent(k)];
  return (low ? problem_.row_lower : problem_.row_upper)[extent(k - qp_.n)];
}

// sign a = sum r_j a_j over the working set, of which r_j > 0 pull at upper ends and r_j < 0 at lower ones. Independent
// normals have one such combination only: none of its members can be left out.
void QpSolver::report_conflicts() {
  const double* r = set_.t;
  int count = 0;
  memory_.conflicts[0] = {set_.conflict, set_.conflict_side, qp_.scale(set_.conflict)};
  ++count;
  for (int j = 0; j < factor_.size; ++j) {
    if (r[j] == 0) continue;
    const int k = factor_.constraint[j];
    memory_.conflicts[extent(count++)] = {k, r[j] > 0 ? QpSide::upper : QpSide::lower, std::abs(r[j]) * qp_.scale(k)};
  }
  double gap = 0;  // normalised in the caller's units
  for (int c = 0; c < count; ++c) {
    const QpConflict& here = memory_.conflicts[extent(c)];
    gap += (here.side == QpSide::lower ? here.weight : -here.weight) * limit_given(here.constraint, here.side);
  }
  for (int c = 0; c < count; ++c) memory_.conflicts[extent(c)].weight /= gap;
  std::sort(memory_.conflicts.begin(), memory_.conflicts.begin() + count,
            [](const QpConflict& a, const QpConflict& b) { return a.constraint < b.constraint; });
  memory_.conflicts_used = extent(count);
}

void QpSolver::report_direction() {
  const double size = largest(set_.z, qp_.n);
  for (int i = 0; i < qp_.n; ++i) memory_.direction[extent(i)] = set_.z[i] / size * qp_.column[i];
  memory_.direction_used = extent(qp_.n);
}

QpReport QpSolver::give_best() {
  const int n = qp_.n, m = qp_.m;
  if (!std::isfinite(best_)) return give_nothing(QpStatus::iteration_limit);  // overflow
  for (int i = 0; i < n; ++i) {
    double value = best_x_[i] * qp_.column[i];
    if (!problem_.lower.empty()) value = std::max(value, problem_.lower[extent(i)]);
    if (!problem_.upper.empty()) value = std::min(value, problem_.upper[extent(i)]);
    if (best_side_[i] != QpSide::none) value = limit_given(i, best_side_[i]);
    solution_.x[extent(i)] = value;
    if (!solution_.bound_multipliers.empty()) solution_.bound_multipliers[extent(i)] = -best_u_[i] / qp_.column[i];
  }
  if (!solution_.row_multipliers.empty())
    for (int k = 0; k < m; ++k) solution_.row_multipliers[extent(k)] = -best_u_[n + k] * qp_.row[k];
  if (!solution_.active.empty()) std::copy_n(best_side_, n + m, solution_.active.begin());
  report_.iterations = set_.iterations;
  report_.status = best_ <= settings_.tolerance ? QpStatus::solved : QpStatus::iteration_limit;
  return report_;
}

QpReport QpSolver::give_nothing(QpStatus status) {
  std::fill(solution_.x.begin(), solution_.x.end(), 0.0);
  std::fill(solution_.bound_multipliers.begin(), solution_.bound_multipliers.end(), 0.0);
  std::fill(solution_.row_multipliers.begin(), solution_.row_multipliers.end(), 0.0);
  QpReport report;
  report.status = status;
  report.iterations = set_.iterations;
  return report;
}

}  // namespace supple::qp
