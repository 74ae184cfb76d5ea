#include "engine/mesh/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/mesh/reference_element.hpp"
#include "kernels/base/contract.hpp"

namespace supple {
namespace {

constexpr int corner_sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
constexpr Face triangle_sides[2] = {{0, 3, {{0, 1, 2, -1, -1, -1, -1, -1}}}, {0, 3, {{0, 2, 1, -1, -1, -1, -1, -1}}}};
constexpr Face tetrahedron_faces[4] = {{0, 3, {{0, 2, 1, -1, -1, -1, -1, -1}}},
                                       {0, 3, {{0, 1, 3, -1, -1, -1, -1, -1}}},
                                       {0, 3, {{1, 2, 3, -1, -1, -1, -1, -1}}},
                                       {0, 3, {{0, 3, 2, -1, -1, -1, -1, -1}}}};
constexpr Face hexahedron_faces[6] = {{0, 4, {{0, 3, 2, 1, -1, -1, -1, -1}}}, {0, 4, {{4, 5, 6, 7, -1, -1, -1, -1}}},
                                      {0, 4, {{0, 1, 5, 4, -1, -1, -1, -1}}}, {0, 4, {{1, 2, 6, 5, -1, -1, -1, -1}}},
                                      {0, 4, {{2, 3, 7, 6, -1, -1, -1, -1}}}, {0, 4, {{3, 0, 4, 7, -1, -1, -1, -1}}}};
// Neighbours of each corner, right-handed.
constexpr int corner_edges[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                    {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};

const Vec3d& node(const Mesh& mesh, int index) {
  return mesh.nodes[static_cast<std::size_t>(index)];
}

}  // namespace

double tetrahedron_volume(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return dot(b - a, cross(c - a, d - a)) / 6;
}

double tetrahedron_volume(const Mesh& mesh, int tetrahedron) {
  const auto& t = mesh.tetrahedra[static_cast<std::size_t>(tetrahedron)];
  return tetrahedron_volume(node(mesh, t[0]), node(mesh, t[1]), node(mesh, t[2]), node(mesh, t[3]));
}

const int* trilinear_corner(int corner) {
  return corner_sign[corner];
}

std::array<double, 8> trilinear_shape(const Vec3d& xi) {
  std::array<double, 8> N;
  for (std::size_t i = 0; i < 8; ++i)
    N[i] = (1 + corner_sign[i][0] * xi[0]) * (1 + corner_sign[i][1] * xi[1]) * (1 + corner_sign[i][2] * xi[2]) / 8;
  return N;
}

std::array<Vec3d, 8> trilinear_gradient(const Vec3d& xi) {
  std::array<Vec3d, 8> G;
  for (std::size_t i = 0; i < 8; ++i) {
    const int* s = corner_sign[i];
    const double f[3] = {1 + s[0] * xi[0], 1 + s[1] * xi[1], 1 + s[2] * xi[2]};
    G[i] = {{s[0] * f[1] * f[2] / 8, f[0] * s[1] * f[2] / 8, f[0] * f[1] * s[2] / 8}};
  }
  return G;
}

double hexahedron_volume(const Mesh& mesh, int hexahedron) {
  const auto& h = mesh.hexahedra[static_cast<std::size_t>(hexahedron)];
  const double g = 1 / std::sqrt(3.0);
  double volume = 0;
  for (const auto* s : corner_sign) {
    const auto G = trilinear_gradient({{s[0] * g, s[1] * g, s[2] * g}});
    Mat3d J = Mat3d::zero();
    for (std::size_t i = 0; i < 8; ++i) J = J + outer(node(mesh, h[i]) - node(mesh, h[0]), G[i]);
    volume += determinant(J);
  }
  return volume;
}

int element_corners(const Mesh& mesh, int element, std::array<int, 8>& nodes) {
  const auto e = static_cast<std::size_t>(element), tetrahedra = mesh.tetrahedra.size();
  if (e < tetrahedra) {
    std::copy_n(mesh.tetrahedra[e].begin(), 4, nodes.begin());
    return 4;
  }
  nodes = mesh.hexahedra[e - tetrahedra];
  return 8;
}

int edge_node(const Mesh& mesh, int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  const auto before = [](const EdgeNode& edge, const std::pair<int, int>& ends) {
    return std::pair{edge.a, edge.b} < ends;
  };
  const auto at = std::lower_bound(mesh.edge_nodes.begin(), mesh.edge_nodes.end(), std::pair{low, high}, before);
  return at != mesh.edge_nodes.end() && at->a == low && at->b == high ? at->node : -1;
}

int element_nodes(const Mesh& mesh, int element, std::array<int, max_element_nodes>& nodes) {
  std::array<int, 8> corners;
  const int count = element_corners(mesh, element, corners);
  std::copy_n(corners.begin(), count, nodes.begin());
  if (mesh.order() == 1) return count;
  auto next = nodes.begin() + count;
  for (const CellEdge& edge : cell_edges(count))
    *next++ = edge_node(mesh, corners[static_cast<std::size_t>(edge[0])], corners[static_cast<std::size_t>(edge[1])]);
  return static_cast<int>(next - nodes.begin());
}

double map_determinant(const Mesh& mesh, std::span<const int> nodes, const Vec3d& xi) {
  const auto G = shape_gradients(static_cast<int>(nodes.size()), xi);
  Mat3d J = Mat3d::zero();
  for (std::size_t a = 0; a < nodes.size(); ++a) J = J + outer(node(mesh, nodes[a]) - node(mesh, nodes[0]), G[a]);
  return determinant(J);
}

double element_volume(const Mesh& mesh, int element) {
  if (mesh.order() == 2) {
    std::array<int, max_element_nodes> nodes;
    const int count = element_nodes(mesh, element, nodes);
    double volume = 0;
    for (const QuadraturePoint& point : mass_points(count))
      volume += point.weight * map_determinant(mesh, std::span(nodes).first(static_cast<std::size_t>(count)), point.xi);
    return volume;
  }
  const int tetrahedra = static_cast<int>(mesh.tetrahedra.size());
  return element < tetrahedra ? tetrahedron_volume(mesh, element) : hexahedron_volume(mesh, element - tetrahedra);
}

Vec3d element_centroid(const Mesh& mesh, int element) {
  std::array<int, 8> nodes;
  const int n = element_corners(mesh, element, nodes);
  Vec3d sum{{0, 0, 0}};
  for (int i = 0; i < n; ++i) sum = sum + node(mesh, nodes[static_cast<std::size_t>(i)]);
  return (1.0 / n) * sum;
}

// r_in = 3 V / A; r_out = sqrt(s (s - p) (s - q) (s - r)) / (6 V) with p, q, r the products of opposite edges.
double tetrahedron_quality(const Mesh& mesh, int tetrahedron) {
  const auto& t = mesh.tetrahedra[static_cast<std::size_t>(tetrahedron)];
  const Vec3d &a = node(mesh, t[0]), &b = node(mesh, t[1]), &c = node(mesh, t[2]), &d = node(mesh, t[3]);
  const double volume = std::abs(tetrahedron_volume(a, b, c, d));
  const double area =
      (norm(cross(b - a, c - a)) + norm(cross(b - a, d - a)) + norm(cross(c - a, d - a)) + norm(cross(c - b, d - b))) /
      2;
  const double p = norm(b - a) * norm(d - c), q = norm(c - a) * norm(d - b), r = norm(d - a) * norm(c - b);
  const double s = (p + q + r) / 2, product = s * (s - p) * (s - q) * (s - r);
  if (!(product > 0) || !(area > 0)) return 0;
  return std::min(1.0, 3 * (3 * volume / area) * (6 * volume) / std::sqrt(product));
}

double hexahedron_quality(const Mesh& mesh, int hexahedron) {
  const auto& h = mesh.hexahedra[static_cast<std::size_t>(hexahedron)];
  double least = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    const auto edge = [&](int k) {
      return node(mesh, h[static_cast<std::size_t>(corner_edges[i][k])]) - node(mesh, h[i]);
    };
    const Vec3d u = edge(0), v = edge(1), w = edge(2);
    const double lengths = norm(u) * norm(v) * norm(w);
    least = std::min(least, lengths > 0 ? dot(u, cross(v, w)) / lengths : 0.0);
  }
  return least;
}

std::span<const Face> cell_faces(int corners) {
  SUPPLE_EXPECT(corners == 3 || corners == 4 || corners == 8);
  if (corners == 3) return triangle_sides;
  if (corners == 4) return tetrahedron_faces;
  return hexahedron_faces;
}

std::vector<Face> element_faces(const Mesh& mesh, int element) {
  std::array<int, 8> cell;
  const int count = element_corners(mesh, element, cell);
  std::vector<Face> faces;
  for (Face face : cell_faces(count)) {
    face.element = element;
    const auto corners = static_cast<std::size_t>(face.count);
    for (std::size_t k = 0; k < corners; ++k) face.nodes[k] = cell[static_cast<std::size_t>(face.nodes[k])];
    for (std::size_t k = 0; k < corners && mesh.order() == 2; ++k)
      face.nodes[corners + k] = edge_node(mesh, face.nodes[k], face.nodes[(k + 1) % corners]);
    faces.push_back(face);
  }
  return faces;
}

std::vector<Face> all_faces(const Mesh& mesh) {
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tetrahedra.size() + 6 * mesh.hexahedra.size());
  for (int e = 0; e < mesh.element_count(); ++e)
    for (const Face& face : element_faces(mesh, e)) faces.push_back(face);
  return faces;
}

