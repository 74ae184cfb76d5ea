#pragma once
// Fronts of a multifrontal factorisation A = L S L^T, S diagonal with entries 1 and -1 (Liu 1992;
// solvers/sparse/multifrontal.hpp), of many robots with one pattern and three unknowns at each node. Everything is kept
// in tiles of 3 x 3, one for a pair of nodes, and robots in groups of `lanes` whose numbers lie side by side:
//   entry (row i, column k) of tile t of robot group * lanes + lane at ((group * tiles + t) * 9 + 3 k + i) * lanes +
//   lane.
// A GPU thread works on one robot, and its neighbours read the next addresses; a CPU thread on the robots of one
// register. No robot's numbers meet another's, so what one gets depends neither on the others nor on their number.

#include <cmath>
#include <cstddef>

#include "kernels/math/pack.hpp"

namespace supple {

inline constexpr int front_tile = 9;  // entries of a tile

SUPPLE_INLINE constexpr std::ptrdiff_t triangle(int n) {
  return static_cast<std::ptrdiff_t>(n) * (n + 1) / 2;
}

// Sizes in nodes.
struct BatchFront {
  int own = 0, rows = 0;         // eliminated here; these and what remains below them
  int first = 0;                 // its first node in the order of elimination
  std::ptrdiff_t factor = 0;     // its first tile of the factor
  std::ptrdiff_t update = 0;     // its first tile of the updates
  std::ptrdiff_t remaining = 0;  // its first row among right-hand sides of rows that remain
  std::ptrdiff_t row = 0;        // its first row among those of all fronts

  // Tiles of the factor, row by row, so that the columns of a row follow each other; those above the diagonal are left
  // out.
  SUPPLE_INLINE std::ptrdiff_t factor_tile(int r, int c) const {
    return factor + (r < own ? triangle(r) : triangle(own) + static_cast<std::ptrdiff_t>(r - own) * own) + c;
  }
  std::ptrdiff_t factor_tiles() const { return triangle(own) + static_cast<std::ptrdiff_t>(rows - own) * own; }
  // The update, -L2 S L2^T and what the children left: lower tiles, row by row; rows counted from `own`.
  SUPPLE_INLINE std::ptrdiff_t update_tile(int i, int j) const { return update + triangle(i) + j; }
  std::ptrdiff_t update_tiles() const { return triangle(rows - own); }
};

// A row of a front that a child's update has too: the child, and the row in its update.
struct FrontContribution {
  int child, row;
};

// A block of A: at[k] + i is the place of its entry (i, k), i >= k where it is diagonal, among the values of a robot.
struct MatrixBlock {
  int at[3];
  bool diagonal, transposed;
};

struct FrontBatch {
  // The pattern.
  const BatchFront* fronts;
  const int* contribution_start;  // [rows of all fronts + 1]; of each row the children in rising order
  const FrontContribution* contributions;
  const int* node_of_row;  // [rows of all fronts] in the order of elimination
  const int* source;       // [tiles of the factor] -> blocks, -1 where A has none
  const MatrixBlock* blocks;
  int front_count;
  const int* node;         // [nodes] in the order of elimination -> number in A
  const int* diagonal_at;  // [nodes in the order of elimination][3] the place of A's diagonal entry in its values
  // The robots.
  int robots, lanes;
  int first_group;  // of a launch
  std::ptrdiff_t factor_tiles, update_tiles, nodes, remaining_rows;
  double* factor;   // [group][factor_tiles][9][lanes]; diagonal tiles hold 1 / l_kk
  double* updates;  // [group][update_tiles][9][lanes]
  // Of R right-hand sides in a pass: of own rows, in the order of elimination, and what fronts leave for their parents.
  double* right;        // [group][nodes][3][R][lanes]
  double* remaining;    // [group][remaining_rows][3][R][lanes]
  double* signs;        // [group][nodes][3][lanes] S, in the order of elimination
  int* front_negative;  // [group][fronts][lanes] columns with S = -1
  int* front_status;    // [group][fronts][lanes] PivotStatus of the columns of a front (0 ok, 1 vanished, 2 negative)
  int* status;          // [groups][lanes] of a robot: that of its first front without a pivot
  int* negative;        // [groups][lanes] of a robot: columns with S = -1
};

// What an op does at one index. update: rows [row, row + rows), column `column`, with `columns` node columns eliminated
// before. Panel tasks: node columns [column, column + columns), and rows below them. Backward columns: `column`, and
// rows that are known.
struct FrontTask {
  int front, row, rows, column, columns;
};

// Lanes as the op sees them: S is one robot's scalar, or a register of a group's.
template <class S>
SUPPLE_INLINE int lane_stride(const FrontBatch& batch) {
  if constexpr (PackTraits<S>::width == 1)
    return batch.lanes;
  else
    return PackTraits<S>::width;
}
template <class S>
SUPPLE_INLINE S load_lanes_of(const double* from) {
  if constexpr (PackTraits<S>::width == 1)
    return *from;
  else
    return S::load(from);
}
template <class S>
SUPPLE_INLINE void store_lanes_of(double* to, const S& value) {
  if constexpr (PackTraits<S>::width == 1)
    *to = value;
  else
    value.store(to);
}
template <class S>
SUPPLE_INLINE double lane_of(const S& value, int l) {
  if constexpr (PackTraits<S>::width == 1)
    return value;
  else
    return value.v[l];
}

// Where one op works: the robots of one group, or one of them.
template <class S>
struct FrontPlace {
  const FrontBatch& batch;
  int group, lane;
  std::ptrdiff_t stride;

