#pragma once
// Quasi-static equilibrium under given commands: Newton's method with the exact tangent and full steps (step.hpp),
// continued from the given state. An increment of the commands that does not converge quickly is stopped early and made
// smaller; on the way equilibria are only followed (`path_tolerance`), the last one is converged. A state that is no
// equilibrium of its own commands (a body at rest that gravity is to bend) is made one by a load that vanishes along
// the way. If small increments fail too (a limit point: the body snaps), one attempt at the whole rest with more
// iterations remains, and then relaxation: the proximal point method (Rockafellar, SIAM Journal on Control and
// Optimization 14, 1976), that is implicit time steps that lose their velocity, along which the energy only falls once
// all of the commands are there. They are made longer where they succeed, until Newton's method closes.
//
// What Newton's method finds may be unstable: the inertia of K and of the compliance of the rows that hold the body
// tells. Such a state is disturbed and relaxed; the equilibrium that it falls to is taken if it is stable.
//
// A free-floating body (Robot::floating) is in equilibrium wherever it is turned and moved to. Found is the
// equilibrium nearest to where it started, in the norm of its mass: the limit, for a weak pull s M (q_start - q), of
// s -> 0. The sum of such a pull and its moment vanish with those of all other forces, so that it moves neither the
// centre of mass nor, in the sense of the best rotation between both shapes, the body's orientation. K + s M is
// regular. The pull is made weaker until the shape no longer depends on it, what is left of it is extrapolated to
// s = 0, and steps of the proximal point method (the same pull towards the state reached before, that is a time step
// 1 / sqrt(s) from rest without the old velocity) bring the residual of the equilibrium itself below its tolerance. A
// resultant that does not vanish with s (weight that nothing bears) is StepStatus::unbalanced. In contact with
// obstacles such a body's equilibria are not computed, nor those of an assembly with frames that move freely:
// StepStatus::loose_among_obstacles.

#include "engine/step/step.hpp"

namespace supple {

struct EquilibriumSettings {
  double tolerance = 1e-9;  // relative residual
  int max_iterations = 15;  // per increment: quadratic convergence takes 4 to 8, more is failing slowly
  // Relative residual and row violation [m] at which an equilibrium on the way is good enough to continue from.
  // Measured on the Mooney-Rivlin diamond (40 mm on one cable): 1e-4, 1e-3, 1e-2 take 40, 28, 22 factorisations to the
  // same end.
  double path_tolerance = 1e-2;
  double path_row_tolerance = 1e-5;
  double keep_factor_below = 0;  // see StepSettings
  double first_increment = 1;    // fraction of the way tried first
  double smallest_increment = 1.0 / 256;
  int patient_iterations = 60;  // of the last attempt; 0 = none, and no relaxation
  // Friction of cables is that of the way from the state's own; else as if they had slid straight from rest.
  bool keeps_friction = false;
};

/// First increment of what is not to pass by an equilibrium on its way to the commands.
inline constexpr double careful_increment = 0.25;

/// Of a full model from rest. In contact with obstacles in increments, as reduced models are solved (validate.cpp): all
/// commands at once may take a body through or past an obstacle, to another equilibrium than the way there leads to. A
/// tentacle in its tube did in four of thirty states.
EquilibriumSettings from_rest(const Robot& robot);

struct [[nodiscard]] EquilibriumReport {
  StepStatus status = StepStatus::ok;
  int increments = 0;
  double reached = 0;    // share of the way to the commands that was followed, perhaps with part of the load; 1: all
  bool relaxed = false;  // after Newton's method failed or found an unstable equilibrium
  int iterations = 0;    // factorisations in all
  double residual = 0;
  double force_scale = 0;   // largest that a residual on the way was relative to [N]
  int inverted = 0;         // elements' points with det F <= 0 at the solution
  int negative_pivots = 0;  // of the last tangent
  int unstable = 0;         // directions in which the equilibrium is unstable; 0 too where that is not known
  int failed_element = -1;
  StageTimes times;        // of all increments, failed ones too
  ContactFigures contact;  // of the last increment
  /// Found, and not known to be unstable.
  bool stable() const { return status == StepStatus::ok && unstable == 0; }
};

class Equilibrium {
 public:
  Equilibrium(Mechanics& mechanics, const EquilibriumSettings& settings);
  // Moves `state` to the equilibrium under `control`. On failure the state is the last equilibrium reached, or as it
  // was where it needed a load that vanishes or the body is free-floating.
  EquilibriumReport solve(const Control& control, State& state);
  std::vector<double> outputs() { return stepper_.outputs(); }
  void set_load(std::span<const double> load);  // see Stepper

 private:
  EquilibriumReport follow(const Control& control, State& state);          // to the commands, with any pull
  EquilibriumReport solve_floating(const Control& control, State& state);  // until none is left
  // One increment: from the state to `fraction` of the way from `start` to `control`.
  StepReport advance(const State& start, const Control& control, double fraction, State& state);
  // From `state`, `done` of the way from `start`, to a stable equilibrium under all of `control`; false, and the state
  // is as it was: not found.
  bool relax(const State& start, double done, const Control& control, State& state, EquilibriumReport& report);
  // In how many directions the last tangent, with so many negative pivots, is unstable and not held by rows. 0 in
  // contact and for several robots.
  int unstable(const State& state, int negative_pivots);
  void disturb(const Control& control, double force_scale, State& state);

  const Robot& robot_;
  const Coordinates& coordinates_;
  int robots_;
  EquilibriumSettings settings_;
  Stepper stepper_;
  Control partial_;
  // [B x nv, N]; of the state that the way begins with, or reached without a pull; of an increment
  std::vector<double> load_, imbalance_, eased_;
  bool easing_ = false;  // the imbalance vanishes along the way
};

// Equilibrium under zero commands, motions at rest, from rest. Where bodies that move freely among what they may touch
// have none that is known, the state at rest if loose_at_rest. Throws RunError.
State settled_state(Mechanics& mechanics, bool loose_at_rest = false);

}  // namespace supple
