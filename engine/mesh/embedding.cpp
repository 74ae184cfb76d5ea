#include "engine/mesh/embedding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/mesh/geometry.hpp"
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

// Newton's method on x(xi) = x kept inside the reference cube, then one linear step beyond it:
// w_i = N_i(xi) + grad N_i(xi) . J^-1 (x - x(xi)), which reproduces x for any xi.
EmbeddedPoint in_hexahedron(const Mesh& mesh, const std::array<int, 8>& h, const Vec3d& x) {
  EmbeddedPoint point;
  point.node_count = 8;
  point.nodes = h;
  const auto at = [&](std::size_t k) -> const Vec3d& { return mesh.nodes[static_cast<std::size_t>(h[k])]; };
  Vec3d xi{{0, 0, 0}}, step{{0, 0, 0}};
  std::array<double, 8> N{};
  std::array<Vec3d, 8> G{};
  for (int iteration = 0; iteration < 50; ++iteration) {
    N = trilinear_shape(xi);
    G = trilinear_gradient(xi);
    Vec3d residual = x - at(0);
    Mat3d J = Mat3d::zero();
    for (std::size_t i = 0; i < 8; ++i) {
      residual = residual - N[i] * (at(i) - at(0));
      J = J + outer(at(i) - at(0), G[i]);
    }
    step = inverse(J) * residual;
    Vec3d next = xi + step;
    for (int k = 0; k < 3; ++k) next[k] = std::clamp(next[k], -1.0, 1.0);
    const double change = norm(next - xi);
    if (!(change > 1e-15)) break;
    if (iteration + 1 < 50) xi = next;
  }
  for (std::size_t i = 0; i < 8; ++i) point.weights[i] = N[i] + dot(G[i], step);
  point.inside = norm(step) <= inside_tolerance;
  return point;
}

}  // namespace

Vec3d embedded_position(const EmbeddedPoint& point, const std::vector<Vec3d>& nodes) {
  Vec3d x{{0, 0, 0}};
  for (std::size_t k = 0; k < static_cast<std::size_t>(point.node_count); ++k)
    x = x + point.weights[k] * nodes[static_cast<std::size_t>(point.nodes[k])];
  return x;
}

Embedding::Embedding(const Mesh& mesh) : mesh_(mesh) {
  const int n = mesh.element_count();
  if (n == 0)
    throw InputError("points cannot be placed in a mesh without elements", "mesh the volume in 3D (gmsh -3)",
                     {mesh.name, 0, 0, ""});
  std::vector<Vec3d> centres(static_cast<std::size_t>(n));
  boxes_.resize(static_cast<std::size_t>(n));
  for (int e = 0; e < n; ++e) {
    std::array<int, 8> nodes;
    const auto count = static_cast<std::size_t>(element_nodes(mesh, e, nodes));
    Box& box = boxes_[static_cast<std::size_t>(e)];
    box.lower = box.upper = mesh.nodes[static_cast<std::size_t>(nodes[0])];
    for (std::size_t i = 1; i < count; ++i)
      for (int k = 0; k < 3; ++k) {
        box.lower[k] = std::min(box.lower[k], mesh.nodes[static_cast<std::size_t>(nodes[i])][k]);
        box.upper[k] = std::max(box.upper[k], mesh.nodes[static_cast<std::size_t>(nodes[i])][k]);
      }
    centres[static_cast<std::size_t>(e)] = 0.5 * (box.lower + box.upper);
  }
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), 0);
  build(0, n, centres);
}

