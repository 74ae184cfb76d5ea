#pragma once
// The law of inverse control: multipliers of the actuators (and changes of prescribed inputs) that bring the effectors
// to their goals. One quadratic program per robot and linearisation, in constraint space:
// clang-format off
//   x = [lambda; dc],  J = [W_ea, B_e],  delta_e = J x + delta_e_free
//   min 1/2 |Omega (delta_e - delta_e_asked)|^2 + regularisation        (eq. 4; eq. 5 with the energy term)
//   lambda        within the actuator's force limits, and its range and rate where the command is a force
//   delta_a       = W lambda + B dc + delta_a_free within range and rate where the command is a displacement
//   c + dc        within the input's range
//   delta_e = 0   for effectors that must be reached exactly
// clang-format on
// Equations as in the method note "Real Time Inverse Simulation Method" (docs/theory/inverse.md). Source: the method of
// C. Duriez, "Control of elastic soft robots based on real-time finite element method", ICRA 2013, with W from the
// tangent of the step. Regularisation makes the answer unique where actuators outnumber goals:
//   energy    epsilon rho lambda^T W_aa lambda (eq. 5), rho = |J^T J| / |W_aa| in infinity norms
//   proximal  epsilon rho sum_j w_jj (lambda_j - lambda_j^start)^2: penalises the change over a step, so a goal that
//             stands still is reached without bias
// Constraints of the robot leave the program first (equality_rows.hpp); W and free are those of the robot that obeys
// them. One-sided ones stay in it, as contacts without friction. In both, changes of inputs are penalised by
//   epsilon |B_e^T B_e| dc^2.
// Where the program has no solution the last commands are held: the robot moves under the forward law and the report
// states why.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/inverse/equality_rows.hpp"
#include "engine/model/effectors.hpp"
#include "engine/step/constraint_law.hpp"
#include "kernels/base/error.hpp"
#include "solvers/qp/qp.hpp"

namespace supple {

enum class Regularisation { proximal, energy, none };
/// Gauss-Seidel: eqs. 6-10 (solvers/qp/gauss_seidel.hpp): without regularisation and exact goals, and it can
/// stall where displacements are limited. For comparison.
enum class InverseSolver { quadratic_program, gauss_seidel };

struct InverseSettings {
  InverseSolver solver = InverseSolver::quadratic_program;
  Regularisation regularisation = Regularisation::proximal;
  double epsilon = 1e-6;
  std::vector<double> effort = {};  // per actuator, factors of the regularisation; empty: 1
  /// Soft limit on the speed of the goal [m/s]: a step asks each effector to come nearer by at most speed times step.
  double goal_speed = unlimited;
  bool moves_inputs = true;  // whether prescribed inputs are unknowns
  int starts = 0;            // in contact: further starts of the search for commands (QpccSettings::starts)
};

/// Limits of an actuator's force [N] or pressure [Pa] as the scene gives them; the lower limit of a unilateral actuator
/// is at least 0.
Interval own_force_limits(const ActuatorRow& actuator);

/// Limits of an actuator's force [N] or pressure [Pa] as they are asked for, within its own. Throws InputError where
/// they are reversed, or outside those of the robot, with `when` in the message.
Interval limited_force(const ActuatorRow& actuator, const Interval& asked, const std::string& when = {});
/// Both ends of `asked` within `own`.
inline Interval clipped(const Interval& asked, const Interval& own) {
  return {std::clamp(asked.lower, own.lower, own.upper), std::clamp(asked.upper, own.lower, own.upper)};
}

/// The reason why inverse control does not support a robot: no effector, no input, too many actuators. Empty: it is
/// supported.
std::optional<InputError> cannot_lead(const Robot& robot);

/// The goals of a robot in a step, and the prediction of the linearisation.
struct InverseReport {
  QpReport qp;
  bool held = false;           // no answer (see conflict()): the last commands were held instead
  double predicted_error = 0;  // |Omega delta_e| of steered effectors at the end of the step [m], by the linearisation
  int saturated = 0;           // limits of ranges and rates that hold the robot back
  /// In contact, of the last linearisation: candidate contacts of the program, and the position error of the effectors
  /// that its pyramid causes relative to the exact cone [m].
  int contacts = 0;
  double pyramid_error = 0;
};

class InverseLaw final : public ConstraintLaw {
 public:
  /// The robot must outlive this object.
  InverseLaw(const Robot& robot, int robots, const InverseSettings& settings);
  ~InverseLaw() override;

  /// Goals [B x 3 x effectors] of the steps to come (engine/model/effectors.hpp).
  void set_goals(std::span<const double> goals);
  /// Whether an effector is steered (all are at first).
  void steer(int effector, bool steered) { steered_[static_cast<std::size_t>(effector)] = steered; }
  /// Prescribes the command [m or N] of an actuator instead of solving for it; it is clamped to its range. NaN: solved
  /// for again.
  void know(int robot, int actuator, double command);
  /// Limits of an actuator's force [N] or pressure [Pa] from the next step on; they lie within own_force_limits().
  void limit_force(int actuator, const Interval& limits) { force_limits_[static_cast<std::size_t>(actuator)] = limits; }
  /// Limits the motion of an effector in one linearisation to `radius` [m]. For Newton's method.
  void set_trust(double radius) { trust_ = radius; }
  /// Holds the last commands in the steps to come, for this reason; "": no longer.
  void hold_commands(const std::string& reason) { hold_reason_ = reason; }
  /// Maximum number of contacts of a program with these numbers of unknowns and rows.
  static int most_contacts(int unknowns, int rows);
  /// Data of a step beside the state: the active limits that its programs start from. A law that recalls them takes the
  /// next step with the same bits.
  std::vector<int> memory() const;
  /// The same in a list that keeps its place.
  void memory(std::vector<int>& sides) const;
  void recall(std::span<const int> memory);
  /// The programs of this robot start without active limits: zeros in memory().
  void start_cold(int robot);
  /// Resets the law: no effector is steered, no command is known, force limits are those of the robot, programs start
  /// cold.
  void forget();

