#pragma once
// How a step is taken and what it reports; the step itself: step.hpp.

#include <vector>

#include "engine/step/contact_figures.hpp"
#include "kernels/materials/law.hpp"

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
  // control moves, and implicit factors below 1. A run that was stopped continues with a new one.
  double keep_tangent = 0;
  // Newton: stops when the least residual since the first iteration has not halved in so many; 0 = never
  int stagnation = 0;

  // Cables rub as if they had slid from rest straight to where they are, whatever the state remembers: what a state is
  // does not depend on the way to it.
  bool forgets_friction = false;

  bool dynamic() const { return scheme != StepScheme::quasi_static; }
  bool iterates() const { return scheme != StepScheme::one_linearisation; }
  double alpha() const { return dynamic() ? implicit_velocity : 1; }
  double beta() const { return dynamic() ? implicit_position : 1; }
  TangentKind tangent() const { return iterates() ? TangentKind::exact : TangentKind::safe; }
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
  loose_among_obstacles,  // equilibrium of a free-floating body, with obstacles
  unbalanced              // equilibrium of a free-floating body: its forces have a resultant
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

// A robot of a batch that could not take the step.
struct RobotFailure {
  int robot = 0;
  StepStatus status = StepStatus::ok;
  int element = -1;  // undefined_points: mesh element
};

// Of one robot its own; of many, counts are sums, iterations and residuals the largest.
struct [[nodiscard]] StepReport {
  StepStatus status = StepStatus::ok;  // of the first failure
  std::vector<RobotFailure> failures;  // ascending robots; the others have taken the step
  int iterations = 0;                  // factorisations; one linearisation: 0 if that of an earlier step served
  double residual = 0;                 // relative, at the accepted state (Newton)
  double force_scale = 0;              // what it is relative to [N]
  int inverted = 0;                    // points with det F <= 0 at the last evaluation
  int failed_element = -1;             // undefined_points: mesh element
  int negative_pivots = 0;             // of the last exact factorisation
  int weakened = 0;                    // as in SystemReport, summed over the factorisations
  int limited_commands = 0;            // commands cut to their range or rate
  ContactFigures contact;              // of the last linearisation
  StageTimes times;

  // Of further robots of the same step, which are numbered from first_robot on.
  void add(const StepReport& part, int first_robot);
};

}  // namespace supple
