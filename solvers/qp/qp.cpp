// Scaling, then the dual active-set method for P, or for P + shift I where P is not clearly positive definite;
// corrections of its result on the working set; and where those do not reach the accuracy, the primal method, which
// needs no shift. The residuals are those of the answer given, whatever led to it.
#include "solvers/qp/qp.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "solvers/qp/qp_solver.hpp"

namespace supple {
namespace qp {
namespace {

constexpr double largest_inverse = 1e8;  // mean diagonal of the inverse of P^ (unit diagonal): beyond, P is singular
constexpr double relative_shift = 1e-6;  // of the diagonal of P^, added to it then
constexpr double ray_accuracy = 1e-9;    // of |P d| and of what a direction may do to a limit, |d| = 1
constexpr double ray_slope = 1e-11;      // of |g| |d|
constexpr double accurate = 1e-13;       // residual that needs no correction
constexpr double sufficient = 1e-12;     // and no primal method
constexpr double far_away = 1e4;         // times the largest limit: where a shift leads if nothing else stops it
constexpr int corrections = 4;
constexpr int vectors = 13;  // of ld numbers, in QpSolver

std::size_t workspace_numbers(int n, int m) {
  return extent(m + 5 * n + vectors, padded(n)) + extent(3, n + m) + extent(m);
}

}  // namespace

QpSolver::QpSolver(const QpProblem& problem, const QpSolution& solution, QpMemory& memory, const QpSettings& settings)
    : problem_(problem), solution_(solution), memory_(memory), settings_(settings) {
  const int n = problem.n, m = problem.m, ld = padded(n);
  SUPPLE_EXPECT(memory.numbers.size() >= workspace_numbers(n, m));
  double* next = memory.numbers.data();
  const auto take = [&](int count) {
    double* const here = next;
    next += count;
    return here;
  };
  qp_.n = factor_.n = n;
  qp_.ld = factor_.ld = ld;
  qp_.m = m;
  for (double** matrix : {&qp_.P, &factor_.J, &factor_.R, &matrix_, &products_}) *matrix = take(n * ld);
  qp_.C = take(m * ld);
  double** const all[] = {&qp_.g,  &qp_.centre, &qp_.column, &factor_.v, &factor_.w, &set_.x, &set_.u,
                          &set_.d, &set_.t,     &set_.g,     &set_.z,    &residual_, &best_x_};
  static_assert(std::size(all) == vectors);
  for (double** vector : all) *vector = take(ld);
  for (double** vector : {&qp_.lower, &qp_.upper, &best_u_}) *vector = take(n + m);
  qp_.row = take(m);
  factor_.constraint = memory.indices.data();
  pivots_ = factor_.constraint + n;
  set_.ignored = pivots_ + n;
  set_.side = memory.sides.data();
  best_side_ = set_.side + n + m;
  set_.max_iterations = settings.max_iterations;
  memory.conflicts_used = memory.direction_used = 0;
}

void QpSolver::start_sides(bool warm) {
  const int count = qp_.constraints();
  std::fill_n(set_.ignored, count, 0);
  std::fill_n(set_.side, count, QpSide::none);
  if (warm && !solution_.active.empty())
    for (int k = 0; k < count; ++k) {
      const QpSide side = solution_.active[extent(k)];
      if (side == QpSide::lower || side == QpSide::upper) set_.side[k] = side;
    }
}

// J for P, or for P + shift I; the shift.
double QpSolver::start_factor() {
  const int all = qp_.n * qp_.ld;
  std::copy_n(qp_.P, all, matrix_);
  if (factor_.start(matrix_, 0, largest_inverse)) return 0;
  double shift = relative_shift;
  if (largest(qp_.P, all) == 0)
    shift = qp_.largest_g > 0 ? relative_shift * qp_.largest_g / (qp_.largest_end > 0 ? qp_.largest_end : 1) : 1;
  std::copy_n(qp_.P, all, matrix_);
  if (!factor_.start(matrix_, shift, 10 / shift)) return -1;
  return shift;
}

ActiveSetEnd QpSolver::dual(double shift, const double* g, bool insist) {
  for (int i = 0; i < qp_.ld; ++i) set_.g[i] = (g ? g[i] : 0) - shift * qp_.centre[i];
  return dual_active_set(set_, insist);
}

// x -> x + J1 y1 + J2 t2, u -> u + R^-1 (y1 - t1) with y1 = R^-T (limits - N^T x), t = J^T (-residual): one step of
// iterative refinement for the conditions on the working set; with a shift, one of the proximal point method.
void QpSolver::correct() {
  double *y = set_.d, *t = set_.t;
  for (int j = 0; j < factor_.size; ++j) y[j] = set_.limit(j) - qp_.value(factor_.constraint[j], set_.x);
  factor_.solve_transposed(y);
  for (int j = 0; j < qp_.n; ++j) t[j] = -dot(factor_.column(j), residual_, qp_.ld);
  for (int j = 0; j < qp_.n; ++j) add_scaled(set_.x, j < factor_.size ? y[j] : t[j], factor_.column(j), qp_.ld);
  for (int j = 0; j < factor_.size; ++j) y[j] -= t[j];
  factor_.solve(y);
  for (int j = 0; j < factor_.size; ++j) set_.u[j] += y[j];
}

void QpSolver::refine() {
  double before = evaluate();
  for (int pass = 0; pass < corrections && before > accurate; ++pass) {
    correct();
    const double now = evaluate();
    if (!(now < 0.5 * before)) break;
    before = now;
  }
  std::copy_n(best_x_, qp_.n, set_.x);
}

// The ray leads down and no limit is met along it, within rounding.
bool QpSolver::proves_unbounded() {
  const double* ray = set_.z;
  const double size = largest(ray, qp_.n);
  if (!(size > 0)) return false;
  double* product = set_.d;
  std::fill_n(product, qp_.ld, 0.0);
  for (int j = 0; j < qp_.n; ++j) add_scaled(product, ray[j], qp_.P + j * qp_.ld, qp_.ld);
  if (largest(product, qp_.n) > ray_accuracy * size) return false;
  if (dot(qp_.g, ray, qp_.ld) > -ray_slope * size * qp_.largest_g) return false;
  for (int k = 0; k < qp_.constraints(); ++k) {
    const double rate = qp_.value(k, ray);
    if ((rate < -ray_accuracy * size && std::isfinite(qp_.lower[k])) ||
        (rate > ray_accuracy * size && std::isfinite(qp_.upper[k])))
      return false;
  }
  return true;
}

QpReport QpSolver::solve() {
  int contradiction = -1;
  QpStatus status = scale_qp(problem_, qp_, contradiction);
  if (status == QpStatus::infeasible) {
    memory_.conflicts_used = 2;
    const double weight = 1 / (limit_given(contradiction, QpSide::lower) - limit_given(contradiction, QpSide::upper));
    memory_.conflicts[0] = {contradiction, QpSide::lower, weight};
    memory_.conflicts[1] = {contradiction, QpSide::upper, weight};
  }
  if (status != QpStatus::solved) return give_nothing(status);
  const double shift = start_factor();
  if (shift != 0 && !convex()) return give_nothing(QpStatus::not_convex);
  start_sides(true);
  ActiveSetEnd end = shift >= 0 ? dual(shift, qp_.g, false) : ActiveSetEnd::unsure;
  if (end == ActiveSetEnd::limit) evaluate();
  if (end == ActiveSetEnd::found) refine();
  const bool far = shift > 0 && largest(set_.x, qp_.n) > far_away * (qp_.largest_end + largest(qp_.centre, qp_.n));
  if (end == ActiveSetEnd::unsure || (end == ActiveSetEnd::found && best_ > sufficient && far)) {
    // The point nearest to the centre: P has no part in it, feasible or not is decided accurately.
    start_sides(false);
    factor_.start_identity();
    end = dual(1, nullptr, true);
  }
  if (end == ActiveSetEnd::infeasible) {
    report_conflicts();
    return give_nothing(QpStatus::infeasible);
  }
  if (end == ActiveSetEnd::found && best_ > sufficient) {
    end = primal_active_set(set_, matrix_, products_, pivots_);
    if (end == ActiveSetEnd::unbounded && best_ > settings_.tolerance && proves_unbounded()) {
      report_direction();
      return give_nothing(QpStatus::unbounded);
    }
    evaluate();
  }
  return give_best();
}

}  // namespace qp

QpWorkspace::QpWorkspace(int max_unknowns, int max_rows) : max_unknowns_(max_unknowns), max_rows_(max_rows) {
  SUPPLE_EXPECT(max_unknowns >= 0 && max_unknowns <= max_qp_unknowns && max_rows >= 0 && max_rows <= max_qp_rows);
  memory_.numbers.resize(qp::workspace_numbers(max_unknowns, max_rows));
  memory_.direction.resize(extent(max_unknowns));
  memory_.indices.resize(extent(3 * max_unknowns + max_rows));
  memory_.sides.resize(extent(2, max_unknowns + max_rows));
  memory_.conflicts.resize(extent(max_unknowns + 2));
}

namespace {

[[maybe_unused]] bool shapes_agree(const QpProblem& p, const QpSolution& s) {
  const std::size_t n = extent(p.n), m = extent(p.m);
  const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
  return p.P.size() == n * n && p.g.size() == n && p.C.size() == m * n && fits(p.lower.size(), n) &&
         fits(p.upper.size(), n) && fits(p.centre.size(), n) && fits(p.row_lower.size(), m) &&
         fits(p.row_upper.size(), m) && s.x.size() == n && fits(s.bound_multipliers.size(), n) &&
         fits(s.row_multipliers.size(), m) && fits(s.active.size(), n + m);
}

}  // namespace

QpReport solve_qp(const QpProblem& problem, const QpSolution& solution, QpWorkspace& workspace,
                  const QpSettings& settings) {
  SUPPLE_EXPECT(problem.n <= workspace.max_unknowns() && problem.m <= workspace.max_rows());
  SUPPLE_EXPECT(shapes_agree(problem, solution));
  return qp::QpSolver(problem, solution, workspace.memory_, settings).solve();
}

}  // namespace supple
