#include "tests/solvers/qp/qp_cases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace supple::test {

Qp::Qp(int n, int m)
    : P(RowMatrix::Zero(n, n)),
      C(RowMatrix::Zero(m, n)),
      g(VectorXd::Zero(n)),
      lower(VectorXd::Constant(n, -infinity)),
      upper(VectorXd::Constant(n, infinity)),
      row_lower(VectorXd::Constant(m, -infinity)),
      row_upper(VectorXd::Constant(m, infinity)) {}

QpProblem Qp::view() const {
  const auto span = [](const auto& v) { return std::span<const double>(v.data(), static_cast<std::size_t>(v.size())); };
  return {n(), m(), span(P), span(g), span(lower), span(upper), span(C), span(row_lower), span(row_upper), {}};
}

double Qp::objective(const VectorXd& x) const {
  return 0.5 * x.dot(P * x) + g.dot(x);
}

QpAnswer solve(const Qp& qp, QpWorkspace& workspace, std::vector<QpSide> active, const VectorXd& centre,
               const QpSettings& settings) {
  QpAnswer a{{}, VectorXd::Zero(qp.n()), VectorXd::Zero(qp.n()), VectorXd::Zero(qp.m()), std::move(active)};
  a.active.resize(static_cast<std::size_t>(qp.n() + qp.m()));
  const auto span = [](VectorXd& v) { return std::span(v.data(), static_cast<std::size_t>(v.size())); };
  QpProblem view = qp.view();
  view.centre = {centre.data(), static_cast<std::size_t>(centre.size())};
  a.report = solve_qp(view, {span(a.x), span(a.z), span(a.y), a.active}, workspace, settings);
  return a;
}

double kkt_violation(const Qp& qp, const QpAnswer& a) {
  const int n = qp.n(), m = qp.m();
  const auto largest = [](const VectorXd& v) { return v.size() ? v.cwiseAbs().maxCoeff() : 0; };
  const auto ratio = [](double value, double size) { return value == 0 ? 0 : value / size; };
  const VectorXd r = qp.P * a.x + qp.g + a.z + qp.C.transpose() * a.y;
  const VectorXd size = qp.P.cwiseAbs() * a.x.cwiseAbs() + qp.g.cwiseAbs() + a.z.cwiseAbs() +
                        qp.C.cwiseAbs().transpose() * a.y.cwiseAbs();
  double worst = ratio(largest(r), largest(size));
  const auto look = [&](double value, double low, double high, double multiplier, double norm) {
    const double reach = norm * largest(a.x);
    if (value < low) worst = std::max(worst, (low - value) / (reach + std::abs(low)));
    if (value > high) worst = std::max(worst, (value - high) / (reach + std::abs(high)));
    if (multiplier == 0) return;
    const double limit = multiplier > 0 ? high : low;
    if (!std::isfinite(limit)) worst = infinity;  // a wrong sign
    worst = std::max(worst, ratio(std::abs(value - limit), reach + std::abs(limit)) *
                                ratio(std::abs(multiplier) * norm, largest(size)));
  };
  for (int i = 0; i < n; ++i) look(a.x[i], qp.lower[i], qp.upper[i], a.z[i], 1);
  const VectorXd rows = qp.C * a.x;
  for (int k = 0; k < m; ++k) look(rows[k], qp.row_lower[k], qp.row_upper[k], a.y[k], qp.C.row(k).norm());
  return worst;
}

double conflict_violation(const Qp& qp, std::span<const QpConflict> conflicts) {
  const int n = qp.n();
  VectorXd sum = VectorXd::Zero(n), size = VectorXd::Zero(n);
  double limits = 0;
  for (const QpConflict& c : conflicts) {
    const bool low = c.side == QpSide::lower;
    VectorXd a = VectorXd::Zero(n);
    double limit;
    if (c.constraint < n) {
      a[c.constraint] = 1;
      limit = low ? qp.lower[c.constraint] : qp.upper[c.constraint];
    } else {
      a = qp.C.row(c.constraint - n);
      limit = low ? qp.row_lower[c.constraint - n] : qp.row_upper[c.constraint - n];
    }
    if (!(c.weight > 0) || !std::isfinite(limit)) return infinity;
    sum += (low ? -c.weight : c.weight) * a;
    size += c.weight * a.cwiseAbs();
    limits += low ? -c.weight * limit : c.weight * limit;
  }
  if (conflicts.empty() || std::abs(limits + 1) > 1e-6) return infinity;
  double worst = 0;
  for (int i = 0; i < n; ++i)
    if (sum[i] != 0) worst = std::max(worst, std::abs(sum[i]) / size.maxCoeff());
  return worst;
}

