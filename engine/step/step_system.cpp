// From the residual to the motion in a step (step.hpp): the system, constraint space, multipliers.
//
// Newton's method moves by increments of the multipliers, from those held at its last residual, lambda_0:
//   du = A^-1 (r + H^T lambda_0) + A^-1 H^T (lambda - lambda_0)
// Both vanish with the residual. A^-1 r and A^-1 H^T lambda do not: where rows hold what A nearly does not, they are
// huge and cancel, and what their rounding leaves bounds the residual from below. The law still sees all of lambda:
//   u_f = A^-1 (r + H^T lambda_0) - A^-1 H^T lambda_0
// A step of one linearisation holds none (lambda_0 = 0): it ends after one du.

#include <algorithm>
#include <cmath>

#include "engine/step/step.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

// Stiffness at mapped points, robot by robot: springs, then with `geometric` contacts, of robots that have not left them
// out.
void Stepper::list_point_stiffness(bool geometric) {
  host_.point_stiffness.clear();
  const bool contacts = contact_ && geometric && !contact_->stiffness().empty();
  if (springs_.rows.rows() == 0 && rubbing_.count() == 0 && !contacts) return;
  if (springs_.rows.rows() > 0 && !on_cpu()) {
    springs_.rows.gradients.fetch();
    springs_.lambda.fetch();
    motion_.y.fetch();
    wait_for_device();
  }
  std::span<const PointStiffness> left = contacts ? contact_->stiffness() : std::span<const PointStiffness>();
  for (int b = 0; b < size_.robots; ++b) {
    add_spring_stiffness(b);
    add_friction_stiffness(b);
    for (; !left.empty() && left.front().robot == b; left = left.subspan(1))
      if (host_.without_curvature[extent(b)] == 0) host_.point_stiffness.push_back(left.front());
  }
}

// alpha (1 + d/(beta h))/c H^T H and alpha times the geometric stiffness, of which the safe tangent has what is
// positive.
void Stepper::add_spring_stiffness(int b) {
  const RowLayout& layout = springs_.rows.layout;
  const std::span<const double> gradients = springs_.rows.gradients.host(), lambdas = springs_.lambda.host(),
                                y = motion_.y.host();
  const double alpha = settings_.alpha(), beta = settings_.beta(), h = settings_.time_step;
  for (int s = 0; s < layout.rows(); ++s) {
    const auto k = static_cast<std::size_t>(s);
    const ConstraintRow& spring = mechanics_.robot().springs[k];
    const double stiffness =
        alpha * (settings_.dynamic() ? 1 + spring.damping_time / (beta * h) : 1) / spring.compliance;
    const double* g = gradients.data() + extent(b, layout.gradients()) + extent(layout.offset[k]);
    const auto gradient = [&](int i) { return Vec3d{{g[3 * i], g[3 * i + 1], g[3 * i + 2]}}; };
    const auto add = [&](int i, int j, const Mat3d& S) {
      host_.point_stiffness.push_back({b, spring.first_point + i, spring.first_point + j, S});
    };
    for (int i = 0; i < spring.point_count; ++i)
      for (int j = 0; j < spring.point_count; ++j) add(i, j, stiffness * outer(gradient(i), gradient(j)));
    const double lambda = alpha * lambdas[extent(b, layout.rows()) + k];
    // That of a pulled path is positive; joints have none that is.
    if (settings_.tangent() == TangentKind::safe && (is_joint_value(spring) || spring.side * lambda < 0)) continue;
    visit_constraint_curvature(spring, y.subspan(extent(b, size_.outputs), extent(size_.outputs)), lambda, add);
  }
}

// That of cables that rub, by the tension of the last iteration or step.
void Stepper::add_friction_stiffness(int b) {
  const std::span<const double> y =
      std::span<const double>(motion_.y.host()).subspan(extent(b, size_.outputs), extent(size_.outputs));
  for (int k = 0; k < rubbing_.count(); ++k) {
    const auto row = extent(rubbing_.rows.host()[extent(k)]);
    const ActuatorRow& cable = mechanics_.robot().actuators[row];
    const double tension = space_.lambda.host()[extent(b, size_.rows) + row];
    if (!(tension > 0)) continue;
    const std::span<const double> kappa = host_.friction[extent(b, rubbing_.count()) + extent(k)].stiffness();
    for_each_segment(y, cable.first_point, cable.point_count, cable.pull_point,
                     [&](int i, int j, const Vec3d& from, const Vec3d& to) {
                       const Vec3d d = to - from;
                       const double l = norm(d);
                       if (l < shortest_segment || kappa[extent(i)] == 0) return;
                       const Mat3d S = (tension * kappa[extent(i)] / (l * l)) * outer(d, d);
                       visit_segment_blocks(i, j, S, [&](int p, int q, const Mat3d& block) {
                         host_.point_stiffness.push_back({b, cable.first_point + p, cable.first_point + q, block});
                       });
                     });
  }
}

