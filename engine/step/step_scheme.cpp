// What implicit factors and springs bring to a step (step.hpp): the forces of its start, springs in f and A, and what
// the law sees of the rows. Derivation: docs/theory/full-model.md, "Time steps" and "Constraints".

#include <algorithm>
#include <cmath>

#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

double Stepper::end_velocity(double increment, double start_velocity) const {
  const double mean = increment / settings_.time_step, beta = implicit_position();
  return beta == 1 ? mean : (mean - (1 - beta) * start_velocity) / beta;
}

bool Stepper::is_spring(int row) const {
  const Robot& robot = mechanics_.robot();
  const int k = row - static_cast<int>(robot.actuators.size());
  if (k < 0) return false;
  const ConstraintRow& constraint = robot.constraints[static_cast<std::size_t>(k)];
  return constraint.compliance > 0 && !constraint.one_sided;
}

// lambda = -(phi + d phi')/c, phi' = ((phi - phi_n)/h - (1 - beta) phi'_n)/beta, and H^T lambda.
void Stepper::evaluate_springs(bool at_rest) {
  const int n = springs_.layout.rows();
  if (n == 0) return;
  std::fill(springs_.force.begin(), springs_.force.end(), 0.0);
  for (int b = 0; b < robots_; ++b)
    for (int s = 0; s < n; ++s) {
      const ConstraintRow& spring = mechanics_.robot().springs[static_cast<std::size_t>(s)];
      const std::size_t k = extent(b, n) + static_cast<std::size_t>(s);
      double stretch = springs_.phi[k];
      if (!at_rest && spring.damping_time > 0)
        stretch += spring.damping_time * end_velocity(springs_.phi[k] - springs_.start[k], springs_.rate[k]);
      const double lambda = springs_.lambda[k] = -stretch / spring.compliance;
      const double* H = springs_.H.data() + extent(b, n, nv_) + extent(s, nv_);
      double* force = springs_.force.data() + extent(b, nv_);
      for (int i = 0; i < nv_; ++i) force[i] += lambda * H[i];
    }
}

void Stepper::add_springs(double share) {
  if (springs_.layout.rows() == 0) return;
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] += share * springs_.force[i];
}

