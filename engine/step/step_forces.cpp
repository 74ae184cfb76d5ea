// Forces and residual in a step (step.hpp), and Newton's method on them (newton.hpp).

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/step/step.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

void Stepper::evaluate_forces(TangentKind kind) {
  mechanics_.evaluate_forces(motion_.q.span(), inputs_.motions.span(), kind, motion_.f.span(), found_.points.span());
}

StepMotion Stepper::step_motion(const StateView& state, std::span<const double> u, std::span<const double> v_end) {
  const std::span<double> rates = inputs_.momentum.host();
  for (std::size_t i = 0; i < rates.size(); ++i)
    rates[i] = (inputs_.motions.host()[i] - state.host.motions[i]) / settings_.time_step;
  return {.time_step = settings_.time_step,
          .alpha = settings_.alpha(),
          .q = {state.q, motion_.q.size()},
          .v = {state.v, u.size()},
          .u = u,
          .v_end = v_end,
          .c = state.host.motions,
          .v_c = state.host.motion_velocities,
          .c_end = inputs_.motions.host(),
          .v_c_end = rates,
          .start_force = settings_.alpha() != 1 ? motion_.start_force.span() : std::span<double>()};
}

// One linearisation takes the motion that the velocity at the start announces. Frames turn on a CPU alone.
void Stepper::add_turning(const StateView& state) {
  if (!mechanics_.turns()) return;
  const double h = settings_.time_step;
  const std::span<const double> v(state.v, motion_.u.size());
  std::span<const double> u = motion_.u.span();
  std::vector<double>& v_end = host_.end_velocity;
  v_end.assign(v.begin(), v.end());
  if (settings_.iterates()) {
    for (std::size_t i = 0; i < v.size(); ++i) v_end[i] = end_velocity(u[i], v[i], h, settings_.beta());
  } else {
    host_.ahead.resize(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) host_.ahead[i] = h * v[i];
    u = host_.ahead;
  }
  mechanics_.add_turning(step_motion(state, u, v_end), motion_.inertia.span());
}

// The velocities at the end of a step of one linearisation, before the state is changed.
void Stepper::correct_momentum(const StateView& state) {
  if (!mechanics_.turns() || settings_.iterates()) return;
  const std::span<const double> u = motion_.u.span();
  std::vector<double>& v_end = host_.end_velocity;
  for (std::size_t i = 0; i < v_end.size(); ++i)
    v_end[i] = end_velocity(u[i], state.v[i], settings_.time_step, settings_.beta());
  mechanics_.correct_momentum(step_motion(state, u, {}), v_end);
}

void Stepper::evaluate_residual(const StateView& state) {
  const double h = settings_.time_step, beta = settings_.beta();
  const int B = size_.robots;
  const Vectors v(state.v, B, size_.nv);
  ConstVectors inertia, damping, start_force;
  // The inputs' velocity, each for what it is used: f(k) of the host's lists.
  const auto set_inputs = [&](Mirrored<double>& values, const auto& f) {
    if (values.size() == 0) return;
    const std::span<double> rate = values.host();
    for (std::size_t i = 0; i < rate.size(); ++i) rate[i] = f(i);
    values.send();
  };
  const std::span<const double> c = inputs_.motions.host();
  const auto mean_rate = [&](std::size_t i) { return (c[i] - state.host.motions[i]) / h; };
  if (!settings_.dynamic()) {
    if (host_.shift != 0) {
      for (std::size_t i = 0; i < motion_.velocity.size(); ++i)
        motion_.velocity.data()[i] = host_.shift * (host_.anchor[i] - motion_.q.data()[i]);
      set_inputs(inputs_.momentum, [](std::size_t) { return 0.0; });
      mechanics_.inertia(motion_.velocity.span(), inputs_.momentum.span(), motion_.inertia.span());
      inertia = vectors(motion_.inertia);
    }
  } else {
    for_robots(MomentumTeamOp{h, beta, vectors(motion_.u), v, vectors(motion_.velocity)});
    set_inputs(inputs_.momentum, [&](std::size_t i) { return state.host.motion_velocities[i] - mean_rate(i); });
    mechanics_.inertia(motion_.velocity.span(), inputs_.momentum.span(), motion_.inertia.span());
    add_turning(state);
    inertia = vectors(motion_.inertia);
    if (mechanics_.damped().any()) {
      for_robots(EndVelocityTeamOp{h, beta, vectors(motion_.u), v, vectors(motion_.velocity)});
      set_inputs(inputs_.velocity, mean_rate);
      mechanics_.damping(motion_.velocity.span(), inputs_.velocity.span(), motion_.damping.span());
      damping = vectors(motion_.damping);
    }
    if (settings_.alpha() != 1) start_force = vectors(motion_.start_force);
  }
  for_robots(ResidualTeamOp{settings_.dynamic(), h, settings_.alpha(), inertia, vectors(motion_.p), vectors(motion_.f),
                            damping, spring_force(), start_force, vectors(motion_.r)});
}

