#pragma once
// Robots that a program steps at will, one or a batch: it sets commands or goals between two steps and reads states,
// outputs and contacts after them. What it sets and reads lies in arrays that stay where they are. Steps are those of a
// run (steps_on_cpu.hpp, steps_on_device.hpp): same bits. Python and other programs come in here.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/mechanics/variations.hpp"
#include "engine/model/touches.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/mechanics_team.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/run/sensor_readings.hpp"
#include "engine/run/simulated_body.hpp"
#include "engine/run/steps_on_cpu.hpp"

namespace supple {

struct BatchSimulationSettings {
  int robots = 1;
  Device device = cpu();
  std::optional<Integrator> integrator = {};    // none: the robot's
  std::optional<double> time_step = {};         // s; none: the robot's
  double keep_tangent = 0;                      // see StepSettings
  std::optional<InverseSettings> inverse = {};  // steps towards goals; none: under commands
  std::uint64_t sensor_seed = default_sensor_seed;
};

class BatchSimulation {
 public:
  /// At rest under zero commands; bodies of models: body_of(). Only reduced ones run on devices; full ones robot after robot. Throws
  /// InputError where the robot, its device or its steps are not supported (cannot_step, cannot_lead,
  /// cannot_run_on_device).
  BatchSimulation(std::unique_ptr<SimulatedBody> body, const BatchSimulationSettings& settings);
  ~BatchSimulation();

  /// That of the model, whatever parameters robots have of their own.
  const Robot& robot() const { return (first_team_ ? *first_team_ : *team_).robot(); }
  int robots() const { return robots_; }
  Integrator integrator() const { return drive_.integrator; }
  double time_step() const { return drive_.time_step; }  // s
  const Device& device() const { return device_; }
  bool inverse() const { return answers_ != nullptr; }
  SimulatedBody::Kind kind() const { return body_->kind(); }
  const ReducedModel* reduced() const { return body_->reduced(); }  // of that kind

  /// Of the steps to come, SI. Commands are cut to range and rate, motions to their range.
  std::span<double> commands();  // [B x actuators]: m, m^3, N or Pa
  std::span<double> motions();   // [B x motions]: m
  /// Of inverse steps: goals [B x 3 x effectors] (engine/model/effectors.hpp), at first where the effectors are;
  /// commands that are known [B x actuators], NaN: solved for; which effectors are steered [effectors], at first all;
  /// limits of forces, for all robots [actuators x 2: least, largest], N or Pa, within those of the robot.
  std::span<double> goals();
  std::span<double> known();
  std::span<unsigned char> steered();
  std::span<double> limits();

  /// So many steps, fewer if no robot is left or `stopped`, which is asked after each, is true. Returns the last report
  /// (TakenStep). A robot that fails stays as it was; one that is alone is tried again by the next call. Throws
  /// InputError for numbers that are not finite and for limits that limited_force() rejects.
  const StepReport& step(long count = 1, const std::function<bool()>& stopped = {});
  const StepReport& report() const { return report_; }
  /// Steps done since the start or the last reset of all robots.
  long steps() const { return number_; }
  /// Commands and motions that the last step cut to their range or rate, over all robots.
  int limited() const { return limited_; }
  /// Brings all robots to equilibrium under their commands, in inverse control under those that were applied last; then
  /// the goals are where the effectors are. Throws RunError where one does not settle.
  void settle();

  /// The lists stay where they are, step after step.
  const State& state() { return steps_->state(); }
  const std::vector<double>& outputs() { return steps_->outputs(); }  // [B x outputs]: mapped points
  /// Present values of effectors [B x 3 x effectors].
  std::span<const double> effectors();
  /// Of inverse steps: distances to the goals [B x effectors], as EffectorErrors.
  std::span<const double> goal_errors();
  /// In the order in which they failed. A robot of a batch that failed takes part again when it is reset.
  const std::vector<FailedRobot>& failures() const { return steps_->failures(); }
  bool failed(int robot) const { return steps_->failed(robot); }
  bool all_failed() const;
  /// Of the last inverse step [B]; null: steps under commands.
  const InverseAnswers* answers() const { return answers_; }

