#pragma once
// What a time step asks of a body or of several (step.hpp): the full model, reduced robots on a CPU, reduced robots on
// a device, assemblies. Everything is batched over B robots, robot-major; nq, nv, outputs and rows are those of one
// robot. Arrays that a step's stages are given lie on device(); on a GPU the stages are queued.

#include <span>
#include <vector>

#include "engine/model/coordinates.hpp"
#include "engine/model/rows.hpp"
#include "kernels/array/device.hpp"
#include "kernels/elements/point_stiffness.hpp"
#include "kernels/elements/robot_reports.hpp"
#include "kernels/materials/law.hpp"
#include "kernels/step/step_ops.hpp"

namespace supple {

struct Variations;  // engine/mechanics/variations.hpp

// Strains of a body at rest are rounding, 1e-16 and a little: what is relative to less never converges to 1e-9.
inline constexpr double rounding_strain = 1e-6;

// A = stiffness K + mass M with K the tangent of the last evaluate_forces, plus the rows' geometric stiffness. step.hpp
// has the coefficients of a time step; quasi-static: mass = 0, stiffness = 1.
struct SystemCoefficients {
  double mass = 0;
  double stiffness = 1;
  bool geometric = false;                       // add the rows' geometric stiffness
  std::span<const PointStiffness> points = {};  // and this one, robots ascending
  // For robots with masses and damping of their own: mass = inertia + implicit rate a, stiffness = implicit (1 +
  // rate b), with Rayleigh's coefficients a and b.
  double inertia = 0, implicit = 1, rate = 0;
};

// own: [robots] where they differ, on the device of the systems, or null.
SystemFactors system_factors(const SystemCoefficients& coefficients, const RobotSystem* own);

// Those of one robot among points with robots ascending.
std::span<const PointStiffness> points_of(std::span<const PointStiffness> points, int robot);

// Rows at mapped points, three for each: the rows of `frame` are unit vectors across each other, for a contact normal,
// tangent 1, tangent 2. Row 3k + i has the Jacobian frame_k[i] L_k.
struct PointRows {
  std::vector<int> point;
  std::vector<Mat3d> frame;
  int points() const { return static_cast<int>(point.size()); }
  int rows() const { return 3 * points(); }
};

// A step of length h from (q, v) to (q (+) u, v_end), with inputs from c and their rates v_c to c_end and v_c_end, and
// the implicit factor alpha of its forces; start_force: (1 - alpha) F, or empty.
struct StepMotion {
  double time_step = 0, alpha = 1;
  std::span<const double> q, v, u, v_end;
  std::span<const double> c, v_c, c_end, v_c_end;
  std::span<const double> start_force;
};

class Mechanics {
 public:
  virtual ~Mechanics() = default;
  virtual const Device& device() const;  // a CPU
  virtual int robots() const = 0;
  virtual const Robot& robot() const = 0;
  virtual const Coordinates& coordinates() const = 0;
  virtual const RowLayout& rows() const = 0;

