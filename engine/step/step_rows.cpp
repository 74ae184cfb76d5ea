// Constraint space in a step (step.hpp): what the law sees, and the motion that its answer makes.
//
// Newton's method moves by increments of the multipliers, from those held at its last residual, lambda_0:
//   du = A^-1 (r + H^T lambda_0) + A^-1 H^T (lambda - lambda_0)
// Both vanish with the residual. A^-1 r and A^-1 H^T lambda do not: where rows hold what A nearly does not, they are
// huge and cancel, and what their rounding leaves bounds the residual from below. The law still sees all of lambda:
//   u_f = A^-1 (r + H^T lambda_0) - A^-1 H^T lambda_0
// A step of one linearisation holds none (lambda_0 = 0): it ends after one du.

#include <algorithm>

#include "engine/step/step.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

// X <- A^-1 [r + H^T lambda_0, H^T, A_c]: the residual's motion, and how the robot follows multipliers and prescribed
// inputs.
void Stepper::solve_systems(const SystemCoefficients& input_coefficients) {
  const int inputs = columns_ - 1 - rows_count_;
  const bool increments = this->increments();
  if (inputs > 0) mechanics_.input_columns(input_coefficients, A_c_);
  for_each_robot(robots_, [&](int b) {
    double* X = X_.data() + extent(b, columns_, nv_);
    std::copy_n(r_.data() + extent(b, nv_), nv_, X);
    if (increments)
      for (int k = 0; k < nv_; ++k) X[k] += row_force(b, k);
    std::copy_n(H_.data() + extent(b, rows_count_, nv_), extent(rows_count_, nv_), X + nv_);
    std::copy_n(A_c_.data() + extent(b, inputs, nv_), extent(inputs, nv_), X + extent(1 + rows_count_, nv_));
  });
  mechanics_.solve(X_, columns_);
  if (increments) find_free_motion();
}

// u_f of all robots; the multipliers are held.
void Stepper::find_free_motion() {
  held_ = lambda_;
  for (int b = 0; b < robots_; ++b) {
    const double* X = X_.data() + extent(b, columns_, nv_);
    const std::span<double> u_f = std::span(free_motion_).subspan(extent(b, nv_), extent(nv_));
    std::fill(u_f.begin(), u_f.end(), 0.0);
    if (contact_ && contact_->touch()[extent(b)] != 0) {
      for (int k = 0; k < nv_; ++k) u_f[extent(k)] = contact_->force(b, k);
      mechanics_.solve_robot(b, u_f, 1);
    }
    for (int i = 0; i < rows_count_; ++i) {
      const double lambda = held_[extent(b, rows_count_) + extent(i)];
      for (int k = 0; k < nv_; ++k) u_f[extent(k)] += lambda * X[extent(1 + i, nv_) + extent(k)];
    }
    for (int k = 0; k < nv_; ++k) u_f[extent(k)] = X[k] - u_f[extent(k)];
  }
}

// u_f of one robot.
std::span<const double> Stepper::free_motion(int b) const {
  return increments() ? std::span(free_motion_).subspan(extent(b, nv_), extent(nv_))
                      : std::span(X_).subspan(extent(b, columns_, nv_), extent(nv_));
}

namespace {

// For rows with values phi and Jacobians beta H, beta H_c of one robot: free = phi + H u_f, W = H X_a, B = H_c - H X_c,
// with X = [X_0, X_a (n), X_c (m)] the solved systems. lower: W is symmetric, and only its lower triangle is written.
void project_rows(int rows, int n, int m, int nv, double beta, bool lower, const double* phi, const double* H,
                  const double* H_c, const double* u_f, const double* X, double* free, double* W, double* B) {
  for (int i = 0; i < rows; ++i) {
    const double* h = H + extent(i, nv);
    free[i] = phi[i] + inner_product(h, u_f, nv) / beta;
    for (int j = 0; j < (lower ? i + 1 : n); ++j) W[i * n + j] = inner_product(h, X + extent(1 + j, nv), nv) / beta;
    for (int j = 0; j < m; ++j)
      B[i * m + j] = (H_c[i * m + j] - inner_product(h, X + extent(1 + n + j, nv), nv)) / beta;
  }
}

}  // namespace

