#include "engine/derivative/step_derivative.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

std::span<const double> part(const std::vector<double>& values, int robot, int size) {
  return std::span(values).subspan(extent(robot, size), extent(size));
}

// A constraint that all modes obey anyway has no Jacobian, and no multiplier.
bool is_zero(const double* h, int n) {
  return std::all_of(h, h + n, [](double x) { return x == 0; });
}

}  // namespace

std::optional<InputError> no_derivative(const Robot& robot, const StepSettings& settings) {
  const auto missing = [](const std::string& what, const std::string& instead) {
    return InputError("steps with " + what + " have no derivatives yet", instead);
  };
  if (settings.scheme != StepScheme::one_linearisation || settings.keep_tangent > 0)
    return missing("another scheme than one linearisation of their own",
                   "integrator = \"implicit_euler\", keep_tangent = 0");
  if (settings.alpha() != 1 || settings.beta() != 1)
    return missing("implicit factors below 1", "implicit_velocity = 1 and implicit_position = 1");
  if (robot.touches()) return missing("contact", "the scene without [[obstacle]] and [contact]");
  if (!robot.motions.empty()) return missing("driven regions", "the scene without [[motion]]");
  if (robot.viscous > 0) return missing("viscous materials", "rayleigh_stiffness instead of retardation_time");
  if (!robot.springs.empty()) return missing("springs that are forces", "form = \"constraint\" in [[constraint]]");
  if (robot.floating) return missing("free-floating bodies", "a body that is held");
  for (const ActuatorRow& actuator : robot.actuators) {
    if (actuator.has_gas()) return missing("gas", "control = \"pressure\" or \"volume\"");
    if (actuator.friction > 0) return missing("cables that rub", "friction = 0");
    if (actuator.is_motor()) return missing("motors", "cables, forces and cavities");
  }
  return std::nullopt;
}

StateGradient zero_gradient(const ReducedMechanics& mechanics) {
  const int B = mechanics.robots(), nv = mechanics.coordinates().nv;
  StateGradient zero;
  zero.q.assign(extent(B, nv), 0.0);
  zero.v = zero.q;
  zero.multipliers.assign(extent(B, mechanics.robot().rows()), 0.0);
  zero.commands.assign(extent(B) * mechanics.robot().actuators.size(), 0.0);
  return zero;
}

StepDerivative::StepDerivative(ReducedMechanics& mechanics, const StepSettings& settings)
    : mechanics_(mechanics),
      time_step_(settings.time_step),
      robots_(mechanics.robots()),
      nv_(mechanics.coordinates().nv),
      rows_n_(mechanics.robot().rows()),
      actuators_(static_cast<int>(mechanics.robot().actuators.size())) {
  if (const auto why = no_derivative(mechanics.robot(), settings)) throw InputError(*why);
  const std::size_t coordinates = extent(robots_, nv_), rows = extent(robots_, rows_n_);
  for (auto* values : {&q_, &v_, &u_, &w_, &momentum_, &out_}) values->assign(coordinates, 0.0);
  for (auto* values : {&lambda_, &phi_, &m_}) values->assign(rows, 0.0);
  for (auto* values : {&H_, &X_}) values->assign(extent(robots_, rows_n_, nv_), 0.0);
  y_.assign(extent(robots_, mechanics.robot().outputs()), 0.0);
  gradients_.assign(extent(robots_, mechanics.rows().gradients()), 0.0);
  rows_.resize(rows);
}

void StepDerivative::list_rows(int b, std::span<const double> commands, const State& after) {
  const Robot& robot = mechanics_.robot();
  for (int i = 0; i < rows_n_; ++i) {
    Row& row = rows_[extent(b, rows_n_) + extent(i)];
    row = {};
    row.holds = holds(robot, i, after.multipliers[extent(b, rows_n_) + extent(i)]) &&
                !is_zero(H_.data() + extent(b, rows_n_, nv_) + extent(i, nv_), nv_);
    if (i < actuators_) {
      const ActuatorRow& actuator = robot.actuators[extent(i)];
      const std::size_t k = extent(b, actuators_) + extent(i);
      const double in_range = std::clamp(commands[k], actuator.range.lower, actuator.range.upper);
      const double taken = after.commands[k];
      row.route = taken != in_range ? Route::previous : in_range != commands[k] ? Route::none : Route::command;
    } else {
      // row_scheme.cpp: h/(h + d) of the value and of the compliance
      const ConstraintRow& constraint = robot.constraints[extent(i - actuators_)];
      row.value = time_step_ / (time_step_ + constraint.damping_time);
      row.compliance = constraint.compliance * row.value;
    }
  }
}