// Whether the factor of the last iteration, or step, serves once more.
bool Stepper::keeps_factor() const {
  if (!now_.without_tangent) return false;
  if (!settings_.iterates()) return kept_.served;
  return std::ranges::all_of(robots_, [&](const Progress& robot) {
    return robot.at != Progress::At::active || robot.newton.keeps_factor(settings_);
  });
}

// Row forces are those of the last residual.
RightSidesTeamOp Stepper::right_sides() {
  return {vectors(motion_.r), settings_.iterates() ? ConstVectors(vectors(motion_.row_force)) : ConstVectors(),
          rows_.jacobians(), Matrices(inputs_.columns.data(), size_.robots, space_.inputs, size_.nv), solutions()};
}

SpaceTeamOp Stepper::row_space() {
  const SpaceViews& space = space_.on_device();
  return {size_.rows,
          space_.inputs,
          true,
          settings_.beta(),
          space.values,
          rows_.jacobians(),
          rows_.input_jacobians(),
          solutions(),
          settings_.iterates() ? ConstVectors(vectors(motion_.free_motion)) : ConstVectors(),
          scheme_.compliance_on_device(),
          space.free,
          space.W,
          space.B,
          mechanics_.coordinates().blocks.size() > 1};
}

SpaceTeamOp Stepper::effector_space() {
  const SpaceViews& space = space_.on_device();
  SpaceTeamOp op = row_space();
  op.own = false;
  op.beta = 1;
  op.phi = space.effector_phi;
  op.H = effectors_.jacobians();
  op.H_c = effectors_.input_jacobians();
  op.compliance = {};
  op.free = space.effector_free;
  op.W = space.effector_W;
  op.B = space.effector_B;
  return op;
}

// A = m M + k K and X = A^-1 [r + H^T lambda_0, H^T, A_c]; where a batch does so in one go, constraint space too. False
// on a CPU where no robot has a factor.
bool Stepper::factor() {
  const supple::Robot& robot = mechanics_.robot();
  SystemCoefficients coefficients{host_.shift, 1, settings_.iterates()};
  coefficients.inertia = host_.shift;
  SystemCoefficients of_inputs = coefficients;
  if (settings_.dynamic()) {
    const double h = settings_.time_step, alpha = settings_.alpha(), beta = settings_.beta();
    const double a = alpha * robot.rayleigh_mass, b = robot.rayleigh_stiffness;
    const auto set = [&](SystemCoefficients& of, double implicit_position) {
      of.inertia = 1 / (implicit_position * h * h);
      of.rate = 1 / (implicit_position * h);
      of.implicit = alpha;
      of.mass = of.inertia + a / (implicit_position * h);
      of.stiffness = alpha * (1 + b / (implicit_position * h));
    };
    set(coefficients, beta);
    set(of_inputs, 1);
  }
  now_.space_known = false;
  now_.factored = !keeps_factor();
  if (now_.factored) {
    if (now_.without_tangent) evaluate_forces(settings_.tangent());
    std::ranges::fill(host_.without_curvature, 0);
    list_point_stiffness(coefficients.geometric);
    coefficients.points = host_.point_stiffness;
    ++now_.iterations;
    now_.space_known = mechanics_.finds_space();
    if (now_.space_known)
      mechanics_.find_space(coefficients, right_sides(), row_space(), effector_space(), found_.systems.span());
    else
      factor(coefficients);
    of_inputs.points = coefficients.points;
    if (on_cpu() && !look_at_systems()) return false;
  }
  marks_.factored.set();
  if (!now_.space_known) {
    if (space_.inputs > 0) mechanics_.input_columns(of_inputs, inputs_.columns.span());
    for_robots(right_sides());
    mechanics_.solve(space_.X.span(), space_.columns());
    if (settings_.iterates()) find_free_motion();
  }
  marks_.solved.set();
  return true;
}