RowMatrix QpCases::positive_semidefinite(int n, int rank, double least) {
  Eigen::MatrixXd A = random.orthonormal(n, n).topRows(rank);
  for (int i = 0; i < rank; ++i) A.row(i) *= std::pow(least, random.uniform(0, 0.5));
  return A.transpose() * A;
}

void QpCases::limits_around(Qp& qp, const VectorXd& x, double touching, bool equalities, VectorXd& z, VectorXd& y) {
  const auto ends = [&](double value, double& low, double& high) {
    low = random.below(4) == 0 ? -infinity : value - random.uniform(0, 2);
    high = random.below(4) == 0 ? infinity : value + random.uniform(0, 2);
    if (equalities && random.below(4) == 0) {
      low = high = value;
      return random.uniform();
    }
    if (random.uniform(0, 1) > touching) return 0.0;
    const bool at_upper = random.below(2) == 0;
    (at_upper ? high : low) = value;
    const double size = random.below(4) == 0 ? 0 : random.uniform(0, 1);
    return at_upper ? size : -size;
  };
  const VectorXd rows = qp.C * x;
  for (int i = 0; i < qp.n(); ++i) z[i] = ends(x[i], qp.lower[i], qp.upper[i]);
  for (int k = 0; k < qp.m(); ++k) y[k] = ends(rows[k], qp.row_lower[k], qp.row_upper[k]);
}

Qp QpCases::make(QpKind kind, int n, int m) {
  Qp qp(n, m);
  const bool integers = kind == QpKind::degenerate;
  const auto entry = [&] { return integers ? random.below(5) - 2.0 : random.uniform(); };
  qp.C = RowMatrix::NullaryExpr(m, n, entry);
  if (integers)
    for (int k = 1; k < m; ++k)
      if (random.below(3) == 0) qp.C.row(k) = (random.below(2) ? 1 : -1) * qp.C.row(random.below(k));
  VectorXd x = VectorXd::NullaryExpr(n, entry), z = VectorXd::Zero(n), y = VectorXd::Zero(m);
  VectorXd ray;
  double touching = 0.3;
  if (kind == QpKind::degenerate) {
    const RowMatrix A = RowMatrix::NullaryExpr(random.below(2 * n + 1), n, entry);
    qp.P = A.transpose() * A;
    touching = 0.9;
  } else if (kind == QpKind::semidefinite) {
    qp.P = positive_semidefinite(n, random.below(n), 0.01);
  } else if (kind == QpKind::ill_conditioned) {
    qp.P = positive_semidefinite(n, n, 1e-12);
  } else if (kind == QpKind::unbounded) {
    qp.P = positive_semidefinite(n, random.below(n), 0.01);
    ray = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(qp.P).eigenvectors().col(0);
  } else if (kind == QpKind::grazing) {
    ray = graze(qp);
  } else {
    qp.P = positive_semidefinite(n, n, 1e-3);
  }
  limits_around(qp, x, touching, kind == QpKind::equalities, z, y);
  qp.g = -(qp.P * x + z + qp.C.transpose() * y);
  if (kind == QpKind::strict || kind == QpKind::infeasible) qp.g = 3 * random.vector(n);
  if (kind == QpKind::infeasible) contradict(qp);
  if (ray.size() > 0) open(qp, ray);
  return qp;
}

