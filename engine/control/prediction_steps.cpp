#include "engine/control/prediction_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace supple {

StepSettings prediction_steps(const Robot& robot, const std::optional<double>& time_step) {
  if (robot.integrator != Integrator::implicit_euler)
    throw InputError(
        fmt::format("'{}' has another integrator than implicit Euler, along whose steps a prediction is made",
                    robot.name),
        "integrator = \"implicit-euler\" in the scene that the model is reduced from");
  const double h = time_step.value_or(robot.time_step);
  if (!(h > 0 && std::isfinite(h))) throw InputError(fmt::format("the time step is {} s", h), "a time above 0");
  return {.time_step = h, .implicit_velocity = robot.implicit_velocity, .implicit_position = robot.implicit_position};
}

void check_numbers(std::span<const double> values, std::size_t size, const char* what) {
  if (values.size() != size)
    throw InputError(fmt::format("there are {} numbers of {} (expected are {})", values.size(), what, size),
                     "one for each coordinate or actuator, and goals of every step and effector");
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); }))
    throw InputError(fmt::format("a number of {} is not finite", what), "finite numbers");
}

}  // namespace supple
