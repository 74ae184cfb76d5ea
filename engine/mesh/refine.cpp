#include "engine/mesh/refine.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"

namespace supple {

namespace {

using Pair = std::pair<int, int>;

Pair ends(int a, int b) {
  return {std::min(a, b), std::max(a, b)};
}

// A node of a refined element: its place in the parent's reference cell.
struct CellPlace {
  int node = -1;
  Vec3d xi{{0, 0, 0}};
};

class Refinement {
 public:
  explicit Refinement(const Mesh& mesh) : mesh_(mesh) {
    fine_.nodes = mesh.nodes;
    fine_.name = mesh.name;
    fine_.notes = mesh.notes;
    // Nodes of edges become corners.
    for (const EdgeNode& edge : mesh.edge_nodes) middle_[{edge.a, edge.b}] = edge.node;
  }

  Mesh refine() {
    for (int e = 0; e < mesh_.element_count(); ++e) {
      start(e);
      corners_ == 4 ? refine_tetrahedron() : refine_hexahedron();
    }
    for (const auto& triangle : mesh_.triangles) refine_triangle(triangle);
    if (mesh_.order() == 2) {
      for (const auto& [edge, node] : half_) fine_.edge_nodes.push_back({edge.first, edge.second, node});
    }
    for (CellGroup group : mesh_.groups) {
      const int parts = group.type == CellType::triangle ? 4 : 8;
      std::vector<int> cells;
      for (const int cell : group.cells)
        for (int k = 0; k < parts; ++k) cells.push_back(parts * cell + k);
      group.cells = std::move(cells);
      fine_.groups.push_back(std::move(group));
    }
    return std::move(fine_);
  }

 private:
  void start(int element) {
    count_ = element_nodes(mesh_, element, nodes_);
    corners_ = corner_count(count_);
  }
  // Where the element is at xi.
  Vec3d position(const Vec3d& xi) const {
    const auto N = shape_functions(count_, xi);
    Vec3d x{{0, 0, 0}};
    for (std::size_t a = 0; a < static_cast<std::size_t>(count_); ++a)
      x = x + N[a] * mesh_.nodes[static_cast<std::size_t>(nodes_[a])];
    return x;
  }
  int add(const Vec3d& xi) {
    fine_.nodes.push_back(position(xi));
    return static_cast<int>(fine_.nodes.size()) - 1;
  }
  Vec3d corner_xi(int k) const {
    Vec3d xi{{0, 0, 0}};
    if (corners_ == 4) {
      if (k > 0) xi[k - 1] = 1;
      return xi;
    }
    for (int a = 0; a < 3; ++a) xi[a] = trilinear_corner(k)[a];
    return xi;
  }
  CellPlace corner(int k) const { return {nodes_[static_cast<std::size_t>(k)], corner_xi(k)}; }
  CellPlace between(const CellPlace& a, const CellPlace& b) {
    const Vec3d xi = 0.5 * (a.xi + b.xi);
    const auto [it, added] = middle_.try_emplace(ends(a.node, b.node), -1);
    if (it->second < 0) it->second = add(xi);
    return {it->second, xi};
  }
  // With the nodes of its edges where the mesh has them.
  template <std::size_t N>
  std::array<int, N> element(const std::array<CellPlace, N>& places) {
    std::array<int, N> result;
    for (std::size_t k = 0; k < N; ++k) result[k] = places[k].node;
    if (mesh_.order() == 2)
      for (const CellEdge& edge : cell_edges(static_cast<int>(N))) {
        const CellPlace &a = places[static_cast<std::size_t>(edge[0])], &b = places[static_cast<std::size_t>(edge[1])];
        const auto [it, added] = half_.try_emplace(ends(a.node, b.node), -1);
        if (added) it->second = add(0.5 * (a.xi + b.xi));
      }
    return result;
  }

  void refine_tetrahedron() {
    const std::array v{corner(0), corner(1), corner(2), corner(3)};
    std::array<std::array<CellPlace, 4>, 4> m;  // of edge ij
    for (std::size_t i = 0; i < 4; ++i) {
      m[i][i] = v[i];
      for (std::size_t j = i + 1; j < 4; ++j) m[i][j] = m[j][i] = between(v[i], v[j]);
    }
    const auto push = [&](const std::array<CellPlace, 4>& places) { fine_.tetrahedra.push_back(element<4>(places)); };
    for (std::size_t i = 0; i < 4; ++i) push({m[i][0], m[i][1], m[i][2], m[i][3]});
    // Diagonals of the octahedron join the middles of opposite edges; around each the other four in a ring.
    const std::array<std::array<CellPlace, 6>, 3> choices{{{m[0][1], m[2][3], m[0][2], m[0][3], m[1][3], m[1][2]},
                                                           {m[0][2], m[1][3], m[0][1], m[1][2], m[2][3], m[0][3]},
                                                           {m[0][3], m[1][2], m[0][1], m[1][3], m[2][3], m[0][2]}}};
    const auto length = [&](const std::array<CellPlace, 6>& c) {
      return norm(fine_.nodes[static_cast<std::size_t>(c[0].node)] - fine_.nodes[static_cast<std::size_t>(c[1].node)]);
    };
    const auto& c = *std::ranges::min_element(choices, {}, length);
    for (std::size_t k = 0; k < 4; ++k) {
      std::array<CellPlace, 4> t{c[0], c[1], c[2 + k], c[2 + (k + 1) % 4]};
      // Upright in the reference cell as the parent is.
      if (dot(t[1].xi - t[0].xi, cross(t[2].xi - t[0].xi, t[3].xi - t[0].xi)) < 0) std::swap(t[2], t[3]);
      push(t);
    }
  }

