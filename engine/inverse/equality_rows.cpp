#include "engine/inverse/equality_rows.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

constexpr double ridge_of_repeated_rows = 1e-10;  // of rows with a unit diagonal
constexpr double contradiction = 1e-6;            // of the largest free value

}  // namespace

EqualityRows::EqualityRows(int robots, int kept, int equal, int effector_rows, int motions)
    : n_(kept), s_(equal), e_(effector_rows), m_(motions) {
  if (s_ == 0) return;
  for (auto* v : {&phi_, &free_}) v->assign(extent(robots, n_), 0.0);
  W_.assign(extent(robots, n_, n_), 0.0);
  B_.assign(extent(robots, n_, m_), 0.0);
  effector_free_.assign(extent(robots, e_), 0.0);
  effector_W_.assign(extent(robots, e_, n_), 0.0);
  effector_B_.assign(extent(robots, e_, m_), 0.0);
  factor_.assign(extent(s_, s_), 0.0);
  solved_.assign(extent(robots, 1 + n_ + m_, s_), 0.0);
  scale_.assign(extent(s_), 1.0);
  pivots_.assign(extent(s_), 0);
  independent_.assign(extent(robots), 1);
}

// Whether the first solution, in scaled rows, solves the system without the ridge.
bool EqualityRows::solves(const double* free, const double* W, int all, const double* Y) const {
  double left = 0, whole = 0;
  for (int i = 0; i < s_; ++i) {
    const int row = n_ + i;
    double sum = scale_[extent(i)] * free[row];
    whole = std::max(whole, std::abs(sum));
    for (int j = 0; j < s_; ++j) sum -= scale_[extent(i)] * scale_[extent(j)] * W[row * all + n_ + j] * Y[j];
    left = std::max(left, std::abs(sum));
  }
  return left <= contradiction * whole;
}

const ConstraintSpace& EqualityRows::eliminate(const ConstraintSpace& space) {
  SUPPLE_EXPECT(space.rows == n_ + s_ && space.effector_rows == e_ && space.motions == m_);
  if (s_ == 0) return space;
  const int all = n_ + s_, columns = 1 + n_ + m_;
  for (int b = 0; b < space.robots; ++b) {
    const double *free = space.free.data() + extent(b, all), *W = space.W.data() + extent(b, all, all),
                 *B = space.B.data() + extent(b, all, m_), *phi = space.phi.data() + extent(b, all);
    double* Y = solved_.data() + extent(b, columns, s_);
    // Rows are scaled to a unit diagonal, which the factorisation asks for.
    for (int i = 0; i < s_; ++i) {
      const double diagonal = W[(n_ + i) * (all + 1)];
      scale_[extent(i)] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
    }
    // Rows that repeat others, as joints of a closed loop do, get a little compliance; where they are inconsistent
    // that is no answer.
    bool found = false;
    for (const double ridge : {0.0, ridge_of_repeated_rows}) {
      for (int i = 0; i < s_; ++i) {
        const int row = n_ + i;
        const double scale = scale_[extent(i)];
        for (int j = 0; j <= i; ++j)
          factor_[extent(i, s_) + extent(j)] = scale * scale_[extent(j)] * W[row * all + n_ + j];
        factor_[extent(i, s_) + extent(i)] += ridge;
        Y[i] = scale * free[row];
        for (int j = 0; j < n_; ++j) Y[(1 + j) * s_ + i] = scale * W[row * all + j];
        for (int k = 0; k < m_; ++k) Y[(1 + n_ + k) * s_ + i] = scale * B[row * m_ + k];
      }
      if (ldlt_factor(factor_.data(), s_, s_, pivots_.data()).status != DenseFactorStatus::ok) continue;
      ldlt_solve(factor_.data(), s_, s_, pivots_.data(), Y, columns, s_);
      found = ridge == 0 || solves(free, W, all, Y);
      if (found) break;
    }
    independent_[extent(b)] = found ? 1 : 0;
    if (independent_[extent(b)] == 0) {
      forget(b);
      continue;
    }
    for (int c = 0; c < columns; ++c)
      for (int i = 0; i < s_; ++i) Y[c * s_ + i] *= scale_[extent(i)];
    // Of a row with W_xs = w: what column `column` loses.
    const auto loss = [&](const double* w, int column) {
      double sum = 0;
      for (int i = 0; i < s_; ++i) sum += w[i] * Y[column * s_ + i];
      return sum;
    };
    for (int a = 0; a < n_; ++a) {
      const double* w = W + a * all + n_;
      phi_[extent(b, n_) + extent(a)] = phi[a];
      free_[extent(b, n_) + extent(a)] = free[a] - loss(w, 0);
      double* row = W_.data() + extent(b, n_, n_);
      for (int j = 0; j <= a; ++j) row[a * n_ + j] = row[j * n_ + a] = W[a * all + j] - loss(w, 1 + j);
      for (int k = 0; k < m_; ++k)
        B_[extent(b, n_, m_) + extent(a, m_) + extent(k)] = B[a * m_ + k] - loss(w, 1 + n_ + k);
    }
    for (int r = 0; r < e_; ++r) {
      const std::size_t at = extent(b, e_) + extent(r);
      const double* w = space.effector_W.data() + at * extent(all) + n_;
      effector_free_[at] = space.effector_free[at] - loss(w, 0);
      for (int j = 0; j < n_; ++j)
        effector_W_[at * extent(n_) + extent(j)] = space.effector_W[at * extent(all) + extent(j)] - loss(w, 1 + j);
      for (int k = 0; k < m_; ++k)
        effector_B_[at * extent(m_) + extent(k)] = space.effector_B[at * extent(m_) + extent(k)] - loss(w, 1 + n_ + k);
    }
  }
  reduced_ = space;
  reduced_.rows = n_;
  reduced_.compliance = reduced_.command_scale = {};  // those of all rows
  reduced_.phi = phi_;
  reduced_.free = free_;
  reduced_.W = W_;
  reduced_.B = B_;
  reduced_.effector_free = effector_free_;
  reduced_.effector_W = effector_W_;
  reduced_.effector_B = effector_B_;
  return reduced_;
}

void EqualityRows::forget(int robot) {
  const auto clear = [&](std::vector<double>& values, std::size_t count) {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(extent(robot) * count), count, 0.0);
  };
  clear(solved_, extent(1 + n_ + m_, s_));
  for (auto* v : {&phi_, &free_}) clear(*v, extent(n_));
  clear(W_, extent(n_, n_));
  clear(B_, extent(n_, m_));
  clear(effector_free_, extent(e_));
  clear(effector_W_, extent(e_, n_));
  clear(effector_B_, extent(e_, m_));
}

void EqualityRows::multipliers(int robot, const double* lambda_a, const double* dc, double* lambda_s) const {
  if (s_ == 0) return;
  const double* Y = solved_.data() + extent(robot, 1 + n_ + m_, s_);
  for (int i = 0; i < s_; ++i) {
    double sum = Y[i];
    for (int j = 0; j < n_; ++j) sum += Y[(1 + j) * s_ + i] * lambda_a[j];
    for (int k = 0; k < m_; ++k) sum += Y[(1 + n_ + k) * s_ + i] * dc[k];
    lambda_s[i] = -sum;
  }
}

}  // namespace supple