// Where the curvature of obstacles under the present forces would make a robot's W indefinite it is left out: slower
// without it, but an answer.
void Stepper::factor(SystemCoefficients& coefficients) {
  if (!on_cpu() && coefficients.geometric) {
    motion_.y.fetch();
    wait_for_device();
  }
  const std::span<double> y = motion_.y.host(), lambda = space_.lambda.host();
  mechanics_.factor(coefficients, y, lambda, found_.systems.span());
  if (!contact_ || !coefficients.geometric || contact_->stiffness().empty()) return;
  found_.systems.fetch();
  wait_for_device();
  bool some = false;
  for (const PointStiffness& at : contact_->stiffness()) {
    const auto b = extent(at.robot);
    if (robots_[b].at != Progress::At::active || found_.systems.host()[b].negative_pivots == 0) continue;
    host_.without_curvature[b] = 1;
    some = true;
  }
  if (!some) return;
  list_point_stiffness(coefficients.geometric);
  coefficients.points = host_.point_stiffness;
  mechanics_.factor(coefficients, y, lambda, found_.systems.span());
}

// Robots without a factor fail. False: none is left.
bool Stepper::look_at_systems() {
  for (int b = 0; b < size_.robots; ++b) {
    if (robots_[extent(b)].at != Progress::At::active) continue;
    switch (found_.systems.host()[extent(b)].status) {
      case SystemStatus::ok:
        break;
      case SystemStatus::singular:
        fail(b, StepStatus::singular);
        break;
      case SystemStatus::not_positive:
        fail(b, StepStatus::not_positive);
        break;
      case SystemStatus::out_of_memory:
        fail(b, StepStatus::out_of_memory);
        break;
    }
  }
  return any(Progress::At::active);
}

// u_f of all robots; the multipliers are held.
void Stepper::find_free_motion() {
  for_robots(CopyTeamOp{rows_of(space_.lambda), nullptr, rows_of(space_.held)});
  if (contact_) {
    const std::span<double> u_f = motion_.free_motion.host(), force = motion_.contact_force.host();
    std::ranges::fill(u_f, 0.0);
    for (int b = 0; b < size_.robots; ++b) {
      if (contact_->touch()[extent(b)] == 0 || robots_[extent(b)].at != Progress::At::active) continue;
      const std::span<double> own = u_f.subspan(extent(b, size_.nv), extent(size_.nv));
      std::copy_n(force.data() + extent(b, size_.nv), size_.nv, own.data());
      mechanics_.solve_robot(b, own, 1);
    }
    motion_.free_motion.send();
  } else {
    for_robots(ZeroTeamOp{vectors(motion_.free_motion)});
  }
  for_robots(FreeMotionTeamOp{solutions(), rows_of(space_.held), vectors(motion_.free_motion)});
}

// Everything that the law sees.
void Stepper::project() {
  if (now_.space_known) return;
  if (size_.rows > 0) for_robots(row_space());
  if (effectors_.rows() > 0) for_robots(effector_space());
  if (!contact_ || device_contact_) return;
  for (Mirrored<double>* array : {&space_.X, &space_.held, &motion_.free_motion, &rows_.H, &effectors_.H})
    array->fetch();
}

// Effectors evaluated by a program lack their goals.
void Stepper::subtract_goals(const ConstraintLaw& law) {
  if (!effectors_.program) return;
  const SpaceViews& space = space_.on_host();
  for (int b = 0; b < size_.robots; ++b) {
    goal_values(mechanics_.robot(), law.goals(b), host_.goal_values);
    for (int i = 0; i < effectors_.rows(); ++i) {
      space.effector_free(b, i) -= host_.goal_values[extent(i)];
      space.effector_phi(b, i) -= host_.goal_values[extent(i)];
    }
  }
}

// Robots that have failed get a space that any law can look at, and that none is to solve.
void Stepper::clear_space(int b) {
  const SpaceViews& space = space_.on_host();
  const auto zero = [b](const auto& view) {
    if (view.size[1] == 0) return;
    double* begin = view.at(b);
    std::fill(begin, b + 1 < view.size[0] ? view.at(b + 1) : view.end(), 0.0);
  };
  zero(space.W);
  zero(space.free);
  zero(space.B);
  zero(space.values);
  zero(space.effector_W);
  zero(space.effector_free);
  zero(space.effector_B);
  zero(space.effector_phi);
  for (int i = 0; i < size_.rows; ++i) space.W(b, i, i) = 1;
}

