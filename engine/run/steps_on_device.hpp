#pragma once
// Steps of the robots of a run whose states stay on a device (BatchStepper): one linearisation, of reduced models.
// States are those of steps_on_cpu.hpp to rounding.

#include <memory>
#include <optional>

#include "engine/run/device_steps.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/goal_source.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/step/batch_stepper.hpp"

namespace supple {

class StepsOnDevice : public RobotSteps {
 public:
  TakenStep step(long number, double time) final;
  const State& state() final;
  const std::vector<double>& outputs() final;
  void set_variations(const Variations& variations) final { stepper_.set_variations(variations); }

 protected:
  // Throws as BatchStepper does.
  StepsOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings, bool inverse,
                const State& start);
  // Commands or goals of the step to `time`; returns how many motions were cut.
  virtual int prepare(double time) = 0;
  virtual StepReport take() = 0;
  void restart(std::span<const int> robots, const State& start) override;
  BatchStepper& stepper() { return stepper_; }
  const BatchStepper& stepper() const { return stepper_; }

 private:
  void set_time(double time) final;
  void hold_failed(long number, const StepReport& report);

  BatchStepper stepper_;
  State state_;
  State held_;  // of robots that have failed; empty until one has
  std::vector<double> y_;
  bool state_known_ = true, outputs_known_ = false;
};

class ForwardOnDevice final : public StepsOnDevice {
 public:
  // From `start`, a state of all robots. Model and source must outlive this object.
  ForwardOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                  const CommandSource& source, const State& start);

 private:
  int prepare(double time) override;
  StepReport take() override;

  const CommandSource& source_;
  Control control_;
};

class InverseOnDevice final : public StepsOnDevice, public InverseAnswers {
 public:
  // As ForwardOnDevice. Model and source must outlive this object. Throws InputError where robots have limits of forces of
  // their own.
  InverseOnDevice(const ReducedModel& model, const Device& device, const DriveSettings& settings,
                  const InverseSettings& inverse, const GoalSource& source, const State& start);
  std::vector<int> memory() const override;
  void recall(const std::vector<int>& memory) override;

 private:
  int prepare(double time) override;
  StepReport take() override;
  void restart(std::span<const int> robots, const State& start) override;

  const GoalSource& source_;
  std::vector<std::unique_ptr<InverseLaw>> laws_;  // of each part of the stepper
  std::vector<ConstraintLaw*> given_;
};

}  // namespace supple
