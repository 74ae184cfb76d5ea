#pragma once
// Forces of a contact problem by the method that is cheapest and those that help where it fails: sweeps until, by their
// rate, Newton's method will be done earlier; then that; and other starts where friction makes both cycle. `Rows`:
// scaled_contact.hpp.

#include "kernels/contact/contact_newton.hpp"
#include "kernels/contact/contact_sweeps.hpp"

namespace supple::contact {

inline constexpr int polishing_sweeps = 20;
// Where friction makes the methods cycle: other starts, in turns by raising friction and by damped sweeps.
inline constexpr int stirring_sweeps = 50, friction_stages = 10, steps_per_stage = 30;
inline constexpr double stage_tolerance = 1e-4, stirring = 0.5;

struct SearchLimits {
  double tolerance, enough;  // as ContactSettings
  int sweeps, newton_steps;  // in all
  double relaxation;
  int starts, steps_per_start;
};

struct SearchReport {
  Residuals last;  // of the forces
  int sweeps = 0, newton_steps = 0;
  bool by_newton = false;  // the answer
};

template <class Rows>
class ContactSearch {
 public:
  SUPPLE_HD ContactSearch(Rows& rows, const ScaledContact& problem, const NewtonWork& work, const SearchLimits& limits)
      : rows_(rows), p_(problem), k_(work), limits_(limits) {}

  SearchReport report;

  SUPPLE_HD bool solved() const { return report.last.relative() <= limits_.tolerance; }
  SUPPLE_HD void sweeps(int most, double relaxation, bool give_up) {
    report.by_newton = false;
    const int left = limits_.sweeps - report.sweeps;
    report.sweeps +=
        gauss_seidel(rows_, p_, limits_.tolerance, relaxation, most < left ? most : left, give_up, report.last);
  }
  SUPPLE_HD void steps(int most) {
    const int left = limits_.newton_steps - report.newton_steps;
    report.newton_steps += newton(
        rows_, p_, k_, {.tolerance = limits_.tolerance, .enough = limits_.enough, .steps = most < left ? most : left},
        report.last, NeverStop{});
    // Near the end rounding in b / sigma shows; sweeps have none of it.
    if (!good_enough()) sweeps(polishing_sweeps, 1, false);
    report.by_newton = true;
  }
  // From p.lambda, whose residuals are report.last.
  SUPPLE_HD void run() {
    double* best = k_.spare + p_.contacts;
    Residuals least;
    for (int start = 0; start < limits_.starts && !(start == 0 ? solved() : good_enough()); ++start) {
      if (start == 0) {
        sweeps(limits_.sweeps, limits_.relaxation, true);
      } else if (start % 2 == 1) {
        raise_friction(start * friction_stages);
      } else {
        sweeps(stirring_sweeps, stirring, false);
      }
      if (!solved()) steps(limits_.steps_per_start);
      if (start == 0 || report.last.relative() < least.relative()) {
        least = report.last;
        rows_.each(p_.n, [&](int i) { best[i] = p_.lambda[i]; });
      }
    }
    if (solved() || report.last.relative() <= least.relative()) return;
    report.last = least;
    rows_.each(p_.n, [&](int i) { p_.lambda[i] = best[i]; });
  }

 private:
  Rows& rows_;
  const ScaledContact& p_;
  const NewtonWork& k_;
  const SearchLimits& limits_;

  SUPPLE_HD bool good_enough() const { return solved() || report.last.relative() <= limits_.enough; }
  // Without friction, where the problem is convex, then with more and more of it.
  SUPPLE_HD void raise_friction(int stages) {
    rows_.each(p_.contacts, [&](int c) { k_.spare[c] = p_.friction[c]; });
    rows_.each(p_.n, [&](int i) { p_.lambda[i] = 0; });
    int steps = 0;
    const int limit = limits_.newton_steps - report.newton_steps;
    for (int stage = 0; stage < stages && steps < limit; ++stage) {
      rows_.each(p_.contacts, [&](int c) { p_.friction[c] = k_.spare[c] * stage / stages; });
      project(rows_, p_);
      const int left = limit - steps;
      steps += newton(rows_, p_, k_,
                      {.tolerance = stage_tolerance, .steps = left < steps_per_stage ? left : steps_per_stage},
                      report.last, NeverStop{});
    }
    rows_.each(p_.contacts, [&](int c) { p_.friction[c] = k_.spare[c]; });
    report.newton_steps += steps;
    report.last = evaluate(rows_, p_);
  }
};

}  // namespace supple::contact
