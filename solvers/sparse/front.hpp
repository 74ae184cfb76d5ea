#pragma once
// Dense kernels of one front of a multifrontal factorisation A = L S L^T, S diagonal with entries 1 and -1
// (multifrontal.hpp; Cholesky's where all are 1): m rows, of which the first w are eliminated. The factor is kept in
// slabs, groups of W rows with the W entries of each column side by side (W: one register):
//   entry (i, k) at slab i / W, place (i / W * w + k) * W + i % W.
// So elimination, the update of what remains and both substitutions run over contiguous registers. Rows beyond m up to
// the end of the last slab are zero. The diagonal holds 1 / l_kk.

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/base/threads.hpp"
#include "kernels/math/pack.hpp"

namespace supple::frontal {

using Register = Pack<double>;
inline constexpr int W = Register::width;

struct Front {
  int rows, columns;              // m, w
  double* factor;                 // [slabs][columns][W]
  const double* signs = nullptr;  // [w] S of its columns; null: all are 1

  int slabs() const { return (rows + W - 1) / W; }
  int padded_rows() const { return slabs() * W; }
  /// The first slab with rows that remain; their matrix counts from its first row.
  int first_remaining_slab() const { return columns / W; }
  int update_size() const { return padded_rows() - W * first_remaining_slab(); }
  std::size_t factor_size() const { return static_cast<std::size_t>(padded_rows()) * columns; }
  double* slab(int s) const { return factor + static_cast<std::size_t>(s) * columns * W; }
};

namespace detail {

constexpr int slabs_at_once = 3;  // 3 W of the 32 registers hold sums (of 16 where W is 4)

// Multiplications from which on threads share work within a front: some 30 us of one thread.
constexpr double shared_work = 3e5;

// work(k) of groups of slabs that do not depend on each other, so that no bits depend on the number of threads. Inside a
// parallel region the caller's thread does them all.
template <class Work>
void for_groups(int groups, double multiplications, const Work& work) {
  if (const int threads = std::min(most_threads(), groups); threads > 1 && multiplications > shared_work) {
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int k = 0; k < groups; ++k) work(k);
    return;
  }
  // Apart: most fronts are small, and a parallel region of one thread costs them a tenth.
  for (int k = 0; k < groups; ++k) work(k);
}

// sum[c][s] = sum_{k < count} L[s, k] S[k] L[c, k] over slabs left[s], entries c of the slab `right`.
template <int slabs, bool with_signs>
SUPPLE_INLINE void multiply_slabs(const double* const* left, const double* right, const double* signs, int count,
                                  Register (&sum)[W][slabs]) {
  for (int c = 0; c < W; ++c)
    for (int s = 0; s < slabs; ++s) sum[c][s] = Register(0.0);
  for (int k = 0; k < count; ++k) {
    Register l[slabs];
    for (int s = 0; s < slabs; ++s) l[s] = Register::load(left[s] + W * k);
    for (int c = 0; c < W; ++c) {
      const Register r(with_signs ? signs[k] * right[W * k + c] : right[W * k + c]);
      for (int s = 0; s < slabs; ++s) sum[c][s] += l[s] * r;
    }
  }
}

// Columns [first, first + width) of `slabs` slabs: subtracts what earlier columns contribute, then solves with the
// diagonal block in slab first / W (its upper triangle is not read).
template <int slabs, bool with_signs>
void eliminate_slabs(const Front& front, const double* assembled, int slab, int first, int width) {
  const double* left[slabs];
  for (int s = 0; s < slabs; ++s) left[s] = front.slab(slab + s);
  const double* diagonal = front.slab(first / W);
  Register x[W][slabs];
  multiply_slabs<slabs, with_signs>(left, diagonal, front.signs, first, x);
  const int ld = front.padded_rows();
  const auto sign = [&](int c) { return with_signs ? front.signs[first + c] : 1.0; };
  for (int c = 0; c < width; ++c)
    for (int s = 0; s < slabs; ++s) {
      Register value = Register::load(assembled + static_cast<std::size_t>(first + c) * ld + (slab + s) * W) - x[c][s];
      for (int m = 0; m < c; ++m) value -= x[m][s] * Register(sign(m) * diagonal[(first + m) * W + c]);
      x[c][s] = value * Register(sign(c) * diagonal[(first + c) * W + c]);
      x[c][s].store(front.slab(slab + s) + (first + c) * W);
    }
}

// The same for the slab that holds the diagonal block; sign(column, pivot) is 1 or -1, or 0 for one that is not valid.
// Returns the first column without a valid pivot, or -1.
template <bool with_signs, class Sign>
int eliminate_diagonal(const Front& front, const double* assembled, int first, int width, const Sign& sign) {
  double* l = front.slab(first / W);
  const double* left[1] = {l};
  Register sum[W][1];
  multiply_slabs<1, with_signs>(left, l, front.signs, first, sum);
  double a[W][W];  // a[column][row]
  for (int c = 0; c < width; ++c)
    (Register::load(assembled + static_cast<std::size_t>(first + c) * front.padded_rows() + first) - sum[c][0])
        .store(a[c]);
  for (int c = 0; c < width; ++c) {
    const double s = sign(first + c, a[c][c]);
    if (s == 0) return first + c;
    const double inverse = 1 / std::sqrt(s * a[c][c]);
    for (int r = 0; r < c; ++r) a[c][r] = 0;
    a[c][c] = inverse;
    for (int r = c + 1; r < W; ++r) a[c][r] *= s * inverse;
    for (int d = c + 1; d < width; ++d)
      for (int r = d; r < W; ++r) a[d][r] -= a[c][r] * (s * a[c][d]);
    std::copy_n(a[c], W, l + (first + c) * W);
  }
  return -1;
}

}  // namespace detail

