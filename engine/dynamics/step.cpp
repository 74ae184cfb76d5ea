#include "engine/dynamics/step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

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
      return "the actuator multipliers could not be found";
  }
  return "";
}

Stepper::Stepper(Mechanics& mechanics, const StepSettings& settings)
    : mechanics_(mechanics),
      settings_(settings),
      robots_(mechanics.robots()),
      nq_(mechanics.coordinates().nq),
      nv_(mechanics.coordinates().nv),
      ny_(mechanics.robot().outputs()),
      rows_count_(mechanics.robot().rows()) {
  const int B = robots_, motions = static_cast<int>(mechanics.robot().motions.size());
  for (auto* vector : {&u_, &du_, &f_, &p_, &inertia_, &damping_, &velocity_, &r_}) vector->assign(extent(B, nv_), 0.0);
  q_.assign(extent(B, nq_), 0.0);
  motion_velocity_.assign(extent(B, motions), 0.0);
  y_.assign(extent(B, ny_), 0.0);
  for (auto* vector : {&phi_, &d_, &lambda_, &lower_, &upper_, &target_}) vector->assign(extent(B, rows_count_), 0.0);
  gradients_.assign(extent(B, mechanics.rows().offset.back()), 0.0);
  H_.assign(extent(B, rows_count_, nv_), 0.0);
  X_.assign(extent(B, rows_count_ + 1, nv_), 0.0);
  W_.assign(extent(B, rows_count_, rows_count_), 0.0);
  work_.assign(static_cast<std::size_t>(box_complementarity_work(rows_count_)), 0.0);
  mechanics.external_forces(p_);
}

void Stepper::residual(const State& state, const Control& control) {
  if (settings_.scheme == StepScheme::quasi_static) {
    for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = p_[i] - f_[i];
    return;
  }
  const double h = settings_.time_step;
  for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] = state.v[i] - u_[i] / h;
  for (std::size_t i = 0; i < motion_velocity_.size(); ++i)
    motion_velocity_[i] = state.motion_velocities[i] - (control.motions[i] - state.motions[i]) / h;
  mechanics_.inertia(velocity_, motion_velocity_, inertia_);
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = inertia_[i] / h + p_[i] - f_[i];
  const Robot& robot = mechanics_.robot();
  if (robot.rayleigh_mass != 0 || robot.rayleigh_stiffness != 0) {
    for (std::size_t i = 0; i < velocity_.size(); ++i) velocity_[i] = u_[i] / h;
    for (std::size_t i = 0; i < motion_velocity_.size(); ++i)
      motion_velocity_[i] = (control.motions[i] - state.motions[i]) / h;
    mechanics_.damping(velocity_, motion_velocity_, damping_);
    for (std::size_t i = 0; i < r_.size(); ++i) r_[i] -= damping_[i];
  }
}

void Stepper::solve_rows(StepReport& report) {
  const int n = rows_count_, stride = n + 1;
  for (int b = 0; b < robots_; ++b) {
    const double* X = X_.data() + extent(b, stride, nv_);
    const double* H = H_.data() + extent(b, n, nv_);
    double* W = W_.data() + extent(b, n, n);
    for (int i = 0; i < n; ++i) {
      const double* h = H + extent(i, nv_);
      double free = 0;
      for (int k = 0; k < nv_; ++k) free += h[k] * X[k];
      const std::size_t row = extent(b, n) + static_cast<std::size_t>(i);
      d_[row] = phi_[row] + free - target_[row];
      for (int j = 0; j <= i; ++j) {
        const double* x = X + extent(j + 1, nv_);
        double sum = 0;
        for (int k = 0; k < nv_; ++k) sum += h[k] * x[k];
        W[i * n + j] = W[j * n + i] = sum;
      }
    }
    const auto part = [&](std::vector<double>& v) {
      return std::span<double>(v).subspan(extent(b, n), static_cast<std::size_t>(n));
    };
    const auto result =
        solve_box_complementarity(n, {W, extent(n, n)}, part(d_), part(lower_), part(upper_), part(lambda_), work_);
    if (result.status != ComplementarityStatus::solved) report.status = StepStatus::rows_unsolved;
  }
}

double Stepper::row_violation() const {
  double worst = 0;
  for (std::size_t i = 0; i < lambda_.size(); ++i) {
    if (lower_[i] == upper_[i]) continue;  // the force is the command
    const double w = phi_[i] - target_[i];
    const double violation = lambda_[i] <= lower_[i]   ? std::max(0.0, -w)
                             : lambda_[i] >= upper_[i] ? std::max(0.0, w)
                                                       : std::abs(w);
    worst = std::max(worst, violation);
  }
  return worst;
}

