#pragma once
// Substitution with the fronts of a batch (front_batch.hpp), R right-hand sides of every robot in a pass; panels as in
// front_factor_ops.hpp. Forward a front gathers what its children left; backward it reads what its ancestors solved.

#include "kernels/fronts/front_batch.hpp"

namespace supple {

// y[i][c]: row i of right-hand side c.
template <class S, int R>
struct FrontRow {
  S y[3][R];
};

template <class S, int R>
SUPPLE_INLINE FrontRow<S, R> load_row_of(const double* from, std::ptrdiff_t stride) {
  FrontRow<S, R> row;
  SUPPLE_UNROLL
  for (int e = 0; e < 3 * R; ++e) row.y[e / R][e % R] = load_lanes_of<S>(from + e * stride);
  return row;
}
template <class S, int R>
SUPPLE_INLINE void store_row_of(double* to, std::ptrdiff_t stride, const FrontRow<S, R>& row) {
  SUPPLE_UNROLL
  for (int e = 0; e < 3 * R; ++e) store_lanes_of(to + e * stride, row.y[e / R][e % R]);
}

// row <- S row, with the signs of its three columns.
template <class S, int R>
SUPPLE_INLINE void apply_signs(const double* signs, std::ptrdiff_t stride, FrontRow<S, R>& row) {
  SUPPLE_UNROLL
  for (int i = 0; i < 3; ++i) {
    const S sign = load_lanes_of<S>(signs + i * stride);
    SUPPLE_UNROLL
    for (int c = 0; c < R; ++c) row.y[i][c] = sign * row.y[i][c];
  }
}

// row -= T x, or T^T x where transposed; T the tile at `tile`, x a row's right-hand sides in memory.
template <class S, int R, bool transposed>
SUPPLE_INLINE void subtract_tile(const double* tile, const double* x, std::ptrdiff_t stride, FrontRow<S, R>& row) {
  SUPPLE_UNROLL
  for (int k = 0; k < 3; ++k) {
    S l[3];
    SUPPLE_UNROLL
    for (int i = 0; i < 3; ++i) l[i] = load_lanes_of<S>(tile + (transposed ? 3 * i + k : 3 * k + i) * stride);
    SUPPLE_UNROLL
    for (int c = 0; c < R; ++c) {
      const S value = load_lanes_of<S>(x + (R * k + c) * stride);
      SUPPLE_UNROLL
      for (int i = 0; i < 3; ++i) row.y[i][c] -= l[i] * value;
    }
  }
}

// The right-hand sides of a pass: number `first` and `width` of the `count` of a robot, [robot][count][n].
struct FrontRightSides {
  double* X;
  int n, count, first, width;
};

// Right-hand sides of all rows of a front: its own of X, and what its children left.
template <int R>
struct ForwardGatherOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  FrontRightSides sides;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    const std::ptrdiff_t n = sides.n;
    for (int r = task.row; r < task.row + task.rows; ++r) {
      FrontRow<S, R> row;
      SUPPLE_UNROLL
      for (int i = 0; i < 3; ++i) {
        SUPPLE_UNROLL
        for (int c = 0; c < R; ++c)
          row.y[i][c] =
              r < front.own && c < sides.width
                  ? at.of_robots(sides.X + (sides.first + c) * n + 3 * batch.node[front.first + r] + i, sides.count * n)
                  : S(0.0);
      }
      const int* start = batch.contribution_start + front.row + r;
      for (int p = start[0]; p < start[1]; ++p) {
        const BatchFront& child = batch.fronts[batch.contributions[p].child];
        const double* from = at.row(child, child.own + batch.contributions[p].row, R);
        SUPPLE_UNROLL
        for (int e = 0; e < 3 * R; ++e) row.y[e / R][e % R] += load_lanes_of<S>(from + e * at.stride);
      }
      store_row_of(at.row(front, r, R), at.stride, row);
    }
  }
};

