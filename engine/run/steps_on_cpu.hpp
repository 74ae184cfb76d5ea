#pragma once
// Steps of the robots of a run on a CPU, forward and inverse: any integrator, any robot.

#include <memory>
#include <optional>
#include <vector>

#include "engine/inverse/inverse_step.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/goal_source.hpp"
#include "engine/run/mechanics_team.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/step/forward_step.hpp"

namespace supple {

class StepsOnCpu : public RobotSteps {
 public:
  TakenStep step(long number, double time) final;
  const State& state() final { return state_; }
  const std::vector<double>& outputs() final;
  void set_variations(const Variations& variations) override;
  /// Becomes the robots of other steps of the same robots, with their lists where these are; `other` is left without.
  void take_over(StepsOnCpu& other);

 protected:
  // exact_time: a step ends at its time to the bit, whatever was summed.
  StepsOnCpu(const MechanicsTeam& team, bool exact_time, State start);
  // Commands or goals of the step to `time`; returns how many motions were cut.
  virtual int prepare(double time) = 0;
  // The step of a robot in `own`, a state of its own.
  virtual StepReport take(int robot, int member, State& own) = 0;
  // The step of all robots of a batch at once, with the same bits. None: not possible.
  virtual std::optional<StepReport> take_together(State&) { return std::nullopt; }
  const MechanicsTeam& team() const { return team_; }
  void restart(std::span<const int> robots, const State& start) override;

 private:
  void set_time(double time) final { state_.time = time; }
  StepReport step_one_by_one(long number, double& end);

  const MechanicsTeam& team_;
  bool exact_time_;
  State state_;
  std::vector<State> own_;           // of each member of the team
  std::vector<StepReport> reports_;  // of each robot
  std::vector<double> y_;
  bool outputs_known_ = false;
};

class ForwardOnCpu final : public StepsOnCpu {
 public:
  /// From `start`, a state of all robots. Team and source must outlive this object. Where tangents are kept the team
  /// has a member for each robot.
  ForwardOnCpu(const MechanicsTeam& team, const DriveSettings& settings, const CommandSource& source, State start);
  void set_variations(const Variations& variations) override;

 private:
  int prepare(double time) override;
  StepReport take(int robot, int member, State& own) override;
  std::optional<StepReport> take_together(State& all) override;

  const CommandSource& source_;
  Control control_;  // of all robots
  // Of robots without contact, by steps of one linearisation: small ones cost less than the way from one to the next.
  std::unique_ptr<ReducedMechanics> batch_;
  std::unique_ptr<ForwardStep> together_;
  std::vector<std::unique_ptr<ForwardStep>> steps_;
  std::vector<Control> own_control_;  // of each member
};

class InverseOnCpu final : public StepsOnCpu, public InverseAnswers {
 public:
  /// As ForwardOnCpu. Team and source must outlive this object.
  InverseOnCpu(const MechanicsTeam& team, const DriveSettings& settings, const InverseSettings& inverse,
               const GoalSource& source, State start);
  std::vector<int> memory() const override;
  void recall(const std::vector<int>& memory) override;

 private:
  int prepare(double time) override;
  StepReport take(int robot, int member, State& own) override;
  void restart(std::span<const int> robots, const State& start) override;

  const GoalSource& source_;
  double time_ = 0;
  std::vector<std::unique_ptr<InverseStep>> steps_;
  std::vector<std::vector<int>> memory_;  // of each robot, where there are several
};

}  // namespace supple
