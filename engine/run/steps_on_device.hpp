#pragma once
// Steps of the robots of a run whose states stay on a device (ResidentStepper): one linearisation of implicit Euler, of
// reduced models. States are those of steps_on_cpu.hpp to rounding.

#include <memory>
#include <optional>

#include "engine/run/drive.hpp"
#include "engine/run/goals.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/step/resident_step.hpp"

namespace supple {

// Why a run of this model is not supported on a device: the feature that is missing there. None: it is supported.
std::optional<InputError> cannot_run_on_device(const ReducedModel& model, const DriveSettings& settings, bool inverse);

class StepsOnDevice : public RobotSteps {
 public:
  TakenStep step(long number, double time) final;
  const State& state() final;
  const std::vector<double>& outputs() final;

 protected:
  // Throws as ResidentStepper does.
  StepsOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings, bool inverse,
                const State& start);
  // Commands or goals of the step to `time`.
  virtual void prepare(double time) = 0;
  virtual ResidentReport take() = 0;
  ResidentStepper& stepper() { return stepper_; }
  const ResidentStepper& stepper() const { return stepper_; }

 private:
  void hold_failed(long number, const ResidentReport& report);

  ResidentStepper stepper_;
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
  void prepare(double time) override;
  ResidentReport take() override;

  const Actuation& actuation_;
  Control control_;
};

class InverseOnDevice final : public StepsOnDevice, public InverseAnswers {
 public:
  // As ForwardOnDevice. Model and path must outlive this object.
  InverseOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                  const InverseSettings& inverse, const GoalPath& path, const State& start);
  std::vector<int> memory() const override;
  void recall(const std::vector<int>& memory) override;

 private:
  void prepare(double time) override;
  ResidentReport take() override;

  const GoalPath& path_;
  std::vector<std::unique_ptr<InverseLaw>> laws_;  // of each part of the stepper
  std::vector<ConstraintLaw*> given_;
};

}  // namespace supple
