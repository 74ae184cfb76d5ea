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
  if (robot.viscous > 0)
    return InputError("with viscous materials every step needs its own tangent", "without --keep-tangent");
  if (std::ranges::any_of(robot.actuators, [](const ActuatorRow& row) { return row.friction > 0; }))
    return InputError("with friction of cables every step needs its own tangent", "without --keep-tangent");
  if (robot.implicit_velocity != 1 || robot.implicit_position != 1)
    return InputError("with implicit factors below 1 every step needs its own tangent",
                      "without --keep-tangent, or implicit_velocity = 1 and implicit_position = 1");
  return std::nullopt;
}

// Whether the tangent may be an old one in this kind of step at all.
bool Stepper::may_keep_tangent() const {
  return settings_.keep_tangent > 0 && !settings_.iterates() && settings_.alpha() == 1 && settings_.beta() == 1 &&
         kept_.possible && !mechanics_.damped().by_stiffness && mechanics_.coordinates().flat();
}

// Whether the present factor is of the last step, and `state` where that ended.
bool Stepper::goes_on(const State& state) {
  return kept_.factorisation == mechanics_.factorisations() && kept_.time_step == settings_.time_step &&
         state.q == kept_.q && state.v == kept_.v && std::ranges::equal(inputs_.motions.host(), kept_.motions) &&
         state.motions == kept_.motions && state.motion_velocities == kept_.motion_velocities;
}

// Whether the last step, with that factor, ended near enough; r: right side of the step to come.
bool Stepper::tangent_served() {
  const std::span<const double> r = motion_.r.span();
  for (std::size_t i = 0; i < r.size(); ++i) kept_.error[i] = r[i] + kept_.carried[i];
  mechanics_.solve(kept_.error, 1);
  for (int b = 0; b < size_.robots; ++b) {
    const double moved = std::max(kept_.moved[extent(b)], least_move);
    if (!(norm(kept_.error.data() + extent(b, size_.nv), size_.nv) <= settings_.keep_tangent * moved)) return false;
  }
  return true;
}

// Before the state is advanced.
void Stepper::remember_balance(const State& state) {
  const double h = settings_.time_step;
  const int nv = size_.nv, n = size_.rows;
  const auto momentum = [&](std::size_t robot, double moved, double before) {
    return -((2 * moved / h - before) / h + mechanics_.system(static_cast<int>(robot)).a * moved / h);
  };
  const std::span<double> velocity = motion_.velocity.span(), u = motion_.u.span(), rate = inputs_.momentum.span(),
                          c = inputs_.motions.span();
  for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] = momentum(i / extent(nv), u[i], state.v[i]);
  for (std::size_t i = 0; i < rate.size(); ++i)
    rate[i] = momentum(i / extent(size_.motions), c[i] - state.motions[i], state.motion_velocities[i]);
  kept_.carried.resize(u.size());
  kept_.error.resize(u.size());
  kept_.moved.resize(extent(size_.robots));
  mechanics_.inertia(velocity, rate, kept_.carried);
  for (int b = 0; b < size_.robots; ++b) {
    double* carried = kept_.carried.data() + extent(b, nv);
    for (int i = 0; i < n; ++i) {
      const double* H = rows_.H.data() + extent(b, n, nv) + extent(i, nv);
      const double lambda = space_.lambda.data()[extent(b, n) + extent(i)];
      for (int k = 0; k < nv; ++k) carried[k] += lambda * H[k];
    }
    if (contact_) contact_->add_forces(b, {carried, extent(nv)});
    kept_.moved[extent(b)] = norm(u.data() + extent(b, nv), nv);
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
