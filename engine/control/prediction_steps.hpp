#pragma once
// What controllers and estimators ask of the steps of a reduced robot, and of the numbers that they are given.

#include <optional>
#include <span>

#include "engine/model/robot.hpp"
#include "engine/step/step_settings.hpp"

namespace supple {

/// Steps of this length [s], or of the robot's. Throws InputError for another integrator than implicit Euler.
StepSettings prediction_steps(const Robot& robot, const std::optional<double>& time_step);

/// Throws InputError for another size, or a number that is not finite.
void check_numbers(std::span<const double> values, std::size_t size, const char* what);

}  // namespace supple
