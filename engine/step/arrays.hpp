#pragma once
// The arrays of a step. All lie on the mechanics' device, robot-major; B robots, nv velocities, n rows with
// multipliers, e rows of effectors, m prescribed inputs, of which a law may move all or none.

#include <optional>
#include <span>

#include "engine/mechanics/mechanics.hpp"
#include "engine/step/constraint_law.hpp"
#include "engine/step/row_program.hpp"
#include "kernels/array/mirrored.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/step/step_ops.hpp"

namespace supple {

// Where the arrays lie, and how long they are.
struct StepSize {
  Device device;
  int robots = 0, nq = 0, nv = 0, outputs = 0, rows = 0, motions = 0;
};

// [B x nv], unless stated otherwise.
struct MotionArrays {
  Mirrored<double> q;               // [B x nq]: q_n (+) u
  Mirrored<double> u;               // increment since the start of the step [m]
  Mirrored<double> du;              // of the last linearisation
  Mirrored<double> velocity;        // what inertia and damping act on [m/s]
  Mirrored<double> inertia;         // M velocity
  Mirrored<double> damping;         // D velocity [N]
  Mirrored<double> f;               // internal forces [N]
  Mirrored<double> p;               // gravity and the load [N]
  Mirrored<double> start_force;     // (1 - alpha) F [N]
  Mirrored<double> r;               // residual [N]
  Mirrored<double> free_motion;     // Newton: u_f
  Mirrored<double> row_force;       // Newton: H^T lambda_0, contacts included [N]
  Mirrored<double> contact_force;   // H^T lambda of contacts at the last linearisation [N]
  Mirrored<double> contact_motion;  // what their new forces do to du
  Mirrored<double> y;               // [B x outputs]: mapped points [m]

  MotionArrays(const Device& device, const StepSize& size, bool contact);
};

// Prescribed inputs [B x m].
struct InputArrays {
  Mirrored<double> motions;                // c at the end of the step
  Mirrored<double> momentum, velocity;     // what goes with the inertia and with the damping of a step
  Mirrored<double> start, start_velocity;  // at the start of the step
  Mirrored<double> dc;                     // change of the last linearisation, where the law moves them
  Mirrored<double> columns;                // A_c [B x m x nv], where the law moves them

  InputArrays(const Device& device, const StepSize& size);
};

// Rows of one kind: actuators and constraints, springs, effectors.
struct RowArrays {
  RowLayout layout;
  Mirrored<double> phi;               // [B x rows]: values [m]
  Mirrored<double> gradients;         // [B x layout.gradients()]: d phi/dy
  Mirrored<double> H;                 // [B x rows x nv]
  Mirrored<double> H_c;               // [B x rows x m]
  std::optional<RowProgram> program;  // how a GPU evaluates them; none: the host does
  int robots = 0, nv = 0, motions = 0;

  RowArrays() = default;
  RowArrays(const Device& device, const RowLayout& layout, const StepSize& size);
  int rows() const { return layout.rows(); }
  Vectors values() { return {phi.data(), robots, rows()}; }
  Matrices jacobians() { return {H.data(), robots, rows(), nv}; }
  Matrices input_jacobians() { return {H_c.data(), robots, rows(), motions}; }
};

// Constraint space, in one block that crosses to the host together.
struct SpaceViews {
  Matrices W;      // [B x n x n], with compliance on the diagonal [m/N]
  Vectors free;    // [B x n]
  Matrices B;      // [B x n x moved inputs]
  Vectors values;  // [B x n]: phi as the law sees it
  Matrices effector_W;
  Vectors effector_free;
  Matrices effector_B;
  Vectors effector_phi;
};

struct SpaceArrays {
  int robots = 0, rows = 0, effectors = 0, inputs = 0;  // inputs: that the law moves
  Mirrored<double> block;
  Mirrored<double> lambda;  // [B x n]: multipliers [N, Pa]
  Mirrored<double> held;    // [B x n]: lambda_0, Newton
  Mirrored<double> X;       // [B x (1 + n + inputs) x nv]: solved systems

  SpaceArrays() = default;
  SpaceArrays(const Device& device, const StepSize& size, int effectors, int inputs);
  int columns() const { return 1 + rows + inputs; }
  const SpaceViews& on_device() const { return device_views_; }
  const SpaceViews& on_host() const { return host_views_; }
  // As a law sees it.
  ConstraintSpace seen_by_law(std::span<const double> inputs, std::span<const double> compliance,
                              std::span<const double> command_scale) const;

 private:
  SpaceViews views(double* begin) const;
  SpaceViews device_views_, host_views_;
};

}  // namespace supple
