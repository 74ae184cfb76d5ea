#include "engine/inverse/inverse_equilibrium.hpp"

#include <algorithm>

namespace supple {

namespace {

// Full steps towards limited reaches; in contact or at limits, where Newton's method may go round and round between
// sets of contacts, less of both.
constexpr int patient_iterations = 400, patient_in_contact = 120, contact_patience = 20;

}  // namespace

InverseEquilibrium::InverseEquilibrium(Mechanics& mechanics, InverseLaw& law,
                                       const InverseEquilibriumSettings& settings)
    : law_(law),
      settings_(settings),
      stepper_(mechanics, {.scheme = settings.scheme,
                           .time_step = settings.time_step,
                           .implicit_velocity = settings.implicit_velocity,
                           .implicit_position = settings.implicit_position,
                           .tolerance = settings.tolerance,
                           .row_tolerance = settings.row_tolerance,
                           .max_iterations = settings.max_iterations}),
      robots_(mechanics.robots()),
      in_contact_(mechanics.robot().pairs() > 0 ||
                  std::ranges::any_of(mechanics.robot().constraints, &ConstraintRow::one_sided)) {}

// One attempt; `state` moves only if it went well. reach = 0: commands are held.
bool InverseEquilibrium::attempt(double reach, int iterations, State& state, StepReport& report) {
  law_.set_trust(reach);
  stepper_.set_limits(iterations, 12, in_contact_ && reach == unlimited ? contact_patience : 0);
  trial_ = state;
  const StageTimes before = report.times;
  const int factorisations = report.iterations;
  report = stepper_.step(law_, trial_.motions, trial_);
  report.times += before;
  report.iterations += factorisations;
  law_.set_trust(unlimited);
  bool held = false;
  for (int b = 0; b < robots_; ++b) held = held || law_.report(b).held;
  if (report.status != StepStatus::ok || (held && reach > 0)) return false;
  state = trial_;  // in place
  return true;
}

StepReport InverseEquilibrium::solve(State& state) {
  StepReport report;
  if (attempt(unlimited, settings_.max_iterations, state, report)) return report;
  const int patient = in_contact_ ? patient_in_contact : patient_iterations;
  double reach = settings_.first_reach;
  for (int k = 0; k <= settings_.max_halvings; ++k, reach /= 2)
    if (attempt(reach, patient, state, report)) return report;
  std::string reason = report.status == StepStatus::ok ? law_.conflict(0) : "";
  if (reason.empty()) reason = "Newton's method found no equilibrium nearer to the goals from here";
  law_.hold_commands(reason);
  (void)attempt(0, patient, state, report);
  law_.hold_commands("");
  return report;
}

}  // namespace supple