// Multipliers and changes of inputs, of robots that have a linearisation.
void Stepper::find_multipliers(ConstraintLaw& law, const StateView& state, StepReport& report) {
  if (!any(Progress::At::active)) return;
  subtract_goals(law);
  const std::span<double> lambda = space_.lambda.host(), dc = inputs_.dc.host();
  bool some_left_out = false;
  for (std::size_t b = 0; b < robots_.size(); ++b) {
    if (robots_[b].at == Progress::At::failed) clear_space(static_cast<int>(b));
    const bool touches = device_contact_ ? state.touching[b] != 0 : contact_ && contact_->touch()[b] != 0;
    host_.left_out[b] = robots_[b].at != Progress::At::active || touches;
    some_left_out = some_left_out || host_.left_out[b] != 0;
  }
  const bool all_solved =
      law.solve(space_.seen_by_law(inputs_.motions.host(), scheme_.compliance(), scheme_.command_scale()),
                some_left_out ? std::span<const char>(host_.left_out) : std::span<const char>(), lambda, dc);
  if (device_contact_)
    find_contact_on_device(law, state, report);
  else if (contact_)
    find_contact_forces(law, report);
  const std::size_t n = extent(size_.rows);
  for (int b = 0; b < size_.robots; ++b) {
    if (robots_[extent(b)].at != Progress::At::active) continue;
    const bool solved = all_solved || contact_ || law.solved(b);
    if (!solved || !all_finite(lambda.data() + extent(b) * n, size_.rows)) fail(b, StepStatus::rows_unsolved);
  }
  if (!settings_.iterates()) set_row_ends();
  for (std::size_t i = 0; i < dc.size() && space_.inputs > 0; ++i)
    if (robots_[i / extent(size_.motions)].at == Progress::At::active) inputs_.motions.host()[i] += dc[i];
  space_.lambda.send();
  if (space_.inputs > 0) {
    inputs_.dc.send();
    inputs_.motions.send();
  }
}

void Stepper::find_contact_on_device(const ConstraintLaw& law, const StateView& state, StepReport& report) {
  const auto* forward = dynamic_cast<const ForwardLaw*>(&law);
  SUPPLE_EXPECT(forward != nullptr);
  for (std::size_t b = 0; b < robots_.size(); ++b) host_.left_out[b] = robots_[b].at != Progress::At::active;
  std::vector<RobotFailure> failures;
  report.contact = {};
  device_contact_->solve(*forward,
                         {.y = motion_.y.data(),
                          .H = rows_.H.data(),
                          .X = space_.X.data(),
                          .free = space_.on_device().free.data,
                          .compliance = scheme_.compliance_on_device().data,
                          .host_compliance = scheme_.compliance().first(extent(size_.rows))},
                         state, space_.lambda.host(), host_.left_out, failures, report.contact);
  for (const RobotFailure& failure : failures) fail(failure.robot, failure.status);
}

// Mapped points of a robot that is alone after a further motion du and changes dc of the inputs (empty: none).
void Stepper::points_after(std::span<const double> du, std::span<const double> dc, std::span<double> y) {
  const Coordinates& coordinates = mechanics_.coordinates();
  std::vector<double> q(motion_.q.data(), motion_.q.data() + motion_.q.size());
  coordinates.integrate(q.data(), du.data());
  std::vector<double> c(inputs_.motions.data(), inputs_.motions.data() + inputs_.motions.size());
  for (std::size_t i = 0; i < dc.size(); ++i) c[i] += dc[i];
  mechanics_.outputs_elsewhere(q, c, y);
}

