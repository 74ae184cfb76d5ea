#include "engine/step/step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/base/contract.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

class Timer {
 public:
  explicit Timer(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Timer() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (double value : x) sum += value * value;
  return std::sqrt(sum);
}

bool all_finite(const std::vector<double>& x) {
  double sum = 0;
  for (double value : x) sum += value - value;  // NaN as soon as one entry is not finite
  return sum == 0;
}

// What belongs to one robot.
std::span<double> part(std::vector<double>& values, int robot, int size) {
  return std::span<double>(values).subspan(extent(robot, size), extent(size));
}

}  // namespace

const char* describe(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::not_converged:
      return "Newton's method did not converge";
    case StepStatus::undefined_points:
      return "an element is inverted where its material has no stress";
    case StepStatus::singular:
      return "the system matrix is singular (is the body held anywhere?)";
    case StepStatus::not_positive:
      return "the system matrix is not positive definite";
    case StepStatus::out_of_memory:
      return "out of memory in the factorisation";
    case StepStatus::rows_unsolved:
      return "the forces of the actuators, constraints and contacts could not be found";
    case StepStatus::too_many_contacts:
      return "more points touch obstacles at once than can be solved for (of robots that stay on a device: than "
             "most_contacts has room for)";
    case StepStatus::loose_among_obstacles:
      return "equilibria of bodies that nothing holds, or of rigid ones that move freely, are not found among "
             "obstacles yet";
    case StepStatus::unbalanced:
      return "the forces on the body do not balance, and nothing holds it: it has no equilibrium";
  }
  return "";
}

Stepper::Stepper(Mechanics& mechanics, const StepSettings& settings)
    : mechanics_(mechanics),
      settings_(settings),
      forward_(mechanics.robot(), mechanics.robots()),
      robots_(mechanics.robots()),
      nq_(mechanics.coordinates().nq),
      nv_(mechanics.coordinates().nv),
      ny_(mechanics.robot().outputs()),
      rows_count_(mechanics.robot().rows()),
      motions_count_(static_cast<int>(mechanics.robot().motions.size())),
      columns_(1 + rows_count_) {
  const int B = robots_;
  for (auto* vector : {&u_, &du_, &f_, &p_, &inertia_, &damping_, &velocity_, &r_}) vector->assign(extent(B, nv_), 0.0);
  q_.assign(extent(B, nq_), 0.0);
  for (auto* vector : {&motions_, &motion_velocity_, &dc_}) vector->assign(extent(B, motions_count_), 0.0);
  y_.assign(extent(B, ny_), 0.0);
  for (auto* vector : {&phi_, &phi_end_, &free_, &lambda_, &held_}) vector->assign(extent(B, rows_count_), 0.0);
  gradients_.assign(extent(B, mechanics.rows().gradients()), 0.0);
  H_.assign(extent(B, rows_count_, nv_), 0.0);
  for (auto* vector : {&H_c_, &B_}) vector->assign(extent(B, rows_count_, motions_count_), 0.0);
  X_.assign(extent(B, columns_, nv_), 0.0);
  W_.assign(extent(B, rows_count_, rows_count_), 0.0);
  if (increments()) free_motion_.assign(extent(B, nv_), 0.0);
  scheme_.resize(static_cast<std::size_t>(rows_count_));
  compliance_.assign(extent(rows_count_), 0.0);
  for (auto* vector : {&values_, &phi_start_, &phi_rate_}) vector->assign(extent(B, rows_count_), 0.0);
  start_force_.assign(extent(B, nv_), 0.0);
  springs_.layout = spring_layout(mechanics.robot());
  const int springs = springs_.layout.rows();
  for (auto* vector : {&springs_.phi, &springs_.lambda, &springs_.start, &springs_.rate})
    vector->assign(extent(B, springs), 0.0);
  springs_.gradients.assign(extent(B, springs_.layout.gradients()), 0.0);
  springs_.H.assign(extent(B, springs, nv_), 0.0);
  springs_.H_c.assign(extent(B, springs, motions_count_), 0.0);
  springs_.force.assign(extent(B, nv_), 0.0);
  points_.reserve(extent(B, 8, springs));
  set_load({});
  cannot_keep_tangent_ = cannot_keep_tangent(mechanics.robot()).has_value();
  if (mechanics.robot().pairs() > 0) contact_.emplace(mechanics);
  SUPPLE_EXPECT(implicit_velocity() > 0 && implicit_position() > 0 && (!contact_ || implicit_position() == 1));
}