// alpha (1 + d/(beta h))/c H^T H and alpha times the geometric stiffness, of which the safe tangent has what is
// positive.
void Stepper::spring_stiffness() {
  points_.clear();
  const RowLayout& layout = springs_.layout;
  const double alpha = implicit_velocity(), beta = implicit_position(), h = settings_.time_step;
  for (int b = 0; b < robots_; ++b)
    for (int s = 0; s < layout.rows(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      const ConstraintRow& spring = mechanics_.robot().springs[k];
      const double stiffness = alpha * (dynamic() ? 1 + spring.damping_time / (beta * h) : 1) / spring.compliance;
      const double* g = springs_.gradients.data() + extent(b, layout.gradients()) + extent(layout.offset[k]);
      const auto gradient = [&](int i) { return Vec3d{{g[3 * i], g[3 * i + 1], g[3 * i + 2]}}; };
      const auto add = [&](int i, int j, const Mat3d& S) {
        points_.push_back({b, spring.first_point + i, spring.first_point + j, S});
      };
      for (int i = 0; i < spring.point_count; ++i)
        for (int j = 0; j < spring.point_count; ++j) add(i, j, stiffness * outer(gradient(i), gradient(j)));
      const double lambda = alpha * springs_.lambda[extent(b, layout.rows()) + k];
      if (tangent() == TangentKind::safe && spring.side * lambda < 0) continue;
      visit_constraint_curvature(spring, std::span<const double>(y_).subspan(extent(b, ny_), extent(ny_)), lambda, add);
    }
}

// phi' = H v + H_c w at the start of the step.
void Stepper::row_rates(const State& state, const RowLayout& layout, const std::vector<double>& H,
                        const std::vector<double>& H_c, std::vector<double>& rates) const {
  const int n = layout.rows(), m = motions_count_;
  for (int b = 0; b < robots_; ++b)
    for (int row = 0; row < n; ++row)
      rates[extent(b, n) + static_cast<std::size_t>(row)] =
          inner_product(H.data() + extent(b, n, nv_) + extent(row, nv_), state.v.data() + extent(b, nv_), nv_) +
          inner_product(H_c.data() + extent(b, n, m) + extent(row, m), state.motion_velocities.data() + extent(b, m),
                        m);
}

// What the law will see of the rows, and what of the start of the step it takes: their values and rates, forces. False:
// a point has no stress there.
bool Stepper::begin_scheme(const State& state) {
  const Robot& robot = mechanics_.robot();
  const double h = settings_.time_step, alpha = implicit_velocity(), beta = implicit_position();
  bool damped = false;
  plain_rows_ = beta == 1;
  for (int row = 0; row < rows_count_; ++row) {
    const int k = row - static_cast<int>(robot.actuators.size());
    const ConstraintRow* constraint = k < 0 ? nullptr : &robot.constraints[static_cast<std::size_t>(k)];
    const double c = constraint ? constraint->compliance : 0, d = constraint ? constraint->damping_time : 0;
    RowScheme& scheme = scheme_[static_cast<std::size_t>(row)];
    scheme = {};
    if (!dynamic()) {
      scheme.diagonal = c;
    } else if (is_spring(row)) {
      // phi + d phi' + c lambda_{n+1}, phi' as in evaluate_springs(), times h/(beta h + d)
      scheme.start = -d / (beta * (beta * h + d));
      scheme.rate = (1 - beta) * h * scheme.start;
      scheme.diagonal = c * h / (alpha * (beta * h + d));
      scheme.averaged = true;
    } else {
      // phi_n + (h + d) phi' + c lambda, times h/(h + d)
      scheme.start = h / (h + d) - 1 / beta;
      scheme.rate = -(1 - beta) * h / beta;
      scheme.diagonal = c * h / (h + d);
    }
    compliance_[static_cast<std::size_t>(row)] = scheme.diagonal;
    damped = damped || d > 0;
    plain_rows_ = plain_rows_ && scheme.start == 0 && scheme.rate == 0;
  }
  for (const ConstraintRow& spring : robot.springs) damped = damped || spring.damping_time > 0;
  if (!dynamic() || (alpha == 1 && beta == 1 && !damped)) return true;
  q_ = state.q;
  motions_ = state.motions;
  evaluate_rows();
  phi_start_ = phi_;
  row_rates(state, mechanics_.rows(), H_, H_c_, phi_rate_);
  springs_.start = springs_.phi;
  row_rates(state, springs_.layout, springs_.H, springs_.H_c, springs_.rate);
  return alpha == 1 || evaluate_start_force(state);
}

// (1 - alpha) F: gravity, load, stress, damping, springs of both forms.
bool Stepper::evaluate_start_force(const State& state) {
  const Robot& robot = mechanics_.robot();
  const bool stiff = robot.rayleigh_stiffness != 0;
  if (mechanics_.evaluate_forces(q_, motions_, stiff ? tangent() : TangentKind::none, f_).undefined > 0) return false;
  for (std::size_t i = 0; i < start_force_.size(); ++i) start_force_[i] = p_[i] - f_[i];
  if (robot.rayleigh_mass != 0 || stiff) {
    mechanics_.damping(state.v, state.motion_velocities, damping_);
    for (std::size_t i = 0; i < start_force_.size(); ++i) start_force_[i] -= damping_[i];
  }
  // Row `row` of n with values phi, rates and Jacobians H is this spring.
  const auto add = [&](const ConstraintRow& spring, int row, int n, const std::vector<double>& phi,
                       const std::vector<double>& rate, const std::vector<double>& H) {
    for (int b = 0; b < robots_; ++b) {
      const std::size_t k = extent(b, n) + static_cast<std::size_t>(row);
      const double lambda = -(phi[k] + spring.damping_time * rate[k]) / spring.compliance;
      for (int i = 0; i < nv_; ++i)
        start_force_[extent(b, nv_) + static_cast<std::size_t>(i)] +=
            lambda * H[extent(b, n, nv_) + extent(row, nv_) + static_cast<std::size_t>(i)];
    }
  };
  const int actuators = static_cast<int>(robot.actuators.size());
  for (int row = actuators; row < rows_count_; ++row)
    if (is_spring(row))
      add(robot.constraints[static_cast<std::size_t>(row - actuators)], row, rows_count_, phi_start_, phi_rate_, H_);
  for (int s = 0; s < springs_.layout.rows(); ++s)
    add(robot.springs[static_cast<std::size_t>(s)], s, springs_.layout.rows(), springs_.start, springs_.rate,
        springs_.H);
  for (double& force : start_force_) force *= 1 - implicit_velocity();
  return std::all_of(start_force_.begin(), start_force_.end(), [](double force) { return std::isfinite(force); });
}

// What the law sees of the rows at this linearisation.
void Stepper::set_values() {
  values_ = phi_;
  if (plain_rows_) return;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    const RowScheme& scheme = scheme_[k % scheme_.size()];
    values_[k] = phi_[k] / implicit_position() + scheme.start * phi_start_[k] + scheme.rate * phi_rate_[k];
  }
}

}  // namespace supple