  // y [B x outputs] = y_rest + L q + L_c c; c [B x motions].
  virtual void evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) = 0;
  // The same, and what rests on the last evaluate_outputs stays as it is. Overridden where anything does.
  virtual void outputs_elsewhere(std::span<const double> q, std::span<const double> c, std::span<double> y) {
    evaluate_outputs(q, c, y);
  }
  // Internal force f [B x nv, N]; keeps the tangent of the given kind for factor(), or with `none` the one it has.
  // found [B]: on device(), as f is.
  virtual void evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                               std::span<double> f, std::span<PointReport> found) = 0;
  // The same on a CPU; of all robots together: sums, the first undefined element, the norm of the scales.
  PointReport evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                              std::span<double> f);
  // In statics, on a CPU: Newton's step dq [nv] of one robot from q and c, with the change dc of its inputs, is corrected
  // by what it turns the body by (kernels/elements/turned_ops.hpp), and a tangent that is evaluated next, where it ends,
  // knows of it. Returns the share of the step that dq is then, where it turns too far; the inputs are to change by as much
  // of dc. 1, and nothing is done, where bodies have no such step.
  virtual double turn_step(int robot, std::span<const double> q, std::span<const double> c, std::span<const double> dc,
                           std::span<double> dq);
  // Until end_viscous_step() forces and tangents are those at the end of a step of length h [s] from a start at which
  // viscous materials remember this [B x Robot::viscous, Pa]. Before and after, those of the materials at rest.
  virtual void begin_viscous_step(double h, std::span<const double> viscous);
  // The step ends at q and c. What the materials remember there; h = 0: at rest, relaxed. Robots [B] that have not moved
  // keep theirs; moved empty: all have.
  virtual void end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                                std::span<const unsigned char> moved, std::span<double> viscous);
  // dy/dc of mapped points [motions][3 points], of one robot, on the host: how prescribed inputs move them. Where frames
  // turn, at the last evaluate_outputs; otherwise the same everywhere, and outputs are to be evaluated again.
  virtual void input_rates(std::span<const int> points, std::span<double> rates);
  // p [B x nv]: gravity [N]. On the host.
  virtual void external_forces(std::span<double> p) const = 0;
  // How often the forces of external_forces() have changed.
  virtual int changes() const { return 0; }
  // The model that this was made of has been changed by set_parameters() (parameters.hpp): for the steps to come.
  virtual void model_changed();
  // Of reduced robots: what differs between them, for the steps to come.
  virtual void set_variations(Variations variations);
  // Coulomb's coefficient of an obstacle.
  virtual double friction(int robot, int obstacle) const;
  // Factor on the masses of a robot and its damping; and whether any robot is damped.
  virtual RobotSystem system(int robot) const;
  struct Damped {
    bool by_mass = false, by_stiffness = false;
    bool any() const { return by_mass || by_stiffness; }
  };
  virtual Damped damped() const;
  // out = M v + M_c v_c [B x nv]; v_c [B x motions]: velocities of the prescribed inputs.
  virtual void inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const = 0;
  // Whether M depends on the coordinates or inputs: frames turn.
  virtual bool turns() const { return false; }
  // Where it does, inertia() has M of the last evaluate_forces. out [nv] += what a step's balance of momentum has
  // beside M (v - v_end): the momentum at the start, carried to the axes of the end, less that of the velocities v at
  // the end; and h times the forces of the turn on the bodies' coordinates (body_inertia.hpp). One robot.
  virtual void add_turning(const StepMotion& step, std::span<double> out) const;
  // After a step of one linearisation: sets the velocities of free frames in v_end [nv] so that their momentum is that
  // of the balance which the step has solved, at where the frames are now. step: that of add_turning, with the motion u
  // as it was found.
  virtual void correct_momentum(const StepMotion& step, std::span<double> v_end) const;
  // out = D v + D_c v_c, D = a M + b K with the tangent of the last evaluate_forces [B x nv]; v_c as in inertia: a body
  // that is carried along without strain is damped by a M alone.
  virtual void damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) = 0;
  // Assembles and factors A. y, multipliers: where geometric stiffness is evaluated, on the host. found [B]: on
  // device().
  virtual void factor(const SystemCoefficients& coefficients, std::span<const double> y,
                      std::span<const double> multipliers, std::span<SystemReport> found) = 0;
  // The same on a CPU; of all robots together: the first status that is not ok, the most negative pivots, how many are
  // weakened.
  SystemReport factor(const SystemCoefficients& coefficients, std::span<const double> y,
                      std::span<const double> multipliers);
  // H [B x rows x nv] = (d phi/dy) L and H_c [B x rows x motions] = (d phi/dy) L_c of rows with these flat gradients [B
  // x layout.gradients()].
  virtual void row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                             std::span<double> H_c) const = 0;
  // A_c [B x motions x nv]: what a change of each prescribed input adds to the system's left side, such a sum of K and
  // M between the free coordinates and the input. With the tangent of the last evaluate_forces and, where there is any,
  // the stiffness of rows and points of the last factor.
  virtual void input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) = 0;
  // X [B x count x nv] <- A^-1 X in place.
  virtual void solve(std::span<double> X, int count) = 0;

  // Whether it goes from the tangent to constraint space at once: factor(), the right sides, solve(), both spaces.
  virtual bool finds_space() const { return false; }
  // effectors: may have no rows.
  virtual void find_space(const SystemCoefficients& coefficients, const RightSidesTeamOp& sides,
                          const SpaceTeamOp& rows, const SpaceTeamOp& effectors, std::span<SystemReport> found);

  // What contact needs, on the host; H are the rows' Jacobians. The same for every robot:
  // out [count x rows] = X H^T, X [count x nv].
  virtual void multiply_rows(const PointRows& rows, std::span<const double> X, int count,
                             std::span<double> out) const = 0;
  // f [nv] += H^T lambda.
  virtual void add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const = 0;
  // Of one robot: X [count x nv] <- A^-1 X.
  virtual void solve_robot(int robot, std::span<double> X, int count) = 0;
  // Of one robot: X [count x nv] <- X R^-T with A = R R^T, so that H A^-1 H^T is the product of H R^-T with its
  // transpose. False, and nothing is done: there is no such factor (A may be indefinite), or it does not pay.
  virtual bool root_solve(int robot, std::span<double> X, int count) = 0;
  // Of one robot: C [rows x rows] = H A^-1 H^T. The part of the first `known` rows alone (a multiple of three) is there
  // already, found by this function with the same factor.
  virtual void row_compliance(int robot, const PointRows& rows, int known, std::span<double> C);

  // How often factor() was called: tells whether the present factor is still one's own.
  long factorisations() const { return factorisations_; }

 protected:
  long factorisations_ = 0;

 private:
  std::vector<PointReport> point_reports_;
  std::vector<SystemReport> system_reports_;
};

}  // namespace supple