/// Eliminates the front's columns. assembled: column-major [columns][padded_rows], lower part. sign(column, pivot) returns
/// the sign that column gets, 0 to stop; it sets front.signs, with all columns up to this one, before the first that is
/// -1. Returns the column where it stopped, else -1.
template <class Sign>
int eliminate(Front& front, const double* assembled, const Sign& sign) {
  using namespace detail;
  const auto panel = [&]<bool with_signs>(int first, int width) {
    const int failed = eliminate_diagonal<with_signs>(front, assembled, first, width, sign);
    if (failed >= 0) return failed;
    const auto below = [&]<bool any>() {
      const int begin = first / W + 1, left = front.slabs() - begin;
      for_groups((left + slabs_at_once - 1) / slabs_at_once, double(left) * W * W * first, [&](int group) {
        int slab = begin + group * slabs_at_once;
        if (slab + slabs_at_once <= front.slabs())
          eliminate_slabs<slabs_at_once, any>(front, assembled, slab, first, width);
        else
          for (; slab < front.slabs(); ++slab) eliminate_slabs<1, any>(front, assembled, slab, first, width);
      });
    };
    if (front.signs != nullptr)
      below.template operator()<true>();
    else
      below.template operator()<false>();
    return -1;
  };
  for (int first = 0; first < front.columns; first += W) {
    const int width = std::min(W, front.columns - first);
    const int failed = front.signs != nullptr ? panel.template operator()<true>(first, width)
                                              : panel.template operator()<false>(first, width);
    if (failed >= 0) return failed;
  }
  return -1;
}

