#pragma once
// A team's loops over the rows of a contact problem (scaled_contact.hpp). Sums are of fixed parts in a fixed order, so
// the numbers do not depend on how many members the team has.

#include "kernels/base/team.hpp"
#include "kernels/dense/general_solve.hpp"
#include "kernels/points/contact_newton.hpp"

namespace supple::contact {

// Parts of a sum, and the columns to which a matrix is padded.
inline constexpr int sum_parts = 32, column_pad = 8;

SUPPLE_INLINE int padded_columns(int n) {
  return (n + column_pad - 1) / column_pad * column_pad;
}

// sum a_k b_k in eight chains.
SUPPLE_HD inline double chained_product(const double* a, const double* b, int n) {
  double s[column_pad] = {};
  int k = 0;
  for (; k + column_pad <= n; k += column_pad)
    for (int l = 0; l < column_pad; ++l) s[l] += a[k + l] * b[k + l];
  double sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  for (; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

template <class Team>
class TeamRows {
 public:
  // Memory of the team for problems of n rows whose matrix has `width` columns: numbers(n, width).
  SUPPLE_HD TeamRows(Team team, int n, int width, double* memory) : team_(team) {
    const int ld = padded_columns(width);
    const auto take = [&](int count) {
      double* taken = memory;
      memory += count;
      return taken;
    };
    work.y = take(n), work.b = take(n), work.error = take(n), work.step_y = take(n), work.step_b = take(n);
    work.prior = take(n), work.trial = take(n), work.right = take(n > ld ? n : ld);
    work.D = take(9 * n);
    work.spare = take(2 * n);
    matrix_ = take(width * ld);
    products_ = take(n * ld);
    partial_ = take(2 * part_numbers);
    work.active = reinterpret_cast<int*>(memory);
  }
  static SUPPLE_INLINE std::size_t numbers(int n, int width) {
    const std::size_t rows = static_cast<std::size_t>(n), ld = static_cast<std::size_t>(padded_columns(width));
    return 20 * rows + ld + (rows + ld) * ld + 2 * part_numbers + rows / 2 + 1;
  }

  NewtonWork work;

  template <class F>
  SUPPLE_HD void each(int n, F f) {
    for (int i = team_.rank(); i < n; i += team_.size()) f(i);
    team_.sync();
  }
  template <class F>
  SUPPLE_HD void once(F f) {
    if (team_.rank() == 0) f();
    team_.sync();
  }
  template <int K, class F>
  SUPPLE_HD void largest(int n, double* most, F f) {
    if (team_.size() == 1) {
      for (int i = 0; i < n; ++i) f(i, most);
      return;
    }
    parts<K>([&](int part, double* mine) {
      for (int i = part; i < n; i += sum_parts) f(i, mine);
    });
    for (int part = 0; part < sum_parts; ++part)
      for (int k = 0; k < K; ++k) most[k] = coulomb::larger(most[k], latest_[K * part + k]);
  }
  template <class F>
  SUPPLE_HD double sum(int n, F f) {
    parts<1>([&](int part, double* mine) {
      for (int i = part; i < n; i += sum_parts) mine[0] += f(i);
    });
    double total[1];
    add_parts<1>(total);
    return total[0];
  }

  SUPPLE_HD void gather(const ScaledContact& p, double factor, const double* x, double* u) const {
    if (team_.size() == 1) {
      for (int k = 0; k < p.ld; ++k) u[k] = 0;
      for (int i = 0; i < p.n; ++i) {
        const double* row = p.row(i);
        const double by = factor * x[i];
        SUPPLE_SIMD
        for (int k = 0; k < p.ld; ++k) u[k] += by * row[k];
      }
      return;
    }
    for (int k = team_.rank(); k < p.ld; k += team_.size()) {
      double sum = 0;
      for (int i = 0; i < p.n; ++i) {
        const double by = factor * x[i];
        sum += by * p.row(i)[k];
      }
      u[k] = sum;
    }
    team_.sync();
  }
  SUPPLE_HD void spread(const ScaledContact& p, const double* u, double* y) {
    each(p.n, [&](int i) { y[i] = chained_product(p.row(i), u, p.ld); });
  }
  SUPPLE_HD void apply(const ScaledContact& p, const double* x, double* y) {
    team_.sync();  // a sweep may have ended with members still reading w
    if (p.factored) {
      gather(p, 1, x, p.u);
      spread(p, p.u, y);
    } else {
      each(p.n, [&](int i) { y[i] = chained_product(p.row(i), x, p.n); });
    }
  }
  template <int K>
  SUPPLE_HD void present(const ScaledContact& p, int i, double* w) {
    if (!p.factored) {
      for (int k = 0; k < K; ++k) w[k] = p.w[i + k];
      return;
    }
    parts<K>([&](int part, double* mine) {
      for (int c = part; c < p.ld; c += sum_parts)
        for (int k = 0; k < K; ++k) mine[k] += p.row(i + k)[c] * p.u[c];
    });
    add_parts<K>(w);
    for (int k = 0; k < K; ++k) w[k] += p.d[i + k] + p.compliance[i + k] * p.lambda[i + k];
  }
  template <int K>
  SUPPLE_HD void move(const ScaledContact& p, int i, const double* by) {
    team_.sync();  // everyone has read lambda, and w or u
    double* moved = p.factored ? p.u : p.w;
    for (int j = team_.rank(); j < (p.factored ? p.ld : p.n); j += team_.size()) {
      for (int k = 0; k < K; ++k) moved[j] += by[k] * p.row(i + k)[j];
      if (!p.factored && j >= i && j < i + K) moved[j] += p.compliance[j] * by[j - i];
    }
    if (team_.rank() == 0)
      for (int k = 0; k < K; ++k) p.lambda[i + k] += by[k];
    team_.sync();
  }

  SUPPLE_HD bool solve_newton(const ScaledContact& p, const NewtonWork& k, int active) {
    const int size = p.factored ? p.width : active, ld = padded_columns(size);
    if (p.factored) {
      add_products(p, k, active);
    } else {
      // I + W D on the active rows
      each(active * active, [&](int e) {
        const int r = e / active, a = e % active, i = k.active[a];
        const double* W = p.row(k.active[r]);
        const int of = i < p.boxes ? 0 : (i - p.boxes) % 3, count = i < p.boxes ? 1 : 3;
        double sum = r == a ? 1 : 0;
        for (int c = 0; c < count; ++c) sum += W[i - of + c] * k.D[9 * (i - of) + 3 * c + of];
        matrix_[r * ld + a] = sum;
      });
    }
    return general_solve(team_, matrix_, size, ld, k.right, next_parts());
  }

 private:
  static constexpr int part_numbers = 3 * sum_parts;
  static_assert(part_numbers >= 2 * pivot_parts);
  Team team_;
  double *matrix_, *products_, *partial_;
  const double* latest_ = nullptr;
  int turn_ = 0;

  // Two areas in turns: a member that is late still reads the one before.
  SUPPLE_HD double* next_parts() {
    turn_ = 1 - turn_;
    return partial_ + turn_ * part_numbers;
  }
  // f(part, mine) adds to K numbers of each part, from 0.
  template <int K, class F>
  SUPPLE_HD void parts(F f) {
    double* all = next_parts();
    for (int part = team_.rank(); part < sum_parts; part += team_.size()) {
      double mine[K] = {};
      f(part, mine);
      for (int k = 0; k < K; ++k) all[K * part + k] = mine[k];
    }
    latest_ = all;
    team_.sync();
  }
  template <int K>
  SUPPLE_HD void add_parts(double* total) const {
    for (int k = 0; k < K; ++k) total[k] = 0;
    for (int part = 0; part < sum_parts; ++part)
      for (int k = 0; k < K; ++k) total[k] += latest_[K * part + k];
  }

  // matrix = I + V_a^T (D V_a), in tiles of 4 x 8 that a member keeps in registers.
  SUPPLE_HD void add_products(const ScaledContact& p, const NewtonWork& k, int active) {
    constexpr int tall = 4, wide = column_pad;
    const int size = p.width, ld = p.ld;
    for (int a = 0; a < active; ++a) {
      const int i = k.active[a], of = i < p.boxes ? 0 : (i - p.boxes) % 3, count = i < p.boxes ? 1 : 3;
      const double* D = k.D + 9 * (i - of) + 3 * of;
      for (int c = team_.rank(); c < ld; c += team_.size()) {
        double sum = 0;
        for (int j = 0; j < count; ++j) sum += D[j] * p.row(i - of + j)[c];
        products_[a * ld + c] = sum;
      }
    }
    team_.sync();
    const int columns = ld / wide, tiles = (size + tall - 1) / tall * columns;
    for (int tile = team_.rank(); tile < tiles; tile += team_.size()) {
      const int first = tile / columns * tall, from = tile % columns * wide;
      double s[tall][wide] = {};
      for (int a = 0; a < active; ++a) {
        const double *v = p.row(k.active[a]) + first, *q = products_ + a * ld + from;
        SUPPLE_UNROLL
        for (int r = 0; r < tall; ++r) SUPPLE_UNROLL
        for (int c = 0; c < wide; ++c) s[r][c] += v[r] * q[c];
      }
      for (int r = 0; r < tall && first + r < size; ++r)
        for (int c = 0; c < wide; ++c) matrix_[(first + r) * ld + from + c] = s[r][c] + (first + r == from + c ? 1 : 0);
    }
    team_.sync();
  }
};

}  // namespace supple::contact