// Everything that the law sees.
void Stepper::project(const ConstraintLaw& law) {
  const int n = rows_count_, e = law.effector_rows().rows(), m = columns_ - 1 - n, all = motions_count_;
  for_each_robot(robots_, [&](int b) {
    const double* X = X_.data() + extent(b, columns_, nv_);
    const double* u_f = free_motion(b).data();
    double* W = W_.data() + extent(b, n, n);
    project_rows(n, n, m, nv_, implicit_position(), true, values_.data() + extent(b, n), H_.data() + extent(b, n, nv_),
                 H_c_.data() + extent(b, n, all), u_f, X, free_.data() + extent(b, n), W,
                 B_.data() + extent(b, n, all));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) W[j * n + i] = W[i * n + j];
      W[i * n + i] += compliance_[static_cast<std::size_t>(i)];
    }
    project_rows(e, n, m, nv_, 1, false, effector_phi_.data() + extent(b, e), effector_H_.data() + extent(b, e, nv_),
                 effector_H_c_.data() + extent(b, e, all), u_f, X, effector_free_.data() + extent(b, e),
                 effector_W_.data() + extent(b, e, n), effector_B_.data() + extent(b, e, all));
  });
}

ConstraintSpace Stepper::space() const {
  const int motions = columns_ - 1 - rows_count_;
  return {.robots = robots_,
          .rows = rows_count_,
          .effector_rows = effector_rows_,
          .motions = motions,
          .phi = values_,
          .free = free_,
          .W = W_,
          .B = B_,
          .effector_phi = effector_phi_,
          .effector_free = effector_free_,
          .effector_W = effector_W_,
          .effector_B = effector_B_,
          .inputs = motions_};
}

// The multipliers again, with those of contacts; solved: whether those without are an answer.
bool Stepper::solve_contact(ConstraintLaw& law, bool solved) {
  return contact_->solve(law, lambda_, dc_, solved, [&](int b) {
    const auto one = [&](const std::vector<double>& values, int rows) {
      return std::span<const double>(values).subspan(extent(b, rows, nv_), extent(rows, nv_));
    };
    return ContactInputs{.alone = of_robot(space(), b),
                         .X = one(X_, columns_),
                         .free_motion = free_motion(b),
                         .increments = increments(),
                         .held = std::span<const double>(held_).subspan(extent(b, rows_count_), extent(rows_count_)),
                         .H = one(H_, rows_count_),
                         .effector_H = one(effector_H_, effector_rows_),
                         .compliance = compliance_};
  });
}

// du = A^-1 (r + H^T lambda_0) + A^-1 (H^T (lambda - lambda_0) - A_c dc), and where the rows end by this linearisation
// where it is the only one.
void Stepper::correct() {
  const int n = rows_count_, m = columns_ - 1 - n;
  const bool increments = this->increments();
  for_each_robot(robots_, [&](int b) {
    const double* X = X_.data() + extent(b, columns_, nv_);
    const double *lambda = lambda_.data() + extent(b, n), *held = held_.data() + extent(b, n),
                 *dc = dc_.data() + extent(b, motions_count_);
    double* du = du_.data() + extent(b, nv_);
    std::copy_n(X, nv_, du);
    for (int i = 0; i < n; ++i) {
      const double change = lambda[i] - held[i];
      for (int k = 0; k < nv_; ++k) du[k] += X[extent(1 + i, nv_) + extent(k)] * change;
    }
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < nv_; ++k) du[k] -= X[extent(1 + n + i, nv_) + extent(k)] * dc[i];
    const std::span<const double> moved = contact_ ? contact_->motion(b) : std::span<const double>();
    for (std::size_t k = 0; k < moved.size(); ++k) du[k] += moved[k];
    if (increments) return;
    for (int i = 0; i < n; ++i) {
      double& end = phi_end_[extent(b, n) + extent(i)];
      end = free_[extent(b, n) + extent(i)] + inner_product(W_.data() + extent(b, n, n) + extent(i, n), lambda, n) +
            inner_product(B_.data() + extent(b, n, motions_count_) + extent(i, m), dc, m);
      if (contact_) end += inner_product(H_.data() + extent(b, n, nv_) + extent(i, nv_), moved.data(), nv_);
    }
  });
  add_increment(1);
  for (std::size_t i = 0; i < motions_.size(); ++i) motions_[i] += dc_[i];
}

}  // namespace supple
