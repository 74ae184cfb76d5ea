#pragma once
// A team's loops over the rows of a contact problem (scaled_contact.hpp). Sums are of fixed parts in a fixed order, so
// the numbers do not depend on how many members the team has.

#include "kernels/base/team.hpp"
#include "kernels/contact/contact_newton.hpp"
#include "kernels/dense/general_solve.hpp"

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
    work.P = take(3 * n);
    work.Q = take(3 * n);
    work.spare = take(2 * n);
    matrix_ = take(width * ld);
    left_ = take(n * ld);
    right_ = take(n * ld);
    partial_ = take(2 * part_numbers);
    work.active = reinterpret_cast<int*>(memory);
  }
  static SUPPLE_INLINE std::size_t numbers(int n, int width) {
    const std::size_t rows = static_cast<std::size_t>(n), ld = static_cast<std::size_t>(padded_columns(width));
    return 17 * rows + ld + (2 * rows + ld) * ld + 2 * part_numbers + rows / 2 + 1;
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

  // Unknowns: one per slot, or the modes if they are fewer.
  SUPPLE_HD bool solve_newton(const ScaledContact& p, const NewtonWork& k, int active) {
    if (!p.factored) {
      // I + Q^T W P
      each(active * active, [&](int e) {
        const int a = e / active, b = e % active, slot = k.active[a], other = k.active[b];
        const Block rows = block_of(p, slot), columns = block_of(p, other);
        double sum = a == b ? 1 : 0;
        for (int r = 0; r < rows.rows; ++r)
          for (int c = 0; c < columns.rows; ++c)
            sum += k.Q[3 * slot + r] * p.row(rows.first + r)[columns.first + c] * k.P[3 * other + c];
        matrix_[a * padded_columns(active) + b] = sum;
      });
      each(active, [&](int a) {
        const int slot = k.active[a];
        const Block rows = block_of(p, slot);
        double sum = 0;
        for (int r = 0; r < rows.rows; ++r) sum += k.Q[3 * slot + r] * k.right[rows.first + r];
        k.trial[a] = sum;
      });
      each(active, [&](int a) { k.right[a] = k.trial[a]; });
      return general_solve(team_, matrix_, active, padded_columns(active), k.right, next_parts());
    }
    // Rows P^T V and Q^T V
    combine(p, k, active);
    if (active < p.width) {
      each(active, [&](int a) { k.trial[a] = chained_product(right_ + a * p.ld, k.right, p.width); });
      each(active, [&](int a) { k.right[a] = k.trial[a]; });
      multiply_rows(p, active);
      return general_solve(team_, matrix_, active, padded_columns(active), k.right, next_parts());
    }
    add_products(p, active);
    if (!general_solve(team_, matrix_, p.width, p.ld, k.right, next_parts())) return false;
    each(active, [&](int a) { k.trial[a] = chained_product(right_ + a * p.ld, k.right, p.width); });
    each(active, [&](int a) { k.right[a] = k.trial[a]; });
    return true;
  }

 private:
  static constexpr int part_numbers = 3 * sum_parts;
  static_assert(part_numbers >= 2 * pivot_parts);
  Team team_;
  double *matrix_, *left_, *right_, *partial_;
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

  SUPPLE_HD void combine(const ScaledContact& p, const NewtonWork& k, int active) {
    for (int a = 0; a < active; ++a) {
      const int slot = k.active[a];
      const Block block = block_of(p, slot);
      const double *P = k.P + 3 * slot, *Q = k.Q + 3 * slot;
      for (int c = team_.rank(); c < p.ld; c += team_.size()) {
        double left = 0, right = 0;
        for (int r = 0; r < block.rows; ++r) {
          const double v = p.row(block.first + r)[c];
          left += P[r] * v;
          right += Q[r] * v;
        }
        left_[a * p.ld + c] = left;
        right_[a * p.ld + c] = right;
      }
    }
    team_.sync();
  }
  // matrix = I + (Q^T V) (P^T V)^T, in tiles that a member keeps in registers.
  SUPPLE_HD void multiply_rows(const ScaledContact& p, int active) {
    constexpr int tile = 4;
    const int ld = padded_columns(active), across = (active + tile - 1) / tile;
    each(across * across, [&](int e) {
      const int first = e / across * tile, from = e % across * tile;
      double s[tile][tile] = {};
      // The last tiles repeat the last row.
      const double *q[tile], *v[tile];
      for (int r = 0; r < tile; ++r) {
        q[r] = right_ + (first + r < active ? first + r : active - 1) * p.ld;
        v[r] = left_ + (from + r < active ? from + r : active - 1) * p.ld;
      }
      for (int k = 0; k < p.width; ++k) {
        SUPPLE_UNROLL
        for (int r = 0; r < tile; ++r) SUPPLE_UNROLL
        for (int c = 0; c < tile; ++c) s[r][c] += q[r][k] * v[c][k];
      }
      for (int r = 0; r < tile && first + r < active; ++r)
        for (int c = 0; c < tile && from + c < active; ++c)
          matrix_[(first + r) * ld + from + c] = s[r][c] + (first + r == from + c ? 1 : 0);
    });
  }
  // matrix = I + (P^T V)^T (Q^T V), as above.
  SUPPLE_HD void add_products(const ScaledContact& p, int active) {
    constexpr int tall = 4, wide = column_pad;
    const int size = p.width, ld = p.ld;
    const int columns = ld / wide, tiles = (size + tall - 1) / tall * columns;
    each(tiles, [&](int tile) {
      const int first = tile / columns * tall, from = tile % columns * wide;
      double s[tall][wide] = {};
      for (int a = 0; a < active; ++a) {
        const double *v = left_ + a * ld + first, *q = right_ + a * ld + from;
        SUPPLE_UNROLL
        for (int r = 0; r < tall; ++r) SUPPLE_UNROLL
        for (int c = 0; c < wide; ++c) s[r][c] += v[r] * q[c];
      }
      for (int r = 0; r < tall && first + r < size; ++r)
        for (int c = 0; c < wide; ++c) matrix_[(first + r) * ld + from + c] = s[r][c] + (first + r == from + c ? 1 : 0);
    });
  }
};

}  // namespace supple::contact
