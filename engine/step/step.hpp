#pragma once
// One time step, written once for the full model, the reduced model and batches on any device.
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
//   space     W = H A^-1 H^T/beta, d = phi + H u_f/beta; the same without beta for effectors if the law requires them
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
//
// The stages are ops on arrays that lie on the mechanics' device (arrays.hpp, kernels/step/step_ops.hpp): one robot or
// many, on a CPU or a GPU. To the host crosses what the law sees, and back what it finds. Each robot of a batch fares
// on its own: one whose step fails stays as it was and is named in the report; Newton's method continues for the
// others.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/mechanics/mechanics.hpp"
#include "engine/model/cable_friction.hpp"
#include "engine/step/arrays.hpp"
#include "engine/step/contact_stage.hpp"
#include "engine/step/device_contact.hpp"
#include "engine/step/device_state.hpp"
#include "engine/step/forward_law.hpp"
#include "engine/step/newton.hpp"
#include "engine/step/row_scheme.hpp"
#include "engine/step/step_settings.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/array/queued.hpp"
#include "kernels/base/error.hpp"

namespace supple {

class Stepper {
 public:
  // Sizes all arrays; no allocation in step() beyond what a full model's sparse solver does. `mechanics` must outlive
  // this object. In contact with obstacles, in dynamics, implicit_position is 1.
  Stepper(Mechanics& mechanics, const StepSettings& settings);
  // With the forces of contacts found on the device of a batch, under a ForwardLaw in steps of one linearisation.
  // Throws InputError where needs_contact_on_host() has a reason.
  Stepper(ReducedBatchMechanics& mechanics, const StepSettings& settings, const DeviceContactSettings& contact);
  ~Stepper();

  // Advances `state` by one step under `control`. A robot that fails is unchanged.
  StepReport step(const Control& control, State& state);
  // The same under any law; `motions` [B x motions]: where prescribed inputs go unless the law moves them.
  StepReport step(ConstraintLaw& law, std::span<const double> motions, State& state);
  // The same for states that stay on the device.
  StepReport step(ConstraintLaw& law, std::span<const double> motions, StateView state);
  // Queues what the next step from this state under this law does before its multipliers are found. On a GPU, where
  // nothing depends on the host, the device then works meanwhile; otherwise nothing is done. set_state(), new loads,
  // variations and the like make it void: forget().
  void prepare(const ConstraintLaw& law, StateView state);
  bool prepared() const { return now_.prepared; }
  void forget() { now_.prepared = false; }

  const StepSettings& settings() const { return settings_; }
  bool finds_contact_on_device() const { return device_contact_ != nullptr; }
  void set_time_step(double h) { settings_.time_step = h; }
  // Generalised forces beside gravity [B x nv, N], for the steps to come: a hand that pulls. Empty: none.
  void set_load(std::span<const double> load);
  // Quasi-static: a pull shift M (anchor - q) towards a state, for the steps to come, so that A = K + shift M.
  // shift [1/s^2], 0: none; anchor [B x nq]. For bodies whose K is singular (equilibrium.hpp). On a CPU.
  void set_anchor(double shift, std::span<const double> anchor);
  // r = p - f + H^T multipliers of a state at rest, p with the load and without an anchor [B x nv, N]: zero at an
  // equilibrium. Returns its norm relative to the forces at work, NaN where a point has no stress. On a CPU.
  double imbalance(const State& state, std::span<double> r);
  // How exactly Newton's method solves, and when it stops; see StepSettings.
  void set_tolerances(double residual, double rows) {
    settings_.tolerance = residual;
    settings_.row_tolerance = rows;
  }
  void set_limits(int max_iterations, int max_halvings, int stagnation) {
    settings_.max_iterations = max_iterations;
    settings_.max_halvings = max_halvings;
    settings_.stagnation = stagnation;
  }
  // Mapped points y [B x outputs] at the end of the last step.
  std::vector<double> outputs();
  // phi(y) [B x rows] at the last linearisation.
  std::vector<double> row_values();
  // Compliance W [B x rows x rows] of the last linearisation [m/N].
  std::vector<double> compliance();