FaceGroups group_faces(const std::vector<Face>& faces) {
  std::vector<std::array<int, 4>> keys(faces.size());
  for (std::size_t f = 0; f < faces.size(); ++f) {
    keys[f].fill(-1);
    std::copy_n(faces[f].nodes.begin(), faces[f].count, keys[f].begin());
    std::sort(keys[f].begin(), keys[f].end());
  }
  FaceGroups groups;
  groups.order.resize(faces.size());
  std::iota(groups.order.begin(), groups.order.end(), 0);
  const auto key = [&](int f) -> const auto& {
    return keys[static_cast<std::size_t>(f)];
  };
  std::sort(groups.order.begin(), groups.order.end(),
            [&](int a, int b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
  for (std::size_t i = 0; i < groups.order.size(); ++i)
    if (i == 0 || key(groups.order[i]) != key(groups.order[i - 1])) groups.begin.push_back(static_cast<int>(i));
  groups.begin.push_back(static_cast<int>(groups.order.size()));
  return groups;
}

// By the region of the plane x falls into: C. Ericson, Real-Time Collision Detection (2005), 5.1.5. A divisor can only
// be 0 where rounding has made x's distances to two corners equal, and then either corner will do.
TrianglePoint nearest_on_triangle(const Vec3d& x, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const auto part = [](double p, double q) { return p + q > 0 ? p / (p + q) : 0.0; };
  const Vec3d ab = b - a, ac = c - a, ax = x - a, bx = x - b, cx = x - c;
  const double d1 = dot(ab, ax), d2 = dot(ac, ax);
  if (d1 <= 0 && d2 <= 0) return {a, {{1, 0, 0}}};
  const double d3 = dot(ab, bx), d4 = dot(ac, bx);
  if (d3 >= 0 && d4 <= d3) return {b, {{0, 1, 0}}};
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    const double t = part(d1, -d3);
    return {a + t * ab, {{1 - t, t, 0}}};
  }
  const double d5 = dot(ab, cx), d6 = dot(ac, cx);
  if (d6 >= 0 && d5 <= d6) return {c, {{0, 0, 1}}};
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    const double t = part(d2, -d6);
    return {a + t * ac, {{1 - t, 0, t}}};
  }
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double t = part(d4 - d3, d5 - d6);
    return {b + t * (c - b), {{0, 1 - t, t}}};
  }
  const double v = part(vb, va + vc), w = part(vc, va + vb);
  return {a + v * ab + w * ac, {{1 - v - w, v, w}}};
}

double distance_to_triangle(const Vec3d& x, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return norm(x - nearest_on_triangle(x, a, b, c).point);
}

}  // namespace supple
