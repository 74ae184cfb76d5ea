#include "engine/inverse/inverse_equilibrium.hpp"

namespace supple {

namespace {

constexpr int patient_iterations = 400;

}  // namespace

InverseEquilibrium::InverseEquilibrium(Mechanics& mechanics, InverseLaw& law,
                                       const InverseEquilibriumSettings& settings)
    : law_(law),
      settings_(settings),
      stepper_(mechanics, {.scheme = StepScheme::quasi_static,
                           .time_step = settings.time_step,
                           .tolerance = settings.tolerance,
                           .row_tolerance = settings.row_tolerance,
                           .max_iterations = settings.max_iterations}) {}

StepReport InverseEquilibrium::solve(State& state) {
  law_.set_trust(unlimited);
  stepper_.set_patience(settings_.max_iterations, 12, 0);
  StepReport report = stepper_.step(law_, state.motions, state);
  double reach = settings_.first_reach;
  for (int k = 0; k <= settings_.max_halvings && report.status != StepStatus::ok; ++k, reach /= 2) {
    const StageTimes before = report.times;
    const int iterations = report.iterations;
    law_.set_trust(reach);
    stepper_.set_patience(patient_iterations, 12, 0);
    report = stepper_.step(law_, state.motions, state);
    report.times += before;
    report.iterations += iterations;
  }
  law_.set_trust(unlimited);
  return report;
}

}  // namespace supple
