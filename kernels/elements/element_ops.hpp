#pragma once
// Element operations of full models: deformation gradients by gather, element stiffness, nodal forces and system blocks
// by gather. Same conventions as point_ops.hpp: an index is robot * count + item, with `count` the padded points for
// gradients, the points, elements, nodes or columns of one robot for the others. A stride is what lies between one
// robot's numbers and the next's.

#include "kernels/elements/point_ops.hpp"

namespace supple {

// Of an index robot * count + item. One robot, as a rule on a CPU, takes no division.
struct RobotItem {
  std::size_t robot;
  int item;
};
SUPPLE_INLINE RobotItem robot_item(int k, int count) {
  if (k < count) return {0, k};
  return {static_cast<std::size_t>(k / count), k % count};
}

// F_p = I + sum_a u_a g_a^T into tiles. u: displacement of every mesh node [m].
template <class S>
struct GatherGradientOp {
  int points, nodes_per_element, points_per_element;
  const int* node;    // [elements][nodes_per_element]
  const S* gradient;  // [points][nodes_per_element][3]
  const S* u;         // [nodes][3]
  S* F;
  std::size_t u_stride = 0;

  SUPPLE_HD void operator()(int k) const {
    const int stride = padded(points);
    const auto [robot, p] = robot_item(k, stride);
    const S* displacement = u + robot * u_stride;
    S* out = F + robot * static_cast<std::size_t>(stride) * 9;
    Mat3<S> f = Mat3<S>::identity();
    if (p < points) {
      const int e = p / points_per_element;
      for (int a = 0; a < nodes_per_element; ++a) {
        const S* x =
            displacement + 3 * static_cast<std::size_t>(node[static_cast<std::size_t>(e) * nodes_per_element + a]);
        const S* g = gradient + 3 * (static_cast<std::size_t>(p) * nodes_per_element + a);
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) f(i, j) += x[i] * g[j];
      }
    }
    for (int c = 0; c < 9; ++c) out[tile_index(p, c, 9)] = f[c];
  }
};

// Number of the pair a <= b of n nodes.
SUPPLE_INLINE constexpr int pair_index(int n, int a, int b) {
  return a * n - a * (a - 1) / 2 + b - a;
}

// blocks[pair] += w g_a^T C g_b of one point, node pairs a <= b; g: [nodes][3].
template <class S>
SUPPLE_INLINE void add_element_stiffness(int n, S weight, const S* C, const S* g, S* blocks) {
  for (int b = 0; b < n; ++b) {
    // T[(i j), k] = w sum_l C[(i j), (k l)] g_b[l]
    S T[27];
    for (int ij = 0; ij < 9; ++ij)
      for (int k = 0; k < 3; ++k)
        T[3 * ij + k] = weight * (C[9 * ij + 3 * k] * g[3 * b] + C[9 * ij + 3 * k + 1] * g[3 * b + 1] +
                                  C[9 * ij + 3 * k + 2] * g[3 * b + 2]);
    for (int a = 0; a <= b; ++a) {
      S* block = blocks + 9 * pair_index(n, a, b);
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
          block[3 * i + k] += g[3 * a] * T[3 * (3 * i) + k] + g[3 * a + 1] * T[3 * (3 * i + 1) + k] +
                              g[3 * a + 2] * T[3 * (3 * i + 2) + k];
    }
  }
}

// Element stiffness K_ab = sum_p w g_a^T C g_b, node pairs a <= b, 3x3 blocks row-major.
template <class Law, class S>
struct ElementStiffnessOp {
  PointField<S> field;
  TangentKind kind;
  int elements, nodes_per_element, points_per_element;
  const S* gradient;
  const S* F;
  S* blocks;  // [elements][pairs][9]
  std::size_t blocks_stride = 0;