void Stepper::set_load(std::span<const double> load) {
  SUPPLE_EXPECT(load.empty() || load.size() == p_.size());
  load_.assign(load.begin(), load.end());
  refresh_forces();
}

// Gravity and the load.
void Stepper::refresh_forces() {
  mechanics_.external_forces(p_);
  for (std::size_t i = 0; i < load_.size(); ++i) p_[i] += load_[i];
  changes_ = mechanics_.changes();
}

void Stepper::set_anchor(double shift, std::span<const double> anchor) {
  SUPPLE_EXPECT(shift == 0 || (anchor.size() == q_.size() && nq_ == nv_));
  shift_ = shift;
  anchor_.assign(anchor.begin(), anchor.end());
}

double Stepper::imbalance(const State& state, std::span<double> r) {
  q_ = state.q;
  motions_ = state.motions;
  lambda_ = state.multipliers;
  size_for(forward_);
  if (changes_ != mechanics_.changes()) refresh_forces();
  evaluate_rows();
  evaluate_springs(/*at_rest=*/true);
  if (contact_) {
    contact_->begin(state, y_);
    contact_->linearise(y_);
  }
  const PointReport points = mechanics_.evaluate_forces(q_, motions_, TangentKind::none, f_);
  if (points.undefined > 0 || !all_finite(f_)) return std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = p_[i] - f_[i];
  add_springs(1);
  double scale = 0;
  const double size = residual_with_rows(points.force_scale, scale);
  for (int b = 0; b < robots_; ++b)
    for (int k = 0; k < nv_; ++k) {
      const std::size_t at = extent(b, nv_) + static_cast<std::size_t>(k);
      r[at] = r_[at] + row_force(b, k);
    }
  return scale > 0 ? size / scale : 0;
}

// Room for the rows that the law adds; nothing to do but the first time.
void Stepper::size_for(const ConstraintLaw& law) {
  const RowLayout& layout = law.effector_rows();
  const int columns = 1 + rows_count_ + (law.moves_inputs() ? motions_count_ : 0);
  if (effector_rows_ == layout.rows() && columns_ == columns) return;
  const int B = robots_, n = effector_rows_ = layout.rows();
  columns_ = columns;
  X_.assign(extent(B, columns_, nv_), 0.0);
  A_c_.assign(extent(B, columns_ - 1 - rows_count_, nv_), 0.0);
  for (auto* vector : {&effector_phi_, &effector_free_}) vector->assign(extent(B, n), 0.0);
  effector_gradients_.assign(extent(B, layout.gradients()), 0.0);
  effector_H_.assign(extent(B, n, nv_), 0.0);
  for (auto* vector : {&effector_H_c_, &effector_B_}) vector->assign(extent(B, n, motions_count_), 0.0);
  effector_W_.assign(extent(B, n, rows_count_), 0.0);
}

