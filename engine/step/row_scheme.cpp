#include "engine/step/row_scheme.hpp"

#include <algorithm>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

bool is_spring(const ConstraintRow& constraint) {
  return constraint.compliance > 0 && !constraint.one_sided;
}

}  // namespace

RowScheme::RowScheme(const Device& device, const Robot& robot, int robots)
    : device_(device),
      robot_(robot),
      robots_(robots),
      averaged_(extent(robot.rows()), 0),
      compliance_(device, extent(robots, robot.rows())),
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
  const auto scaled = [](const ActuatorRow& actuator) { return actuator.has_gas() || actuator.friction > 0; };
  if (std::ranges::none_of(robot.actuators, scaled)) return;
  scale_ = Mirrored<double>(device, extent(robots, robot.rows()));
  std::ranges::fill(scale_.host(), 1.0);
  scale_.send();
}

void RowScheme::list_gas(const StepSettings& settings) {
  std::vector<GasRow> rows;
  int history = 0;
  for (std::size_t row = 0; row < robot_.actuators.size(); ++row) {
    const ActuatorRow& actuator = robot_.actuators[row];
    const bool supply = actuator.control == ActuatorControl::supply;
    // At rest a cavity has the pressure of its supply.
    if (actuator.has_gas() && (!supply || settings.dynamic()))
      rows.push_back({static_cast<int>(row), history, actuator.gas.atmosphere,
                      actuator.rest_volume + actuator.gas.dead_volume,
                      supply ? actuator.gas.atmosphere * settings.time_step / actuator.gas.resistance : 0});
    history += actuator.history();
  }
  gas_ = Mirrored<GasRow>(device_, rows.size());
  std::ranges::copy(rows, gas_.host().begin());
  gas_.send();
}

GasRowsTeamOp RowScheme::gas(ConstVectors phi, ConstVectors lambda, ConstVectors history, Vectors values) {
  const int n = robot_.rows();
  return {gas_.data(),
          gas_rows(),
          phi,
          lambda,
          history,
          values,
          {compliance_.data(), robots_, n},
          {scale_.data(), robots_, n}};
}

void RowScheme::fetch() {
  if (gas_rows() == 0) return;
  compliance_.fetch();
  scale_.fetch();
}

void RowScheme::set(const StepSettings& settings) {
  const double h = settings.time_step, alpha = settings.alpha(), beta = settings.beta();
  if (h == time_step_) return;
  time_step_ = h;
  synchronize(device_);
  list_gas(settings);
  const std::size_t rows = extent(robot_.rows());
  const std::span<double> all = compliance_.host(), compliance = all.first(rows);
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
  for (std::size_t i = rows; i < all.size(); ++i) all[i] = all[i - rows];
  looks_back_ = settings.dynamic() && (alpha != 1 || beta != 1 || damped);
  compliance_.send();
  weights_.send();
}

}  // namespace supple
