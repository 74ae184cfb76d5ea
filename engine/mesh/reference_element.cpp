#include "engine/mesh/reference_element.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/mesh/geometry.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

namespace {

constexpr CellEdge triangle_edges[3] = {{0, 1}, {1, 2}, {2, 0}};
constexpr CellEdge tetrahedron_edges[6] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
constexpr CellEdge hexahedron_edges[12] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                           {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

constexpr Vec3d barycentric_gradient[4] = {{{-1, -1, -1}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};

std::array<double, 4> barycentric(const Vec3d& xi) {
  return {1 - xi[0] - xi[1] - xi[2], xi[0], xi[1], xi[2]};
}

// A node of a serendipity hexahedron on the edge along axis `along`: (1 - t^2) (1 + s u) (1 + s' v) / 4.
struct EdgeFunction {
  int along, sign[3];
};

EdgeFunction edge_function(int edge) {
  EdgeFunction f{0, {0, 0, 0}};
  const CellEdge& ends = hexahedron_edges[edge];
  for (int k = 0; k < 3; ++k) {
    const auto sign = [&](int corner) { return trilinear_corner(corner)[k] < 0 ? -1 : 1; };
    f.sign[k] = sign(ends[0]);
    if (sign(ends[0]) != sign(ends[1])) f.along = k;
  }
  return f;
}

std::vector<QuadraturePoint> gauss_cube(std::span<const double> at, std::span<const double> weight) {
  std::vector<QuadraturePoint> points;
  for (std::size_t z = 0; z < at.size(); ++z)
    for (std::size_t y = 0; y < at.size(); ++y)
      for (std::size_t x = 0; x < at.size(); ++x)
        points.push_back({{{at[x], at[y], at[z]}}, weight[x] * weight[y] * weight[z]});
  return points;
}

// Points with one barycentric coordinate b and three a = (1 - b)/3.
void add_corner_orbit(double a, double weight, std::vector<QuadraturePoint>& points) {
  const double b = 1 - 3 * a;
  points.push_back({{{a, a, a}}, weight});
  points.push_back({{{b, a, a}}, weight});
  points.push_back({{{a, b, a}}, weight});
  points.push_back({{{a, a, b}}, weight});
}

std::vector<QuadraturePoint> walkington_14() {
  std::vector<QuadraturePoint> points;
  add_corner_orbit(0.31088591926330060980, 0.01878132095300264180, points);
  add_corner_orbit(0.092735250310891226402, 0.01224884051939365826, points);
  const double a = 0.045503704125649649492, b = 0.5 - a, weight = 0.007091003462846911073;
  for (const auto& x : {std::array{a, a, b}, {a, b, a}, {b, a, a}, {b, b, a}, {b, a, b}, {a, b, b}})
    points.push_back({{{x[0], x[1], x[2]}}, weight});
  return points;
}

}  // namespace

int corner_count(int nodes) {
  SUPPLE_EXPECT(nodes == 4 || nodes == 10 || nodes == 8 || nodes == 20);
  return nodes == 4 || nodes == 10 ? 4 : 8;
}

int node_count(int corners, int order) {
  return order == 1 ? corners : corners + static_cast<int>(cell_edges(corners).size());
}

std::span<const CellEdge> cell_edges(int corners) {
  SUPPLE_EXPECT(corners == 3 || corners == 4 || corners == 8);
  if (corners == 3) return triangle_edges;
  if (corners == 4) return tetrahedron_edges;
  return hexahedron_edges;
}

std::array<double, max_element_nodes> shape_functions(int nodes, const Vec3d& xi) {
  std::array<double, max_element_nodes> N{};
  if (corner_count(nodes) == 4) {
    const std::array<double, 4> L = barycentric(xi);
    for (std::size_t a = 0; a < 4; ++a) N[a] = nodes == 4 ? L[a] : L[a] * (2 * L[a] - 1);
    for (std::size_t e = 0; e < 6 && nodes == 10; ++e)
      N[4 + e] = 4 * L[static_cast<std::size_t>(tetrahedron_edges[e][0])] *
                 L[static_cast<std::size_t>(tetrahedron_edges[e][1])];
    return N;
  }
  const std::array<double, 8> corner = trilinear_shape(xi);
  std::copy(corner.begin(), corner.end(), N.begin());
  for (int e = 0; e < 12 && nodes == 20; ++e) {
    const EdgeFunction f = edge_function(e);
    double value = 0.25;
    for (int k = 0; k < 3; ++k) value *= k == f.along ? 1 - xi[k] * xi[k] : 1 + f.sign[k] * xi[k];
    N[static_cast<std::size_t>(8 + e)] = value;
    for (const int end : hexahedron_edges[e]) N[static_cast<std::size_t>(end)] -= value / 2;
  }
  return N;
}

std::array<Vec3d, max_element_nodes> shape_gradients(int nodes, const Vec3d& xi) {
  std::array<Vec3d, max_element_nodes> G{};
  if (corner_count(nodes) == 4) {
    const std::array<double, 4> L = barycentric(xi);
    for (std::size_t a = 0; a < 4; ++a) G[a] = (nodes == 4 ? 1.0 : 4 * L[a] - 1) * barycentric_gradient[a];
    for (std::size_t e = 0; e < 6 && nodes == 10; ++e) {
      const auto a = static_cast<std::size_t>(tetrahedron_edges[e][0]),
                 b = static_cast<std::size_t>(tetrahedron_edges[e][1]);
      G[4 + e] = 4.0 * (L[a] * barycentric_gradient[b] + L[b] * barycentric_gradient[a]);
    }
    return G;
  }
  const std::array<Vec3d, 8> corner = trilinear_gradient(xi);
  std::copy(corner.begin(), corner.end(), G.begin());
  for (int e = 0; e < 12 && nodes == 20; ++e) {
    const EdgeFunction f = edge_function(e);
    Vec3d value{{0.25, 0.25, 0.25}};
    for (int d = 0; d < 3; ++d)
      for (int k = 0; k < 3; ++k)
        if (d == k)
          value[d] *= k == f.along ? -2 * xi[k] : f.sign[k];
        else
          value[d] *= k == f.along ? 1 - xi[k] * xi[k] : 1 + f.sign[k] * xi[k];
    G[static_cast<std::size_t>(8 + e)] = value;
    for (const int end : hexahedron_edges[e])
      G[static_cast<std::size_t>(end)] = G[static_cast<std::size_t>(end)] - 0.5 * value;
  }
  return G;
}

std::span<const QuadraturePoint> stiffness_points(int nodes) {
  static const std::vector<QuadraturePoint> one{{{{0.25, 0.25, 0.25}}, 1.0 / 6}};
  static const std::vector<QuadraturePoint> four = [] {
    std::vector<QuadraturePoint> points;
    add_corner_orbit((5 - std::sqrt(5.0)) / 20, 1.0 / 24, points);
    return points;
  }();
  static const std::vector<QuadraturePoint> fourteen = [] {
    const double b = std::sqrt(19.0 / 30), c = std::sqrt(19.0 / 33);
    std::vector<QuadraturePoint> points;
    for (int k = 0; k < 8; ++k) {
      const int* s = trilinear_corner(k);
      points.push_back({{{c * s[0], c * s[1], c * s[2]}}, 121.0 / 361});
    }
    for (int k = 0; k < 3; ++k)
      for (const double at : {-b, b}) {
        Vec3d xi{{0, 0, 0}};
        xi[k] = at;
        points.push_back({xi, 320.0 / 361});
      }
    return points;
  }();
  static const std::vector<QuadraturePoint> eight = [] {
    const double s = 1 / std::sqrt(3.0), at[2] = {-s, s}, weight[2] = {1, 1};
    return gauss_cube(at, weight);
  }();
  if (nodes == 4) return one;
  if (nodes == 20) return fourteen;
  return nodes == 10 ? std::span(four) : std::span(eight);
}

std::span<const QuadraturePoint> mass_points(int nodes) {
  static const std::vector<QuadraturePoint> tetrahedron = walkington_14();
  static const std::vector<QuadraturePoint> hexahedron = [] {
    const double s = std::sqrt(0.6), at[3] = {-s, 0, s}, weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    return gauss_cube(at, weight);
  }();
  if (nodes == 10) return tetrahedron;
  if (nodes == 20) return hexahedron;
  return stiffness_points(nodes);
}

Vec3d into_cell(int corners, Vec3d xi) {
  if (corners == 8) {
    for (int k = 0; k < 3; ++k) xi[k] = std::clamp(xi[k], -1.0, 1.0);
    return xi;
  }
  std::array<double, 4> L = barycentric(xi);
  double sum = 0;
  for (double& l : L) sum += l = std::max(l, 0.0);
  return {{L[1] / sum, L[2] / sum, L[3] / sum}};
}

Vec3d cell_centre(int corners) {
  return corners == 8 ? Vec3d{{0, 0, 0}} : Vec3d{{0.25, 0.25, 0.25}};
}

}  // namespace supple