// y, then phi and H of all rows and springs.
void Stepper::evaluate_rows() {
  mechanics_.evaluate_outputs(q_, motions_, y_);
  const RowLayout &rows = mechanics_.rows(), &springs = springs_.layout;
  for_each_robot(robots_, [&](int b) {
    const std::span<const double> y = part(y_, b, ny_);
    supple::evaluate_rows(mechanics_.robot(), rows, y, part(phi_, b, rows_count_),
                          part(gradients_, b, rows.gradients()));
    for (int s = 0; s < springs.rows(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      springs_.phi[extent(b, springs.rows()) + k] =
          evaluate_constraint(mechanics_.robot().springs[k], y,
                              springs_.gradients.data() + extent(b, springs.gradients()) + extent(springs.offset[k]));
    }
  });
  mechanics_.row_jacobians(rows, gradients_, H_, H_c_);
  if (springs.rows() > 0) mechanics_.row_jacobians(springs, springs_.gradients, springs_.H, springs_.H_c);
}

void Stepper::evaluate_effectors(const ConstraintLaw& law) {
  if (effector_rows_ == 0) return;
  const RowLayout& effectors = law.effector_rows();
  for_each_robot(robots_, [&](int b) {
    law.evaluate_effectors(b, part(y_, b, ny_), part(effector_phi_, b, effector_rows_),
                           part(effector_gradients_, b, effectors.gradients()));
  });
  mechanics_.row_jacobians(effectors, effector_gradients_, effector_H_, effector_H_c_);
}

// At the first linearisation: y_ is where the step starts from unless inputs have moved on.
void Stepper::begin_contact(const State& state) {
  if (motions_ == state.motions) {
    contact_->begin(state, y_);
    return;
  }
  y_start_.resize(y_.size());
  mechanics_.evaluate_outputs(state.q, state.motions, y_start_);
  contact_->begin(state, y_start_);
}

// One linearisation takes the turn that the velocity at the start announces.
void Stepper::add_transport(const State& state) {
  if (mechanics_.coordinates().flat()) return;
  if (settings_.scheme != StepScheme::one_linearisation) {
    mechanics_.add_transport(state.q, state.v, u_, inertia_);
    return;
  }
  for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] = settings_.time_step * state.v[i];
  mechanics_.add_transport(state.q, state.v, velocity_, inertia_);
}

void Stepper::residual(const State& state) {
  if (settings_.scheme == StepScheme::quasi_static) {
    for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = p_[i] - f_[i];
    add_springs(1);
    if (shift_ == 0) return;
    for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] = shift_ * (anchor_[i] - q_[i]);
    std::fill(motion_velocity_.begin(), motion_velocity_.end(), 0.0);
    mechanics_.inertia(velocity_, motion_velocity_, inertia_);
    for (std::size_t i = 0; i < r_.size(); ++i) r_[i] += inertia_[i];
    return;
  }
  const double h = settings_.time_step, alpha = implicit_velocity(), beta = implicit_position();
  for_each_number(velocity_.size(), [&](std::size_t i) { velocity_[i] = (state.v[i] - u_[i] / h) / beta; });
  for (std::size_t i = 0; i < motion_velocity_.size(); ++i)
    motion_velocity_[i] = state.motion_velocities[i] - (motions_[i] - state.motions[i]) / h;
  mechanics_.inertia(velocity_, motion_velocity_, inertia_);
  add_transport(state);
  for_each_number(r_.size(), [&](std::size_t i) { r_[i] = inertia_[i] / h + alpha * p_[i] - alpha * f_[i]; });
  const Robot& robot = mechanics_.robot();
  if (robot.rayleigh_mass != 0 || robot.rayleigh_stiffness != 0) {
    for_each_number(velocity_.size(), [&](std::size_t i) { velocity_[i] = end_velocity(u_[i], state.v[i]); });
    for (std::size_t i = 0; i < motion_velocity_.size(); ++i)
      motion_velocity_[i] = (motions_[i] - state.motions[i]) / h;
    mechanics_.damping(velocity_, motion_velocity_, damping_);
    for_each_number(r_.size(), [&](std::size_t i) { r_[i] -= alpha * damping_[i]; });
  }
  add_springs(alpha);
  if (alpha != 1)
    for (std::size_t i = 0; i < r_.size(); ++i) r_[i] += start_force_[i];
}

// Entry k of H^T lambda of robot b, contacts among them.
double Stepper::row_force(int b, int k) const {
  double sum = contact_ ? contact_->force(b, k) : 0;
  for (int i = 0; i < rows_count_; ++i)
    sum += H_[extent(b, rows_count_, nv_) + extent(i, nv_) + static_cast<std::size_t>(k)] *
           lambda_[extent(b, rows_count_) + static_cast<std::size_t>(i)];
  return sum;
}

