#include "engine/mesh/embedding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

constexpr double inside_tolerance = 1e-9;  // on weights, and on reference coordinates of hexahedra

// Solves x = sum_i w_i X_i for the four barycentric coordinates.
EmbeddedPoint in_tetrahedron(const Mesh& mesh, const std::array<int, 4>& t, const Vec3d& x) {
  EmbeddedPoint point;
  point.node_count = 4;
  std::copy(t.begin(), t.end(), point.nodes.begin());
  const auto at = [&](std::size_t k) -> const Vec3d& { return mesh.nodes[static_cast<std::size_t>(t[k])]; };
  const Vec3d u = at(1) - at(0), v = at(2) - at(0), w = at(3) - at(0), p = x - at(0);
  const double volume = dot(u, cross(v, w));
  point.weights[1] = dot(p, cross(v, w)) / volume;
  point.weights[2] = dot(u, cross(p, w)) / volume;
  point.weights[3] = dot(u, cross(v, p)) / volume;
  point.weights[0] = 1 - point.weights[1] - point.weights[2] - point.weights[3];
  point.inside = *std::min_element(point.weights.begin(), point.weights.begin() + 4) >= -inside_tolerance;
  return point;
}

// The point of a cell that is x, or as near to it as Newton's method on x(xi) comes within the reference cell.
struct CellPoint {
  int count = 0;
  ElementNodes nodes{};
  std::array<double, max_element_nodes> N{};
  std::array<Vec3d, max_element_nodes> G{};  // dN / dxi
  Mat3d J = Mat3d::zero();                   // dx / dxi
  Vec3d step{{0, 0, 0}};                     // J^-1 (x - x(xi))
  bool folded = false;
};

CellPoint find_in_cell(const Mesh& mesh, int element, const Vec3d& x) {
  CellPoint point;
  point.count = element_nodes(mesh, element, point.nodes);
  const auto count = static_cast<std::size_t>(point.count);
  const int corners = corner_count(point.count);
  const auto at = [&](std::size_t k) -> const Vec3d& { return mesh.nodes[static_cast<std::size_t>(point.nodes[k])]; };
  Vec3d xi = cell_centre(corners);
  for (int iteration = 0; iteration < 50; ++iteration) {
    point.N = shape_functions(point.count, xi);
    point.G = shape_gradients(point.count, xi);
    Vec3d residual = x - at(0);
    point.J = Mat3d::zero();
    for (std::size_t i = 0; i < count; ++i) {
      residual = residual - point.N[i] * (at(i) - at(0));
      point.J = point.J + outer(at(i) - at(0), point.G[i]);
    }
    // Only where an element is as good as folded, between the points that the check of the mesh looks at.
    if (!(determinant(point.J) > 0)) {
      point.step = Vec3d{{0, 0, 0}};
      point.folded = true;
      break;
    }
    point.step = inverse(point.J) * residual;
    const Vec3d next = into_cell(corners, xi + point.step);
    const double change = norm(next - xi);
    if (!(change > 1e-15)) break;
    if (iteration + 1 < 50) xi = next;
  }
  return point;
}

// One linear step beyond the cell: w_i = N_i(xi) + grad N_i(xi) . J^-1 (x - x(xi)), which reproduces x for any xi.
EmbeddedPoint in_curved(const Mesh& mesh, int element, const Vec3d& x) {
  const CellPoint found = find_in_cell(mesh, element, x);
  EmbeddedPoint point;
  point.node_count = found.count;
  point.nodes = found.nodes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.count); ++i)
    point.weights[i] = found.N[i] + dot(found.G[i], found.step);
  point.inside = !found.folded && norm(found.step) <= inside_tolerance;
  return point;
}

// One box per element.
std::vector<BoundingBox> element_boxes(const Mesh& mesh) {
  const int n = mesh.element_count();
  if (n == 0)
    throw InputError("points cannot be placed in a mesh without elements", "mesh the volume in 3D (gmsh -3)",
                     {mesh.name, 0, 0, ""});
  std::vector<BoundingBox> boxes;
  boxes.reserve(static_cast<std::size_t>(n));
  for (int e = 0; e < n; ++e) {
    std::array<int, max_element_nodes> nodes;
    const auto count = static_cast<std::size_t>(element_nodes(mesh, e, nodes));
    const Vec3d& first = mesh.nodes[static_cast<std::size_t>(nodes[0])];
    BoundingBox box{first, first};
    for (std::size_t i = 1; i < count; ++i) extend(box, mesh.nodes[static_cast<std::size_t>(nodes[i])]);
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace

Vec3d embedded_position(const EmbeddedPoint& point, const std::vector<Vec3d>& nodes) {
  Vec3d x{{0, 0, 0}};
  for (std::size_t k = 0; k < static_cast<std::size_t>(point.node_count); ++k)
    x = x + point.weights[k] * nodes[static_cast<std::size_t>(point.nodes[k])];
  return x;
}

Embedding::Embedding(const Mesh& mesh) : mesh_(mesh), tree_(element_boxes(mesh)) {}

std::array<Vec3d, max_element_nodes> Embedding::gradients(int element, const Vec3d& x) const {
  const CellPoint found = find_in_cell(mesh_, element, x);
  const Mat3d inverse_transpose = transpose(inverse(found.J));
  std::array<Vec3d, max_element_nodes> gradients{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.count); ++i) gradients[i] = inverse_transpose * found.G[i];
  return gradients;
}

double Embedding::distance_to_element(int element, const Vec3d& x) const {
  if (in_element(element, x).inside) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& t : triangles_of(element_faces(mesh_, element))) {
    const auto at = [&](std::size_t k) -> const Vec3d& { return mesh_.nodes[static_cast<std::size_t>(t[k])]; };
    least = std::min(least, distance_to_triangle(x, at(0), at(1), at(2)));
  }
  return least;
}

EmbeddedPoint Embedding::in_element(int element, const Vec3d& x) const {
  const auto e = static_cast<std::size_t>(element);
  EmbeddedPoint point = mesh_.order() == 1 && e < mesh_.tetrahedra.size()
                            ? in_tetrahedron(mesh_, mesh_.tetrahedra[e], x)
                            : in_curved(mesh_, element, x);
  point.element = element;
  return point;
}

EmbeddedPoint Embedding::locate(const Vec3d& x) const {
  if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
    throw InputError("a point to place in the mesh has a coordinate that is not finite", "correct the point");
  // Elements within rounding of the least distance found so far; the lowest index of those that stay is the answer.
  const BoundingBox& all = tree_.bounds();
  const double slack = 1e-12 * (norm(all.upper - all.lower) + distance_to_box(all, x));
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, int>> near;
  tree_.search(
      x, [&] { return least + slack; },
      [&](int e) {
        const double distance = distance_to_element(e, x);
        least = std::min(least, distance);
        if (distance <= least + slack) near.emplace_back(distance, e);
      });
  int best = std::numeric_limits<int>::max();
  for (const auto& [distance, e] : near)
    if (distance <= least + slack) best = std::min(best, e);
  EmbeddedPoint point = in_element(best, x);
  point.distance = point.inside ? 0 : distance_to_element(best, x);
  return point;
}

std::vector<EmbeddedPoint> Embedding::locate_all(const std::vector<Vec3d>& points) const {
  std::vector<EmbeddedPoint> found;
  found.reserve(points.size());
  for (const Vec3d& x : points) found.push_back(locate(x));
  return found;
}

}  // namespace supple
