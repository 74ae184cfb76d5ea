#include "engine/step/row_scheme.hpp"

#include <algorithm>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

bool is_spring(const ConstraintRow& constraint) {
  return constraint.compliance > 0 && !constraint.one_sided;
}

}  // namespace

RowScheme::RowScheme(const Device& device, const Robot& robot)
    : device_(device),
      robot_(robot),
      averaged_(extent(robot.rows()), 0),
      compliance_(device, extent(robot.rows())),
      weights_(device, extent(robot.rows())),
      constraint_springs_(device, extent(robot.rows())),
      springs_(device, robot.springs.size()) {
  const std::span<SpringRow> between = springs_.host(), rows = constraint_springs_.host();
  for (std::size_t k = 0; k < robot.springs.size(); ++k)
    between[k] = {robot.springs[k].compliance, robot.springs[k].damping_time};
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    if (is_spring(robot.constraints[k]))
      rows[robot.actuators.size() + k] = {robot.constraints[k].compliance, robot.constraints[k].damping_time};
  springs_.send();
  constraint_springs_.send();
}

void RowScheme::set(const StepSettings& settings) {
  const double h = settings.time_step, alpha = settings.alpha(), beta = settings.beta();
  if (h == time_step_) return;
  time_step_ = h;
  synchronize(device_);
  const std::span<double> compliance = compliance_.host();
  const std::span<RowWeights> weights = weights_.host();
  bool damped = std::ranges::any_of(robot_.springs, [](const ConstraintRow& row) { return row.damping_time > 0; });
  plain_ = beta == 1;
  for (std::size_t row = 0; row < compliance.size(); ++row) {
    const ConstraintRow* constraint =
        row < robot_.actuators.size() ? nullptr : &robot_.constraints[row - robot_.actuators.size()];
    const double c = constraint ? constraint->compliance : robot_.actuators[row].compliance,
                 d = constraint ? constraint->damping_time : 0;
    RowWeights& seen = weights[row];
    seen = {0, 0};
    averaged_[row] = 0;
    if (!settings.dynamic()) {
      compliance[row] = c;
    } else if (constraint && is_spring(*constraint)) {
      // phi + d phi' + c lambda_{n+1}, phi' as in SpringTeamOp, times h/(beta h + d)
      seen.start = -d / (beta * (beta * h + d));
      seen.rate = (1 - beta) * h * seen.start;
      compliance[row] = c * h / (alpha * (beta * h + d));
      averaged_[row] = 1;
    } else {
      // phi_n + (h + d) phi' + c lambda, times h/(h + d)
      seen.start = h / (h + d) - 1 / beta;
      seen.rate = -(1 - beta) * h / beta;
      compliance[row] = c * h / (h + d);
    }
    damped = damped || d > 0;
    plain_ = plain_ && seen.start == 0 && seen.rate == 0;
  }
  looks_back_ = settings.dynamic() && (alpha != 1 || beta != 1 || damped);
  compliance_.send();
  weights_.send();
}

}  // namespace supple