 private:
  // How a robot fares in this step.
  struct Progress {
    enum class At { active, waits, converged, failed };  // waits: stepped back, evaluated again before it continues
    At at = At::active;
    StepStatus status = StepStatus::ok;
    int element = -1;
    NewtonControl newton;
  };
  // Springs that are forces, at the last linearisation.
  struct Springs {
    RowArrays rows;
    Mirrored<double> lambda, force;  // [B x springs], H^T lambda [B x nv]
  };
  // Values and rates of rows at the start of the step [B x rows], [B x springs].
  struct Start {
    Mirrored<double> phi, rate, spring_phi, spring_rate;
  };
  // What the stages report of each robot, and who takes part in what comes next.
  struct Found {
    Mirrored<PointReport> start_points, points;
    Mirrored<SystemReport> systems;
    Mirrored<RobotFinding> all;
    Mirrored<ResidualSquares> squares;
    Mirrored<unsigned char> goes;
  };
  struct Marks {
    explicit Marks(const Device& device)
        : begun(device),
          outputs(device),
          forces(device),
          factored(device),
          solved(device),
          ready(device),
          sent(device),
          host_begun(cpu()),
          host_ended(cpu()) {
      sent.set();
    }
    Mark begun, outputs, forces, factored, solved;
    Mark ready;                   // GPU: constraint space is on the host
    Mark sent;                    // GPU: all that the step sends has arrived
    Mark host_begun, host_ended;  // the law and the motion
  };
  // Of the present step.
  struct Now {
    bool prepared = false;  // up to the multipliers
    int iterations = 0;
    bool keeps = false, goes_on = false;  // kept tangents
    bool without_tangent = false;         // the last evaluation of forces
    bool factored = false;                // in this linearisation
    bool space_known = false;             // with the factor (Mechanics::find_space)
    bool contact_begun = false;
    bool ended = false;  // q is where the step ended
  };
  // Of the last step, with whose tangent the next may do (kept_tangent.cpp).
  struct KeptTangent {
    bool possible = true;
    long factorisation = -1;
    double time_step = 0;
    std::vector<double> q, v, motions, motion_velocities;  // where it ended
    std::vector<double> carried, error;                    // [B x nv]: R - r, A^-1 R
    std::vector<double> moved;                             // [B] |u|
    bool served = true;                                    // the last step ended near enough, for all that is known
  };
  // What lies on the host alone.
  struct OnHost {
    std::vector<double> load, anchor;             // [B x nv], [B x nq]
    std::vector<double> input_start;              // [B x motions]: before the change of a linearisation
    std::vector<double> ahead, end_velocity;      // [nv]: of frames that turn (add_turning)
    double shift = 0;                             // 1/s^2
    int changes = 0;                              // of the mechanics' forces that p has
    std::vector<double> row_end, commands;        // [B x rows], [B x actuators]
    std::vector<double> ends;                     // [rows]: where those of one robot are
    std::vector<double> goal_values;              // of one robot's effectors
    std::vector<char> left_out;                   // robots that the law leaves out
    std::vector<PointStiffness> point_stiffness;  // of springs and contacts
    std::vector<char> without_curvature;          // robots that leave out that of contacts
    std::vector<CableFriction> friction;          // [B x cables with friction], at the last linearisation
  };

  bool on_cpu() const { return size_.device.kind == Device::Kind::cpu; }
  // Until all that is queued is done, before the host reads what it fetched or writes what it sent.
  void wait_for_device() {
    if (!on_cpu()) synchronize(size_.device);
  }
  bool any(Progress::At at) const;
  void fail(int robot, StepStatus status, int element = -1);
  Vectors vectors(Mirrored<double>& array) { return {array.data(), size_.robots, size_.nv}; }
  // H^T lambda of springs that are forces, or empty.
  ConstVectors spring_force() {
    return springs_.rows.rows() > 0 ? ConstVectors(vectors(springs_.force)) : ConstVectors();
  }
  Vectors rows_of(Mirrored<double>& array) { return {array.data(), size_.robots, size_.rows}; }
  Vectors inputs_of(Mirrored<double>& array) { return {array.data(), size_.robots, size_.motions}; }
  Matrices solutions() { return {space_.X.data(), size_.robots, space_.columns(), size_.nv}; }
  template <class Op>
  void for_robots(const Op& op) {
    launch_robots(size_.device, size_.robots, op);
  }

  // The loop: step.cpp
  void size_for(const ConstraintLaw& law);
  void refresh_forces();
  void begin(const ConstraintLaw& law, std::span<const double> motions, const StateView& state);
  void linearise(const ConstraintLaw& law, const StateView& state);
  bool make_space();
  void look_at_solutions(StepReport& report);
  void look_at_findings(StepReport& report);
  void count_systems(StepReport& report);
  void collect(StepReport& report);
  void finish(ConstraintLaw& law, const StateView& state, StepReport& report);
  void finish_host(ConstraintLaw& law, const StateView& state);
  StepReport take_step(ConstraintLaw& law, std::span<const double> motions, const StateView& state);
  void begin_viscous_step(const StateView& state);
  void leave_viscous_step(const StateView& state);
  void end_viscous_step(const StateView& state);
  void remember_gas(State& host);
  void remember_friction(const StateView& state);
  void set_failures(StepReport& report) const;
  void send_mask(bool ended);

