#include "solvers/qpcc/piece_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/contract.hpp"
#include "solvers/dense/general_factor.hpp"
#include "solvers/dense/pack.hpp"
#include "solvers/qp/active_set.hpp"

namespace supple::qpcc {
namespace {

constexpr double least_pivot = 1e-7;      // of the largest: below, the equations count as dependent
constexpr double equation_limit = 1e-11;  // |E w| of the terms: above, the forces are kept as unknowns
constexpr double largest_force = 1e6;   // of the load, the motion without contact forces: beyond, W is called singular
constexpr double noticed_force = 1e-6;  // and below, forces are measured by that
constexpr double rounding = 1e-14;      // of the terms of a sum: counts as 0
constexpr double infinity = std::numeric_limits<double>::infinity();

int most_unknowns(int n, int m) {
  return n + 3 * m + 1;
}
int most_rows(int n, int m, int k, int facets) {
  return 2 * (n + k) + (facets + 3) * m;
}

}  // namespace

PieceQp::PieceQp(const ScaledQpcc& problem, int n, int m, int k, int facets)
    : q_(problem),
      workspace_(most_unknowns(n, m), most_rows(n, m, k, facets)),
      shapes_(extent(m)),
      first_(extent(m)),
      pivots_(extent(3 * m)),
      sides_(extent(most_unknowns(n, m) + most_rows(n, m, k, facets))),
      limit_of_(extent(2 * (n + k))),
      limit_side_(limit_of_.size()) {}

std::size_t PieceQp::numbers(int n, int m, int k, int facets) {
  const int u = most_unknowns(n, m), r = most_rows(n, m, k, facets), f = qp::padded(3 * m), all = n + 3 * m;
  return extent(f, f) + extent(pack_width, f + pack_width) + extent(n + 1, f) + extent(6 * m, u) + extent(9 * m) +
         extent(all, u) + extent(2 * all) + extent(u, u) + extent(6, u) + extent(r, u) + extent(3, r);
}

void PieceQp::use(Room room) {
  const int u = most_unknowns(q_.n, q_.m), r = most_rows(q_.n, q_.m, q_.k, q_.facets), f = qp::padded(3 * q_.m);
  K_ = room.take(extent(f, f));
  panel_ = room.take(extent(pack_width, f + pack_width));
  p_ = room.take(extent(q_.n + 1, f));
  L_ = room.take(extent(3 * q_.m, u));
  motion_ = room.take(extent(3 * q_.m, u));
  l_ = room.take(extent(6 * q_.m));  // and the constant part of the motion behind it
  eta_ = room.take(extent(3 * q_.m));
  PL_ = room.take(extent(q_.all, u));
  Pl_ = room.take(extent(2 * q_.all));  // and sums of |terms| behind it
  P_ = room.take(extent(u, u));
  for (double** v : {&g_, &lower_, &upper_, &x_, &bound_, &centre_}) *v = room.take(extent(u));
  C_ = room.take(extent(r, u));
  for (double** v : {&row_lower_, &row_upper_, &row_}) *v = room.take(extent(r));
}

void PieceQp::lay_out(const unsigned char* piece) {
  forces_ = 0;
  for (int c = 0; c < q_.m; ++c) {
    shapes_[c] = q_.pyramid[c].shape(piece[c]);
    first_[c] = forces_;
    forces_ += shapes_[c].size;
  }
}

// K p = -E (W_x x + d) with K = E W_lambda S; L = S K^-1 (...). False where K has no good factors.
bool PieceQp::eliminate() {
  const int n = q_.n, f = forces_, ld = qp::padded(f);
  std::fill_n(K_, extent(f, ld), 0.0);
  for (int c = 0; c < q_.m; ++c)
    for (int e = 0; e < shapes_[c].size; ++e) {
      const Vector3& E = shapes_[c].E[e];
      const int i = first_[c] + e;
      double* row = eta_;  // E W, force columns
      std::fill_n(row, 3 * q_.m, 0.0);
      double constant = 0;
      for (int j = 0; j < n; ++j) p_[extent(j, ld) + extent(i)] = 0;
      for (int a = 0; a < 3; ++a) {
        if (E[a] == 0) continue;
        const double* w = q_.W + extent(3 * c + a, q_.all);
        add_scaled(row, E[a], w + n, 3 * q_.m);
        constant -= E[a] * q_.d[3 * c + a];
        for (int j = 0; j < n; ++j) p_[extent(j, ld) + extent(i)] -= E[a] * w[j];
      }
      p_[extent(n, ld) + extent(i)] = constant;
      for (int o = 0; o < q_.m; ++o)
        for (int j = 0; j < shapes_[o].size; ++j)
          K_[extent(i, ld) + extent(first_[o] + j)] = dot3(shapes_[o].S[j], row + 3 * o);
    }
  if (!lu_factor(K_, f, ld, pivots_.data(), panel_)) return false;
  double least = infinity, largest = 0;
  for (int i = 0; i < f; ++i) {
    const double pivot = std::abs(K_[extent(i, ld) + extent(i)]);
    least = std::min(least, pivot);
    largest = std::max(largest, pivot);
  }
  if (f > 0 && !(least > least_pivot * largest)) return false;
  for (int j = 0; j <= n; ++j) lu_solve(K_, f, ld, pivots_.data(), p_ + extent(j, ld));
  for (int c = 0; c < q_.m; ++c)
    for (int a = 0; a < 3; ++a) {
      double* row = L_ + extent(3 * c + a, width_);
      std::fill_n(row, width_, 0.0);
      for (int j = 0; j <= n; ++j) {
        double value = 0;
        for (int b = 0; b < shapes_[c].size; ++b)
          value += shapes_[c].S[b][a] * p_[extent(j, ld) + extent(first_[c] + b)];
        (j < n ? row[j] : l_[3 * c + a]) = value;
      }
    }
  return true;
}

void PieceQp::keep_forces() {
  std::fill_n(L_, extent(3 * q_.m, width_), 0.0);
  std::fill_n(l_, 3 * q_.m, 0.0);
  for (int c = 0; c < q_.m; ++c)
    for (int b = 0; b < shapes_[c].size; ++b)
      for (int a = 0; a < 3; ++a) L_[extent(3 * c + a, width_) + extent(q_.n + first_[c] + b)] = shapes_[c].S[b][a];
}

// P_ = Z^T P Z, g_ = Z^T (P z_0 + g) with z = Z u + z_0.
void PieceQp::reduce_objective() {
  const int n = q_.n, all = q_.all, w = width_;
  std::fill_n(P_, extent(w, w), 0.0);
  std::fill_n(g_, w, 0.0);
  if (relaxed_) {
    P_[extent(w, w) - 1] = 1;
    return;
  }
  for (int i = 0; i < n; ++i) std::copy_n(q_.matrix_row(q_.P, i), n, P_ + extent(i, w));
  std::copy_n(q_.g, n, g_);
  if (forces_ == 0) return;
  for (int i = 0; i < all; ++i) {
    double* row = PL_ + extent(i, w);
    std::fill_n(row, w, 0.0);
    Pl_[i] = 0;
    for (int c = 0; c < q_.m; ++c) {
      if (shapes_[c].size == 0) continue;
      for (int b = 3 * c; b < 3 * c + 3; ++b) {
        const double factor = q_.matrix_row(q_.P, i)[n + b];
        add_scaled(row, factor, L_ + extent(b, w), w);
        Pl_[i] += factor * l_[b];
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    add_scaled(P_ + extent(i, w), 1, PL_ + extent(i, w), w);
    for (int j = 0; j < w; ++j) P_[extent(j, w) + extent(i)] += PL_[extent(i, w) + extent(j)];
    g_[i] += Pl_[i];
  }
  for (int c = 0; c < q_.m; ++c) {
    if (shapes_[c].size == 0) continue;
    for (int b = 3 * c; b < 3 * c + 3; ++b) {
      const double* row = L_ + extent(b, w);
      for (int i = 0; i < w; ++i)
        if (row[i] != 0) add_scaled(P_ + extent(i, w), row[i], PL_ + extent(n + b, w), w);
      add_scaled(g_, q_.g[n + b] + Pl_[n + b], row, w);
    }
  }
  clear_rounding();
}

// Of unknown i: sum_a |Z_ai| P_aa^1/2, whose square bounds the terms of its curvature, and the terms of its slope.
PieceQp::Terms PieceQp::terms(int i) const {
  Terms t;
  const auto add = [&](double factor, int a) {
    t.curvature += factor * std::sqrt(std::max(q_.matrix_row(q_.P, a)[a], 0.0));
    t.slope += factor * (std::abs(q_.g[a]) + std::abs(Pl_[a]));
  };
  if (i < q_.n) add(1, i);
  for (int b = 0; b < 3 * q_.m; ++b)
    if (shapes_[b / 3].size > 0) add(std::abs(L_[extent(b, width_) + extent(i)]), q_.n + b);
  return t;
}

void PieceQp::clear_rounding() {
  const int w = width_;
  for (int i = 0; i < w; ++i) {
    const Terms t = terms(i);
    if (P_[extent(i, w) + extent(i)] <= rounding * t.curvature * t.curvature)
      for (int j = 0; j < w; ++j) P_[extent(i, w) + extent(j)] = P_[extent(j, w) + extent(i)] = 0;
    if (std::abs(g_[i]) <= rounding * t.slope) g_[i] = 0;
  }
}

// Rounding of Z^T P Z can leave it indefinite; errors are below the unit roundoff times products of terms.
void PieceQp::restore_convexity() {
  for (int i = 0; i < width_; ++i) {
    const Terms t = terms(i);
    P_[extent(i, width_) + extent(i)] += 10 * rounding * t.curvature * t.curvature;
  }
}

void PieceQp::add_row(double low, double high) {
  row_lower_[rows_] = low;
  row_upper_[rows_++] = high;
}

// row . u >= limit - t size, or <= limit + t size.
void PieceQp::add_limit(int constraint, QpSide side, double sign, const double* row, double limit, double size) {
  if (!std::isfinite(limit)) return;
  double* to = next_row();
  std::copy_n(row, width_, to);
  to[width_ - 1] = sign * (size > 0 ? size : 1);
  limit_of_[rows_] = constraint;
  limit_side_[rows_] = side;
  side == QpSide::lower ? add_row(limit, infinity) : add_row(-infinity, limit);
}

void PieceQp::build(const double* centre) {
  const int n = q_.n, w = width_;
  reduce_objective();
  rows_ = 0;
  std::fill_n(lower_, w, -infinity);
  std::fill_n(upper_, w, infinity);
  double* scratch = x_;
  if (relaxed_) {
    lower_[w - 1] = 0;
    std::fill_n(centre_, w, 0.0);
    std::copy_n(centre, n, centre_);
    for (int i = 0; i < n; ++i) {
      std::fill_n(scratch, w, 0.0);
      scratch[i] = 1;
      add_limit(i, QpSide::lower, 1, scratch, q_.lower[i], 1);
      add_limit(i, QpSide::upper, -1, scratch, q_.upper[i], 1);
    }
  } else {
    std::copy_n(q_.lower, n, lower_);
    std::copy_n(q_.upper, n, upper_);
  }
  for (int r = 0; r < q_.k; ++r) {
    const double* C = q_.matrix_row(q_.C, r);
    double* row = relaxed_ ? scratch : next_row();
    std::fill_n(row, w, 0.0);
    std::copy_n(C, n, row);
    double constant = 0;
    for (int c = 0; c < q_.m; ++c)
      for (int b = 3 * c; b < 3 * c + 3 && shapes_[c].size > 0; ++b) {
        add_scaled(row, C[n + b], L_ + extent(b, w), w);
        constant += C[n + b] * l_[b];
      }
    const double low = q_.row_lower[r] - constant, high = q_.row_upper[r] - constant;
    if (relaxed_) {
      add_limit(n + r, QpSide::lower, 1, scratch, low, q_.row_size[r]);
      add_limit(n + r, QpSide::upper, -1, scratch, high, q_.row_size[r]);
    } else {
      add_row(low, high);
    }
  }
  limit_rows_ = rows_;
  // Motions that rows need, w = M u + constant.
  double* constant = l_ + 3 * q_.m;
  for (int c = 0; c < q_.m; ++c) {
    const PieceShape& shape = shapes_[c];
    const bool tangents = shape.size > 0 && !q_.pyramid[c].frictionless() && (kept_ || shape.size < 3);
    const bool normal = shape.size == 0 || kept_;
    for (int a = normal ? 0 : 1; a < (tangents ? 3 : 1); ++a) {
      const double* W = q_.matrix_row(q_.W, 3 * c + a);
      double* row = motion_ + extent(3 * c + a, w);
      std::fill_n(row, w, 0.0);
      std::copy_n(W, n, row);
      constant[3 * c + a] = q_.d[3 * c + a];
      for (int o = 0; o < q_.m; ++o)
        for (int b = 3 * o; b < 3 * o + 3 && shapes_[o].size > 0; ++b) {
          add_scaled(row, W[n + b], L_ + extent(b, w), w);
          constant[3 * c + a] += W[n + b] * l_[b];
        }
    }
  }
  for (int c = 0; c < q_.m; ++c)
    for (int r = 0; r < shapes_[c].rows; ++r) {
      const PieceShape::Row& source = shapes_[c].row[r];
      double* row = next_row();
      std::fill_n(row, w, 0.0);
      double fixed = 0;
      for (int a = 0; a < 3; ++a) {
        if (source.force[a] != 0) {
          add_scaled(row, source.force[a], L_ + extent(3 * c + a, w), w);
          fixed += source.force[a] * l_[3 * c + a];
        }
        if (source.motion[a] != 0) {
          add_scaled(row, source.motion[a], motion_ + extent(3 * c + a, w), w);
          fixed += source.motion[a] * constant[3 * c + a];
        }
      }
      add_row(-fixed, infinity);
    }
  for (int c = 0; c < q_.m && kept_; ++c)
    for (int e = 0; e < shapes_[c].size; ++e) {
      double* row = next_row();
      std::fill_n(row, w, 0.0);
      double fixed = 0;
      for (int a = 0; a < 3; ++a) {
        if (shapes_[c].E[e][a] == 0) continue;
        add_scaled(row, shapes_[c].E[e][a], motion_ + extent(3 * c + a, w), w);
        fixed += shapes_[c].E[e][a] * constant[3 * c + a];
      }
      add_row(-fixed, -fixed);
    }
}

QpReport PieceQp::run(PiecePoint& point) {
  const auto span = [](double* v, std::size_t size) { return std::span<double>(v, size); };
  const std::size_t w = extent(width_), r = extent(rows_);
  const std::span<QpSide> sides = std::span(sides_).first(w + r);
  std::fill(sides.begin(), sides.end(), QpSide::none);
  if (!relaxed_) {
    std::copy_n(point.active, q_.n, sides.begin());
    std::copy_n(point.active + q_.n, q_.k, sides.begin() + width_);
    int next = width_ + limit_rows_;
    for (int c = 0; c < q_.m; ++c)
      for (int i = 0; i < shapes_[c].rows; ++i) sides[extent(next++)] = point.contact_active[c * q_.facets + i];
  }
  const QpProblem problem{.n = width_,
                          .m = rows_,
                          .P = span(P_, w * w),
                          .g = span(g_, w),
                          .lower = span(lower_, w),
                          .upper = span(upper_, w),
                          .C = span(C_, r * w),
                          .row_lower = span(row_lower_, r),
                          .row_upper = span(row_upper_, r),
                          .centre = relaxed_ ? span(centre_, w) : std::span<double>{}};
  const QpSolution solution{span(x_, w), span(bound_, w), span(row_, r), sides};
  const QpReport report = solve_qp(problem, solution, workspace_, {});
  ++programs;
  iterations += report.iterations;
  return report;
}

void PieceQp::take_point(PiecePoint& point) {
  const int n = q_.n, ld = qp::padded(forces_);
  std::copy_n(x_, n, point.z);
  point.relaxation = relaxed_ ? x_[width_ - 1] : 0;
  point.force = 0;
  int row = width_ + limit_rows_;
  for (int c = 0; c < q_.m; ++c) {
    const PieceShape& shape = shapes_[c];
    Vector3 p{};
    double* lambda = point.z + n + 3 * c;
    std::fill_n(lambda, 3, 0.0);
    for (int b = 0; b < shape.size; ++b) {
      const int i = first_[c] + b;
      if (kept_) {
        p[b] = x_[n + i];
      } else {
        p[b] = p_[extent(n, ld) + extent(i)];
        for (int j = 0; j < n; ++j) p[b] += p_[extent(j, ld) + extent(i)] * x_[j];
      }
      // Row b of a slipping contact requires p_b >= 0.
      if (shape.size < 3 && (p[b] < 0 || sides_[row + b] != QpSide::none)) p[b] = 0;
      for (int a = 0; a < 3; ++a) lambda[a] += shape.S[b][a] * p[b];
    }
    for (int i = 0; i < shape.rows; ++i) point.contact_active[c * q_.facets + i] = sides_[row + i];
    row += shape.rows;
    for (int a = 0; a < 3; ++a) point.force = std::max(point.force, std::abs(lambda[a]));
  }
  if (!relaxed_) {
    std::copy_n(sides_.begin(), n, point.active);
    std::copy_n(sides_.begin() + width_, q_.k, point.active + n);
  }
  point.load = 0;
  point.largest_x = qp::largest(point.z, n);
  for (int c = 0; c < q_.m; ++c) {
    double load = 0;
    q_.motion(c, point.z, point.largest_x, point.force, point.w + 3 * c, point.motion_size[c], load);
    point.load = std::max(point.load, load);
  }
  point.force_size = std::max(point.force, noticed_force * point.load);
}

double PieceQp::equation_error(const PiecePoint& point) const {
  double worst = 0;
  for (int c = 0; c < q_.m; ++c)
    for (int e = 0; e < shapes_[c].size; ++e) {
      const double error = std::abs(dot3(shapes_[c].E[e], point.w + 3 * c));
      if (error > 0) worst = std::max(worst, error / point.motion_size[c]);
    }
  return worst;
}

// beta = sum of rows' multipliers + E^T eta, alpha = (P z + g + C^T y)_lambda - W_lambda^T beta, where eta makes S^T
// alpha what the rows on p leave of it.
void PieceQp::take_multipliers(PiecePoint& point) {
  const int n = q_.n, m = q_.m, all = q_.all, ld = qp::padded(forces_);
  std::fill_n(point.bound, n, 0.0);
  std::fill_n(point.row, q_.k, 0.0);
  if (relaxed_) {
    for (int r = 0; r < limit_rows_; ++r)
      (limit_of_[r] < n ? point.bound[limit_of_[r]] : point.row[limit_of_[r] - n]) += row_[r];
  } else {
    std::copy_n(bound_, n, point.bound);
    std::copy_n(row_, q_.k, point.row);
  }
  double *gradient = Pl_, *size = Pl_ + all;
  point.objective = point.objective_size = 0;
  for (int i = 0; i < all; ++i) {
    const double* P = q_.matrix_row(q_.P, i);
    double value = 0, of_x = 0, of_forces = 0;
    for (int j = 0; j < n; ++j) {
      value += P[j] * point.z[j];
      of_x += std::abs(P[j]);
    }
    for (int j = n; j < all; ++j) {
      value += P[j] * point.z[j];
      of_forces += std::abs(P[j]);
    }
    const double terms = of_x * point.largest_x + of_forces * point.force;
    point.objective += point.z[i] * (0.5 * value + q_.g[i]);
    point.objective_size += std::abs(point.z[i]) * (0.5 * terms + std::abs(q_.g[i]));
    gradient[i] = relaxed_ ? 0 : value + q_.g[i];
    size[i] = relaxed_ ? 0 : terms + std::abs(q_.g[i]);
  }
  const auto add = [&](double factor, const double* row) {
    if (factor == 0) return;
    for (int j = 0; j < all; ++j) {
      gradient[j] += factor * row[j];
      size[j] += std::abs(factor * row[j]);
    }
  };
  for (int i = 0; i < n; ++i) {
    gradient[i] += point.bound[i];
    size[i] += std::abs(point.bound[i]);
  }
  for (int r = 0; r < q_.k; ++r) add(point.row[r], q_.matrix_row(q_.C, r));
  std::fill_n(point.beta, 3 * m, 0.0);
  std::fill_n(eta_, forces_, 0.0);
  int next = limit_rows_;
  for (int c = 0; c < m; ++c)
    for (int i = 0; i < shapes_[c].rows; ++i) {
      const double sigma = std::max(-row_[next++], 0.0);
      if (sigma == 0) continue;
      const PieceShape::Row& row = shapes_[c].row[i];
      for (int a = 0; a < 3; ++a) point.beta[3 * c + a] += sigma * row.motion[a];
      for (int b = 0; b < shapes_[c].size; ++b) eta_[first_[c] + b] -= sigma * dot3(row.force, shapes_[c].S[b].data());
    }
  if (kept_) {
    for (int i = 0; i < forces_; ++i) eta_[i] = -row_[next++];
  } else if (forces_ > 0) {
    double* left = panel_;  // (c - W^T beta)_lambda
    std::copy_n(gradient + n, 3 * m, left);
    for (int a = 0; a < 3 * m; ++a)
      if (point.beta[a] != 0) add_scaled(left, -point.beta[a], q_.matrix_row(q_.W, a) + n, 3 * m);
    for (int c = 0; c < m; ++c)
      for (int b = 0; b < shapes_[c].size; ++b) eta_[first_[c] + b] += dot3(shapes_[c].S[b], left + 3 * c);
    lu_solve_transposed(K_, forces_, ld, pivots_.data(), eta_);
  }
  for (int c = 0; c < m; ++c)
    for (int e = 0; e < shapes_[c].size; ++e)
      for (int a = 0; a < 3; ++a) point.beta[3 * c + a] += shapes_[c].E[e][a] * eta_[first_[c] + e];
  for (int a = 0; a < 3 * m; ++a) add(-point.beta[a], q_.matrix_row(q_.W, a));
  std::copy_n(gradient + n, 3 * m, point.alpha);
  point.multiplier_size = std::max(qp::largest(size + n, 3 * m), qp::largest(point.beta, 3 * m));
  // beta carries rounding of the terms of alpha.
  for (int a = 0; a < 3 * m; ++a)
    for (int i = 0; i < n && shapes_[a / 3].size > 0; ++i)
      size[i] += std::abs(q_.matrix_row(q_.W, a)[i]) * point.multiplier_size;
  const double error = qp::largest(gradient, n);
  point.gradient = error > 0 ? error / qp::largest(size, n) : 0;
}

void PieceQp::measure(PiecePoint& point) {
  point.limits = 0;
  const double reach = std::max(point.largest_x, point.force / q_.force_unit);
  const auto look = [&](double value, double low, double high, double size) {
    if (value < low) point.limits = std::max(point.limits, (low - value) / (size * reach + std::abs(low)));
    if (value > high) point.limits = std::max(point.limits, (value - high) / (size * reach + std::abs(high)));
  };
  for (int i = 0; i < q_.n; ++i) look(point.z[i], q_.lower[i], q_.upper[i], 1);
  for (int r = 0; r < q_.k; ++r)
    look(dot(q_.matrix_row(q_.C, r), point.z, q_.all), q_.row_lower[r], q_.row_upper[r], q_.row_size[r]);
}

void PieceQp::solve(PiecePoint& point, bool relaxed, const double* centre) {
  relaxed_ = relaxed;
  lay_out(point.piece);
  for (const bool keep : {false, true}) {
    kept_ = keep;
    width_ = q_.n + (keep ? forces_ : 0) + relaxed;
    if (keep) keep_forces();
    if (!keep && !eliminate()) continue;
    build(centre);
    QpReport report = run(point);
    if (report.status == QpStatus::not_convex && forces_ > 0 && !relaxed) {
      restore_convexity();
      report = run(point);
    }
    point.status = report.status;
    // What elimination rounds may spoil: curvature that is hardly there.
    if (report.status != QpStatus::solved && report.status != QpStatus::infeasible && !keep && forces_ > 0) continue;
    if (report.status != QpStatus::solved) return;
    take_point(point);
    const bool unbounded_force = point.force > largest_force * point.load;
    if (!keep && (unbounded_force || equation_error(point) > equation_limit)) continue;
    if (unbounded_force) {
      point.status = QpStatus::infeasible;
      return;
    }
    take_multipliers(point);
    measure(point);
    return;
  }
}

// Of the unrelaxed program.
int PieceQp::conflicts(std::span<QpccConflict> found) const {
  const int n = q_.n, limits = n + q_.k;
  int count = 0;
  const auto note = [&](int constraint, QpSide side, double weight) {
    for (int i = 0; i < count && constraint >= limits; ++i)
      if (found[extent(i)].constraint == constraint) {
        found[extent(i)].weight += weight;
        return;
      }
    if (extent(count) < found.size()) found[extent(count++)] = {constraint, side, weight};
  };
  for (const QpConflict& conflict : workspace_.conflicts()) {
    const int i = conflict.constraint, row = i - width_;
    if (i < n) {
      note(i, conflict.side, conflict.weight / q_.column[i]);
    } else if (row >= 0 && row < limit_rows_) {
      note(n + row, conflict.side, conflict.weight);
    } else if (row >= limit_rows_) {
      int first = limit_rows_, c = 0;
      while (c < q_.m && row >= first + shapes_[extent(c)].rows) first += shapes_[extent(c++)].rows;
      if (c == q_.m) {  // an equation: of the contact whose forces it belongs to
        const int equation = row - first;
        for (c = 0; c + 1 < q_.m && first_[extent(c + 1)] <= equation;) ++c;
      }
      note(limits + c, QpSide::none, conflict.weight);
    }
  }
  std::sort(found.begin(), found.begin() + count,
            [](const QpccConflict& a, const QpccConflict& b) { return a.constraint < b.constraint; });
  return count;
}

}  // namespace supple::qpcc
