// Steps of one linearisation with the factor of an earlier one (StepSettings::keep_tangent). What the last step left
// unbalanced is known when the next begins, where the forces are evaluated anyway. With v the velocity at its end,
//   R = p - f(x) + H^T lambda - M (v - v_n)/h - a M v,   r = p - f(x) + M v / h   (the next right side),
// so that R = r + H^T lambda - M ((2 v - v_n)/h + a v), and A^-1 R is about how far it ended from where it should.

#include <algorithm>
#include <cmath>

#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

namespace {

constexpr double least_move = 1e-10;  // m, norm over the coordinates: errors below this part of nothing are rounding

double norm(const double* x, int n) {
  return std::sqrt(inner_product(x, x, n));
}

}  // namespace

std::optional<InputError> cannot_keep_tangent(const Robot& robot) {
  const auto damped = [](const ConstraintRow& row) { return row.damping_time > 0; };
  if (robot.rayleigh_stiffness != 0)
    return InputError("under stiffness damping every step needs its own tangent",
                      "without --keep-tangent, or damping by mass alone");
  if (std::ranges::any_of(robot.constraints, damped) || std::ranges::any_of(robot.springs, damped))
    return InputError("with dampers every step needs its own tangent", "without --keep-tangent");
  if (robot.implicit_velocity != 1 || robot.implicit_position != 1)
    return InputError("with implicit factors below 1 every step needs its own tangent",
                      "without --keep-tangent, or implicit_velocity = 1 and implicit_position = 1");
  return std::nullopt;
}

// Whether the tangent may be an old one in this kind of step at all.
bool Stepper::may_keep_tangent() const {
  return settings_.keep_tangent > 0 && settings_.scheme == StepScheme::one_linearisation && implicit_velocity() == 1 &&
         implicit_position() == 1 && !cannot_keep_tangent_ && mechanics_.coordinates().flat();
}

// Whether the factor at hand is of the last step, and `state` where that ended.
bool Stepper::goes_on(const State& state) const {
  return kept_.factorisation == mechanics_.factorisations() && kept_.time_step == settings_.time_step &&
         state.q == kept_.q && state.v == kept_.v && motions_ == kept_.motions && state.motions == kept_.motions &&
         state.motion_velocities == kept_.motion_velocities;
}

// Whether the last step, with that factor, ended near enough; r: right side of the step to come.
bool Stepper::tangent_served() {
  for (std::size_t i = 0; i < r_.size(); ++i) kept_.error[i] = r_[i] + kept_.carried[i];
  mechanics_.solve(kept_.error, 1);
  for (int b = 0; b < robots_; ++b) {
    const double moved = std::max(kept_.moved[extent(b)], least_move);
    if (!(norm(kept_.error.data() + extent(b, nv_), nv_) <= settings_.keep_tangent * moved)) return false;
  }
  return true;
}

// Before the state is advanced.
void Stepper::remember_balance(const State& state) {
  const double h = settings_.time_step, a = mechanics_.robot().rayleigh_mass;
  const auto momentum = [&](double moved, double before) { return -((2 * moved / h - before) / h + a * moved / h); };
  for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] = momentum(u_[i], state.v[i]);
  for (std::size_t i = 0; i < motion_velocity_.size(); ++i)
    motion_velocity_[i] = momentum(motions_[i] - state.motions[i], state.motion_velocities[i]);
  kept_.carried.resize(u_.size());
  kept_.error.resize(u_.size());
  kept_.moved.resize(extent(robots_));
  mechanics_.inertia(velocity_, motion_velocity_, kept_.carried);
  for (int b = 0; b < robots_; ++b) {
    double* carried = kept_.carried.data() + extent(b, nv_);
    for (int i = 0; i < rows_count_; ++i) {
      const double* H = H_.data() + extent(b, rows_count_, nv_) + extent(i, nv_);
      const double lambda = lambda_[extent(b, rows_count_) + extent(i)];
      for (int k = 0; k < nv_; ++k) carried[k] += lambda * H[k];
    }
    if (contact_) contact_->add_forces(b, {carried, extent(nv_)});
    kept_.moved[extent(b)] = norm(u_.data() + extent(b, nv_), nv_);
  }
  kept_.factorisation = mechanics_.factorisations();
  kept_.time_step = h;
}

// After it.
void Stepper::remember_end(const State& state) {
  kept_.q = state.q;
  kept_.v = state.v;
  kept_.motions = state.motions;
  kept_.motion_velocities = state.motion_velocities;
}

}  // namespace supple