// |r + H^T lambda| with the multipliers of the last iteration; scale: the forces at work.
double Stepper::residual_with_rows(double force_scale, double& scale) const {
  double sum = 0, row_forces = 0;
  for (int b = 0; b < robots_; ++b)
    for (int k = 0; k < nv_; ++k) {
      const double rows = row_force(b, k);
      const double value = r_[extent(b, nv_) + static_cast<std::size_t>(k)] + rows;
      sum += value * value;
      row_forces += rows * rows;
    }
  scale = force_scale + norm(p_) + std::sqrt(row_forces) + norm(springs_.force);
  return std::sqrt(sum);
}

double Stepper::row_violation(const ConstraintLaw& law) const {
  double worst = std::max(law.violation(values_, lambda_), contact_ ? contact_->violation() : 0.0);
  const std::vector<ConstraintRow>& constraints = mechanics_.robot().constraints;
  const int n = rows_count_, actuators = n - static_cast<int>(constraints.size());
  for (int b = 0; b < robots_; ++b)
    for (int row = actuators; row < n; ++row) {
      const std::size_t k = extent(b, n) + static_cast<std::size_t>(row);
      const double delta = values_[k] + compliance_[static_cast<std::size_t>(row)] * lambda_[k];
      const bool idle = constraints[static_cast<std::size_t>(row - actuators)].one_sided && lambda_[k] <= 0;
      worst = std::max(worst, idle ? -delta : std::abs(delta));
    }
  return worst;
}

// u <- u and then s du.
void Stepper::add_increment(double s) {
  const Coordinates& coordinates = mechanics_.coordinates();
  if (coordinates.flat())
    for_each_number(u_.size(), [&](std::size_t i) { u_[i] += s * du_[i]; });
  else
    for_each_robot(robots_,
                   [&](int b) { coordinates.compose(u_.data() + extent(b, nv_), du_.data() + extent(b, nv_), s); });
}

StepReport Stepper::step(const Control& control, State& state) {
  forward_.command(control.commands);
  return step(forward_, control.motions, state);
}