  void refine_hexahedron() {
    std::array<CellPlace, 8> v;
    for (int k = 0; k < 8; ++k) v[static_cast<std::size_t>(k)] = corner(k);
    // The lattice of 3 x 3 x 3 places, x fastest, by what they lie between.
    std::array<CellPlace, 27> lattice;
    const auto at = [&](int i, int j, int k) -> CellPlace& {
      return lattice[static_cast<std::size_t>(i + 3 * j + 9 * k)];
    };
    const auto of = [&](const Vec3d& xi) {  // in 0, 1, 2 along each axis
      std::array<int, 3> index{};
      for (int a = 0; a < 3; ++a) index[static_cast<std::size_t>(a)] = static_cast<int>(xi[a] - low_ + 0.5);
      return index;
    };
    for (const CellPlace& place : v) {
      const auto [i, j, k] = of(place.xi);
      at(i, j, k) = place;
    }
    for (const CellEdge& edge : cell_edges(8)) {
      const CellPlace place = between(v[static_cast<std::size_t>(edge[0])], v[static_cast<std::size_t>(edge[1])]);
      const auto [i, j, k] = of(place.xi);
      at(i, j, k) = place;
    }
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side <= 2; side += 2) {
        std::array<int, 3> index{1, 1, 1};
        index[static_cast<std::size_t>(axis)] = side;
        std::array<int, 4> around{};
        std::size_t n = 0;
        for (const CellPlace& place : v)
          if (of(place.xi)[static_cast<std::size_t>(axis)] == side) around[n++] = place.node;
        std::ranges::sort(around);
        Vec3d xi;
        for (int a = 0; a < 3; ++a) xi[a] = low_ + index[static_cast<std::size_t>(a)];
        const auto [it, added] = faces_.try_emplace(around, -1);
        if (added) {
          it->second = add(xi);
          // Triangles that lie on this face are halved along its diagonals.
          for (std::size_t a = 0; a < 4; ++a)
            for (std::size_t b = a + 1; b < 4; ++b) diagonal_.try_emplace({around[a], around[b]}, it->second);
        }
        at(index[0], index[1], index[2]) = {it->second, xi};
      }
    const Vec3d centre{{low_ + 1, low_ + 1, low_ + 1}};
    at(1, 1, 1) = {add(centre), centre};
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) {
          std::array<CellPlace, 8> child;
          for (int c = 0; c < 8; ++c) {
            const auto index = of(v[static_cast<std::size_t>(c)].xi);
            child[static_cast<std::size_t>(c)] = at(i + index[0] / 2, j + index[1] / 2, k + index[2] / 2);
          }
          fine_.hexahedra.push_back(element<8>(child));
        }
  }

  void refine_triangle(const std::array<int, 3>& t) {
    std::array<int, 3> m;
    for (std::size_t k = 0; k < 3; ++k) {
      const Pair edge = ends(t[k], t[(k + 1) % 3]);
      const auto found = middle_.find(edge);
      const auto diagonal = diagonal_.find(edge);
      if (found != middle_.end() && found->second >= 0) {
        m[k] = found->second;
      } else if (diagonal != diagonal_.end()) {
        m[k] = diagonal->second;
      } else {  // of no element: check_mesh drops it
        fine_.nodes.push_back(0.5 * (mesh_.nodes[static_cast<std::size_t>(edge.first)] +
                                     mesh_.nodes[static_cast<std::size_t>(edge.second)]));
        m[k] = middle_[edge] = static_cast<int>(fine_.nodes.size()) - 1;
      }
    }
    fine_.triangles.push_back({t[0], m[0], m[2]});
    fine_.triangles.push_back({m[0], t[1], m[1]});
    fine_.triangles.push_back({m[2], m[1], t[2]});
    fine_.triangles.push_back({m[0], m[1], m[2]});
  }

  static constexpr double low_ = -1;  // the reference cube is [-1, 1]^3

  const Mesh& mesh_;
  Mesh fine_;
  std::map<Pair, int> middle_;    // of the mesh's edges
  std::map<Pair, int> half_;      // nodes of the refined edges, of second order
  std::map<Pair, int> diagonal_;  // of faces with four corners: their middles
  std::map<std::array<int, 4>, int> faces_;
  std::array<int, max_element_nodes> nodes_{};
  int count_ = 0, corners_ = 0;
};

}  // namespace

Mesh refined(const Mesh& mesh) {
  return Refinement(mesh).refine();
}

}  // namespace supple