  /// Readings of the sensors after the last step [B x numbers], SI; the numbers of one robot; and what the next ones
  /// need [B x memory] (sensor_readings.hpp).
  std::span<const double> sensors();
  const std::vector<SensorNumber>& sensor_numbers() const { return sensors_->numbers(); }
  std::span<const double> sensor_memory();
  /// Continues with a memory of this robot and state, where set_state() begins anew. Throws InputError for one of another
  /// length or with numbers that are not finite.
  void set_sensor_memory(std::span<const double> memory);

  /// To the start: at rest. All of them: the time is 0 again.
  void reset(std::span<const int> robots);
  void reset();
  void set_state(const State& state);
  /// Of reduced models. Throws as check_variations(), and for stiffness damping of steps that keep their tangent.
  void set_variations(const Variations& variations);
  const Variations& variations() const { return variations_; }
  /// Values [B x Robot::parameters] that the robots differ by, stiffnesses, densities and shapes; empty: those of the model.
  /// Of reduced models that are at 1, on a CPU: each robot has a model of its own, which takes as much memory. Variations
  /// stay. Throws InputError for values outside their ranges, CapabilityError on a device.
  void set_parameters(std::span<const double> values);
  const std::vector<double>& parameters() const { return parameters_; }

  /// Contacts of a robot at the end of the last step, with its slip in it.
  std::vector<Touch> touches(int robot);
  /// Bodies of a robot that touch each other, after the last step; a batch has none that may.
  std::vector<BodyTouch> body_touches(int robot);
  /// Where the bodies of a robot are; empty: it is one body.
  std::vector<NamedPose> poses(int robot);
  /// Gaps between collision points and obstacles, less the contact distance [B x pairs], m.
  std::vector<double> gaps();
  /// Nodes of the skin of a robot at rest, and now, [nodes x 3] m; its triangles.
  const Surface& skin() { return body_->skin(); }
  void skin_nodes(int robot, std::span<double> nodes);
  /// Von Mises stress of elements of a robot [Pa]: of a full model all of them, of a reduced one those it keeps.
  std::vector<double> stress(int robot);

 private:
  class Sources;
  void check(const BatchSimulationSettings& settings);
  void make_steps(State from);
  void step_with(std::unique_ptr<MechanicsTeam> team);
  // Its own, where parameters differ.
  const Robot& robot_of(int robot) const { return own_teams_.empty() ? this->robot() : team_->member(robot).robot(); }
  SimulatedBody& body_of_robot(int robot) {
    return *(own_bodies_.empty() ? body_ : own_bodies_[static_cast<std::size_t>(robot)]);
  }
  void aim_where_they_are();
  void restart_sensors();
  void see_sensors();
  std::span<const double> of(const std::vector<double>& values, int robot) const;

  std::unique_ptr<SimulatedBody> body_;
  int robots_;
  Device device_;
  DriveSettings drive_;
  std::optional<InverseSettings> inverse_;
  std::unique_ptr<MechanicsTeam> team_;
  std::unique_ptr<MechanicsTeam> first_team_;               // once there is another: sources and sensors read its robot
  std::vector<std::unique_ptr<SimulatedBody>> own_bodies_;  // [B] at parameters_, or none
  std::vector<std::unique_ptr<MechanicsTeam>> own_teams_;   // of each of them
  std::unique_ptr<Sources> sources_;
  std::unique_ptr<RobotSteps> steps_;
  std::unique_ptr<SensorReadings> sensors_;
  bool sensors_seen_ = true;           // they have seen the last step
  StepsOnCpu* on_cpu_ = nullptr;       // the same object, where it is one
  InverseAnswers* answers_ = nullptr;  // the same object as steps_
  State rest_;                         // of one robot
  Variations variations_;
  std::vector<double> parameters_;
  StepReport report_;  // of the last step
  int limited_ = 0;
  long number_ = 0;
  std::vector<double> effectors_, goal_errors_, before_;  // before: outputs at the beginning of the last step
};

}  // namespace supple