StepReport Stepper::step(ConstraintLaw& law, std::span<const double> motions, State& state) {
  SUPPLE_EXPECT(state.q.size() == extent(robots_, nq_) && motions.size() == motions_.size());
  StepReport report;
  const bool dynamic = this->dynamic(), iterate = settings_.scheme != StepScheme::one_linearisation;
  const double h = settings_.time_step, alpha = implicit_velocity(), beta = implicit_position();
  const Robot& robot = mechanics_.robot();
  const Coordinates& coordinates = mechanics_.coordinates();
  const TangentKind tangent = this->tangent();
  SystemCoefficients coefficients{shift_, 1, iterate}, input_coefficients = coefficients;
  if (dynamic) {
    const double a = alpha * robot.rayleigh_mass, b = robot.rayleigh_stiffness;
    coefficients.mass = 1 / (beta * h * h) + a / (beta * h);
    coefficients.stiffness = alpha * (1 + b / (beta * h));
    input_coefficients.mass = 1 / (h * h) + a / h;
    input_coefficients.stiffness = alpha * (1 + b / h);
  }
  size_for(law);
  if (changes_ != mechanics_.changes()) refresh_forces();
  report.limited_commands = law.begin(state, h, lambda_);
  if (!begin_scheme(state)) {
    report.status = StepStatus::undefined_points;
    return report;
  }
  std::fill(u_.begin(), u_.end(), 0.0);
  std::fill(dc_.begin(), dc_.end(), 0.0);
  if (law.moves_inputs())
    std::copy(state.motions.begin(), state.motions.end(), motions_.begin());
  else
    std::copy(motions.begin(), motions.end(), motions_.begin());
  double first_scale = 0, largest_residual = 0, least_residual = std::numeric_limits<double>::infinity();
  int least_at = 0, halvings = 0;
  // A kept factor needs no tangent. Stiffness damping does, for the residual.
  const bool may_keep_factor =
      iterate && settings_.keep_factor_below > 0 && !(dynamic && robot.rayleigh_stiffness != 0);
  const bool keeps = may_keep_tangent(), goes_on = keeps && this->goes_on(state);
  for (;;) {
    for_each_robot(robots_, [&](int b) {
      std::copy_n(state.q.data() + extent(b, nq_), nq_, q_.data() + extent(b, nq_));
      coordinates.integrate(q_.data() + extent(b, nq_), u_.data() + extent(b, nv_));
    });
    {
      Timer timer(report.times.outputs);
      evaluate_rows();
      evaluate_effectors(law);
      evaluate_springs(/*at_rest=*/!dynamic);
      set_values();
      if (contact_) {
        if (report.iterations == 0) begin_contact(state);
        contact_->linearise(y_);
      }
    }
    PointReport points;
    const bool without_tangent = (may_keep_factor && report.iterations > 0) || (goes_on && kept_.served);
    {
      Timer timer(report.times.forces);
      points = mechanics_.evaluate_forces(q_, motions_, without_tangent ? TangentKind::none : tangent, f_);
    }
    report.inverted = points.inverted;
    if (points.undefined > 0 || !all_finite(f_)) {
      // Newton stepped too far: halve its last step. The first evaluation has no step to halve.
      if (iterate && report.iterations > 0 && halvings < settings_.max_halvings) {
        ++halvings;
        for (double& du : du_) du *= 0.5;
        add_increment(-1);
        for (std::size_t i = 0; i < motions_.size(); ++i) {
          dc_[i] *= 0.5;
          motions_[i] -= dc_[i];
        }
        continue;
      }
      report.status = StepStatus::undefined_points;
      report.failed_element = points.first_undefined;
      return report;
    }
    halvings = 0;
    residual(state);
    if (keeps) kept_.served = !goes_on || tangent_served();
    bool keep_factor = without_tangent && kept_.served;
    if (iterate) {
      // Judged against the forces at work now and, since they may vanish on the way (a body let go, a base that has
      // moved on), those the step began with, inertia among them.
      double scale = 0;
      const double size = residual_with_rows(points.force_scale, scale);
      if (report.iterations == 0) first_scale = std::max(scale, size);
      scale = std::max(scale, first_scale);
      const double before = report.residual;
      report.residual = scale > 0 ? size / scale : 0;
      report.force_scale = scale;
      if (report.residual <= settings_.tolerance && row_violation(law) <= settings_.row_tolerance) break;
      keep_factor = without_tangent && report.residual < settings_.keep_factor_below * before;
      if (report.iterations >= settings_.max_iterations ||
          (report.iterations > 3 && report.residual > 50 * largest_residual)) {
        report.status = StepStatus::not_converged;
        return report;
      }
      largest_residual = std::max(largest_residual, report.residual);
      // The start is no measure of progress: where only the commands are new, it is an equilibrium.
      if (report.iterations > 0 && report.residual < 0.5 * least_residual) {
        least_residual = report.residual;
        least_at = report.iterations;
      } else if (settings_.patience > 0 && report.iterations - least_at >= settings_.patience) {
        report.status = StepStatus::not_converged;
        return report;
      }
    }
    if (!keep_factor) {
      if (without_tangent) {
        Timer timer(report.times.forces);
        (void)mechanics_.evaluate_forces(q_, motions_, tangent, f_);
      }
      Timer timer(report.times.factor);
      spring_stiffness();
      const std::size_t springs = points_.size();
      if (contact_ && coefficients.geometric)
        points_.insert(points_.end(), contact_->stiffness().begin(), contact_->stiffness().end());
      coefficients.points = points_;
      SystemReport system = mechanics_.factor(coefficients, y_, lambda_);
      if (system.negative_pivots > 0 && points_.size() > springs) {
        // Obstacles' curvature under the present forces would make W indefinite: slower without it, but an answer.
        coefficients.points = std::span(points_).first(springs);
        system = mechanics_.factor(coefficients, y_, lambda_);
      }
      input_coefficients.points = coefficients.points;
      ++report.iterations;
      report.negative_pivots = system.negative_pivots;
      report.weakened += system.weakened;
      if (system.status != SystemStatus::ok) {
        report.status = system.status == SystemStatus::singular       ? StepStatus::singular
                        : system.status == SystemStatus::not_positive ? StepStatus::not_positive
                                                                      : StepStatus::out_of_memory;
        return report;
      }
    }
    {
      Timer timer(report.times.solve);
      solve_systems(input_coefficients);
    }
    {
      Timer timer(report.times.rows);
      project(law);
      const std::span<const char> touch = contact_ ? contact_->touch() : std::span<const char>();
      const bool solved = law.solve(space(), touch, lambda_, dc_), touched = contact_ && solve_contact(law, solved);
      if (contact_) report.contact = contact_->figures();
      if (contact_ ? !touched : !solved) {
        report.status = report.contact.too_many ? StepStatus::too_many_contacts : StepStatus::rows_unsolved;
        return report;
      }
      correct();
    }
    if (!all_finite(u_)) {
      report.status = StepStatus::not_converged;
      return report;
    }
    if (!iterate) break;
  }
  if (contact_) report.contact = contact_->figures();
  if (iterate) phi_end_ = values_;
  finish(law, state);
  return report;
}