  SUPPLE_HD void operator()(int index) const {
    const int n = nodes_per_element, pairs = n * (n + 1) / 2;
    const auto [robot, e] = robot_item(index, elements);
    const S* gradients = F + robot * static_cast<std::size_t>(padded(field.points)) * 9;
    S* out = blocks + robot * blocks_stride + static_cast<std::size_t>(e) * pairs * 9;
    for (int k = 0; k < pairs * 9; ++k) out[k] = S(0);
    for (int q = 0; q < points_per_element; ++q) {
      const int p = e * points_per_element + q;
      S C[81];
      const PointData<S> data = load_points<S, Law>(field, static_cast<int>(robot), p);
      const Mat3<S> f = load_tile<S>(gradients, p);
      (void)Law::tangent(f, data.parameters, data.edges, kind, C);
      if (field.held_stress) add_viscous_tangent<Law>(field, static_cast<int>(robot), p, f, kind, C);
      add_element_stiffness(n, data.weight, C, gradient + 3 * static_cast<std::size_t>(p) * n, out);
    }
  }
};

// The same for a corotational law from StressFourRowOp's rows. With r_a = R g_a, dF = u_b g_b^T gives
//   t = r_b . u,   w = R^T (r_b x u),
//   K_ab = sum_p w (2 mu (g_a . g_b) I + lambda r_a r_b^T + [r_a]x^T R Q R^T [r_b]x).
template <class S>
struct FourRowStiffnessOp {
  PointField<S> field;
  int elements, nodes_per_element, points_per_element;
  const S* gradient;
  const S* rows;  // tiles of four_row_components
  S* blocks;      // [elements][pairs][9]
  std::size_t blocks_stride = 0;
  static constexpr int most_nodes = 20;  // max_element_nodes of engine/mesh

  SUPPLE_HD void operator()(int index) const {
    const int n = nodes_per_element, pairs = n * (n + 1) / 2;
    const auto [robot, e] = robot_item(index, elements);
    const S* tiles = rows + robot * static_cast<std::size_t>(padded(field.points)) * four_row_components;
    S* out = blocks + robot * blocks_stride + static_cast<std::size_t>(e) * pairs * 9;
    for (int k = 0; k < pairs * 9; ++k) out[k] = S(0);
    for (int q = 0; q < points_per_element; ++q) {
      const int p = e * points_per_element + q;
      Mat3<S> R, Q;
      for (int c = 0; c < 9; ++c) {
        R[c] = tiles[tile_index(p, c, four_row_components)];
        Q[c] = tiles[tile_index(p, 9 + c, four_row_components)];
      }
      const S lambda = tiles[tile_index(p, 18, four_row_components)];
      const S two_mu = S(2) * field.weight[p] * field.parameters[field.region[p]].p[0];
      Q = R * Q * transpose(R);
      const S* g = gradient + 3 * static_cast<std::size_t>(p) * n;
      Vec3<S> r[most_nodes];
      for (int a = 0; a < n; ++a) r[a] = R * Vec3<S>{{g[3 * a], g[3 * a + 1], g[3 * a + 2]}};
      for (int b = 0; b < n; ++b) {
        // Columns of Q [r_b]x, and then of [r_a]x^T of them: -r_a x column.
        Vec3<S> column[3];
        for (int k = 0; k < 3; ++k) {
          const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;  // [r]x e_k = r[k2] e_k1 - r[k1] e_k2
          for (int i = 0; i < 3; ++i) column[k][i] = r[b][k2] * Q(i, k1) - r[b][k1] * Q(i, k2);
        }
        for (int a = 0; a <= b; ++a) {
          S* block = out + 9 * pair_index(n, a, b);
          const S diagonal = two_mu * dot(r[a], r[b]);
          for (int k = 0; k < 3; ++k) {
            const Vec3<S> spin = cross(column[k], r[a]);
            for (int i = 0; i < 3; ++i) block[3 * i + k] += lambda * r[a][i] * r[b][k] + spin[i];
            block[4 * k] += diagonal;
          }
        }
      }
    }
  }
};