void QpCases::contradict(Qp& qp) {
  const int n = qp.n(), m = qp.m();
  if (m == 0) {
    qp.lower[n - 1] = 1;
    qp.upper[n - 1] = 0.5;
    return;
  }
  VectorXd sum = VectorXd::Zero(n);
  double limit = 0;
  for (int k = 0; k + 1 < m; ++k) {
    if (random.below(2)) continue;
    const double w = random.uniform(0.1, 1);
    if (!std::isfinite(qp.row_upper[k])) qp.row_upper[k] = random.uniform();
    sum += w * qp.C.row(k).transpose();
    limit += w * qp.row_upper[k];
  }
  for (int i = 0; i < n; ++i) {
    if (sum.norm() > 0 && random.below(2)) continue;
    const double w = random.uniform(0.1, 1);
    if (!std::isfinite(qp.upper[i])) qp.upper[i] = random.uniform();
    sum[i] += w;
    limit += w * qp.upper[i];
  }
  qp.C.row(m - 1) = sum.transpose();
  qp.row_lower[m - 1] = limit + random.uniform(0.1, 1);
  qp.row_upper[m - 1] = infinity;
}

VectorXd QpCases::graze(Qp& qp) {
  const int n = qp.n();
  VectorXd v = random.vector(n);
  if (n > 2) v[n - 1] = std::pow(10, random.uniform(-7, -6));
  v.normalize();
  Eigen::MatrixXd A = random.orthonormal(n, n).topRows(random.below(n));
  A -= A * v * v.transpose();
  qp.P = A.transpose() * A;
  return v;
}

void QpCases::open(Qp& qp, const VectorXd& v) {
  const int n = qp.n();
  for (int i = 0; i < n; ++i) (v[i] > 0 ? qp.upper[i] : qp.lower[i]) = v[i] > 0 ? infinity : -infinity;
  const VectorXd rate = qp.C * v;
  for (int k = 0; k < qp.m(); ++k)
    if (random.below(2)) {
      qp.C.row(k) -= rate[k] * v.transpose();  // never met
      qp.row_lower[k] = -random.uniform(0.5, 2);
      qp.row_upper[k] = random.uniform(0.5, 2);
    } else {
      (rate[k] > 0 ? qp.row_upper[k] : qp.row_lower[k]) = rate[k] > 0 ? infinity : -infinity;
    }
  // Feasible at 0.
  for (int i = 0; i < n; ++i) qp.lower[i] = std::min(qp.lower[i], 0.0), qp.upper[i] = std::max(qp.upper[i], 0.0);
  for (int k = 0; k < qp.m(); ++k)
    qp.row_lower[k] = std::min(qp.row_lower[k], 0.0), qp.row_upper[k] = std::max(qp.row_upper[k], 0.0);
  qp.g -= (v.dot(qp.g) + random.uniform(0.1, 1)) * v;
}

Qp in_units(const Qp& qp, const VectorXd& unit, const VectorXd& row_unit) {
  Qp b = qp;
  b.P = unit.asDiagonal() * qp.P * unit.asDiagonal();
  b.g = unit.cwiseProduct(qp.g);
  b.lower = qp.lower.cwiseQuotient(unit);
  b.upper = qp.upper.cwiseQuotient(unit);
  b.C = row_unit.asDiagonal() * qp.C * unit.asDiagonal();
  b.row_lower = row_unit.cwiseProduct(qp.row_lower);
  b.row_upper = row_unit.cwiseProduct(qp.row_upper);
  return b;
}

QpAnswer back_from_units(QpAnswer a, const VectorXd& unit, const VectorXd& row_unit) {
  a.x = a.x.cwiseProduct(unit);
  a.z = a.z.cwiseQuotient(unit);
  a.y = a.y.cwiseProduct(row_unit);
  return a;
}

std::vector<QpConflict> conflicts_back(std::span<const QpConflict> conflicts, const VectorXd& unit,
                                       const VectorXd& row_unit) {
  std::vector<QpConflict> back(conflicts.begin(), conflicts.end());
  const int n = static_cast<int>(unit.size());
  for (QpConflict& c : back) c.weight *= c.constraint < n ? 1 / unit[c.constraint] : row_unit[c.constraint - n];
  return back;
}

}  // namespace supple::test
