#pragma once
// Steps of a run on a device (steps_on_device.hpp), made without its headers: a build without devices has none.

#include <memory>
#include <optional>

#include "engine/commands/command_source.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/goal_source.hpp"
#include "engine/run/robot_steps.hpp"

namespace supple {

// Why a run of this model is not supported on a device: the feature that is missing there. None: it is supported.
std::optional<InputError> cannot_run_on_device(const ReducedModel& model, const DriveSettings& settings, bool inverse);

// From `start`, a state of all robots. Model and source must outlive the steps. Throws as BatchStepper does.
std::unique_ptr<RobotSteps> forward_on_device(const ReducedModel& model, const Device& device,
                                              const DriveSettings& settings, const CommandSource& source,
                                              const State& start);
// The same; `answers` becomes that of the steps. Throws InputError where robots have limits of forces of their own.
std::unique_ptr<RobotSteps> inverse_on_device(const ReducedModel& model, const Device& device,
                                              const DriveSettings& settings, const InverseSettings& inverse,
                                              const GoalSource& source, const State& start, InverseAnswers*& answers);

}  // namespace supple