// Of points without stress, where they are at once on the host.
void Stepper::look_at_points(StepReport& report) {
  SUPPLE_EXPECT(on_cpu());
  report.inverted = 0;
  for (int b = 0; b < size_.robots; ++b) {
    const PointReport& found = found_.points.host()[extent(b)];
    const bool started = scheme_.looks_back() && settings_.alpha() != 1;
    report.inverted += found.inverted;
    if (started && found_.start_points.host()[extent(b)].undefined > 0)
      fail(b, StepStatus::undefined_points, found_.start_points.host()[extent(b)].first_undefined);
    else if (found.undefined > 0 || !all_finite(motion_.f.data() + extent(b, size_.nv), size_.nv))
      fail(b, StepStatus::undefined_points, found.first_undefined);
  }
}

// out: r + H^T lambda, or empty.
void Stepper::evaluate_squares(Vectors out) {
  for_robots(ResidualSquaresTeamOp{vectors(motion_.r), vectors(motion_.f), vectors(motion_.p), spring_force(),
                                   rows_.jacobians(), rows_of(space_.lambda),
                                   contact_ ? ConstVectors(vectors(motion_.contact_force)) : ConstVectors(),
                                   vectors(motion_.row_force), out, found_.squares.data()});
}

ResidualNorms Stepper::norms_of(int b) {
  const ResidualSquares& squares = found_.squares.host()[extent(b)];
  return {std::sqrt(squares.residual), found_.points.host()[extent(b)].force_scale + std::sqrt(squares.p) +
                                           std::sqrt(squares.rows) + std::sqrt(squares.springs)};
}

double Stepper::row_violation(const ConstraintLaw& law, int b) {
  const std::size_t n = extent(size_.rows), first = extent(b) * n;
  const std::span<const double> scale = scheme_.command_scale(), lambda = space_.lambda.host().subspan(first, n);
  host_.ends.resize(n);
  for (std::size_t row = 0; row < n; ++row) host_.ends[row] = row_end(first + row);
  double worst = std::max(law.violation(b, host_.ends, scale.empty() ? scale : scale.subspan(first, n), lambda),
                          contact_ ? contact_->violation(b) : 0.0);
  const std::vector<ConstraintRow>& constraints = mechanics_.robot().constraints;
  const std::size_t actuators = n - constraints.size();
  for (std::size_t row = actuators; row < n; ++row) {
    const double delta = host_.ends[row];
    const bool idle = constraints[row - actuators].one_sided && lambda[row] <= 0;
    worst = std::max(worst, idle ? -delta : std::abs(delta));
  }
  return worst;
}