// P_p g_a of every corner a of a point [N].
template <class S>
struct CornerForceOp {
  int points, nodes_per_element;
  const S* gradient;  // [points][nodes_per_element][3]
  const S* P;         // tiles, weighted
  S* forces;          // [points][nodes_per_element][3]
  std::size_t forces_stride = 0;

  SUPPLE_HD void operator()(int k) const {
    const auto [robot, p] = robot_item(k, points);
    const Mat3<S> stress = load_tile<S>(P + robot * static_cast<std::size_t>(padded(points)) * 9, p);
    const std::size_t first = 3 * static_cast<std::size_t>(p) * nodes_per_element;
    for (int a = 0; a < nodes_per_element; ++a) {
      const S* g = gradient + first + 3 * a;
      S* f = forces + robot * forces_stride + first + 3 * a;
      for (int r = 0; r < 3; ++r) f[r] = stress(r, 0) * g[0] + stress(r, 1) * g[1] + stress(r, 2) * g[2];
    }
  }
};

// f_i = sum over the corners at node i [N]; magnitude_i = the sum of their absolute values (before they cancel).
template <class S>
struct NodeForceOp {
  int nodes;
  const int* start;    // [free nodes + 1]
  const long* corner;  // of all fields, one after the other
  const S* forces;     // [corners][3]
  S* f;                // [nodes][3]
  S* magnitude;
  std::size_t forces_stride = 0;

  SUPPLE_HD void operator()(int index) const {
    const auto [robot, i] = robot_item(index, nodes);
    const S* terms = forces + robot * forces_stride;
    Vec3<S> sum{{0, 0, 0}}, size{{0, 0, 0}};
    for (int k = start[i]; k < start[i + 1]; ++k) {
      const S* term = terms + 3 * corner[k];
      for (int r = 0; r < 3; ++r) {
        sum[r] += term[r];
        size[r] += term[r] < S(0) ? -term[r] : term[r];
      }
    }
    for (int r = 0; r < 3; ++r) {
      f[3 * static_cast<std::size_t>(index) + r] = sum[r];
      magnitude[3 * static_cast<std::size_t>(index) + r] = size[r];
    }
  }
};

// One block column of the system (lower triangle): values = sum of element blocks, in a fixed order.
template <class S>
struct AssembleOp {
  int columns;
  const int* block_start;         // [columns + 1]
  const int* contribution_start;  // [blocks + 1]
  const long* source;             // 2 * block + transposed
  const S* blocks;
  const int* scalar_start;  // column starts of the scalar matrix
  S* values;
  std::size_t blocks_stride = 0, values_stride = 0;

  SUPPLE_HD void operator()(int index) const {
    const auto [robot, column] = robot_item(index, columns);
    const S* own = blocks + robot * blocks_stride;
    S* out = values + robot * values_stride;
    // The blocks lie all over a buffer that is larger than the caches: all of the column are asked for at once.
    for (int k = contribution_start[block_start[column]]; k < contribution_start[block_start[column + 1]]; ++k) {
      const S* block = own + 9 * (source[k] >> 1);
      SUPPLE_PREFETCH(block);
      SUPPLE_PREFETCH(block + 8);
    }
    for (int b = block_start[column]; b < block_start[column + 1]; ++b) {
      Mat3<S> sum = Mat3<S>::zero();
      for (int k = contribution_start[b]; k < contribution_start[b + 1]; ++k) {
        const S* block = own + 9 * (source[k] >> 1);
        if (source[k] & 1)
          for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) sum(r, c) += block[3 * c + r];
        else
          for (int c = 0; c < 9; ++c) sum[c] += block[c];
      }
      const int k = b - block_start[column];
      for (int c = 0; c < 3; ++c)
        for (int r = k == 0 ? c : 0; r < 3; ++r) out[scalar_start[3 * column + c] + 3 * k + r - c] = sum(r, c);
    }
  }
};

}  // namespace supple
