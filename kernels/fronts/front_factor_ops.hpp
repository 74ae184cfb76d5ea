#pragma once
// Numerical factorisation of the fronts of a batch (front_batch.hpp), left-looking by panels of node columns:
//   update    a = A + what the children left - sum over columns eliminated before of L S L^T
//   diagonal  L11 and S of a panel's diagonal block
//   rows      L = a L11^-T S of the rows below it
// and update again for the rows that remain. Fronts without negative columns leave S out, which changes no bit. Each
// entry is a sum in one fixed order, whatever the panels, the schedule and the number of robots, and is written by one
// index: no atomics.

#include "kernels/fronts/front_batch.hpp"

namespace supple {

// While a robot is factored, beside PivotStatus: a front with a pivot that is nearly singular, no matter in a positive
// definite matrix.
inline constexpr int front_nearly_singular = 3;

// What a front has found, and now `code`.
SUPPLE_INLINE int worse_status(int found, int code) {
  return found == 0 || (found == front_nearly_singular && code != 0) ? code : found;
}

// a[k][i]: row i of column k.
template <class S>
struct FrontTile {
  S a[3][3];
};

template <class S>
SUPPLE_INLINE FrontTile<S> load_tile_of(const double* from, std::ptrdiff_t stride) {
  FrontTile<S> tile;
  SUPPLE_UNROLL
  for (int e = 0; e < front_tile; ++e) tile.a[e / 3][e % 3] = load_lanes_of<S>(from + e * stride);
  return tile;
}
template <class S>
SUPPLE_INLINE void store_tile_of(double* to, std::ptrdiff_t stride, const FrontTile<S>& tile) {
  SUPPLE_UNROLL
  for (int e = 0; e < front_tile; ++e) store_lanes_of(to + e * stride, tile.a[e / 3][e % 3]);
}

// tile[s] -= L[row_s] S L[column]^T over `columns` unknowns; left, right and signs point to the first of them.
template <class S, int rows, bool with_signs>
SUPPLE_INLINE void subtract_products(const double* const (&left)[rows], const double* right, const double* signs,
                                     int columns, std::ptrdiff_t stride, FrontTile<S> (&tile)[rows]) {
  for (int k = 0; k < columns; ++k) {
    const std::ptrdiff_t at = 3 * k * stride;
    S l[rows][3];
    SUPPLE_UNROLL
    for (int s = 0; s < rows; ++s) {
      SUPPLE_UNROLL
      for (int i = 0; i < 3; ++i) l[s][i] = load_lanes_of<S>(left[s] + at + i * stride);
    }
    SUPPLE_UNROLL
    for (int c = 0; c < 3; ++c) {
      S r = load_lanes_of<S>(right + at + c * stride);
      if constexpr (with_signs) r = r * load_lanes_of<S>(signs + k * stride);
      SUPPLE_UNROLL
      for (int s = 0; s < rows; ++s) {
        SUPPLE_UNROLL
        for (int i = 0; i < 3; ++i) tile[s].a[c][i] -= l[s][i] * r;
      }
    }
  }
}

// tile <- tile L^-T S with the diagonal tile at `diagonal`.
template <class S, bool with_signs>
SUPPLE_INLINE void solve_tile(const double* diagonal, const double* signs, std::ptrdiff_t stride, FrontTile<S>& tile) {
  const auto signed_entry = [&](int entry, int column) {
    S value = load_lanes_of<S>(diagonal + entry * stride);
    if constexpr (with_signs) value = value * load_lanes_of<S>(signs + column * stride);
    return value;
  };
  SUPPLE_UNROLL
  for (int c = 0; c < 3; ++c) {
    const S inverse = signed_entry(4 * c, c);
    SUPPLE_UNROLL
    for (int m = 0; m < c; ++m) {
      const S l = signed_entry(3 * m + c, m);
      SUPPLE_UNROLL
      for (int i = 0; i < 3; ++i) tile.a[c][i] -= tile.a[m][i] * l;
    }
    SUPPLE_UNROLL
    for (int i = 0; i < 3; ++i) tile.a[c][i] = tile.a[c][i] * inverse;
  }
}

// What A and the children give to tile (r, c) of a front; of a diagonal tile that A has, the lower triangle.
template <class S>
SUPPLE_INLINE FrontTile<S> assembled_tile(const FrontPlace<S>& at, const double* values, std::ptrdiff_t robot_stride,
                                          const BatchFront& front, int r, int c) {
  const FrontBatch& batch = at.batch;
  FrontTile<S> tile;
  SUPPLE_UNROLL
  for (int e = 0; e < front_tile; ++e) tile.a[e / 3][e % 3] = S(0.0);
  const int source = c < front.own ? batch.source[front.factor_tile(r, c)] : -1;
  if (source >= 0) {
    const MatrixBlock& block = batch.blocks[source];
    SUPPLE_UNROLL
    for (int k = 0; k < 3; ++k) {
      SUPPLE_UNROLL
      for (int i = 0; i < 3; ++i)
        if (i >= k || !block.diagonal) tile.a[k][i] = at.of_robots(values + block.at[k] + i, robot_stride);
    }
    if (block.transposed) {
      const FrontTile<S> given = tile;
      SUPPLE_UNROLL
      for (int e = 0; e < front_tile; ++e) tile.a[e % 3][e / 3] = given.a[e / 3][e % 3];
    }
  }
  // Children that have both rows.
  const int* start = batch.contribution_start + front.row;
  int p = start[r], q = start[c];
  const int end_p = start[r + 1], end_q = start[c + 1];
  while (p < end_p && q < end_q) {
    const FrontContribution &row = batch.contributions[p], &column = batch.contributions[q];
    if (row.child == column.child) {
      const double* from = at.update(batch.fronts[row.child].update_tile(row.row, column.row));
      SUPPLE_UNROLL
      for (int e = 0; e < front_tile; ++e) tile.a[e / 3][e % 3] += load_lanes_of<S>(from + e * at.stride);
    }
    const int child = row.child;
    p += child <= column.child;
    q += column.child <= child;
  }
  return tile;
}

// Columns of node `column` with S = -1, of the tile of L in the row of node `row`: status 2 where a square is too large
// for A's diagonal entry of its row.
template <class S>
SUPPLE_INLINE void check_growth(const FrontPlace<S>& at, int front, int column, int row, const double* values,
                                std::ptrdiff_t robot_stride, double most_growth, const FrontTile<S>& tile) {
  using std::abs;
  S code(0.0);
  SUPPLE_UNROLL
  for (int i = 0; i < 3; ++i) {
    const S room = S(most_growth) * abs(at.of_robots(values + at.batch.diagonal_at[3 * row + i], robot_stride));
    SUPPLE_UNROLL
    for (int c = 0; c < 3; ++c) {
      const auto below = load_lanes_of<S>(at.signs(column) + c * at.stride) < S(0.0);
      code = select(both(below, negate(tile.a[c][i] * tile.a[c][i] <= room)), S(2.0), code);
    }
  }
  for (int l = 0; l < PackTraits<S>::width; ++l) {
    int& status = at.front_status(front, l);
    if (lane_of(code, l) != 0) status = worse_status(status, 2);
  }
}

// op.run_rows for the rows of a task, two at a time.
template <bool with_signs, class Op, class S>
SUPPLE_INLINE void run_rows_in_pairs(const Op& op, const FrontPlace<S>& at, const FrontTask& task) {
  int row = task.row;
  for (; row + 2 <= task.row + task.rows; row += 2) op.template run_rows<S, 2, with_signs>(at, task, row);
  if (row < task.row + task.rows) op.template run_rows<S, 1, with_signs>(at, task, row);
}

struct FrontUpdateOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  const double* values;  // lower triangles of A, robot by robot
  std::ptrdiff_t stride;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const FrontPlace<S> at(batch, group, lane);
    if (at.any_negative(task.front))
      run_rows_in_pairs<true>(*this, at, task);
    else
      run_rows_in_pairs<false>(*this, at, task);
  }
  template <class S, int rows, bool with_signs>
  SUPPLE_INLINE void run_rows(const FrontPlace<S>& at, const FrontTask& task, int row) const {
    const BatchFront& front = batch.fronts[task.front];
    FrontTile<S> tile[rows];
    const double* left[rows];
    SUPPLE_UNROLL
    for (int s = 0; s < rows; ++s) {
      tile[s] = assembled_tile<S>(at, values, stride, front, row + s, task.column);
      left[s] = at.factor(front.factor_tile(row + s, 0));
    }
    subtract_products<S, rows, with_signs>(left, at.factor(front.factor_tile(task.column, 0)), at.signs(front.first),
                                           3 * task.columns, at.stride, tile);
    SUPPLE_UNROLL
    for (int s = 0; s < rows; ++s)
      store_tile_of(task.column < front.own
                        ? at.factor(front.factor_tile(row + s, task.column))
                        : at.update(front.update_tile(row + s - front.own, task.column - front.own)),
                    at.stride, tile[s]);
  }
};