  const RowLayout& effector_rows() const override { return layout_; }
  void evaluate_effectors(int robot, std::span<const double> y, std::span<double> phi,
                          std::span<double> gradients) const override;
  std::span<const double> goals(int robot) const override {
    const std::size_t size = 3 * robot_.effectors.size();
    return std::span<const double>(goals_).subspan(static_cast<std::size_t>(robot) * size, size);
  }
  bool moves_inputs() const override { return motions_ > 0; }
  int begin(const State& state, double step, bool at_rest, std::span<double> multipliers) override;
  bool solve(const ConstraintSpace& space, std::span<const char> touch, std::span<double> multipliers,
             std::span<double> dc) override;
  bool solved(int robot) const override { return solved_[static_cast<std::size_t>(robot)] != 0; }
  ContactReport solve_in_contact(int robot, const ContactSpace& space, std::span<double> multipliers,
                                 std::span<double> dc) override;
  double violation(int robot, std::span<const double> delta, std::span<const double> scale,
                   std::span<const double> multipliers) const override;
  void commands(std::span<const double> delta, std::span<const double> scale, std::span<const double> multipliers,
                std::span<double> commands) const override;

  /// Report of the last solve.
  const InverseReport& report(int robot) const { return reports_[static_cast<std::size_t>(robot)]; }
  /// Why commands were held, as text with units: which limits conflict with each other. "" if they were not held.
  const std::string& conflict(int robot) const { return conflicts_[static_cast<std::size_t>(robot)]; }
  /// Seconds spent in quadratic programs since the beginning of the step.
  double qp_seconds() const { return qp_seconds_; }

 private:
  struct Problem;
  struct Contact;
  void ask(const ConstraintSpace& space, int robot);
  void build(const ConstraintSpace& space, int robot, Problem& problem);
  double promise(const ConstraintSpace& space, const double* lambda, const double* dc, const Problem& problem,
                 InverseReport& report) const;
  Interval limits_of_command(int robot, int j) const;
  // The same of where the row ends: unlimited where the command is its multiplier.
  Interval limits_of_row(int robot, int j) const;
  double scale_of(int robot, int j) const {
    return scale_.empty() ? 1.0 : scale_[static_cast<std::size_t>(robot * robot_.rows() + j)];
  }
  QpReport solve_once(Problem& problem, QpWorkspace& workspace, std::span<QpSide> active) const;
  template <class Once, class Hold>
  QpReport solve_program(Problem& problem, const Once& once, const Hold& hold) const;
  QpReport descend(Problem& problem) const;
  bool solve_with_limits(const ConstraintSpace& all, std::span<const char> touch, std::span<double> multipliers,
                         std::span<double> dc);
  ContactReport lead_in_contact(int robot, const ContactSpace& space, const std::vector<double>& commands,
                                std::span<double> multipliers, std::span<double> dc);
  std::optional<bool> seek_in_contact(int robot, const ContactSpace& unsplit, std::span<double> forces,
                                      std::span<double> dc);
  QpReport solve_contact_program(int robot, const ContactSpace& space, const ConstraintSpace& kept,
                                 std::span<const double> start);
  bool hold(const ConstraintSpace& space, int robot, Problem& problem) const;
  int saturated(const Problem& problem) const;
  std::string explain(std::span<const QpConflict> conflicts, const Problem& problem, QpStatus status) const;
  std::string name_of(const QpConflict& conflict, const Problem& problem) const;

  const Robot& robot_;
  InverseSettings settings_;
  int robots_, n_, motions_, rows_;  // actuators, unknown inputs, rows of the program
  bool has_limits_;                  // one-sided constraints
  RowLayout layout_;
  EqualityRows constraints_;
  std::vector<int> limited_;            // actuators with a row for their displacement
  std::vector<int> limited_obstacles_;  // those with a row for the sum of their normal forces, after all others
  std::vector<double> goals_, known_, start_multipliers_, start_commands_;
  std::vector<Interval> force_limits_;  // [actuators]
  std::vector<char> steered_;
  std::vector<double> asked_;  // rows of the effectors at the end of the step, where the goal's speed is limited
  std::string hold_reason_;
  bool begun_ = false;         // the step has had its first linearisation
  std::vector<double> scale_;  // command_scale [B x rows] of the last linearisation, or empty
  double step_ = 0, trust_ = unlimited;
  bool at_rest_ = false;
  double qp_seconds_ = 0;
  std::vector<Problem> problems_;  // per thread
  std::vector<QpWorkspace> workspaces_;
  std::vector<QpSide> active_;
  std::vector<InverseReport> reports_;
  std::vector<double> movements_;  // of the last linearisation [m]: how far it moves any row
  std::vector<char> solved_;
  std::vector<char> held_before_;  // before the present linearisation
  std::vector<char> found_;        // in this step, in contact: found_commands_ [B x actuators]
  std::vector<double> found_commands_;
  std::unique_ptr<Contact> contact_;  // where there are obstacles or limits
  std::vector<std::string> conflicts_;
};

}  // namespace supple