/// update = -L2 S L2^T, column-major [update_size][update_size], lower slabs; rows of the first slab that were eliminated
/// hold no meaning.
inline void form_update(const Front& front, double* update) {
  using namespace detail;
  const int begin = front.first_remaining_slab(), end = front.slabs();
  const std::size_t ld = front.update_size();
  const auto tile = [&]<int slabs, bool with_signs>(int row_slab, int column_slab) {
    const double* left[slabs];
    for (int s = 0; s < slabs; ++s) left[s] = front.slab(row_slab + s);
    Register sum[W][slabs];
    multiply_slabs<slabs, with_signs>(left, front.slab(column_slab), front.signs, front.columns, sum);
    double* out = update + static_cast<std::size_t>((column_slab - begin) * W) * ld + (row_slab - begin) * W;
    for (int c = 0; c < W; ++c)
      for (int s = 0; s < slabs; ++s) (-sum[c][s]).store(out + c * ld + s * W);
  };
  const auto tiles = [&]<bool with_signs>() {
    const double entries = 0.5 * W * W * (end - begin) * (end - begin);
    for_groups((end - begin + slabs_at_once - 1) / slabs_at_once, entries * front.columns, [&](int group) {
      const int row = begin + group * slabs_at_once;
      for (int column = begin; column < std::min(row + slabs_at_once, end); ++column) {
        if (row + slabs_at_once <= end)
          tile.template operator()<slabs_at_once, with_signs>(row, column);
        else
          for (int r = row; r < end; ++r) tile.template operator()<1, with_signs>(r, column);
      }
    });
  };
  if (front.signs != nullptr)
    tiles.template operator()<true>();
  else
    tiles.template operator()<false>();
}

/// Substitution for W right-hand sides at once, x [padded_rows][W]: the rows of the front, own and below.
/// Forward: own rows become L^-1 x, the rows below lose L2 times that.
inline void substitute_forward(const Front& front, double* x) {
  for (int s = 0; s < front.slabs(); ++s) {
    const double* l = front.slab(s);
    Register y[W];
    for (int r = 0; r < W; ++r) y[r] = Register::load(x + (s * W + r) * W);
    const int before = std::min(s * W, front.columns), own = std::clamp(front.columns - s * W, 0, W);
    for (int k = 0; k < before; ++k) {
      const Register xk = Register::load(x + k * W);
      for (int r = 0; r < W; ++r) y[r] -= Register(l[k * W + r]) * xk;
    }
    for (int c = 0; c < own; ++c) {
      const double* column = l + (s * W + c) * W;
      y[c] = y[c] * Register(column[c]);
      for (int r = c + 1; r < W; ++r) y[r] -= Register(column[r]) * y[c];
    }
    for (int r = 0; r < W; ++r) y[r].store(x + (s * W + r) * W);
  }
}

/// Backward: rows below hold the solution, own rows become L^-T (x - L2^T below).
inline void substitute_backward(const Front& front, double* x) {
  // x_k -= sum_i L[i, k] y_i for the columns before a slab.
  const auto subtract = [&](int s, const Register(&y)[W], int columns) {
    const double* l = front.slab(s);
    for (int k = 0; k < columns; ++k) {
      Register sum0 = Register::load(x + k * W), sum1(0.0);
      for (int r = 0; r < W; r += 2) {
        sum0 -= Register(l[k * W + r]) * y[r];
        sum1 -= Register(l[k * W + r + 1]) * y[r + 1];
      }
      sum0 += sum1;
      sum0.store(x + k * W);
    }
  };
  const int diagonal_slabs = (front.columns + W - 1) / W;
  Register y[W];
  for (int s = diagonal_slabs; s < front.slabs(); ++s) {
    for (int r = 0; r < W; ++r) y[r] = Register::load(x + (s * W + r) * W);
    subtract(s, y, front.columns);
  }
  for (int s = diagonal_slabs - 1; s >= 0; --s) {
    for (int r = 0; r < W; ++r) y[r] = Register::load(x + (s * W + r) * W);
    for (int c = std::min(W, front.columns - s * W) - 1; c >= 0; --c) {
      const double* column = front.slab(s) + (s * W + c) * W;
      for (int r = c + 1; r < W; ++r) y[c] -= Register(column[r]) * y[r];
      y[c] = y[c] * Register(column[c]);
      y[c].store(x + (s * W + c) * W);
    }
    subtract(s, y, s * W);
  }
}

}  // namespace supple::frontal