// out [nv] += factor d^2 phi_i/dq^2 x of a row at the robot's mapped points y.
void StepDerivative::add_curvature(int i, std::span<const double> y, double factor, const double* x, double* out) {
  const ReducedModel& model = mechanics_.model();
  const Robot& robot = mechanics_.robot();
  if (factor == 0) return;
  if (i < actuators_ && !robot.actuators[extent(i)].volume.empty()) {
    const ActuatorRow& actuator = robot.actuators[extent(i)];
    hessian_.resize(extent(nv_, nv_));
    actuator.volume.hessian(row_coordinates(actuator, y).data(), hessian_.data());
    for (int j = 0; j < nv_; ++j) out[j] += factor * inner_product(hessian_.data() + extent(j, nv_), x, nv_);
    return;
  }
  const int first = first_point(robot, i);
  const auto mapping = [&](int point, int k) { return model.outputs.data() + extent(3 * (first + point) + k, nv_); };
  // visit_row_curvature gives -lambda d^2 phi.
  visit_row_curvature(robot, i, y, -factor, [&](int a, int b, const Mat3d& block) {
    Vec3d moved;
    for (int k = 0; k < 3; ++k) moved[k] = inner_product(mapping(b, k), x, nv_);
    const Vec3d force = block * moved;
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < nv_; ++j) out[j] += force[k] * mapping(a, k)[j];
  });
}

void StepDerivative::linearise(std::span<const double> commands, const State& before, const State& after) {
  SUPPLE_EXPECT(before.robots == robots_ && commands.size() == after.commands.size());
  q_ = before.q;
  v_ = before.v;
  lambda_ = after.multipliers;
  for (std::size_t k = 0; k < u_.size(); ++k) u_[k] = time_step_ * after.v[k];
  mechanics_.evaluate_outputs(q_, {}, y_);
  for (int b = 0; b < robots_; ++b)
    evaluate_rows(
        mechanics_.robot(), mechanics_.rows(), part(y_, b, mechanics_.robot().outputs()),
        std::span(phi_).subspan(extent(b, rows_n_), extent(rows_n_)),
        std::span(gradients_).subspan(extent(b, mechanics_.rows().gradients()), extent(mechanics_.rows().gradients())));
  mechanics_.row_jacobians(mechanics_.rows(), gradients_, H_, {});
  X_ = H_;
  if (rows_n_ > 0) mechanics_.solve(X_, rows_n_);
  for (int b = 0; b < robots_; ++b) list_rows(b, commands, after);
}

// m_: W m = -(lambda* + H A^-1 u*) over the rows that hold, y = A^-1 u*. Rows have units far apart, so W's diagonal
// becomes one.
bool StepDerivative::find_multipliers(int b, std::span<const double> y, std::span<const double> multipliers) {
  const Row* rows = rows_.data() + extent(b, rows_n_);
  const double *H = H_.data() + extent(b, rows_n_, nv_), *X = X_.data() + extent(b, rows_n_, nv_);
  double* m = m_.data() + extent(b, rows_n_);
  std::fill_n(m, rows_n_, 0.0);
  held_.clear();
  for (int i = 0; i < rows_n_; ++i)
    if (rows[i].holds) held_.push_back(i);
  const int n = static_cast<int>(held_.size());
  if (n == 0) return true;
  W_.assign(extent(n, n), 0.0);
  right_.assign(extent(n), 0.0);
  pivots_.assign(extent(n), 0);
  size_.assign(extent(n), 0.0);
  for (int k = 0; k < n; ++k) {
    const int i = held_[extent(k)];
    for (int l = 0; l <= k; ++l)
      W_[extent(k, n) + extent(l)] = inner_product(H + extent(i, nv_), X + extent(held_[extent(l)], nv_), nv_);
    W_[extent(k, n) + extent(k)] += rows[i].compliance;
    right_[extent(k)] = -(multipliers[extent(i)] + inner_product(H + extent(i, nv_), y.data(), nv_));
    size_[extent(k)] = std::sqrt(W_[extent(k, n) + extent(k)]);
  }
  for (int k = 0; k < n; ++k) {
    for (int l = 0; l <= k; ++l) W_[extent(k, n) + extent(l)] /= size_[extent(k)] * size_[extent(l)];
    right_[extent(k)] /= size_[extent(k)];
  }
  if (ldlt_factor(W_.data(), n, n, pivots_.data()).status != DenseFactorStatus::ok) return false;
  ldlt_solve(W_.data(), n, n, pivots_.data(), right_.data(), 1, n);
  for (int k = 0; k < n; ++k) m[held_[extent(k)]] = right_[extent(k)] / size_[extent(k)];
  return true;
}

