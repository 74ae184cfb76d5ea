#include "solvers/contact/contact.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/contact/newton.hpp"

namespace supple {
namespace {

using namespace contact;

constexpr int proof_steps = 100, polishing_sweeps = 20;
// Where friction makes the methods cycle: other starts, in turns by raising friction and by damped sweeps.
constexpr int attempts = 4, steps_per_attempt = 60, stirring_sweeps = 50, friction_stages = 10, steps_per_stage = 30;
constexpr double stage_tolerance = 1e-4;
constexpr double stirring = 0.5;

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

// Without friction, where the problem is convex, then with more and more of it. Returns Newton steps, at most `limit`.
int raise_friction(const ScaledContact& p, NewtonWork& work, int stages, int limit) {
  Residuals last;
  int steps = 0;
  std::copy_n(p.friction, p.contacts, work.spare);
  std::fill_n(p.lambda, p.n, 0.0);
  for (int stage = 0; stage < stages && steps < limit; ++stage) {
    for (int c = 0; c < p.contacts; ++c) p.friction[c] = work.spare[c] * stage / stages;
    p.project();
    steps += newton(p, work, stage_tolerance, std::min(steps_per_stage, limit - steps), false, last).steps;
  }
  std::copy_n(work.spare, p.contacts, p.friction);
  return steps;
}

// Whether the problem without friction is infeasible: a contradiction among gaps and box rows alone. Forces are lost if
// so; friction is not.
bool infeasible(const ScaledContact& p, NewtonWork& work, const ContactSettings& settings, std::span<double> conflict) {
  Residuals last;
  double *friction = work.spare, *lambda = friction + p.contacts;
  std::copy_n(p.friction, p.contacts, friction);
  std::copy_n(p.lambda, p.n, lambda);
  std::fill_n(p.friction, p.contacts, 0.0);
  std::fill_n(p.lambda, p.n, 0.0);
  p.project();
  const bool proved =
      newton(p, work, settings.tolerance, std::min(proof_steps, settings.max_newton_steps), true, last).end ==
      NewtonEnd::conflict;
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

ContactWorkspace::ContactWorkspace(int max_boxes, int max_contacts)
    : max_boxes_(max_boxes), max_contacts_(max_contacts) {
  SUPPLE_EXPECT(max_boxes >= 0 && max_contacts >= 0);
  const int n = max_boxes + 3 * max_contacts;
  numbers_.resize(ScaledContact::memory(max_boxes, max_contacts) + NewtonWork::numbers(n));
  indices_.resize(NewtonWork::indices(n));
  conflict_.resize(extent(n));
}

ContactReport solve_contact(const ContactProblem& problem, std::span<double> lambda, ContactWorkspace& workspace,
                            const ContactSettings& settings) {
  SUPPLE_EXPECT(shapes_agree(problem, lambda, workspace));
  ContactReport report;
  workspace.conflict_used_ = 0;
  ScaledContact p;
  double* memory = workspace.numbers_.data();
  if (!p.load(problem, memory)) {
    report.status = ContactStatus::not_finite;
    std::fill(lambda.begin(), lambda.end(), 0.0);
    return report;
  }
  for (int i = 0; i < p.n; ++i) p.lambda[i] = std::isfinite(lambda[i]) ? lambda[extent(i)] / p.scale[i] : 0;
  p.project();
  NewtonWork work(p.n, memory, workspace.indices_.data());
  Residuals last = p.evaluate();
  const auto solved = [&] { return last.relative() <= settings.tolerance; };
  const auto sweeps = [&](int most, double relaxation, bool give_up) {
    report.method = ContactMethod::gauss_seidel;
    report.sweeps += gauss_seidel(p, settings.tolerance, relaxation,
                                  std::min(most, settings.max_sweeps - report.sweeps), give_up, last);
  };
  const auto steps = [&](int most) {
    most = std::min(most, settings.max_newton_steps - report.newton_steps);
    report.newton_steps += newton(p, work, settings.tolerance, most, false, last).steps;
    // Near the end rounding in b / sigma shows; sweeps have none of it.
    if (!solved()) sweeps(polishing_sweeps, 1, false);
    report.method = ContactMethod::newton;
  };
  if (settings.method == ContactMethod::gauss_seidel) {
    sweeps(settings.max_sweeps, settings.relaxation, false);
  } else if (settings.method == ContactMethod::newton) {
    steps(settings.max_newton_steps);
  } else {
    double* best = work.spare + p.contacts;
    Residuals least;
    for (int attempt = 0; attempt < attempts && !solved(); ++attempt) {
      if (attempt == 0) {
        sweeps(settings.max_sweeps, settings.relaxation, true);
      } else if (attempt % 2 == 1) {
        report.newton_steps +=
            raise_friction(p, work, attempt * friction_stages, settings.max_newton_steps - report.newton_steps);
        last = p.evaluate();
      } else {
        sweeps(stirring_sweeps, stirring, false);
      }
      if (!solved()) steps(steps_per_attempt);
      if (attempt == 0 || last.relative() < least.relative()) {
        least = last;
        std::copy_n(p.lambda, p.n, best);
      }
    }
    if (!solved()) {
      last = least;
      std::copy_n(best, p.n, p.lambda);
    }
  }
  report.status = last.relative() <= settings.tolerance ? ContactStatus::solved : ContactStatus::iteration_limit;
  if (report.status != ContactStatus::solved && infeasible(p, work, settings, workspace.conflict_)) {
    report.status = ContactStatus::infeasible;
    workspace.conflict_used_ = extent(p.n);
    if (!soft_forces(p, work)) std::fill_n(p.lambda, p.n, 0.0);
    p.project();
    last = p.evaluate();
  }
  report.residual = last.relative();
  report.displacement = last.displacement;
  report.box = last.relative(last.box);
  report.cone = cone_violation(p);
  for (int i = 0; i < p.n; ++i) lambda[extent(i)] = p.lambda[i] * p.scale[i];
  return report;
}

}  // namespace supple
