#pragma once
// Values and gradients of constraint rows at mapped points: formulas for host and device, and the op that evaluates all
// rows of a batch. What the rows are: engine/model/rows.hpp, cavity.hpp, effectors.hpp.

#include <cstddef>

#include "kernels/math/small.hpp"

namespace supple {

// Below this length [m] a segment has no direction: it exerts no force.
inline constexpr double shortest_segment = 1e-9;

SUPPLE_INLINE Vec3d point_at(const double* y, int i) {
  const double* x = y + 3 * static_cast<std::size_t>(i);
  return {{x[0], x[1], x[2]}};
}

// Length [m] of the path through `count` mapped points from `first_point` on, to `end` unless null; gradient [3 count]
// unless null.
SUPPLE_HD inline double path_length(const double* y, int first_point, int count, const Vec3d* end, double* gradient) {
  if (gradient != nullptr)
    for (int k = 0; k < 3 * count; ++k) gradient[k] = 0;
  double length = 0;
  for (int i = 0; i + (end == nullptr ? 1 : 0) < count; ++i) {
    const bool last = i + 1 == count;
    const Vec3d d = (last ? *end : point_at(y, first_point + i + 1)) - point_at(y, first_point + i);
    const double l = norm(d);
    length += l;
    if (gradient == nullptr || l < shortest_segment) continue;
    // dl/db = d/l = -dl/da
    for (int k = 0; k < 3; ++k) {
      gradient[3 * i + k] -= d[k] / l;
      if (!last) gradient[3 * (i + 1) + k] += d[k] / l;
    }
  }
  return length;
}

// Value and gradient [n] of the polynomial of VolumePolynomial. 4/6 n^3 flop.
SUPPLE_HD inline double cubic_value(int n, const double* linear, const double* quadratic, const double* cubic,
                                    const double* x, double* gradient) {
  for (int i = 0; i < n; ++i) gradient[i] = 0;
  const double *q = quadratic, *c = cubic;
  double value = 0;
  for (int i = 0; i < n; ++i) {
    // factor = linear + sum_j (quadratic + sum_k cubic x_k) x_j
    double factor = linear[i];
    for (int j = 0; j <= i; ++j) {
      double sum = *q++;
      SUPPLE_SIMD_SUM(sum)
      for (int k = 0; k <= j; ++k) sum += c[k] * x[k];
      factor += sum * x[j];
      const double product = x[i] * x[j];
      SUPPLE_SIMD
      for (int k = 0; k <= j; ++k) gradient[k] += product * c[k];
      gradient[j] += sum * x[i];
      c += j + 1;
    }
    value += factor * x[i];
    gradient[i] += factor;
  }
  return value;
}

// A row as the op sees it.
struct RowShape {
  enum class Kind : int {
    along,  // phi = direction . (y - place) of one mapped point
    path,   // phi = side (L0 - L(y)), to `place` if it is anchored
    volume  // phi = (V0 + V(x))/size, x the first `unknowns` coordinates of the row's points
  };
  Kind kind = Kind::along;
  int first_point = 0, point_count = 1;
  int offset = 0;  // of its gradient
  bool anchored = false;
  int unknowns = 0;
  std::size_t coefficients = 0;  // volume: where linear, quadratic and cubic begin, one after the other
  Vec3d direction{{0, 0, 0}}, place{{0, 0, 0}};
  double rest = 0;  // L0 [m], V0 [m^3]
  double side = 1, size = 1;
};

// Index: robot * rows + row.
struct RowValuesOp {
  const RowShape* shapes;
  const double* coefficients;
  int rows, outputs, gradient_length;  // of a robot
  const double* y;                     // [robot][outputs]
  double* phi;                         // [robot][rows]
  double* gradients;                   // [robot][gradient_length]
  SUPPLE_HD void operator()(int k) const {
    const std::size_t robot = static_cast<std::size_t>(k / rows);
    const RowShape& row = shapes[k % rows];
    const double* mine = y + robot * static_cast<std::size_t>(outputs);
    double* g = gradients + robot * static_cast<std::size_t>(gradient_length) + static_cast<std::size_t>(row.offset);
    switch (row.kind) {
      case RowShape::Kind::along:
        for (int c = 0; c < 3; ++c) g[c] = row.direction[c];
        phi[k] = dot(row.direction, point_at(mine, row.first_point) - row.place);
        if (row.point_count == 2) {
          for (int c = 0; c < 3; ++c) g[3 + c] = -row.direction[c];
          phi[k] -= dot(row.direction, point_at(mine, row.first_point + 1));
        }
        break;
      case RowShape::Kind::path: {
        const double length =
            path_length(mine, row.first_point, row.point_count, row.anchored ? &row.place : nullptr, g);
        for (int c = 0; c < 3 * row.point_count; ++c) g[c] *= -row.side;
        phi[k] = row.side * (row.rest - length);
        break;
      }
      case RowShape::Kind::volume: {
        const int n = row.unknowns;
        const double *linear = coefficients + row.coefficients, *quadratic = linear + n,
                     *cubic = quadratic + n * (n + 1) / 2;
        const double gained =
            cubic_value(n, linear, quadratic, cubic, mine + 3 * static_cast<std::size_t>(row.first_point), g);
        for (int c = n; c < 3 * row.point_count; ++c) g[c] = 0;
        for (int c = 0; c < n; ++c) g[c] /= row.size;
        phi[k] = (row.rest + gained) / row.size;
        break;
      }
    }
  }
};

}  // namespace supple
