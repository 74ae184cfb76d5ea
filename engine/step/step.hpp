#pragma once
// One time step, written once for the full model, the reduced model and batches.
//
// A step of length h from (q, v) to (q', v') has the implicit factors alpha of velocity and beta of position (F. Faure,
// The Compliant plugin, 2012, eqs. 4-5); F are all forces but those of rows with multipliers:
//   M (v' - v) = h (alpha F' + (1 - alpha) F + H'^T lambda),   q' = q + h (beta v' + (1 - beta) v)
// alpha = beta = 1 is implicit Euler. The unknown is the increment u = q' - q; with A in stiffness units every stage is
// the same in dynamics and statics:
// clang-format off
//   residual  r = M (v - u/h)/(beta h) + alpha F' + (1 - alpha) F    v' = (u/h - (1 - beta) v)/beta, F = p - f - D v
//   system    A = M/(beta h^2) + alpha (D/(beta h) + K)              quasi-static: r = p - f(q + u), A = K
//   free      u_f = A^-1 r - A^-1 H^T lambda_0, r with H^T lambda_0
//   space     W = H A^-1 H^T/beta, d = phi + H u_f/beta; the same without beta for effectors if the law wants them
//   lambda    found by a law (constraint_law.hpp): forward, complementarity of lambda and W lambda + d - target   [N]
//   correct   u <- u + u_f + A^-1 H^T lambda = u + A^-1 r + A^-1 H^T (lambda - lambda_0)
// lambda_0: the forces of the iteration before where it is repeated, so that increments vanish together; else 0.
// Where the robot may touch obstacles, contact_stage.hpp adds their rows to the space and their forces to lambda.
// clang-format on
// Rows are imposed on the velocity at the end of the step: phi stands for phi_n + h phi'_{n+1}, which is phi_{n+1} of
// implicit Euler. On the position, a disturbed hard row would alternate for ever where beta < 1. Constraints with a
// compliance are springs, and obey lambda = -(phi + d phi')/c at both ends (eqs. 12-14): compliance on W's diagonal,
// the unknown is alpha lambda_{n+1} and the rest is in F. Derivation: docs/theory/full-model.md.
//
// Where prescribed inputs c (a driven base) are unknowns too,
//   A u + A_c dc = r + H^T lambda,   rows change by H u + H_c dc,   c' = c + h w' whatever beta is.
// One pass from u = 0 is the paper's one-linearisation step (Goury & Duriez 2018, eqs. 4-9; the same system in dv has
//   b = -h^2 K v + h (p - f)).
// Repeated until the residual vanishes it is Newton's method on the implicit step or on the equilibrium.

#include <optional>
#include <string>
#include <vector>

#include "engine/mechanics/mechanics.hpp"
#include "engine/model/state.hpp"
#include "engine/step/contact_stage.hpp"
#include "engine/step/forward_law.hpp"
#include "kernels/base/error.hpp"

namespace supple {

enum class StepScheme { one_linearisation, newton, quasi_static };

struct StepSettings {
  StepScheme scheme = StepScheme::one_linearisation;
  double time_step = 0.01;  // s; quasi-static: used for rate limits only (0 = none)
  // alpha and beta, above 0 (unconditionally stable from 1/2 on); without effect in statics.
  double implicit_velocity = 1, implicit_position = 1;
  double tolerance = 1e-9;       // Newton: residual relative to the forces at work, converged below
  double row_tolerance = 1e-11;  // Newton: violation of a row's law [m]
  int max_iterations = 40;
  int max_halvings = 12;  // Newton: of one step that leads to points where a law has no stress
  // Newton: after an iteration that brought the residual below this fraction of the one before, the factor is used once
  // more, without a new tangent. 0 = never; 0.1 is a good choice. The residual that ends the iteration is always that
  // of the new state, and nothing is kept from step to step. Without effect under stiffness damping.
  double keep_factor_below = 0;
  // One linearisation: the factor of an earlier step is used while the last step, with that factor, ended nearer than
  // this share of its displacement to where the forces at its end ask it to be (norms over the coordinates; tangents
  // and factors cost most of a step). 0 = never. Without effect under stiffness damping, dampers, inputs that the
  // control moves, and implicit factors below 1. A run that was stopped goes on with a new one.
  double keep_tangent = 0;
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
  int iterations = 0;        // factorisations; one linearisation: 0 if that of an earlier step served
  double residual = 0;       // relative, at the accepted state (Newton)
  double force_scale = 0;    // what it is relative to [N]
  int inverted = 0;          // points with det F <= 0 at the last evaluation
  int failed_element = -1;   // undefined_points: mesh element
  int negative_pivots = 0;   // of the last exact factorisation
  int weakened = 0;          // as in SystemReport, summed over the factorisations
  int limited_commands = 0;  // commands cut to their range or rate
  ContactFigures contact;    // of the last linearisation
  StageTimes times;
};

class Stepper {
 public:
  // Sizes all scratch; no allocation in step() beyond what a full model's sparse solver does. `mechanics` must outlive
  // this object. Among obstacles, in dynamics, implicit_position is 1.
  Stepper(Mechanics& mechanics, const StepSettings& settings);

