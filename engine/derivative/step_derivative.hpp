#pragma once
// Derivatives of a step of one linearisation (engine/step/step.hpp) by the state before it, its commands and parameters
// of the robot: of the step that was taken, not of the motion that it approximates. With u and lambda where they are,
// what the step has solved is
//   0 = R = M v/h + rho p + load - E(q) - (1/h^2 + a/h) M u + H(q)^T lambda,   E = f(q) + (1 + b/h) K(q) u
//   0 = g_i(u, lambda, q)                                   of rows whose multipliers are not given (Condition below)
// and other multipliers are given: the force of a command, the bound that a row lies at, 0 of a contact that is open.
// With dg = S H du + D dlambda + ..., S diagonal, the adjoint of a scalar whose derivatives by u and lambda are u* and
// lambda*
//   A w - H^T S m = u*,   H w + D^T m = -lambda*
// has the factor of the step itself (A is symmetric), and gives w . dR + m . dg as the derivative by all that R and g
// depend on. Where a row begins to hold or lets go, or a contact to stick or slip, the step has a kink: derivatives are
// those of the side that it was on.
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
  /// B x pairs x 3, by State::contact_forces after a step; those before a step only start its search.
  std::vector<double> contact_forces;
};

/// Derivatives of a scalar by what a step is given.
struct InputGradient {
  std::vector<double> commands;        // B x actuators: Control::commands
  std::vector<double> load;            // B x nv: Stepper::set_load [per N]
  std::vector<double> gravity;         // B x 3 [per m/s^2]
  std::vector<double> material_scale;  // B x regions: Variations::material_scale
  std::vector<double> friction;        // B x obstacles: Variations::friction
  // B: Variations::density, rayleigh_mass [per 1/s] and rayleigh_stiffness [per s].
  std::vector<double> density, rayleigh_mass, rayleigh_stiffness;
};

/// Derivatives of a step of one robot, of its increment u: q' = q + u and v' = u/h. Row-major, rows those of u.
struct StepMatrices {
  std::vector<double> q, v, load;  // nv x nv; load: of a force on the coordinates [per N]
  /// nv x actuators: by the commands that the step applied, whatever limited them. Of a slack one, by a command that
  /// begins where it is slack to and pulls.
  std::vector<double> applied;
  /// Actuators with a displacement as command that are at the lower limit of their force; and where all actuators end,
  /// phi + H u [m or m^3].
  std::vector<char> slack;
  std::vector<double> reached;
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
  /// that hold depend on each other and the scalar on how their multipliers share what they do together.
  [[nodiscard]] bool pull_back(const StateGradient& after, StateGradient& before, InputGradient& inputs);
  /// All derivatives of the coordinates and velocities of one robot by its state and commands, for a step or two of
  /// time. False where its motion is not determined by the rows that hold.
  [[nodiscard]] bool matrices(int robot, StepMatrices& found);

 private:
  // What became of a command on its way into the step.
  enum class Route : char { command, previous, none };
  // A row of an actuator or constraint that holds, or one of a contact that presses:
  //   holds    S = 1, D = c          s phi + H u + c lambda = target; of a contact its normal, and its tangents if it sticks
  //   slides   S = 0                 lambda_t = mu lambda_n along the slip, times a compliance
  //   turns    S = 1, D = |slip|/(mu lambda_n)       and lambda has the direction of the slip
  //   idle     none: nothing moves along it
  struct Condition {
    enum class Kind : char { holds, slides, turns, idle } kind = Kind::holds;
    int row = -1, contact = -1;  // one of both
    int axis = 0;                // of the contact's frame: 0 its normal
    double D = 0, value = 1;     // value: s
  };
  // Pressed, by its force at the end of the step: frame (n, t_1, t_2) with t_1 along the force of a contact that slips.
  struct Contact {
    int pair = 0, point = 0;
    Mat3d frame = {}, curvature = {};  // curvature: of the gap
    Vec3d lambda = {}, moved = {};     // along the frame; L u
    double friction = 0;
  };
  struct RobotRows {
    std::vector<Route> route;  // [actuators]
    std::vector<Contact> contacts;
    std::vector<Condition> conditions;
    std::vector<double> H, X;  // [conditions][nv], X = A^-1 H^T
    std::vector<double> m;     // [scalars][conditions]
  };
  void list_rows(int robot, std::span<const double> commands, const State& after);
  void list_contacts(int robot, const State& after);
  void find_slip(int robot);
  void add_condition(int robot, const Condition& condition);
  std::span<const double> points(int robot) const;
  const double* mapping(int point, int k) const;  // row of L [nv]
  Vec3d map(int point, const double* x) const;
  void add_mapped(int point, const Vec3d& force, double* out) const;  // out += L^T force
  void add_curvature(int row, std::span<const double> y, double factor, const double* x, double* out);
  bool find_multipliers(int robot, std::span<const double> lambda, std::span<double> w);
  void list_given(int robot, const StateGradient& after, std::span<double> lambda) const;
  // What a gradient by the multipliers of conditions adds to that by q: sum m (s phi' + phi'' u).
  void add_conditions(int robot, std::span<const double> m, double* q);
  void pull_back_rows(int robot, const StateGradient& after, StateGradient& before, InputGradient& inputs);
  // forces: derivatives by contact_forces of the robot, or empty.
  void add_contacts(int robot, const double* w, std::span<const double> m, std::span<const double> forces, double* q);
  void pull_back_damping(int robot, const StateGradient& after, const double* momentum, InputGradient& inputs);
  void pull_back_friction(int robot, InputGradient& inputs);

  ReducedMechanics& mechanics_;
  double time_step_;
  int robots_, nv_, rows_n_, actuators_, pairs_, obstacles_;
  std::vector<double> q_, v_, u_, lambda_;       // before; of the step
  std::vector<double> y_, phi_, gradients_, H_;  // of all robots, H of all rows
  std::vector<RobotRows> rows_;
  std::vector<double> w_;  // [B x nv]
  std::vector<double> hessian_, momentum_, out_, given_;
  std::vector<double> W_, J_, geometric_;  // [nv x nv] of matrices()
};

}  // namespace supple
