#pragma once
// What a step asks of its constraint rows. The step brings every robot into constraint space; a law finds the
// multipliers there: ForwardLaw from given commands (forward_law.hpp), InverseLaw from goals of the effectors
// (engine/inverse/inverse_law.hpp). Everything else of a step is the same in both directions.

#include <span>

#include "engine/model/rows.hpp"
#include "engine/model/state.hpp"
#include "solvers/contact/contact.hpp"

namespace supple {

// All robots at one linearisation, robot-major. With multipliers lambda and changes dc of the prescribed inputs the
// rows (Robot::rows(): actuators, then constraints) and the effectors end at
//   rows       delta   = free + W lambda + B dc
//   effectors  delta_e = effector_free + effector_W lambda + effector_B dc
//   W = H A^-1 H^T [m/N], with the compliance of constraints on its diagonal,   effector_W = H_e A^-1 H^T [m/N]
//   free = phi + H A^-1 r [m],   B = H_c - H A^-1 A_c [m/m]
// A displacement-like command has its row end at delta = command_scale * command: the scale is 1 but of gas (GasLaw),
// whose law is linearised, and of cables that rub (engine/model/cable_friction.hpp). phi and the inputs c [motions]
// belong to the point of linearisation; motions = 0 unless the law moves inputs.
// Constraints end at delta = 0, or where they are one-sided at
//   lambda >= 0,   delta >= 0,   lambda delta = 0.
// What phi means in a step that is not implicit Euler: step.hpp.
struct ConstraintSpace {
  int robots = 1, rows = 0, effector_rows = 0, motions = 0;
  std::span<const double> phi, free, W, B;  // rows, rows, rows x rows, rows x motions
  std::span<const double> effector_phi, effector_free, effector_W, effector_B;  // the same for the effectors' rows
  std::span<const double> inputs;
  std::span<const double> compliance;     // rows: what of W is not H A^-1 H^T
  std::span<const double> command_scale;  // rows, or empty: 1
};

// Of a robot's row: where delta is for a command of the actuator.
inline double command_scale(std::span<const double> scale, std::size_t row) {
  return scale.empty() ? 1.0 : scale[row];
}

// What belongs to one robot.
ConstraintSpace of_robot(const ConstraintSpace& space, int robot);

// One robot that may touch obstacles: its rows, then normal, tangent 1 and tangent 2 of each contact; N rows in all. Of
// a contact, delta is the gap left and the slip over the step [m].
struct ContactSpace {
  int rows = 0, contacts = 0, rank = 0;
  std::span<const double> free;        // N
  std::span<const double> W, V;        // N x N, or empty and W = V V^T + compliance with V [N x rank]
  std::span<const double> compliance;  // N, or empty: none, or in W
  std::span<const double> friction;    // contacts
  std::span<const int> obstacle;       // contacts: what each touches
  // For laws with effectors or unknown inputs: the robot without its contacts, how inputs move the contacts [3 contacts
  // x motions], how contacts move the effectors [effector_rows x 3 contacts].
  ConstraintSpace alone;
  std::span<const double> B, effector_W;
  int all() const { return rows + 3 * contacts; }
};

class ConstraintLaw {
 public:
  virtual ~ConstraintLaw() = default;

  // Effector rows that the law requires in constraint space (or none), and their values and gradients for one robot.
  virtual const RowLayout& effector_rows() const = 0;
  virtual void evaluate_effectors(int robot, std::span<const double> y, std::span<double> phi,
                                  std::span<double> gradients) const = 0;
  // Goals [3 x effectors] that those values are relative to; empty: there are no effectors.
  virtual std::span<const double> goals(int robot) const = 0;
  // Whether dc is unknown; otherwise a step takes the motions of its control.
  virtual bool moves_inputs() const = 0;

  // Begins a step from `state`, of length `step` [s] (0: rates are not limited), to an equilibrium where `at_rest`;
  // multipliers [B x rows]: what the first linearisation uses, those of the state within their bounds. Returns how many
  // commands were cut to their range or rate.
  virtual int begin(const State& state, double step, bool at_rest, std::span<double> multipliers) = 0;
  // Finds multipliers (in: the last ones) and dc [B x motions]. False: not found, and the law knows why. Robots that
  // `touch` [B, or empty: none] are solved in contact anyway, and left out.
  virtual bool solve(const ConstraintSpace& space, std::span<const char> touch, std::span<double> multipliers,
                     std::span<double> dc) = 0;
  // Whether the last solve() found an answer for this robot; true for those it left out.
  virtual bool solved(int robot) const = 0;
  // The same for one robot and its contacts; multipliers [N], dc [motions].
  virtual ContactReport solve_in_contact(int robot, const ContactSpace& space, std::span<double> multipliers,
                                         std::span<double> dc) = 0;
  // How far actuators of a robot whose rows are at delta [rows] are from what the law asks [m]: Newton's method
  // continues while this is above its tolerance. `scale`: command_scale [rows].
  virtual double violation(int robot, std::span<const double> delta, std::span<const double> scale,
                           std::span<const double> multipliers) const = 0;
  // What the actuators were told in this step [B x actuators: m or N]; delta [B x rows]: where the rows end; `scale`:
  // command_scale [B x rows].
  virtual void commands(std::span<const double> delta, std::span<const double> scale,
                        std::span<const double> multipliers, std::span<double> commands) const = 0;
};

}  // namespace supple
