#pragma once
// How far a reduced robot's effectors are from where the full model would have them, estimated while it runs: a second,
// finer reduced model of the same robot is brought to the equilibrium that belongs to the robot's present motion, and
// both are compared (a hierarchical estimate: R. E. Bank, R. K. Smith, A posteriori error estimates based on
// hierarchical bases, SIAM Journal on Numerical Analysis 30, 1993).
//
// With the modes of both at the skin, P takes coordinates of the model to those of the finer one. The finer model is in
// equilibrium under the same commands, gravity, the forces of contacts that the model has found, and the forces of
// inertia and damping of the model's motion, -M P a - D P v (d'Alembert): what is estimated is the error of the present
// shape, not one that has added up in time. It begins from where it was at the estimate before, so that a few
// steps of Newton's method are enough, and so seldom that it takes a share of the time that was asked for.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/step/step.hpp"

namespace supple {

/// Why the error of a model cannot be estimated by this finer one, or "".
std::string cannot_estimate(const ReducedModel& model, const ReducedModel& finer);

struct ErrorEstimatorSettings {
  /// Share of the time of the model's steps that estimates take on average, about; 0: an estimate after every step.
  double share = 0.15;
  double tolerance = 1e-4;  // relative residual at which Newton's method of the finer model ends
};

class ErrorEstimator {
 public:
  /// The models must outlive this object. Throws InputError as cannot_estimate().
  ErrorEstimator(const ReducedModel& model, const ReducedModel& finer, const ErrorEstimatorSettings& settings = {});

  ErrorEstimator(const ErrorEstimator&) = delete;
  ErrorEstimator& operator=(const ErrorEstimator&) = delete;

  /// Steps from one estimate to the next, about: more after one that took more iterations than usual.
  int steps_between() const { return steps_between_; }
  /// After a step of the model's robot, which ended in `state`; now: an estimate is due, whatever the time it takes. True:
  /// there is a new estimate; none after the first step, before which no velocities are known. A time before that of
  /// the step before: reset().
  bool after_step(const State& state, bool now = false);
  /// Another run begins.
  void reset();
  /// Forces on mapped points of the robot beside its own, as those of a hand, for the steps to come [N].
  struct PointForce {
    int point = 0;
    Vec3d force{{0, 0, 0}};
  };
  void set_point_forces(std::vector<PointForce> forces) { forces_ = std::move(forces); }

  struct Estimate {
    double time = 0;            // of its step [s]
    std::vector<double> error;  // [effectors][3] the finer model's point less the model's [m]
    int iterations = 0;
  };
  /// The newest; none yet, or where the finer model has not found an equilibrium since.
  const std::optional<Estimate>& newest() const { return newest_; }
  int failed() const { return failed_; }  // estimates that were not found
  long steps_of_finer() const { return iterations_; }

 private:
  void find_loads(const State& state, double elapsed);

  const ReducedModel& model_;
  ReducedModel finer_;  // without its obstacles
  ReducedMechanics mechanics_;
  Stepper stepper_;
  int steps_between_ = 1;
  std::vector<double> P_;               // [modes of the finer][modes]
  State state_;                         // of the finer
  bool begun_ = false, moved_ = false;  // from where the finer one was; velocities of a step before are known
  double time_ = 0;                     // of that step [s]
  bool every_step_ = false;
  int wait_ = 0;  // steps to the next estimate
  long iterations_ = 0;
  int failed_ = 0;
  std::vector<double> v_, motion_v_;  // of the model at the end of the step before
  std::vector<PointForce> forces_;
  std::vector<double> load_, lifted_, force_;
  std::optional<Estimate> newest_;
};

}  // namespace supple
