#pragma once
// Steps of the robots of a run whose states stay on a device (BatchStepper): one linearisation, of reduced models.
// States are those of steps_on_cpu.hpp to rounding.

#include <memory>
#include <optional>

#include "engine/run/drive.hpp"
#include "engine/run/goals.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/step/batch_stepper.hpp"

namespace supple {

// Why a run of this model is not supported on a device: the feature that is missing there. None: it is supported.
std::optional<InputError> cannot_run_on_device(const ReducedModel& model, const DriveSettings& settings, bool inverse);

class StepsOnDevice : public RobotSteps {
 public:
  TakenStep step(long number, double time) final;
  const State& state() final;
  const std::vector<double>& outputs() final;

 protected:
  // Throws as BatchStepper does.
  StepsOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings, bool inverse,
                const State& start);
  // Commands or goals of the step to `time`; returns how many motions were cut.
  virtual int prepare(double time) = 0;
  virtual StepReport take() = 0;
  BatchStepper& stepper() { return stepper_; }
  const BatchStepper& stepper() const { return stepper_; }

 private:
  void hold_failed(long number, const StepReport& report);

  BatchStepper stepper_;
  State state_;
  State held_;  // of robots that have failed; empty until one has
  std::vector<double> y_;
  bool state_known_ = true, outputs_known_ = false;
};

class ForwardOnDevice final : public StepsOnDevice {
 public:
  // From `start`, a state of all robots. Model and actuation must outlive this object.
  ForwardOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                  const Actuation& actuation, const State& start);

 private:
  int prepare(double time) override;
  StepReport take() override;

  const Actuation& actuation_;
  Control control_;
};

class InverseOnDevice final : public StepsOnDevice, public InverseAnswers {
 public:
  // As ForwardOnDevice. Model and path must outlive this object. Throws InputError where robots have limits of forces of
  // their own.
  InverseOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                  const InverseSettings& inverse, const GoalPath& path, const State& start);
  std::vector<int> memory() const override;
  void recall(const std::vector<int>& memory) override;

 private:
  int prepare(double time) override;
  StepReport take() override;

  const GoalPath& path_;
  std::vector<std::unique_ptr<InverseLaw>> laws_;  // of each part of the stepper
  std::vector<ConstraintLaw*> given_;
};

}  // namespace supple
