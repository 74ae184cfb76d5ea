#pragma once
// Errors of a reduced model against full-order equilibria of the test set, and rates of both, measured the same way.

#include <functional>
#include <memory>
#include <optional>

#include "engine/model/reduced_model.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/snapshots/smooth_path.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "engine/step/batch_stepper.hpp"
#include "engine/step/equilibrium.hpp"
#include "engine/step/step_rate.hpp"

namespace supple {

class Branches;

// Full equilibria to compare with: samples, node displacements of the unknowns without their lifting (lifting.hpp)
// [count][nv], how far they are from rest in all [count], and mapped points [count][ny]. Of a free-floating body
// they are brought as near to rest as a rigid motion can (rigid_motion.hpp).
struct ReferenceStates {
  int count = 0, failed = 0, nv = 0, ny = 0;  // ny: outputs of the full robot, of which a reduced one may have fewer
  std::vector<int> path;                      // states in time: which path each belongs to; empty: equilibria
  std::vector<char> friction;                 // [count] whether obstacles have theirs; empty: none
  std::vector<Sample> commands;
  std::vector<double> q;
  std::vector<double> displacement;
  std::vector<double> outputs;
  std::optional<RigidFit> fit;       // of a free-floating body
  std::vector<RigidMotion> to_rest;  // [count] of a free-floating body: what has brought each state to rest
  /// Other equilibria under the same commands, which grow in number as models find them (branches.hpp); null: every
  /// model is compared with these.
  std::shared_ptr<Branches> branches;
};
ReferenceStates reference_states(const FullModel& model, const SnapshotSet& set);

/// Mapped points at rest, carried along by a rigid motion [outputs]: displacements are measured from there, in the
/// frame of the base; otherwise a large motion of the base would make every relative error small. output_inputs:
/// ReducedModel's.
std::vector<double> carried_rest(const Robot& robot, std::span<const double> output_inputs, std::span<const double> c);

// The reduced model solves every state from rest to the same tolerance, or runs along the paths as the full one did.
//   goal = mean_i |p_i - p_i^full| / mean_i |p_i^full - p_rest|
// with p the effectors' positions stacked, max and median with the same denominator; shape the same over all free nodes
// (needs the basis, nv x modes column-major); sets the same per probe set. A failed solve counts as an error of 1 (its
// deviation is the mean displacement). Equilibria of a free-floating body say nothing of where it is: the best
// rigid motion from the reduced shape to the full one is taken out of all of its errors. Where the reference has
// branches, a state is compared with the equilibrium that it is next to (ErrorSummary::elsewhere counts the others).
ErrorSummary evaluate_errors(const ReducedModel& model, std::span<const double> basis,
                             const ReferenceStates& reference);

// Between the effectors' positions, stacked, of a state of each of two sets [m].
double goal_distance(const Robot& robot, const ReferenceStates& a, int of_a, const ReferenceStates& b, int of_b);

// How far the states are from all that the basis can show, the mean distance as a fraction of the mean displacement: no
// model with these modes is nearer in shape. Of equilibria.
double projection_error(std::span<const double> basis, int modes, const ReferenceStates& reference);

struct Rate : StepRate {
  int steps = 0;
  int warm_up = 0;    // steps before those, if they are not counted among them
  StageTimes median;  // s, stage by stage, after warming up
  std::uint64_t state_hash = 0;
  StepStatus status = StepStatus::ok;
  ContactFigures contact;  // warm-up included
};

/// Commands along SmoothPaths, one for each robot of a batch (seed, seed + 1, ...).
class PathCommands {
 public:
  PathCommands(const Mechanics& mechanics, std::uint64_t seed);
  PathCommands(const Robot& robot, int robots, std::uint64_t seed);
  const Control& at(int step);

 private:
  const Robot& robot_;
  std::vector<SmoothPath> paths_;
  Control control_;
};

// Runs `step`, which returns its own wall time [s], so many times or seconds, whichever comes first (at least 20
// times); the first tenth is warm-up. Without a hash.
Rate measure_steps(int robots, double time_step, int steps, double seconds,
                   const std::function<StepReport(int, double&)>& step);

/// One-linearisation implicit Euler steps at the robot's time step, every robot of the batch along a SmoothPath of its
/// own (seed, seed + 1, ...); the first tenth is warm-up. Stops after `seconds` or `steps`, whichever comes first (at
/// least 20 steps).
Rate measure_rate(Mechanics& mechanics, int steps, double seconds, std::uint64_t seed);
// The same of robots whose states stay on a device, at the robot's time step. A step's time begins with the evaluation
// at the states and ends when their motion is queued, which the next step waits for; states come to the host after the
// last one.
Rate measure_batch_rate(const ReducedModel& model, const Device& device, int robots, const BatchStepSettings& settings,
                        int steps, double seconds, std::uint64_t seed);

struct DynamicError {
  int steps = 0;
  bool failed = false;
  double goal_mean = 0, goal_max = 0;  // over the path, denominator mean |p^full - p_rest|
  Whereabouts where;                   // largest, of the skins of a free-floating body
};
// A full model driven along a smooth path, and how a reduced one follows.
//
// Both models settle under the path's first commands, or are put down at rest where they lie free-floating in contact
// with obstacles; then they are driven along the same smooth unseen path with one-linearisation steps. Where the body
// is free-floating, goal errors are those without the rigid motion between both skins, which `where` tells of: in
// flight a body turns by changing its shape, and linearised rotations do not follow.
class UnseenPath {
 public:
  // Runs the full model, which must outlive this object, with steps of `scheme`: Newton's method for models whose
  // tangent is not the full one's, since what one linearisation is off by differs then.
  UnseenPath(const FullModel& full, int steps, std::uint64_t seed, const Progress& progress,
             StepScheme scheme = StepScheme::one_linearisation);
  // The same along other commands by time [s].
  UnseenPath(const FullModel& full, int steps, std::function<Sample(double)> commands, const Progress& progress,
             StepScheme scheme = StepScheme::one_linearisation);
  bool failed() const { return failed_; }  // the full model, somewhere
  DynamicError compare(const ReducedModel& reduced) const;

 private:
  const FullModel& full_;
  std::function<Sample(double)> commands_;
  bool failed_ = false;
  std::vector<std::vector<double>> y_, q_;  // [steps]: outputs; of a free-floating body all displacements
};

}  // namespace supple