  // Advances `state` by one step under `control`. On failure the state is unchanged.
  StepReport step(const Control& control, State& state);
  // The same under any law; `motions` [B x motions]: where prescribed inputs go unless the law moves them.
  StepReport step(ConstraintLaw& law, std::span<const double> motions, State& state);

  const StepSettings& settings() const { return settings_; }
  void set_time_step(double h) { settings_.time_step = h; }
  // Generalised forces beside gravity [B x nv, N], for the steps to come: a hand that pulls. Empty: none.
  void set_load(std::span<const double> load);
  // Quasi-static: a pull shift M (anchor - q) towards a state, for the steps to come, so that A = K + shift M.
  // shift [1/s^2], 0: none; anchor [B x nq]. For bodies whose K is singular (equilibrium.hpp).
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
  // phi(y) [B x rows] at the last linearisation.
  const std::vector<double>& row_values() const { return phi_; }
  // Compliance W [B x rows x rows] of the last linearisation [m/N].
  const std::vector<double>& compliance() const { return W_; }

 private:
  // What the law sees of a row: phi/beta + start phi_n + rate phi'_n, with `diagonal` added to W.
  struct RowScheme {
    double start = 0, rate = 0, diagonal = 0;
    bool averaged = false;  // a spring: lambda is alpha lambda_{n+1}
  };
  // Springs that are forces, at the last linearisation; start, rate: phi and phi' at the start of the step.
  struct Springs {
    RowLayout layout;
    std::vector<double> phi, gradients, H, H_c, lambda, start, rate;
    std::vector<double> force;  // H^T lambda [B x nv]
  };

  bool dynamic() const { return settings_.scheme != StepScheme::quasi_static; }
  double implicit_velocity() const { return dynamic() ? settings_.implicit_velocity : 1; }
  double implicit_position() const { return dynamic() ? settings_.implicit_position : 1; }
  TangentKind tangent() const {
    return settings_.scheme == StepScheme::one_linearisation ? TangentKind::safe : TangentKind::exact;
  }
  double end_velocity(double increment, double start_velocity) const;
  bool is_spring(int row) const;
  void size_for(const ConstraintLaw& law);
  void refresh_forces();
  bool begin_scheme(const State& state);
  bool evaluate_start_force(const State& state);
  void evaluate_rows();
  void evaluate_effectors(const ConstraintLaw& law);
  void evaluate_springs(bool at_rest);
  void set_values();
  void row_rates(const State& state, const RowLayout& layout, const std::vector<double>& H,
                 const std::vector<double>& H_c, std::vector<double>& rates) const;
  void add_springs(double share);
  void spring_stiffness();
  void begin_contact(const State& state);
  void add_transport(const State& state);
  void residual(const State& state);
  double row_force(int b, int k) const;
  double residual_with_rows(double force_scale, double& scale) const;
  double row_violation(const ConstraintLaw& law) const;
  // Whether multipliers are found by increments (step_rows.cpp).
  bool increments() const { return settings_.scheme != StepScheme::one_linearisation; }
  void solve_systems(const SystemCoefficients& input_coefficients);
  void find_free_motion();
  std::span<const double> free_motion(int b) const;
  void project(const ConstraintLaw& law);
  ConstraintSpace space() const;
  bool solve_contact(ConstraintLaw& law, bool solved);
  bool may_keep_tangent() const;
  bool goes_on(const State& state) const;
  bool tangent_served();
  void remember_balance(const State& state);
  void remember_end(const State& state);
  void add_increment(double s);
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
  std::vector<double> held_, free_motion_;  // lambda_0 [B x rows]; increments: u_f [B x nv]
  std::vector<double> effector_phi_, effector_gradients_, effector_H_, effector_H_c_, effector_W_, effector_free_,
      effector_B_, anchor_;
  std::vector<RowScheme> scheme_;   // of the rows of a robot
  std::vector<double> compliance_;  // their diagonals
  bool plain_rows_ = true;          // what the law sees is phi(y)
  std::vector<double> values_;      // what the law sees [B x rows]
  std::vector<double> phi_start_, phi_rate_, start_force_;
  Springs springs_;
  std::vector<PointStiffness> points_;  // of springs, then of contacts
  double shift_ = 0;
  // Of the last step, with whose tangent the next may do (step_kept_tangent.cpp).
  struct KeptTangent {
    long factorisation = -1;
    double time_step = 0;
    std::vector<double> q, v, motions, motion_velocities;  // where it ended
    std::vector<double> carried, error;                    // [B x nv]: R - r, A^-1 R
    std::vector<double> moved;                             // [B] |u|
    bool served = true;                                    // the last step ended near enough, for all that is known
  };
  KeptTangent kept_;
  bool cannot_keep_tangent_;
  std::vector<double> load_;
  int changes_ = 0;  // of the mechanics' forces that p_ has
};

// Why steps of the robot never keep a tangent (StepSettings::keep_tangent). None: they may.
std::optional<InputError> cannot_keep_tangent(const Robot& robot);
// Why the robot cannot be stepped by this integrator. None: it can.
std::optional<InputError> cannot_step(const Robot& robot, Integrator integrator);

// A state at rest under zero commands.
State rest_state(const Mechanics& mechanics);
Control zero_control(const Mechanics& mechanics);

}  // namespace supple