  // Positions and rows: step_rows.cpp
  void set_positions(const StateView& state);
  void evaluate_rows(std::span<const double> inputs);
  void keep_branches();
  void evaluate_friction(int b, std::span<const double> y, std::span<double> gradients);
  template <class Evaluate>
  void evaluate(RowArrays& rows, const Evaluate& on_host);
  void evaluate_effectors(const ConstraintLaw& law);
  void evaluate_springs(bool at_rest);
  void set_values();
  void begin_scheme(const StateView& state);
  void evaluate_start_force(const StateView& state);
  void begin_contact(const StateView& state);
  void linearise_contact();

  // Forces and Newton's method: step_forces.cpp
  void evaluate_forces(TangentKind kind);
  void evaluate_residual(const StateView& state);
  void add_turning(const StateView& state);
  void correct_momentum(const StateView& state);
  StepMotion step_motion(const StateView& state, std::span<const double> u, std::span<const double> v_end);
  void evaluate_squares(Vectors out);
  void judge(const ConstraintLaw& law, StepReport& report);
  void step_back();
  double row_violation(const ConstraintLaw& law, int b);
  // Where row i of all robots' is at the last linearisation (delta).
  double row_end(std::size_t i) {
    return space_.on_host().values.data[i] + scheme_.compliance()[i] * space_.lambda.host()[i];
  }
  ResidualNorms norms_of(int b);
  void look_at_points(StepReport& report);

  // From the residual to the motion: step_system.cpp
  void list_point_stiffness(bool geometric);
  void add_spring_stiffness(int b);
  void add_friction_stiffness(int b);
  bool keeps_factor() const;
  bool factor();
  void factor(SystemCoefficients& coefficients);
  bool look_at_systems();
  void project();
  RightSidesTeamOp right_sides();
  SpaceTeamOp row_space();
  SpaceTeamOp effector_space();
  void find_free_motion();
  void find_multipliers(ConstraintLaw& law, const StateView& state, StepReport& report);
  void subtract_goals(const ConstraintLaw& law);
  void clear_space(int b);
  void find_contact_on_device(const ConstraintLaw& law, const StateView& state, StepReport& report);
  void find_contact_forces(ConstraintLaw& law, StepReport& report);
  void points_after(std::span<const double> du, std::span<const double> dc, std::span<double> y);
  void set_row_ends();
  void correct();
  void turn_step(int robot);

  // Tangents of earlier steps: kept_tangent.cpp
  bool may_keep_tangent() const;
  bool goes_on(const State& state);
  bool tangent_served();
  void remember_balance(const State& state);
  void remember_end(const State& state);

  Mechanics& mechanics_;
  StepSettings settings_;
  ForwardLaw forward_;
  StepSize size_;
  MotionArrays motion_;
  InputArrays inputs_;
  RowArrays rows_, effectors_;
  Springs springs_;
  SpaceArrays space_;
  RowScheme scheme_;
  Mirrored<double> history_;  // [B x Robot::history()]: as the step began
  // Cables with friction: their rows, and where each begins in a robot's history.
  struct RubbingCables {
    Mirrored<int> rows;
    std::vector<int> history;
    Mirrored<double> end_points;  // [B x outputs]: y where the step ends
    int count() const { return static_cast<int>(history.size()); }
  };
  RubbingCables rubbing_;
  Start start_;
  Found found_;
  Marks marks_;
  std::vector<Progress> robots_;
  bool has_angles_ = false;   // rows that are angles of joints
  bool knows_start_ = false;  // values of rows at the start of the step
  OnHost host_;
  Now now_;
  KeptTangent kept_;
  std::optional<ContactStage> contact_;  // where there are obstacles
  std::unique_ptr<DeviceContact> device_contact_;
};

// Why steps of the robot never keep a tangent (StepSettings::keep_tangent). None: they may.
std::optional<InputError> cannot_keep_tangent(const Robot& robot);
// Why the robot cannot be stepped by this integrator. None: it can.
std::optional<InputError> cannot_step(const Robot& robot, Integrator integrator);

// A state at rest under zero commands.
State rest_state(const Mechanics& mechanics);
// Commands of zero, motions where they are at rest.
Control zero_control(const Mechanics& mechanics);

}  // namespace supple