// Halves the elements at the median of their centres along the longest side. Returns the index of the new node.
int Embedding::build(int begin, int end, std::vector<Vec3d>& centres) {
  const int index = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  Box box = boxes_[static_cast<std::size_t>(order_[static_cast<std::size_t>(begin)])];
  for (int i = begin; i < end; ++i) {
    const Box& other = boxes_[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])];
    for (int k = 0; k < 3; ++k) {
      box.lower[k] = std::min(box.lower[k], other.lower[k]);
      box.upper[k] = std::max(box.upper[k], other.upper[k]);
    }
  }
  int second = -1;
  if (end - begin > 8) {
    int axis = 0;
    for (int k = 1; k < 3; ++k)
      if (box.upper[k] - box.lower[k] > box.upper[axis] - box.lower[axis]) axis = k;
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](int a, int b) {
      const double p = centres[static_cast<std::size_t>(a)][axis], q = centres[static_cast<std::size_t>(b)][axis];
      return p != q ? p < q : a < b;
    });
    build(begin, middle, centres);
    second = build(middle, end, centres);
  }
  nodes_[static_cast<std::size_t>(index)] = {box, begin, end, second};
  return index;
}

double Embedding::distance_to_box(const Box& box, const Vec3d& x) {
  Vec3d gap;
  for (int k = 0; k < 3; ++k) gap[k] = std::max({box.lower[k] - x[k], 0.0, x[k] - box.upper[k]});
  return norm(gap);
}

double Embedding::distance_to_element(int element, const Vec3d& x) const {
  if (in_element(element, x).inside) return 0;
  std::array<int, 8> nodes;
  const int count = element_nodes(mesh_, element, nodes);
  double least = std::numeric_limits<double>::infinity();
  const auto triangle = [&](std::size_t a, std::size_t b, std::size_t c) {
    const auto at = [&](std::size_t k) -> const Vec3d& { return mesh_.nodes[static_cast<std::size_t>(nodes[k])]; };
    least = std::min(least, distance_to_triangle(x, at(a), at(b), at(c)));
  };
  if (count == 4) {
    triangle(0, 2, 1), triangle(0, 1, 3), triangle(1, 2, 3), triangle(0, 3, 2);
  } else {
    triangle(0, 3, 2), triangle(0, 2, 1), triangle(4, 5, 6), triangle(4, 6, 7), triangle(0, 1, 5), triangle(0, 5, 4);
    triangle(1, 2, 6), triangle(1, 6, 5), triangle(2, 3, 7), triangle(2, 7, 6), triangle(3, 0, 4), triangle(3, 4, 7);
  }
  return least;
}

EmbeddedPoint Embedding::in_element(int element, const Vec3d& x) const {
  const auto e = static_cast<std::size_t>(element), tetrahedra = mesh_.tetrahedra.size();
  EmbeddedPoint point = e < tetrahedra ? in_tetrahedron(mesh_, mesh_.tetrahedra[e], x)
                                       : in_hexahedron(mesh_, mesh_.hexahedra[e - tetrahedra], x);
  point.element = element;
  return point;
}

EmbeddedPoint Embedding::locate(const Vec3d& x) const {
  if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
    throw InputError("a point to place in the mesh has a coordinate that is not finite", "correct the point");
  // Elements within rounding of the least distance found so far; the lowest index of those that stay is the answer.
  const double slack =
      1e-12 * (norm(nodes_.front().box.upper - nodes_.front().box.lower) + distance_to_box(nodes_.front().box, x));
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, int>> near;
  std::vector<std::pair<double, int>> stack{{distance_to_box(nodes_.front().box, x), 0}};
  while (!stack.empty()) {
    const auto [bound, index] = stack.back();
    stack.pop_back();
    if (bound > least + slack) continue;
    const Node& node = nodes_[static_cast<std::size_t>(index)];
    if (node.second >= 0) {
      std::pair<double, int> a{distance_to_box(nodes_[static_cast<std::size_t>(index) + 1].box, x), index + 1};
      std::pair<double, int> b{distance_to_box(nodes_[static_cast<std::size_t>(node.second)].box, x), node.second};
      if (a.first < b.first) std::swap(a, b);  // the nearer one is looked at first
      stack.push_back(a), stack.push_back(b);
      continue;
    }
    for (int i = node.begin; i < node.end; ++i) {
      const int e = order_[static_cast<std::size_t>(i)];
      if (distance_to_box(boxes_[static_cast<std::size_t>(e)], x) > least + slack) continue;
      const double distance = distance_to_element(e, x);
      least = std::min(least, distance);
      if (distance <= least + slack) near.emplace_back(distance, e);
    }
  }
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
