#pragma once
// What all that differentiates steps of a reduced robot asks of them, and of the numbers that it is given.

#include <optional>
#include <span>

#include "engine/model/robot.hpp"
#include "engine/step/step_settings.hpp"

namespace supple {

/// Steps of this length [s], or of the robot's. Throws InputError for another integrator than implicit Euler.
StepSettings differentiable_steps(const Robot& robot, const std::optional<double>& time_step);

/// Throws InputError for another size, or a number that is not finite.
void check_numbers(std::span<const double> values, std::size_t size, const char* what, bool may_be_empty = false);

}  // namespace supple
