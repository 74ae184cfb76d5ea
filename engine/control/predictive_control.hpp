#pragma once
// Model-predictive control of a reduced robot: commands over a horizon that bring its effectors to goals over time,
// within ranges and rates, also in contact. Of each plan the commands for now are applied, and the next begins from
// where the robot is then.
//
// A plan is one or a few iterations of sequential quadratic programming. The last plan, moved on by a period, is
// simulated by the steps of the robot themselves, contacts included. With the sensitivities S of that motion to the
// commands (step_derivative.hpp), dq' = (I + du/dq) dq + du/dv dv + du/dc dc and dv' = (dq' - dq)/h, the change dc of
// the plan solves
//   min 1/N sum_k |Omega (delta_k + J_k S_k dc)|^2
//       + 1/B sum_b (|smoothness (c_b - c_(b-1))/width|^2 + |effort c_b/largest|^2)
//   c + dc within range and rate, |dc| <= trust width,
// delta_k the effectors' distances from their goals after step k (engine/model/effectors.hpp), b the blocks in which
// commands stay the same, width that of their range. One program of at most max_qp_unknowns, started from the active
// set of the last. What a plan costs is bounded: steps x iterations steps and their matrices, and the programs. Source:
// M. Diehl et al., "Real-time optimization and nonlinear model predictive control", J. Process Control 12, 2002.
// docs/theory/predictive-control.md.

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/derivative/step_derivative.hpp"
#include "engine/model/effectors.hpp"
#include "engine/step/step.hpp"
#include "solvers/qp/qp.hpp"

namespace supple {

struct PredictiveSettings {
  int steps = 10;                        // of the horizon
  std::optional<double> time_step = {};  // of these steps [s]; none: the robot's
  std::optional<double> period = {};     // from one plan to the next [s], at most time_step; none: time_step
  /// Numbers of steps in which commands stay the same, one after the other; the last one holds to the end. Empty: as
  /// default_blocks().
  std::vector<int> blocks = {};
  double smoothness = 1e-3;  // distance of an effector [m] that counts as a change of a command by its whole range
  double effort = 1e-5;      // distance [m] that counts as the largest command of its range
  double trust = 0.25;       // of a command's range, by which one iteration changes it at most
  int iterations = 1;
};

/// Blocks that fit the horizon and the quadratic program of so many actuators: one step each at first, then twice as
/// long as the one before.
std::vector<int> default_blocks(int steps, int actuators);

struct [[nodiscard]] PlanReport {
  /// planned; or why not: a step of the prediction has failed, or the quadratic program has no answer. Commands are
  /// then those of the last plan a period later, within ranges and rates, or where there is none those that are
  /// applied.
  enum class Status { planned, prediction_failed, no_answer } status = Status::planned;
  StepStatus step = StepStatus::ok;  // of the failed step
  int iterations = 0;
  double distance = 0;  // root mean square of the effectors' distances from their goals along the last prediction [m]
  double expected = 0;  // the same by the linearisation, after the change
  int contacts = 0;     // most in a step of the prediction
  int inexact = 0;      // steps whose contacts had no exact forces: their derivatives are near
  QpReport program = {};
};

class PredictiveControl {
 public:
  /// Throws InputError where the robot has no effectors, its steps no derivatives (no_derivative()) or a command no
  /// range, and for settings that are out of bounds.
  PredictiveControl(std::shared_ptr<const ReducedModel> model, const PredictiveSettings& settings);

  const ReducedModel& model() const { return *model_; }
  const PredictiveSettings& settings() const { return settings_; }
  int steps() const { return settings_.steps; }
  double time_step() const { return step_settings_.time_step; }
  double period() const { return period_; }

  /// From the robot's state (q, v) [nv] and the commands that it has now [actuators] a plan towards goals
  /// [steps][3 x effectors] at the ends of the steps. load [nv, N]: generalised forces that act all along, or empty.
  /// Throws InputError for other sizes or numbers that are not finite.
  PlanReport plan(std::span<const double> q, std::span<const double> v, std::span<const double> applied,
                  std::span<const double> goals, std::span<const double> load = {});
  /// What is to be applied until the next plan [actuators]. Where a period is shorter than a step of the prediction,
  /// displacements go so far towards the first of the plan, which are reached at the end of that step.
  std::span<const double> commands() const { return commands_; }
  /// Commands of the last plan at the ends of its steps [steps][actuators].
  std::span<const double> planned() const { return plan_; }
  /// Coordinates of the last prediction [steps][nv], that of the plan before its last change.
  std::span<const double> predicted() const { return predicted_; }
  /// The next plan begins from the commands that are applied then.
  void forget() { planned_ = false; }

 private:
  struct Block {
    int first = 0, steps = 1;
  };
  void check_settings();
  void move_on(std::span<const double> applied);
  Interval limits(std::size_t block, int actuator, std::span<const double> applied) const;
  void limit(std::span<const double> applied);
  double time_to_first(int actuator) const;
  double most_change(std::size_t block, int actuator) const;
  void keep(std::span<const double> applied);
  double size_of(const Eigen::VectorXd& weighted) const;
  bool predict(std::span<const double> q, std::span<const double> v, std::span<const double> applied,
               std::span<const double> goals, PlanReport& report);
  void add_sensitivities(int block);
  void add_distances(int step, std::span<const double> goals);
  bool improve(std::span<const double> applied, PlanReport& report);

  std::shared_ptr<const ReducedModel> model_;
  PredictiveSettings settings_;
  StepSettings step_settings_;
  double period_;
  ReducedMechanics mechanics_;
  Stepper stepper_;
  StepDerivative derivative_;
  RowLayout effector_rows_;
  int nv_, actuators_, unknowns_;
  std::vector<Block> blocks_;
  std::vector<double> width_, largest_, weight_;  // [actuators] of commands and their size; [effector rows]
  bool planned_ = false;
  std::vector<double> plan_, predicted_;  // [steps][actuators], [steps][nv]
  std::vector<double> commands_;          // [actuators]
  std::vector<double> trial_;             // [blocks][actuators]: the plan that is improved
  std::vector<char> slack_;  // [blocks][actuators]: slack as the block begins, and taken to pull from there
  StepMatrices matrices_;
  State before_, state_;
  Control control_;
  Eigen::MatrixXd S_, dS_;    // [nv x unknowns] of q and of v h
  Eigen::MatrixXd J_;         // [steps x effector rows][unknowns]
  Eigen::VectorXd distance_;  // [steps x effector rows]
  std::vector<double> points_, phi_, gradients_, P_, g_, lower_, upper_, C_, row_lower_, row_upper_, change_;
  std::vector<QpSide> active_;
  QpWorkspace workspace_;
};

}  // namespace supple
