#pragma once
// A scene of several bodies along commands over time, from rest: where its parts are trained and measured in contact.

#include <functional>
#include <optional>
#include <vector>

#include "engine/collision/feature_pairs.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/model/touches.hpp"
#include "engine/reduction/basis/contact_modes.hpp"
#include "engine/reduction/snapshots/varied_commands.hpp"
#include "engine/step/step.hpp"

namespace supple {

/// What is compared of a robot at one time of a run.
struct WorldMoment {
  std::vector<Vec3d> goals;        // effectors, or all reported points; then free rigid bodies: in the world
  std::vector<Vec3d> skin;         // of the parts, each in its own axes
  std::vector<BodyTouch> touches;  // of bodies, then of obstacles (numbers below 0) with all bodies
};
WorldMoment moment_of(AssemblyRobot& robot, const State& state);

struct RanWorld {
  StepStatus status = StepStatus::ok;
  double failed_at = 0;         // s
  std::vector<double> seconds;  // of each step
};
/// From rest to the end of the commands with the scene's time step; visit(state, kept): after every step, and kept at
/// rest, after every `every`-th and the last. Stops at a step that fails.
RanWorld run_world(AssemblyRobot& robot, const VariedCommands& commands, int every,
                   const std::function<void(const State&, bool kept)>& visit);

/// Weights of the points of parts by where they touch other bodies or obstacles (PointWeights).
class TouchWeights {
 public:
  explicit TouchWeights(AssemblyRobot& robot);
  /// Adds a state.
  void add(const State& state);
  /// The mean over the states, for the mapped points of the parts' full model; all have the same.
  PointWeights of(const std::vector<int>& parts) const;

 private:
  AssemblyRobot& robot_;
  std::optional<ContactSearch> search_;   // where bodies may touch
  std::vector<std::vector<Mat3d>> sums_;  // [surfaces][vertices]
  std::vector<Mat3d> at_obstacles_;       // [collision points]
  int states_ = 0;
};

}  // namespace supple