bool StepDerivative::pull_back(const StateGradient& after, StateGradient& before, InputGradient& inputs) {
  const ReducedModel& model = mechanics_.model();
  const Robot& robot = mechanics_.robot();
  const double h = time_step_;
  before.q.resize(w_.size());
  before.v.resize(w_.size());
  before.multipliers.assign(after.multipliers.size(), 0.0);
  before.commands.assign(after.commands.size(), 0.0);
  inputs.commands.assign(before.commands.size(), 0.0);
  inputs.gravity.assign(extent(robots_, 3), 0.0);
  inputs.material_scale.assign(extent(robots_, model.regions()), 0.0);
  inputs.density.assign(extent(robots_), 0.0);
  for (std::size_t k = 0; k < w_.size(); ++k) w_[k] = after.q[k] + after.v[k] / h;  // q' = q + u, v' = u/h
  mechanics_.solve(w_, 1);
  for (int b = 0; b < robots_; ++b) {
    if (!find_multipliers(b, part(w_, b, nv_), part(after.multipliers, b, rows_n_))) return false;
    double* w = w_.data() + extent(b, nv_);
    for (int i = 0; i < rows_n_; ++i) {
      const double m = m_[extent(b, rows_n_) + extent(i)], *x = X_.data() + extent(b, rows_n_, nv_) + extent(i, nv_);
      for (int k = 0; k < nv_; ++k) w[k] += m * x[k];
    }
  }
  inputs.load = w_;
  mechanics_.inertia(w_, {}, momentum_);
  const double stiffness = 1 + robot.rayleigh_stiffness / h, mass = 1 / (h * h) + robot.rayleigh_mass / h;
  mechanics_.pull_back_forces({q_, u_, stiffness}, w_, out_, inputs.material_scale);
  for (double& value : inputs.material_scale) value = -value;
  for (int b = 0; b < robots_; ++b) {
    const double *w = w_.data() + extent(b, nv_), *momentum = momentum_.data() + extent(b, nv_);
    const double *v = v_.data() + extent(b, nv_), *u = u_.data() + extent(b, nv_);
    const double* own_gravity = mechanics_.variations().gravity.empty()
                                    ? robot.gravity.v
                                    : mechanics_.variations().gravity.data() + extent(b, 3);
    for (int k = 0; k < nv_; ++k) {
      const std::size_t at = extent(b, nv_) + extent(k);
      before.v[at] = momentum[k] / h;
      before.q[at] = after.q[at] - out_[at];
      inputs.density[extent(b)] += momentum[k] * (v[k] / h - mass * u[k]);
      for (int i = 0; i < 3; ++i) {
        const double share = w[k] * model.gravity[extent(k, 3) + extent(i)];
        inputs.gravity[extent(b, 3) + extent(i)] += share;
        inputs.density[extent(b)] += share * own_gravity[i];
      }
    }
    for (int i = 0; i < rows_n_; ++i) {
      const Row& row = rows_[extent(b, rows_n_) + extent(i)];
      const double m = m_[extent(b, rows_n_) + extent(i)];
      const double* H = H_.data() + extent(b, rows_n_, nv_) + extent(i, nv_);
      double* q = before.q.data() + extent(b, nv_);
      const std::span<const double> y = part(y_, b, robot.outputs());
      add_curvature(i, y, lambda_[extent(b, rows_n_) + extent(i)], w, q);
      if (row.holds) {
        for (int k = 0; k < nv_; ++k) q[k] += m * row.value * H[k];
        add_curvature(i, y, m, u, q);
      }
      if (i >= actuators_) continue;
      const std::size_t k = extent(b, actuators_) + extent(i);
      double command = after.commands[k];
      if (row.holds) command -= m;
      if (gives_force(robot.actuators[extent(i)], /*at_rest=*/false))
        command += after.multipliers[extent(b, rows_n_) + extent(i)] + inner_product(H, w, nv_);
      if (row.route == Route::command) inputs.commands[k] = command;
      if (row.route == Route::previous) before.commands[k] = command;
    }
  }
  return true;
}

}  // namespace supple