struct FrontDiagonalOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  const double* values;
  std::ptrdiff_t stride;
  double smallest_pivot;   // as a share of A's diagonal entry
  double nearly_singular;  // the same, of an indefinite matrix
  double most_growth;      // squares of L in columns with S = -1, as a share of A's diagonal entry of their row
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    if (task.column == 0)
      for (int l = 0; l < PackTraits<S>::width; ++l)
        at.front_status(task.front, l) = at.front_negative(task.front, l) = 0;
    // S always: it becomes known within the panel, and a panel is small.
    const double* signs = at.signs(front.first + task.column);
    for (int c = task.column; c < task.column + task.columns; ++c)
      for (int r = c; r < task.column + task.columns; ++r) {
        double* place = at.factor(front.factor_tile(r, c));
        FrontTile<S> tile[1] = {load_tile_of<S>(place, at.stride)};
        const double* left[1] = {at.factor(front.factor_tile(r, task.column))};
        subtract_products<S, 1, true>(left, at.factor(front.factor_tile(c, task.column)), signs, 3 * (c - task.column),
                                      at.stride, tile);
        if (r == c) {
          eliminate(at, task, front.first + c, tile[0]);
        } else {
          solve_tile<S, true>(at.factor(front.factor_tile(c, c)), at.signs(front.first + c), at.stride, tile[0]);
          if (at.any_negative(task.front))
            check_growth(at, task.front, front.first + c, front.first + r, values, stride, most_growth, tile[0]);
        }
        store_tile_of(place, at.stride, tile[0]);
      }
  }

  // A column without a valid pivot becomes zero: its robot keeps finite numbers, and no thread waits for it.
  template <class S>
  SUPPLE_INLINE void eliminate(const FrontPlace<S>& at, const FrontTask& task, int node, FrontTile<S>& tile) const {
    using std::abs;
    using std::sqrt;
    S code(0.0), negative(0.0), nearly(0.0);
    SUPPLE_UNROLL
    for (int c = 0; c < 3; ++c) {
      const S own = abs(at.of_robots(values + batch.diagonal_at[3 * node + c], stride));
      const S least = S(smallest_pivot) * own;
      const auto below = tile.a[c][c] < S(0.0);
      const S sign = select(below, S(-1.0), S(1.0)), pivot = sign * tile.a[c][c];
      const auto valid = pivot > least;
      const auto grown = both(below, negate(pivot <= S(most_growth) * own));
      code = select(both(negate(valid), code == S(0.0)), select(pivot <= least, S(1.0), S(2.0)), code);
      code = select(both(grown, code == S(0.0)), S(2.0), code);
      negative += select(both(below, valid), S(1.0), S(0.0));
      nearly = select(pivot <= S(nearly_singular) * own, S(1.0), nearly);
      store_lanes_of(at.signs(node) + c * at.stride, sign);
      const S inverse = select(valid, S(1.0) / sqrt(select(valid, pivot, S(1.0))), S(0.0));
      SUPPLE_UNROLL
      for (int r = 0; r < c; ++r) tile.a[c][r] = S(0.0);
      tile.a[c][c] = inverse;
      SUPPLE_UNROLL
      for (int r = c + 1; r < 3; ++r) tile.a[c][r] = select(valid, tile.a[c][r] * (sign * inverse), S(0.0));
      SUPPLE_UNROLL
      for (int r = c + 1; r < 3; ++r) {
        const S room = S(most_growth) * abs(at.of_robots(values + batch.diagonal_at[3 * node + r], stride));
        const auto large = both(below, negate(tile.a[c][r] * tile.a[c][r] <= room));
        code = select(both(large, code == S(0.0)), S(2.0), code);
      }
      SUPPLE_UNROLL
      for (int d = c + 1; d < 3; ++d) {
        SUPPLE_UNROLL
        for (int r = d; r < 3; ++r) tile.a[d][r] -= tile.a[c][r] * (sign * tile.a[c][d]);
      }
    }
    for (int l = 0; l < PackTraits<S>::width; ++l) {
      int& status = at.front_status(task.front, l);
      const int found = static_cast<int>(lane_of(code, l));
      status = worse_status(status, found == 0 && lane_of(nearly, l) != 0 ? front_nearly_singular : found);
      at.front_negative(task.front, l) += static_cast<int>(lane_of(negative, l));
    }
  }
};