// Own rows of a panel: y <- L11^-1 y.
template <int R>
struct ForwardDiagonalOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    for (int r = task.column; r < task.column + task.columns; ++r) {
      double* place = at.row(front, r, R);
      FrontRow<S, R> row = load_row_of<S, R>(place, at.stride);
      for (int c = task.column; c < r; ++c)
        subtract_tile<S, R, false>(at.factor(front.factor_tile(r, c)), at.right(front.first + c, R), at.stride, row);
      const double* diagonal = at.factor(front.factor_tile(r, r));
      SUPPLE_UNROLL
      for (int i = 0; i < 3; ++i) {
        SUPPLE_UNROLL
        for (int c = 0; c < R; ++c) {
          for (int m = 0; m < i; ++m) row.y[i][c] -= load_lanes_of<S>(diagonal + (3 * m + i) * at.stride) * row.y[m][c];
          row.y[i][c] = row.y[i][c] * load_lanes_of<S>(diagonal + 4 * i * at.stride);
        }
      }
      store_row_of(place, at.stride, row);
    }
  }
};

// Rows below a panel: y -= L x.
template <int R>
struct ForwardRowsOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    for (int r = task.row; r < task.row + task.rows; ++r) {
      double* place = at.row(front, r, R);
      FrontRow<S, R> row = load_row_of<S, R>(place, at.stride);
      for (int c = task.column; c < task.column + task.columns; ++c)
        subtract_tile<S, R, false>(at.factor(front.factor_tile(r, c)), at.right(front.first + c, R), at.stride, row);
      store_row_of(place, at.stride, row);
    }
  }
};

// An own row, with rows that are known: y -= S L^T x.
template <int R>
struct BackwardColumnOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    double* place = at.right(front.first + task.column, R);
    FrontRow<S, R> row = load_row_of<S, R>(place, at.stride);
    const double* signs = at.signs(front.first + task.column);
    apply_signs(signs, at.stride, row);
    for (int r = task.row; r < task.row + task.rows; ++r)
      subtract_tile<S, R, true>(at.factor(front.factor_tile(r, task.column)),
                                at.right(batch.node_of_row[front.row + r], R), at.stride, row);
    apply_signs(signs, at.stride, row);
    store_row_of(place, at.stride, row);
  }
};

// Own rows of a panel: x = L11^-T S y, and into X; robots without a factor keep their right-hand sides.
template <int R>
struct BackwardDiagonalOp {
  FrontBatch batch;
  const FrontTask* tasks;
  int count;
  FrontRightSides sides;
  SUPPLE_HD void operator()(int k) const { run_front_index(*this, k); }

  template <class S>
  SUPPLE_INLINE void run(int group, int index, int lane) const {
    const FrontTask& task = tasks[index];
    const BatchFront& front = batch.fronts[task.front];
    const FrontPlace<S> at(batch, group, lane);
    const int end = task.column + task.columns;
    for (int r = end - 1; r >= task.column; --r) {
      double* place = at.right(front.first + r, R);
      FrontRow<S, R> row = load_row_of<S, R>(place, at.stride);
      apply_signs(at.signs(front.first + r), at.stride, row);
      for (int k = r + 1; k < end; ++k)
        subtract_tile<S, R, true>(at.factor(front.factor_tile(k, r)), at.right(front.first + k, R), at.stride, row);
      const double* diagonal = at.factor(front.factor_tile(r, r));
      SUPPLE_UNROLL
      for (int i = 2; i >= 0; --i) {
        SUPPLE_UNROLL
        for (int c = 0; c < R; ++c) {
          for (int m = i + 1; m < 3; ++m)
            row.y[i][c] -= load_lanes_of<S>(diagonal + (3 * i + m) * at.stride) * row.y[m][c];
          row.y[i][c] = row.y[i][c] * load_lanes_of<S>(diagonal + 4 * i * at.stride);
        }
      }
      store_row_of(place, at.stride, row);
      write(at, batch.node[front.first + r], row);
    }
  }
  template <class S>
  SUPPLE_INLINE void write(const FrontPlace<S>& at, int node, FrontRow<S, R>& row) const {
    const std::ptrdiff_t n = sides.n;
    for (int l = 0; l < PackTraits<S>::width; ++l) {
      if (!at.exists(l) || at.status(l) != 0) continue;
      double* x = sides.X + at.robot(l) * (sides.count * n) + sides.first * n + 3 * node;
      for (int c = 0; c < sides.width; ++c)
        for (int i = 0; i < 3; ++i) x[c * n + i] = lane_of(row.y[i][c], l);
    }
  }
};

}  // namespace supple