// Which robots have converged, continue, step back or stop.
void Stepper::judge(const ConstraintLaw& law, StepReport& report) {
  evaluate_squares({});
  for (const auto fetch : {&Found::start_points, &Found::points}) (found_.*fetch).fetch();
  found_.squares.fetch();
  space_.block.fetch();
  scheme_.fetch();
  wait_for_device();
  report.times.outputs += marks_.outputs.seconds_since(marks_.begun);
  report.times.forces += marks_.forces.seconds_since(marks_.outputs);
  report.inverted = 0;
  for (int b = 0; b < size_.robots; ++b) {
    Progress& robot = robots_[extent(b)];
    const PointReport &found = found_.points.host()[extent(b)], &start = found_.start_points.host()[extent(b)];
    report.inverted += found.inverted;
    if (robot.at != Progress::At::active) continue;
    if (settings_.alpha() != 1 && start.undefined > 0) {
      fail(b, StepStatus::undefined_points, start.first_undefined);
    } else if (found.undefined > 0 || found_.squares.host()[extent(b)].finite == 0) {
      if (robot.newton.step_back(now_.iterations, settings_))
        robot.at = Progress::At::waits;
      else
        fail(b, StepStatus::undefined_points, found.first_undefined);
    } else {
      switch (robot.newton.judge(norms_of(b), row_violation(law, b), now_.iterations, settings_)) {
        case NewtonControl::Verdict::go_on:
          break;
        case NewtonControl::Verdict::converged:
          robot.at = Progress::At::converged;
          break;
        case NewtonControl::Verdict::stopped:
          fail(b, StepStatus::not_converged);
          break;
      }
    }
  }
}

// Half of the last motion back, of the robots that it led to points without stress; they continue from there.
void Stepper::step_back() {
  if (!any(Progress::At::waits)) return;
  wait_for_device();
  const std::span<unsigned char> back = found_.goes.host();
  for (std::size_t b = 0; b < robots_.size(); ++b) back[b] = robots_[b].at == Progress::At::waits;
  found_.goes.send();
  const Coordinates& coordinates = mechanics_.coordinates();
  if (coordinates.flat()) {
    for_robots(StepBackTeamOp{found_.goes.data(), vectors(motion_.du), vectors(motion_.u)});
  } else {
    for_each_robot(size_.robots, [&](int b) {
      if (back[extent(b)] == 0) return;
      double *u = motion_.u.data() + extent(b, size_.nv), *du = motion_.du.data() + extent(b, size_.nv);
      for (int k = 0; k < size_.nv; ++k) du[k] *= 0.5;
      coordinates.compose(u, du, -1);
    });
  }
  const std::span<double> c = inputs_.motions.host(), dc = inputs_.dc.host();
  const std::size_t m = extent(size_.motions);
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (back[i / m] == 0) continue;
    dc[i] *= 0.5;
    c[i] -= dc[i];
  }
  if (m > 0) inputs_.motions.send();
  for (Progress& robot : robots_)
    if (robot.at == Progress::At::waits) robot.at = Progress::At::active;
}

double Stepper::imbalance(const State& state, std::span<double> r) {
  SUPPLE_EXPECT(on_cpu());
  forget();
  size_for(forward_);
  if (host_.changes != mechanics_.changes()) refresh_forces();
  std::ranges::copy(state.q, motion_.q.data());
  std::ranges::copy(state.motions, inputs_.motions.data());
  std::ranges::copy(state.multipliers, space_.lambda.data());
  evaluate_rows(inputs_.motions.span());
  evaluate_springs(/*at_rest=*/true);
  if (contact_) {
    contact_->begin(state, motion_.y.host());
    linearise_contact();
  }
  evaluate_forces(TangentKind::none);
  for_robots(ResidualTeamOp{
      false, 0, 1, {}, vectors(motion_.p), vectors(motion_.f), {}, spring_force(), {}, vectors(motion_.r)});
  evaluate_squares({r.data(), size_.robots, size_.nv});
  ResidualNorms all;
  for (int b = 0; b < size_.robots; ++b) {
    if (found_.points.host()[extent(b)].undefined > 0 || found_.squares.host()[extent(b)].finite == 0)
      return std::numeric_limits<double>::quiet_NaN();
    const ResidualNorms own = norms_of(b);
    all.size = std::hypot(all.size, own.size);
    all.scale = std::hypot(all.scale, own.scale);
  }
  return all.scale > 0 ? all.size / all.scale : 0;
}

}  // namespace supple