struct FrontRowsOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  const double* values;
  std::ptrdiff_t stride;
  double most_growth;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const FrontPlace<S> at(batch, group, lane);
    if (at.any_negative(task.front))
      run_rows_in_pairs<true>(*this, at, task);
    else
      run_rows_in_pairs<false>(*this, at, task);
  }
  template <class S, int rows, bool with_signs>
  SUPPLE_INLINE void run_rows(const FrontPlace<S>& at, const FrontTask& task, int row) const {
    const BatchFront& front = batch.fronts[task.front];
    const double* left[rows];
    SUPPLE_UNROLL
    for (int s = 0; s < rows; ++s) left[s] = at.factor(front.factor_tile(row + s, task.column));
    for (int c = task.column; c < task.column + task.columns; ++c) {
      FrontTile<S> tile[rows];
      for (int s = 0; s < rows; ++s) tile[s] = load_tile_of<S>(at.factor(front.factor_tile(row + s, c)), at.stride);
      subtract_products<S, rows, with_signs>(left, at.factor(front.factor_tile(c, task.column)),
                                             at.signs(front.first + task.column), 3 * (c - task.column), at.stride,
                                             tile);
      SUPPLE_UNROLL
      for (int s = 0; s < rows; ++s) {
        solve_tile<S, with_signs>(at.factor(front.factor_tile(c, c)), at.signs(front.first + c), at.stride, tile[s]);
        if constexpr (with_signs)
          check_growth(at, task.front, front.first + c, batch.node_of_row[front.row + row + s], values, stride,
                       most_growth, tile[s]);
        store_tile_of(at.factor(front.factor_tile(row + s, c)), at.stride, tile[s]);
      }
    }
  }
};

// A robot's status: fronts come after those they depend on, so the first without a pivot is not another's fault.
struct FrontStatusOp {
  FrontBatch batch;
  int count = 1;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int, int lane) const {
    const FrontPlace<S> at(batch, group, lane);
    for (int l = 0; l < PackTraits<S>::width; ++l) {
      int status = 0, negative = 0;
      bool nearly = false;
      for (int f = 0; f < batch.front_count && status == 0; ++f) {
        const int found = at.front_status(f, l);
        nearly = nearly || found == front_nearly_singular;
        status = found == front_nearly_singular ? 0 : found;
        negative += at.front_negative(f, l);
      }
      if (status == 0 && nearly && negative > 0) status = 2;
      at.status(l) = status;
      at.negative(l) = negative;
    }
  }
};

}  // namespace supple
