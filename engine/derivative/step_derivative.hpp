#pragma once
// Derivatives of a step of one linearisation (engine/step/step.hpp) by the state before it, its commands and parameters of
// the robot: of the step that was taken, not of the motion that it approximates. With u and lambda where they are, what
// the step has solved is
//   0 = R = M v/h + rho p + load - E(q) - (1/h^2 + a/h) M u + H(q)^T lambda,   E = f(q) + (1 + b/h) K(q) u
//   0 = g = s phi(q) + H(q) u + c lambda - target                              of rows that hold the body
// and the multipliers of the others are given: the force of a command, or the bound that it lies at. Of a scalar whose
// derivatives by u and lambda are u* and lambda*, the adjoint
//   A w - H^T m = u*,   H w + c m = -lambda*                                   over the rows that hold
// has the factor of the step itself (A is symmetric), and gives w . dR + m . dg as the derivative by all that R and g
// depend on. Where a row begins to hold or lets go the step has a kink: derivatives are those of the side that it was on.
//
// On a CPU, of reduced robots by themselves, under implicit Euler. docs/theory/derivatives.md.

#include <optional>
#include <vector>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/state.hpp"
#include "engine/step/step_settings.hpp"
#include "kernels/base/error.hpp"

namespace supple {

/// Derivatives of a scalar by the lists of a State, each as the State has it.
struct StateGradient {
  std::vector<double> q, v;         // B x nv
  std::vector<double> multipliers;  // B x rows
  std::vector<double> commands;     // B x actuators
};

/// Derivatives of a scalar by what a step is given.
struct InputGradient {
  std::vector<double> commands;        // B x actuators: Control::commands
  std::vector<double> load;            // B x nv: Stepper::set_load [per N]
  std::vector<double> gravity;         // B x 3 [per m/s^2]
  std::vector<double> material_scale;  // B x regions: Variations::material_scale
  std::vector<double> density;         // B: a factor on all masses
};

/// Why steps of this robot have no derivatives yet, or nothing.
std::optional<InputError> no_derivative(const Robot& robot, const StepSettings& settings);

/// Zeros of the sizes of these robots.
StateGradient zero_gradient(const ReducedMechanics& mechanics);

class StepDerivative {
 public:
  /// `mechanics` must outlive this object. Throws no_derivative().
  StepDerivative(ReducedMechanics& mechanics, const StepSettings& settings);

  /// The step that led from `before` to `after` under `commands` [B x actuators], the last one that a Stepper of these
  /// mechanics took: its factor is used. The load of that step has no part in its derivatives.
  void linearise(std::span<const double> commands, const State& before, const State& after);
  /// From derivatives by `after` to those by `before` and by what the step was given. False where the rows of a robot
  /// that hold depend on each other, so that their multipliers are not determined.
  [[nodiscard]] bool pull_back(const StateGradient& after, StateGradient& before, InputGradient& inputs);

 private:
  // What became of a command on its way into the step.
  enum class Route : char { command, previous, none };
  struct Row {
    bool holds = false;
    double compliance = 0, value = 1;  // c; s
    Route route = Route::none;         // of actuators
  };
  void list_rows(int robot, std::span<const double> commands, const State& after);
  void add_curvature(int row, std::span<const double> y, double factor, const double* x, double* out);
  bool find_multipliers(int robot, std::span<const double> y, std::span<const double> multipliers);

  ReducedMechanics& mechanics_;
  double time_step_;
  int robots_, nv_, rows_n_, actuators_;
  std::vector<double> q_, v_, u_, lambda_;       // before; of the step
  std::vector<double> y_, phi_, gradients_, H_;  // of all robots
  std::vector<Row> rows_;                        // [B x rows]
  std::vector<double> X_;                        // [B x rows x nv] A^-1 H^T
  std::vector<double> w_, m_;                    // [B x nv], [B x rows]
  std::vector<double> hessian_, W_, right_, size_, momentum_, out_;
  std::vector<int> held_, pivots_;
};

}  // namespace supple