  SUPPLE_INLINE FrontPlace(const FrontBatch& b, int g, int l)
      : batch(b), group(g), lane(l), stride(lane_stride<S>(b)) {}
  SUPPLE_INLINE double* factor(std::ptrdiff_t tile) const {
    return batch.factor + (group * batch.factor_tiles + tile) * front_tile * stride + lane;
  }
  SUPPLE_INLINE double* update(std::ptrdiff_t tile) const {
    return batch.updates + (group * batch.update_tiles + tile) * front_tile * stride + lane;
  }
  // R right-hand sides of a node, and of row r of a front on the way up.
  SUPPLE_INLINE double* right(int node, int R) const {
    return batch.right + (group * batch.nodes + node) * 3 * R * stride + lane;
  }
  SUPPLE_INLINE double* row(const BatchFront& front, int r, int R) const {
    if (r < front.own) return right(front.first + r, R);
    return batch.remaining + (group * batch.remaining_rows + front.remaining + r - front.own) * 3 * R * stride + lane;
  }
  // Of lane l of a group's register: a group that is not full repeats the last robot.
  SUPPLE_INLINE int robot(int l) const {
    const int robot = group * static_cast<int>(stride) + lane + l;
    return robot < batch.robots ? robot : batch.robots - 1;
  }
  SUPPLE_INLINE bool exists(int l) const { return group * static_cast<int>(stride) + lane + l < batch.robots; }
  // S of a node's three columns.
  SUPPLE_INLINE double* signs(int node) const { return batch.signs + (group * batch.nodes + node) * 3 * stride + lane; }
  SUPPLE_INLINE std::ptrdiff_t front_place(int front, int l) const {
    return (static_cast<std::ptrdiff_t>(group) * batch.front_count + front) * stride + lane + l;
  }
  SUPPLE_INLINE int& front_status(int front, int l) const { return batch.front_status[front_place(front, l)]; }
  SUPPLE_INLINE int& front_negative(int front, int l) const { return batch.front_negative[front_place(front, l)]; }
  // Whether any robot has a column of the front with S = -1.
  SUPPLE_INLINE bool any_negative(int front) const {
    bool any = false;
    for (int l = 0; l < PackTraits<S>::width; ++l) any = any || front_negative(front, l) > 0;
    return any;
  }
  SUPPLE_INLINE int& status(int l) const { return batch.status[group * static_cast<int>(stride) + lane + l]; }
  SUPPLE_INLINE int& negative(int l) const { return batch.negative[group * static_cast<int>(stride) + lane + l]; }
  // Numbers that lie robot by robot.
  SUPPLE_INLINE S of_robots(const double* values, std::ptrdiff_t robot_stride) const {
    if constexpr (PackTraits<S>::width == 1) {
      return values[robot(0) * robot_stride];
    } else {
      S result;
      if (exists(PackTraits<S>::width - 1)) {
        const double* from = values + robot(0) * robot_stride;
        for (int l = 0; l < PackTraits<S>::width; ++l) result.v[l] = from[l * robot_stride];
      } else {
        for (int l = 0; l < PackTraits<S>::width; ++l) result.v[l] = values[robot(l) * robot_stride];
      }
      return result;
    }
  }
};

// An index counts lanes first, then tasks, then groups.
template <class Op>
SUPPLE_HD inline void run_front_index(const Op& op, int k) {
  const int lanes = op.batch.lanes;
  op.template run<double>(op.batch.first_group + k / lanes / op.count, k / lanes % op.count, k % lanes);
}

}  // namespace supple
