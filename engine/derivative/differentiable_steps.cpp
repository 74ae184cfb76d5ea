#include "engine/derivative/differentiable_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace supple {

StepSettings differentiable_steps(const Robot& robot, const std::optional<double>& time_step) {
  if (robot.integrator != Integrator::implicit_euler)
    throw InputError(
        fmt::format("'{}' has another integrator than implicit Euler, and derivatives of its steps are not "
                    "supported yet",
                    robot.name),
        "integrator = \"implicit-euler\" in the scene that the model is reduced from");
  const double h = time_step.value_or(robot.time_step);
  if (!(h > 0 && std::isfinite(h))) throw InputError(fmt::format("the time step is {} s", h), "a time above 0");
  return {.time_step = h, .implicit_velocity = robot.implicit_velocity, .implicit_position = robot.implicit_position};
}

void check_numbers(std::span<const double> values, std::size_t size, const char* what, bool may_be_empty) {
  if (values.size() != size && !(may_be_empty && values.empty()))
    throw InputError(fmt::format("there are {} numbers of {} (expected are {})", values.size(), what, size),
                     fmt::format("a list of {}", size));
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); }))
    throw InputError(fmt::format("a number of {} is not finite", what), "finite numbers");
}

}  // namespace supple