// The multipliers again, with those of contacts.
void Stepper::find_contact_forces(ConstraintLaw& law, StepReport& report) {
  const ConstraintSpace all = space_.seen_by_law(inputs_.motions.host(), scheme_.compliance(), scheme_.command_scale());
  const auto one = [&](Mirrored<double>& values, int b, int rows) {
    return std::span<const double>(values.host()).subspan(extent(b, rows, size_.nv), extent(rows, size_.nv));
  };
  const std::size_t n = extent(size_.rows), m = extent(space_.inputs);
  const std::span<double> motion = motion_.contact_motion.host();
  for (int b = 0; b < size_.robots; ++b) {
    if (robots_[extent(b)].at != Progress::At::active) continue;
    const std::span<const double> X = one(space_.X, b, space_.columns());
    const ContactInputs in{
        .alone = of_robot(all, b),
        .X = X,
        .free_motion = settings_.iterates() ? one(motion_.free_motion, b, 1) : X.first(extent(size_.nv)),
        .increments = settings_.iterates(),
        .held = std::span<const double>(space_.held.host()).subspan(extent(b) * n, n),
        .H = one(rows_.H, b, size_.rows),
        .effector_H = one(effectors_.H, b, effectors_.rows()),
        .points_after = [this](std::span<const double> du, std::span<const double> dc,
                               std::span<double> y) { points_after(du, dc, y); },
        .compliance = scheme_.compliance().subspan(extent(b) * n, n)};
    const bool found = contact_->solve(b, law, in, law.solved(b), space_.lambda.host().subspan(extent(b) * n, n),
                                       inputs_.dc.host().subspan(extent(b) * m, m));
    if (!found) fail(b, contact_->too_many(b) ? StepStatus::too_many_contacts : StepStatus::rows_unsolved);
    std::ranges::copy(contact_->motion(b), motion.data() + extent(b, size_.nv));
  }
  report.contact = contact_->figures();
  motion_.contact_motion.send();
}

// Where the rows end by this linearisation, the only one.
void Stepper::set_row_ends() {
  const SpaceViews& space = space_.on_host();
  const std::span<const double> lambda = space_.lambda.host(), dc = inputs_.dc.host();
  const int n = size_.rows, m = space_.inputs;
  for_each_robot(size_.robots, [&](int b) {
    for (int i = 0; i < n; ++i) {
      double& end = host_.row_end[extent(b, n) + extent(i)];
      end = space.free(b, i) + inner_product(space.W.at(b, i), lambda.data() + extent(b, n), n);
      if (m > 0) end += inner_product(space.B.at(b, i), dc.data() + extent(b, m), m);
      if (contact_ && !device_contact_)
        end += inner_product(rows_.H.host().data() + extent(b, n, size_.nv) + extent(i, size_.nv),
                             contact_->motion(b).data(), size_.nv);
    }
  });
}

// du of a robot, from where it was linearised, and the change of its inputs where that is cut short.
void Stepper::turn_step(int robot) {
  const std::size_t m = extent(size_.motions), first = extent(robot) * m;
  const std::span<double> dc = inputs_.dc.host().subspan(first, m), c = inputs_.motions.host().subspan(first, m),
                          start = std::span(host_.input_start).subspan(first, m);
  for (std::size_t i = 0; i < m; ++i) start[i] = c[i] - dc[i];
  const auto own = [&](Mirrored<double>& values, int n) {
    return std::span(values.data() + extent(robot, n), extent(n));
  };
  const double share = mechanics_.turn_step(robot, own(motion_.q, size_.nq), start, dc, own(motion_.du, size_.nv));
  if (share == 1) return;
  robots_[extent(robot)].newton.cut_short();
  for (std::size_t i = 0; i < m; ++i) {
    dc[i] *= share;
    c[i] = start[i] + dc[i];
  }
}

// u <- u (+) du of the active robots.
void Stepper::correct() {
  send_mask(/*ended=*/false);
  if (device_contact_) {
    device_contact_->move(vectors(motion_.u), found_.goes.data());
    return;
  }
  const Coordinates& coordinates = mechanics_.coordinates();
  // Contacts hold along straight lines; frames that move freely take steps of their own.
  const bool by_turning = settings_.iterates() && !settings_.dynamic() && on_cpu() && !contact_ && coordinates.flat();
  const bool adds = coordinates.flat() && !by_turning;
  for_robots(CorrectTeamOp{
      solutions(), rows_of(space_.lambda), settings_.iterates() ? ConstVectors(rows_of(space_.held)) : ConstVectors(),
      inputs_of(inputs_.dc), contact_ ? ConstVectors(vectors(motion_.contact_motion)) : ConstVectors(),
      found_.goes.data(), vectors(motion_.du), adds ? vectors(motion_.u) : Vectors()});
  if (adds) return;
  host_.input_start.resize(inputs_.motions.size());
  for_each_robot(size_.robots, [&](int b) {
    if (found_.goes.host()[extent(b)] == 0) return;
    if (by_turning) turn_step(b);
    coordinates.compose(motion_.u.data() + extent(b, size_.nv), motion_.du.data() + extent(b, size_.nv), 1);
  });
}

}  // namespace supple