void Stepper::finish(const ConstraintLaw& law, State& state) {
  const bool dynamic = this->dynamic(), keeps = may_keep_tangent();
  const double h = settings_.time_step;
  if (keeps) remember_balance(state);
  for_each_robot(robots_, [&](int b) {
    mechanics_.coordinates().integrate(state.q.data() + extent(b, nq_), u_.data() + extent(b, nv_));
  });
  for_each_number(u_.size(), [&](std::size_t i) { state.v[i] = dynamic ? end_velocity(u_[i], state.v[i]) : 0.0; });
  for (std::size_t i = 0; i < motions_.size(); ++i) {
    state.motion_velocities[i] = dynamic ? (motions_[i] - state.motions[i]) / h : 0.0;
    state.motions[i] = motions_[i];
  }
  state.multipliers = lambda_;
  for (std::size_t k = 0; k < lambda_.size(); ++k)
    if (scheme_[k % scheme_.size()].averaged) state.multipliers[k] /= implicit_velocity();
  if (contact_) contact_->finish(state);
  law.commands(phi_end_, lambda_, state.commands);
  state.time += dynamic ? h : 0.0;
  if (keeps) remember_end(state);
  mechanics_.evaluate_outputs(state.q, state.motions, y_);
}

std::optional<InputError> cannot_step(const Robot& robot, Integrator integrator) {
  if (integrator == Integrator::quasi_static || robot.implicit_position == 1) return std::nullopt;
  if (robot.pairs() > 0)
    return InputError(
        "steps among obstacles need implicit_position = 1 (a body would end within what it meets at speed)",
        "implicit_position = 1, or the scene without [[obstacle]]");
  for (const ConstraintRow& row : robot.constraints)
    if (row.one_sided)
      return InputError(
          "the limit '" + row.name + "' needs implicit_position = 1 (a point would end beyond what it meets at speed)",
          "implicit_position = 1, or the scene without limits");
  return std::nullopt;
}

State rest_state(const Mechanics& mechanics) {
  State state;
  const int B = mechanics.robots(), motions = static_cast<int>(mechanics.robot().motions.size());
  state.robots = B;
  state.q.assign(extent(B, mechanics.coordinates().nq), 0.0);
  for (int b = 0; b < B; ++b) mechanics.coordinates().rest(state.q.data() + extent(b, mechanics.coordinates().nq));
  state.v.assign(extent(B, mechanics.coordinates().nv), 0.0);
  state.multipliers.assign(extent(B, mechanics.robot().rows()), 0.0);
  state.contact_forces.assign(extent(B, mechanics.robot().pairs(), 3), 0.0);
  state.commands.assign(extent(B, static_cast<int>(mechanics.robot().actuators.size())), 0.0);
  state.motions.assign(extent(B, motions), 0.0);
  state.motion_velocities.assign(extent(B, motions), 0.0);
  return state;
}

Control zero_control(const Mechanics& mechanics) {
  Control control;
  control.commands.assign(extent(mechanics.robots(), static_cast<int>(mechanics.robot().actuators.size())), 0.0);
  control.motions.assign(extent(mechanics.robots(), static_cast<int>(mechanics.robot().motions.size())), 0.0);
  return control;
}

}  // namespace supple
