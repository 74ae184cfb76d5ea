#pragma once
// Numerical factorisation of the fronts of a batch (front_batch.hpp), left-looking by panels of node columns:
//   update    a = A + what the children left - sum over columns eliminated before of L L^T
//   diagonal  Cholesky of a panel's diagonal block
//   rows      L = a L11^-T of the rows below it
// and update again for the rows that remain. Each entry is a sum in one fixed order, whatever the panels, the schedule
// and the number of robots, and is written by one index: no atomics.

#include "kernels/fronts/front_batch.hpp"

namespace supple {

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

// tile[s] -= L[row_s] L[column]^T over `columns` unknowns; left and right point to the first of them.
template <class S, int rows>
SUPPLE_INLINE void subtract_products(const double* const (&left)[rows], const double* right, int columns,
                                     std::ptrdiff_t stride, FrontTile<S> (&tile)[rows]) {
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
      const S r = load_lanes_of<S>(right + at + c * stride);
      SUPPLE_UNROLL
      for (int s = 0; s < rows; ++s) {
        SUPPLE_UNROLL
        for (int i = 0; i < 3; ++i) tile[s].a[c][i] -= l[s][i] * r;
      }
    }
  }
}

// tile <- tile L^-T with the diagonal tile at `diagonal`.
template <class S>
SUPPLE_INLINE void solve_tile(const double* diagonal, std::ptrdiff_t stride, FrontTile<S>& tile) {
  SUPPLE_UNROLL
  for (int c = 0; c < 3; ++c) {
    const S inverse = load_lanes_of<S>(diagonal + 4 * c * stride);
    SUPPLE_UNROLL
    for (int m = 0; m < c; ++m) {
      const S l = load_lanes_of<S>(diagonal + (3 * m + c) * stride);
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
    int row = task.row;
    for (; row + 2 <= task.row + task.rows; row += 2) run_rows<S, 2>(FrontPlace<S>(batch, group, lane), task, row);
    if (row < task.row + task.rows) run_rows<S, 1>(FrontPlace<S>(batch, group, lane), task, row);
  }
  template <class S, int rows>
  SUPPLE_INLINE void run_rows(const FrontPlace<S>& at, const FrontTask& task, int row) const {
    const BatchFront& front = batch.fronts[task.front];
    FrontTile<S> tile[rows];
    const double* left[rows];
    SUPPLE_UNROLL
    for (int s = 0; s < rows; ++s) {
      tile[s] = assembled_tile<S>(at, values, stride, front, row + s, task.column);
      left[s] = at.factor(front.factor_tile(row + s, 0));
    }
    subtract_products<S, rows>(left, at.factor(front.factor_tile(task.column, 0)), 3 * task.columns, at.stride, tile);
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
  double smallest_pivot;  // as a share of A's diagonal entry
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    if (task.column == 0)
      for (int l = 0; l < PackTraits<S>::width; ++l) at.front_status(task.front, l) = 0;
    for (int c = task.column; c < task.column + task.columns; ++c)
      for (int r = c; r < task.column + task.columns; ++r) {
        double* place = at.factor(front.factor_tile(r, c));
        FrontTile<S> tile[1] = {load_tile_of<S>(place, at.stride)};
        const double* left[1] = {at.factor(front.factor_tile(r, task.column))};
        subtract_products<S, 1>(left, at.factor(front.factor_tile(c, task.column)), 3 * (c - task.column), at.stride,
                                tile);
        if (r == c)
          eliminate(at, task, batch.blocks[batch.source[front.factor_tile(c, c)]], tile[0]);
        else
          solve_tile(at.factor(front.factor_tile(c, c)), at.stride, tile[0]);
        store_tile_of(place, at.stride, tile[0]);
      }
  }

  // A column without a valid pivot becomes zero: its robot keeps finite numbers, and no thread waits for it.
  template <class S>
  SUPPLE_INLINE void eliminate(const FrontPlace<S>& at, const FrontTask& task, const MatrixBlock& block,
                               FrontTile<S>& tile) const {
    using std::abs;
    using std::sqrt;
    S code(0.0);
    SUPPLE_UNROLL
    for (int c = 0; c < 3; ++c) {
      const S pivot = tile.a[c][c], least = S(smallest_pivot) * abs(at.of_robots(values + block.at[c] + c, stride));
      const auto valid = pivot > least;
      code = select(both(negate(valid), code == S(0.0)), select(pivot >= -least, S(1.0), S(2.0)), code);
      const S inverse = select(valid, S(1.0) / sqrt(select(valid, pivot, S(1.0))), S(0.0));
      SUPPLE_UNROLL
      for (int r = 0; r < c; ++r) tile.a[c][r] = S(0.0);
      tile.a[c][c] = inverse;
      SUPPLE_UNROLL
      for (int r = c + 1; r < 3; ++r) tile.a[c][r] = select(valid, tile.a[c][r] * inverse, S(0.0));
      SUPPLE_UNROLL
      for (int d = c + 1; d < 3; ++d) {
        SUPPLE_UNROLL
        for (int r = d; r < 3; ++r) tile.a[d][r] -= tile.a[c][r] * tile.a[c][d];
      }
    }
    for (int l = 0; l < PackTraits<S>::width; ++l) {
      int& status = at.front_status(task.front, l);
      if (status == 0) status = static_cast<int>(lane_of(code, l));
    }
  }
};

struct FrontRowsOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    int row = task.row;
    for (; row + 2 <= task.row + task.rows; row += 2) run_rows<S, 2>(FrontPlace<S>(batch, group, lane), task, row);
    if (row < task.row + task.rows) run_rows<S, 1>(FrontPlace<S>(batch, group, lane), task, row);
  }
  template <class S, int rows>
  SUPPLE_INLINE void run_rows(const FrontPlace<S>& at, const FrontTask& task, int row) const {
    const BatchFront& front = batch.fronts[task.front];
    const double* left[rows];
    SUPPLE_UNROLL
    for (int s = 0; s < rows; ++s) left[s] = at.factor(front.factor_tile(row + s, task.column));
    for (int c = task.column; c < task.column + task.columns; ++c) {
      FrontTile<S> tile[rows];
      for (int s = 0; s < rows; ++s) tile[s] = load_tile_of<S>(at.factor(front.factor_tile(row + s, c)), at.stride);
      subtract_products<S, rows>(left, at.factor(front.factor_tile(c, task.column)), 3 * (c - task.column), at.stride,
                                 tile);
      SUPPLE_UNROLL
      for (int s = 0; s < rows; ++s) {
        solve_tile(at.factor(front.factor_tile(c, c)), at.stride, tile[s]);
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
      int status = 0;
      for (int f = 0; f < batch.front_count && status == 0; ++f) status = at.front_status(f, l);
      at.status(l) = status;
    }
  }
};

}  // namespace supple
