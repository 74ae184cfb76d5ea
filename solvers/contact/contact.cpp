#include "solvers/contact/contact.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/contact/contact_search.hpp"
#include "solvers/contact/host_rows.hpp"

namespace supple {
namespace {

using namespace contact;

// Forces grow by v / sigma each step, and their change is known to one bit of them: it proves most at large sigma,
// where motions that resist little take long to come to rest.
constexpr int proof_steps = 100;
constexpr double proof_shifts[] = {1e-3, 1e-5};
constexpr double proof_tolerance = 1e-10;  // proximal point steps to a tenth of it
constexpr int starts = 4, steps_per_start = 120;
// Each step factors a matrix of up to n rows. All starts together have so many operations.
constexpr double most_operations = 1e12;
constexpr int least_steps = 40;
constexpr double soft_shift = 1e-2;           // of the diagonal
constexpr double largest_useful_force = 1e9;  // of |d|: a problem that needs more counts as infeasible

[[maybe_unused]] bool shapes_agree(const ContactProblem& p, std::span<double> lambda, const ContactWorkspace& work) {
  const std::size_t n = extent(p.boxes) + 3 * extent(p.contacts);
  const auto optional = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
  bool round = true;
  for (std::size_t i = extent(p.boxes); i + 2 < p.compliance.size(); i += 3)
    round = round && !(p.compliance[i + 1] < p.compliance[i + 2]) && !(p.compliance[i + 1] > p.compliance[i + 2]);
  return p.boxes >= 0 && p.contacts >= 0 && p.boxes <= work.max_boxes() && p.contacts <= work.max_contacts() &&
         (p.W.empty() ? p.rank >= 0 && p.V.size() == n * extent(p.rank) : p.W.size() == n * n) && p.d.size() == n &&
         lambda.size() == n && optional(p.compliance.size(), n) && optional(p.lower.size(), extent(p.boxes)) &&
         optional(p.upper.size(), extent(p.boxes)) && p.friction.size() == extent(p.contacts) && round;
}

double cone_violation(const ScaledContact& p) {
  double worst = 0, largest = 0;
  for (int c = 0; c < p.contacts; ++c) {
    const double* force = p.lambda + p.normal(c);
    largest = std::max(largest, force[0]);
    worst = std::max(worst, std::sqrt(force[1] * force[1] + force[2] * force[2]) - p.friction[c] * force[0]);
  }
  return largest > 0 ? worst / largest : 0;
}

// Whether the change of the forces from `before`, cut to what the laws allow for ever, proves that there is no
// solution: delta . d < 0 and (W + C) delta = 0. In `delta`, largest entry 1; `move` is scratch.
bool find_conflict(HostRows& rows, const ScaledContact& p, const double* before, double* delta, double* move) {
  double largest = 0;
  for (int i = 0; i < p.n; ++i) {
    const double change = p.lambda[i] - before[i];
    const bool normal = i >= p.boxes && (i - p.boxes) % 3 == 0;
    const bool up = i < p.boxes ? std::isinf(p.upper[i]) : normal, down = i < p.boxes && std::isinf(p.lower[i]);
    delta[i] = (change > 0 && up) || (change < 0 && down) ? change : 0;
    largest = std::max(largest, std::abs(delta[i]));
  }
  if (largest == 0) return false;
  double gain = 0, size = 0, moved = 0;
  for (int i = 0; i < p.n; ++i) {
    delta[i] /= largest;
    gain -= delta[i] * p.d[i];
    size = std::max(size, std::abs(delta[i] * p.d[i]));
  }
  if (!(gain > 1e-6 * size)) return false;
  rows.apply(p, delta, move);
  for (int i = 0; i < p.n; ++i) moved = std::max(moved, std::abs(move[i] + p.compliance[i] * delta[i]));
  // delta . w >= 0 needs lambda . (W + C) delta >= gain.
  return gain >= largest_useful_force * size * moved;
}

// What soft contacts would do where hard ones have no answer: one proximal point step from no forces with sigma = 1 %
// of the diagonal. False if it did not converge.
bool soft_forces(HostRows& rows, const ScaledContact& p) {
  int steps = 0;
  std::fill_n(rows.work.prior, p.n, 0.0);
  return ProximalNewton<HostRows>(rows, p, rows.work).step(soft_shift, 1e-6, steps_per_shift, steps) != StepEnd::failed;
}

// Whether the problem without friction is infeasible: gaps and box rows alone conflict. Forces are lost if so; friction
// is not.
bool infeasible(HostRows& rows, const ScaledContact& p, const ContactSettings& settings, int newton_steps,
                std::span<double> conflict) {
  const NewtonWork& work = rows.work;
  Residuals last;
  double *friction = work.spare, *lambda = friction + p.contacts;
  std::copy_n(p.friction, p.contacts, friction);
  std::copy_n(p.lambda, p.n, lambda);
  std::fill_n(p.friction, p.contacts, 0.0);
  std::fill_n(p.lambda, p.n, 0.0);
  project(rows, p);
  bool proved = false;
  int steps = std::min(proof_steps, newton_steps);
  for (const double shift : proof_shifts)
    if (!proved)
      steps -= newton(rows, p, work,
                      {.tolerance = std::min(settings.tolerance, proof_tolerance),
                       .steps = shift < proof_shifts[0] ? steps : steps / 2,
                       .inner = 0,
                       .smallest_shift = shift},
                      last, [&] { return proved = find_conflict(rows, p, work.prior, work.trial, work.error); });
  std::copy_n(friction, p.contacts, p.friction);
  std::copy_n(lambda, p.n, p.lambda);
  if (!proved) return false;
  // In the caller's units: delta_i s_i.
  double largest = 0;
  for (int i = 0; i < p.n; ++i) largest = std::max(largest, std::abs(work.trial[i] * p.scale[i]));
  for (int i = 0; i < p.n; ++i) conflict[extent(i)] = work.trial[i] * p.scale[i] / largest;
  return true;
}

}  // namespace

int affordable_newton_steps(int rows, int asked) {
  const double each = std::pow(std::max(rows, 1), 3) / 3;
  return std::min(asked, std::max(least_steps, static_cast<int>(std::min(1e6, most_operations / each))));
}

ContactWorkspace::ContactWorkspace(int max_boxes, int max_contacts)
    : max_boxes_(max_boxes), max_contacts_(max_contacts) {
  SUPPLE_EXPECT(max_boxes >= 0 && max_contacts >= 0);
  const int n = max_boxes + 3 * max_contacts;
  numbers_.resize(scaled_memory(max_boxes, max_contacts) + HostRows::numbers(n));
  indices_.resize(HostRows::indices(n));
  conflict_.resize(extent(n));
}

ContactReport solve_contact(const ContactProblem& problem, std::span<double> lambda, ContactWorkspace& workspace,
                            const ContactSettings& settings) {
  SUPPLE_EXPECT(shapes_agree(problem, lambda, workspace));
  ContactReport report;
  const int newton_steps = affordable_newton_steps(problem.boxes + 3 * problem.contacts, settings.max_newton_steps);
  workspace.conflict_used_ = 0;
  ScaledContact p;
  double* memory = workspace.numbers_.data();
  if (!load(problem, memory, p)) {
    report.status = ContactStatus::not_finite;
    std::fill(lambda.begin(), lambda.end(), 0.0);
    return report;
  }
  for (int i = 0; i < p.n; ++i) p.lambda[i] = std::isfinite(lambda[i]) ? lambda[extent(i)] / p.scale[i] : 0;
  HostRows rows(p.n, memory, workspace.indices_.data());
  project(rows, p);
  const SearchLimits limits{.tolerance = settings.tolerance,
                            .enough = settings.enough,
                            .sweeps = settings.max_sweeps,
                            .newton_steps = newton_steps,
                            .relaxation = settings.relaxation,
                            .starts = starts,
                            .steps_per_start = newton_steps < settings.max_newton_steps
                                                   ? std::min(steps_per_start, newton_steps / starts)
                                                   : steps_per_start};
  ContactSearch<HostRows> search(rows, p, rows.work, limits);
  search.report.last = evaluate(rows, p);
  if (settings.method == ContactMethod::gauss_seidel) {
    search.sweeps(settings.max_sweeps, settings.relaxation, false);
  } else if (settings.method == ContactMethod::newton) {
    search.steps(newton_steps);
  } else {
    search.run();
  }
  Residuals last = search.report.last;
  report.method = search.report.by_newton ? ContactMethod::newton : ContactMethod::gauss_seidel;
  report.sweeps = search.report.sweeps;
  report.newton_steps = search.report.newton_steps;
  report.status = search.solved() ? ContactStatus::solved : ContactStatus::iteration_limit;
  if (!(last.relative() <= std::max(settings.tolerance, settings.enough)) &&
      infeasible(rows, p, settings, newton_steps, workspace.conflict_)) {
    report.status = ContactStatus::infeasible;
    workspace.conflict_used_ = extent(p.n);
    if (!soft_forces(rows, p)) std::fill_n(p.lambda, p.n, 0.0);
    project(rows, p);
    last = evaluate(rows, p);
  }
  report.residual = last.relative();
  report.displacement = last.displacement;
  report.box = last.relative(last.box);
  report.cone = cone_violation(p);
  for (int i = 0; i < p.n; ++i) lambda[extent(i)] = p.lambda[i] * p.scale[i];
  return report;
}

}  // namespace supple