StepReport Stepper::step(const Control& control, State& state) {
  SUPPLE_EXPECT(static_cast<int>(state.q.size()) == robots_ * nq_ &&
                static_cast<int>(control.commands.size()) == robots_ * rows_count_);
  StepReport report;
  const bool dynamic = settings_.scheme != StepScheme::quasi_static;
  const bool iterate = settings_.scheme != StepScheme::one_linearisation;
  const double h = settings_.time_step;
  const Robot& robot = mechanics_.robot();
  const Coordinates& coordinates = mechanics_.coordinates();
  const TangentKind tangent = iterate ? TangentKind::exact : TangentKind::safe;
  SystemCoefficients coefficients{0, 1, iterate};
  if (dynamic) {
    coefficients.mass = 1 / (h * h) + robot.rayleigh_mass / h;
    coefficients.stiffness = 1 + robot.rayleigh_stiffness / h;
  }
  for (int b = 0; b < robots_; ++b)
    for (int i = 0; i < rows_count_; ++i) {
      const std::size_t k = extent(b, rows_count_) + static_cast<std::size_t>(i);
      const RowTarget law =
          row_target(robot.cables[static_cast<std::size_t>(i)], control.commands[k], state.commands[k], h);
      target_[k] = law.target;
      lower_[k] = law.lower;
      upper_[k] = law.upper;
      lambda_[k] = std::clamp(state.multipliers[k], law.lower, law.upper);
      if (law.limited) ++report.limited_commands;
    }

  std::fill(u_.begin(), u_.end(), 0.0);
  double first_scale = 0, largest_residual = 0, least_residual = std::numeric_limits<double>::infinity();
  int least_at = 0, halvings = 0;
  // A kept factor needs no tangent. Stiffness damping does, for the residual.
  const bool may_keep_factor =
      iterate && settings_.keep_factor_below > 0 && !(dynamic && robot.rayleigh_stiffness != 0);
  for (;;) {
    for (int b = 0; b < robots_; ++b) {
      std::copy_n(state.q.begin() + b * nq_, nq_, q_.begin() + b * nq_);
      coordinates.integrate(q_.data() + b * nq_, u_.data() + b * nv_);
    }
    {
      Timer timer(report.times.outputs);
      mechanics_.evaluate_outputs(q_, control.motions, y_);
      for (int b = 0; b < robots_; ++b) {
        const auto y = std::span<const double>(y_).subspan(extent(b, ny_), extent(ny_));
        const std::size_t flat = static_cast<std::size_t>(mechanics_.rows().offset.back());
        evaluate_rows(robot, mechanics_.rows(), y,
                      std::span<double>(phi_).subspan(extent(b, rows_count_), extent(rows_count_)),
                      std::span<double>(gradients_).subspan(static_cast<std::size_t>(b) * flat, flat));
      }
      mechanics_.row_jacobians(gradients_, H_);
    }
    PointReport points;
    const bool without_tangent = may_keep_factor && report.iterations > 0;
    {
      Timer timer(report.times.forces);
      points = mechanics_.evaluate_forces(q_, control.motions, without_tangent ? TangentKind::none : tangent, f_);
    }
    report.inverted = points.inverted;
    if (points.undefined > 0 || !all_finite(f_)) {
      // Newton stepped too far: halve its last step. The first evaluation has no step to halve.
      if (iterate && report.iterations > 0 && halvings < settings_.max_halvings) {
        ++halvings;
        for (std::size_t i = 0; i < u_.size(); ++i) {
          du_[i] *= 0.5;
          u_[i] -= du_[i];
        }
        continue;
      }
      report.status = StepStatus::undefined_points;
      report.failed_element = points.first_undefined;
      return report;
    }
    halvings = 0;
    residual(state, control);
    bool keep_factor = false;
    if (iterate) {
      // Residual with the multipliers of the last iteration.
      double sum = 0, row_forces = 0;
      for (int b = 0; b < robots_; ++b)
        for (int k = 0; k < nv_; ++k) {
          double rows = 0;
          for (int i = 0; i < rows_count_; ++i)
            rows += H_[extent(b, rows_count_, nv_) + extent(i, nv_) + static_cast<std::size_t>(k)] *
                    lambda_[extent(b, rows_count_) + static_cast<std::size_t>(i)];
          const double value = r_[extent(b, nv_) + static_cast<std::size_t>(k)] + rows;
          sum += value * value;
          row_forces += rows * rows;
        }
      // Judged against the forces at work now and, since they may vanish on the way (a body let go, a base that has
      // moved on), those the step began with, inertia among them.
      double scale = points.force_scale + norm(p_) + std::sqrt(row_forces);
      if (report.iterations == 0) first_scale = std::max(scale, std::sqrt(sum));
      scale = std::max(scale, first_scale);
      const double before = report.residual;
      report.residual = scale > 0 ? std::sqrt(sum) / scale : 0;
      if (report.residual <= settings_.tolerance && row_violation() <= settings_.row_tolerance) break;
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
        (void)mechanics_.evaluate_forces(q_, control.motions, tangent, f_);
      }
      Timer timer(report.times.factor);
      const SystemReport system = mechanics_.factor(coefficients, y_, lambda_);
      ++report.iterations;
      report.negative_pivots = system.negative_pivots;
      if (system.status != SystemStatus::ok) {
        report.status = system.status == SystemStatus::singular       ? StepStatus::singular
                        : system.status == SystemStatus::not_positive ? StepStatus::not_positive
                                                                      : StepStatus::out_of_memory;
        return report;
      }
    }
    {
      Timer timer(report.times.solve);
      for (int b = 0; b < robots_; ++b) {
        double* X = X_.data() + extent(b, rows_count_ + 1, nv_);
        std::copy_n(r_.begin() + b * nv_, nv_, X);
        std::copy_n(H_.data() + extent(b, rows_count_, nv_), extent(rows_count_, nv_), X + nv_);
      }
      mechanics_.solve(X_, rows_count_ + 1);
    }
    {
      Timer timer(report.times.rows);
      solve_rows(report);
      if (report.status != StepStatus::ok) return report;
      for (int b = 0; b < robots_; ++b) {
        const double* X = X_.data() + extent(b, rows_count_ + 1, nv_);
        for (int k = 0; k < nv_; ++k) {
          double value = X[k];
          for (int i = 0; i < rows_count_; ++i)
            value += X[extent(i + 1, nv_) + static_cast<std::size_t>(k)] *
                     lambda_[extent(b, rows_count_) + static_cast<std::size_t>(i)];
          du_[extent(b, nv_) + static_cast<std::size_t>(k)] = value;
        }
      }
      for (std::size_t i = 0; i < u_.size(); ++i) u_[i] += du_[i];
    }
    if (!all_finite(u_)) {
      report.status = StepStatus::not_converged;
      return report;
    }
    if (!iterate) break;
  }

  for (int b = 0; b < robots_; ++b) {
    coordinates.integrate(state.q.data() + b * nq_, u_.data() + b * nv_);
    for (int k = 0; k < nv_; ++k)
      state.v[extent(b, nv_) + static_cast<std::size_t>(k)] =
          dynamic ? u_[extent(b, nv_) + static_cast<std::size_t>(k)] / h : 0.0;
  }
  for (std::size_t i = 0; i < state.motions.size(); ++i) {
    state.motion_velocities[i] = dynamic ? (control.motions[i] - state.motions[i]) / h : 0.0;
    state.motions[i] = control.motions[i];
  }
  state.multipliers = lambda_;
  for (int b = 0; b < robots_; ++b)
    for (int i = 0; i < rows_count_; ++i) {
      const std::size_t k = extent(b, rows_count_) + static_cast<std::size_t>(i);
      const CableRow& cable = robot.cables[static_cast<std::size_t>(i)];
      state.commands[k] = cable.control == CableControl::force ? lower_[k] : target_[k];
    }
  state.time += dynamic ? h : 0.0;
  mechanics_.evaluate_outputs(state.q, state.motions, y_);
  return report;
}

State rest_state(const Mechanics& mechanics) {
  State state;
  const int B = mechanics.robots(), motions = static_cast<int>(mechanics.robot().motions.size());
  state.robots = B;
  state.q.assign(extent(B, mechanics.coordinates().nq), 0.0);
  state.v.assign(extent(B, mechanics.coordinates().nv), 0.0);
  state.multipliers.assign(extent(B, mechanics.robot().rows()), 0.0);
  state.commands.assign(extent(B, mechanics.robot().rows()), 0.0);
  state.motions.assign(extent(B, motions), 0.0);
  state.motion_velocities.assign(extent(B, motions), 0.0);
  return state;
}

Control zero_control(const Mechanics& mechanics) {
  Control control;
  control.commands.assign(extent(mechanics.robots(), mechanics.robot().rows()), 0.0);
  control.motions.assign(extent(mechanics.robots(), static_cast<int>(mechanics.robot().motions.size())), 0.0);
  return control;
}

}  // namespace supple
