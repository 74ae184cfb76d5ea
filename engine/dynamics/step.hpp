#pragma once
// One time step, written once for the full model, the reduced model and batches.
//
// The unknown is the increment u of the coordinates over the step; with A in stiffness units every stage is the same in
// dynamics and statics:
// clang-format off
//   residual  r = M (v_n/h - u/h^2) - D u/h + p - f(q_n + u)    implicit Euler, v_{n+1} = u/h (Goury & Duriez 2018, eqs. 4-9)
//   system    A = M/h^2 + D/h + K                               quasi-static: r = p - f(q_n + u), A = K
//   free      u_f = A^-1 r
//   space     W = H A^-1 H^T, d = phi(q_n + u) + H u_f; the same for the rows of effectors if the law wants them
//   lambda    found by a law (constraint_law.hpp): forward, complementarity of lambda and W lambda + d - target   [N]
//   correct   u <- u + u_f + A^-1 H^T lambda
// Where the robot may touch obstacles, contact_stage.hpp adds their rows to the space and their forces to lambda.
// clang-format on
// Where prescribed inputs c (a driven base) are unknowns too, A u + A_c dc = r + H^T lambda and rows change by H u +
// H_c dc. One pass from u = 0 is the paper's one-linearisation step (its b = -h^2 K v + h (p - f) is the same system in
// dv); repeated until the residual vanishes it is Newton's method on the implicit step or on the equilibrium.

#include <optional>
#include <string>
#include <vector>

#include "engine/dynamics/contact_stage.hpp"
#include "engine/dynamics/forward_law.hpp"
#include "engine/dynamics/mechanics.hpp"
#include "engine/dynamics/state.hpp"

namespace supple {

enum class StepScheme { one_linearisation, newton, quasi_static };

struct StepSettings {
  StepScheme scheme = StepScheme::one_linearisation;
  double time_step = 0.01;       // s; quasi-static: used for rate limits only (0 = none)
  double tolerance = 1e-9;       // Newton: residual relative to the forces at work, converged below
  double row_tolerance = 1e-11;  // Newton: violation of a row's law [m]
  int max_iterations = 40;
  int max_halvings = 12;  // Newton: of one step that leads to points where a law has no stress
  // Newton: after an iteration that brought the residual below this fraction of the one before, the factor is used once
  // more, without a new tangent. 0 = never; 0.1 is a good choice. The residual that ends the iteration is always that
  // of the new state, and nothing is kept from step to step. Without effect under stiffness damping.
  double keep_factor_below = 0;
  int patience =
      0;  // Newton: gives up when the least residual since the first iteration has not halved in so many; 0 = never
};

enum class StepStatus {
  ok,
  not_converged,
  undefined_points,
  singular,
  not_positive,
  out_of_memory,
  rows_unsolved,
  too_many_contacts,
  loose_among_obstacles,  // equilibrium of a body that nothing holds, with obstacles
  unbalanced              // equilibrium of a body that nothing holds: its forces have a resultant
};

const char* describe(StepStatus status);

// Seconds spent per stage, summed over iterations.
struct StageTimes {
  double outputs = 0, forces = 0, factor = 0, solve = 0, rows = 0;
  double total() const { return outputs + forces + factor + solve + rows; }
  StageTimes& operator+=(const StageTimes& other) {
    outputs += other.outputs;
    forces += other.forces;
    factor += other.factor;
    solve += other.solve;
    rows += other.rows;
    return *this;
  }
};

struct [[nodiscard]] StepReport {
  StepStatus status = StepStatus::ok;
  int iterations = 0;        // factorisations
  double residual = 0;       // relative, at the accepted state (Newton)
  double force_scale = 0;    // what it is relative to [N]
  int inverted = 0;          // points with det F <= 0 at the last evaluation
  int failed_element = -1;   // undefined_points: mesh element
  int negative_pivots = 0;   // of the last exact factorisation
  int limited_commands = 0;  // commands cut to their range or rate
  ContactFigures contact;    // of the last linearisation
  StageTimes times;
};

class Stepper {
 public:
  // Sizes all scratch; no allocation in step() beyond what a full model's sparse solver does. `mechanics` must outlive
  // this object.
  Stepper(Mechanics& mechanics, const StepSettings& settings);

  // Advances `state` by one step under `control`. On failure the state is unchanged.
  StepReport step(const Control& control, State& state);
  // The same under any law; `motions` [B x motions]: where prescribed inputs go unless the law moves them.
  StepReport step(ConstraintLaw& law, std::span<const double> motions, State& state);

  const StepSettings& settings() const { return settings_; }
  void set_time_step(double h) { settings_.time_step = h; }
  // Generalised forces beside gravity [B x nv, N], for the steps to come: a hand that pulls. Empty: none.
  void set_load(std::span<const double> load);
  // Quasi-static: a pull shift M (anchor - q) towards a state, for the steps to come, so that A = K + shift M. shift
  // [1/s^2], 0: none; anchor [B x nq]. For bodies whose K is singular (equilibrium.hpp).
  void set_anchor(double shift, std::span<const double> anchor);
  // r = p - f + H^T multipliers of a state at rest, p with the load and without an anchor [B x nv, N]: zero at an
  // equilibrium. Returns its norm relative to the forces at work, NaN where a point has no stress.
  double imbalance(const State& state, std::span<double> r);
  // How exactly and how stubbornly Newton's method solves; see StepSettings.
  void set_tolerances(double residual, double rows) {
    settings_.tolerance = residual;
    settings_.row_tolerance = rows;
  }
  void set_patience(int max_iterations, int max_halvings, int patience) {
    settings_.max_iterations = max_iterations;
    settings_.max_halvings = max_halvings;
    settings_.patience = patience;
  }
  // Mapped points y [B x outputs] at the end of the last step.
  const std::vector<double>& outputs() const { return y_; }
  // phi [B x rows] at the last linearisation.
  const std::vector<double>& row_values() const { return phi_; }
  // Compliance W [B x rows x rows] of the last linearisation [m/N].
  const std::vector<double>& compliance() const { return W_; }

 private:
  void size_for(const ConstraintLaw& law);
  void evaluate_rows_and_outputs(const ConstraintLaw& law);
  void begin_contact(const State& state);
  void residual(const State& state);
  double row_force(int b, int k) const;
  double residual_with_rows(double force_scale, double& scale) const;
  double row_violation(const ConstraintLaw& law) const;
  void solve_systems(const SystemCoefficients& coefficients);
  void project(const ConstraintLaw& law);
  bool solve_rows(ConstraintLaw& law);
  bool solve_contact(ConstraintLaw& law, bool solved);
  void correct();
  void finish(const ConstraintLaw& law, State& state);

  Mechanics& mechanics_;
  StepSettings settings_;
  ForwardLaw forward_;
  std::optional<ContactStage> contact_;  // where there are obstacles
  int robots_, nq_, nv_, ny_, rows_count_, motions_count_, effector_rows_ = 0;
  int columns_;  // of X: free motion, multipliers, and prescribed inputs where the law moves them
  std::vector<double> q_, u_, du_, f_, p_, inertia_, damping_, velocity_, motions_, motion_velocity_, y_, y_start_,
      phi_, phi_end_, gradients_, H_, H_c_, A_c_, X_, W_, free_, B_, lambda_, dc_, r_;
  std::vector<double> effector_phi_, effector_gradients_, effector_H_, effector_H_c_, effector_W_, effector_free_,
      effector_B_, anchor_;
  double shift_ = 0;
};

// A state at rest under zero commands.
State rest_state(const Mechanics& mechanics);
Control zero_control(const Mechanics& mechanics);

}  // namespace supple
