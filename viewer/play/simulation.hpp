#pragma once
// One robot led by intents, step after step, with a way back: what the simulation thread runs. No threads and no clock
// in here, so a test can drive it.

#include <deque>
#include <memory>

#include "engine/dynamics/forward_step.hpp"
#include "engine/inverse/inverse_step.hpp"
#include "viewer/play/frame.hpp"
#include "viewer/play/opened_robot.hpp"

namespace supple::view {

struct SimulationSettings {
  std::optional<Integrator> integrator;    // none: the robot's own
  std::optional<double> time_step;         // s
  std::size_t history_bytes = 256u << 20;  // states kept to step back to
};

class Simulation {
 public:
  // Starts from the equilibrium under zero commands (from rest where there is none, and says so in the first frame).
  // `beside` (may be null) follows the commands of the first; it must have the same controls.
  Simulation(std::shared_ptr<OpenedRobot> robot, std::shared_ptr<OpenedRobot> beside,
             const SimulationSettings& settings = {});

  const Robot& robot() const { return robot_->robot(); }
  double time_step() const { return time_step_; }
  Integrator integrator() const { return integrator_; }

  // One step under the intent. False: it failed, the state is as before and frame().failure says why.
  bool step(const Intent& intent);
  // To the state before the last step, while there is one; to the state after so many steps, as near as they are kept.
  // A step from there forgets what came after.
  bool back();
  void seek(long step);
  // To the start, bit by bit.
  void reset();
  const Frame& frame() const { return frame_; }
  InverseLaw& law() { return inverse_.law(); }
  // An intent that leaves the robot where it is: goals where its effectors are, commands as they are; inverse where
  // there is something to steer with.
  Intent rest_intent() const;

 private:
  StepReport advance(const Intent& intent, std::span<const double> load, State& state);
  bool pulls(const Intent& intent) const;
  Vec3d pulled_point(const Pull& pull, const State& state);
  Vec3d pull_force(const Intent& intent, const State& state);
  void follow(const Intent& intent, const Vec3d& force);
  void remember();
  void show();
  void map_points();
  void measure(const Intent& intent);

  std::shared_ptr<OpenedRobot> robot_, beside_;
  Integrator integrator_;
  double time_step_;
  InverseStep inverse_;
  ForwardStep forward_, beside_forward_;
  RowLayout effector_rows_;
  Frame start_, frame_;
  std::deque<Frame> history_;  // of consecutive steps, oldest first; the one shown is at_
  std::size_t at_ = 0;
  std::size_t history_limit_;
  Control control_;
  State trial_;
  bool same_skin_ = false;
  std::vector<Vec3d> places_;
  std::vector<double> phi_, gradients_, recent_seconds_, sorted_seconds_;
  std::size_t recent_next_ = 0;
};

}  // namespace supple::view
