#include "engine/mesh/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

constexpr double sliver_quality = 0.05;

[[noreturn]] void fail(const Mesh& mesh, const std::string& problem, const std::string& suggestion) {
  throw InputError(problem, suggestion, {mesh.name, 0, 0, ""});
}

std::string element_name(const Mesh& mesh, int element) {
  const int tetrahedra = static_cast<int>(mesh.tetrahedra.size());
  return element < tetrahedra ? fmt::format("tetrahedron {}", element)
                              : fmt::format("hexahedron {}", element - tetrahedra);
}

template <class Cells>
void check_indices(const Mesh& mesh, const Cells& cells, const char* name) {
  const int n = static_cast<int>(mesh.nodes.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    auto sorted = cells[c];
    std::sort(sorted.begin(), sorted.end());
    if (sorted.front() < 0 || sorted.back() >= n)
      fail(mesh, fmt::format("{} {} uses a node that does not exist (there are {} nodes)", name, c, n),
           "export the mesh again");
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      fail(mesh, fmt::format("{} {} uses a node twice", name, c),
           "mesh the body again; in gmsh try Mesh.Optimize or a finer size");
  }
}

template <class Cells>
void check_duplicates(const Mesh& mesh, Cells cells, const char* name) {
  std::vector<std::pair<typename Cells::value_type, int>> keys;
  keys.reserve(cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::sort(cells[c].begin(), cells[c].end());
    keys.emplace_back(cells[c], static_cast<int>(c));
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i].first == keys[i - 1].first)
      fail(mesh, fmt::format("{0} {1} and {0} {2} have the same nodes", name, keys[i - 1].second, keys[i].second),
           "remove the copy; in gmsh, Coherence Mesh removes duplicates");
}

template <class Visit>
void for_each_edge(const Mesh& mesh, int element, const Visit& visit) {
  std::array<int, 8> corners;
  const int count = element_corners(mesh, element, corners);
  for (const CellEdge& edge : cell_edges(count))
    visit(corners[static_cast<std::size_t>(edge[0])], corners[static_cast<std::size_t>(edge[1])]);
}

// Of second order: every edge of an element has a node of its own.
void check_edges(const Mesh& mesh) {
  if (mesh.order() == 1) return;
  const int n = static_cast<int>(mesh.nodes.size());
  std::vector<int> owner(mesh.nodes.size(), -1);
  const auto claim = [&](int node, int edge) {
    if (node < 0 || node >= n)
      fail(mesh, fmt::format("an edge has a node {} that does not exist (there are {} nodes)", node, n),
           "export the mesh again");
    if (std::exchange(owner[static_cast<std::size_t>(node)], edge) != -1)
      fail(mesh, fmt::format("node {} is that of two edges, or of an edge and a corner", node),
           "export the mesh again");
  };
  for (int e = 0; e < mesh.element_count(); ++e) {
    std::array<int, 8> corners;
    const int count = element_corners(mesh, e, corners);
    for (int k = 0; k < count; ++k) owner[static_cast<std::size_t>(corners[static_cast<std::size_t>(k)])] = n;
    for_each_edge(mesh, e, [&](int a, int b) {
      if (edge_node(mesh, a, b) < 0)
        fail(mesh,
             fmt::format("{} is of first order and others are of second (its edge between nodes {} and {} has no node)",
                         element_name(mesh, e), a, b),
             "save the mesh with cells of one order: gmsh -order 2 -3 model.geo, or order = 1 in [body]");
    });
  }
  for (std::size_t k = 0; k < mesh.edge_nodes.size(); ++k) claim(mesh.edge_nodes[k].node, static_cast<int>(k));
}

// Whether the map of a curved element can be inverted at the points of its forces and of its mass.
bool curved_too_far(const Mesh& mesh, int element) {
  if (mesh.order() == 1) return false;
  std::array<int, max_element_nodes> nodes;
  const int count = element_nodes(mesh, element, nodes);
  const auto folded = [&](const QuadraturePoint& point) {
    return !(map_determinant(mesh, std::span(nodes).first(static_cast<std::size_t>(count)), point.xi) > 0);
  };
  return std::ranges::any_of(stiffness_points(count), folded) || std::ranges::any_of(mass_points(count), folded);
}

double longest_edge(const Mesh& mesh, int element) {
  std::array<int, 8> nodes;
  const auto n = static_cast<std::size_t>(element_corners(mesh, element, nodes));
  double longest = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      longest = std::max(longest, norm(mesh.nodes[static_cast<std::size_t>(nodes[i])] -
                                       mesh.nodes[static_cast<std::size_t>(nodes[j])]));
  return longest;
}

// Flips elements of negative volume, throws for elements without volume, sums the volume and finds the worst shape.
void check_shapes(Mesh& mesh, MeshReport& report) {
  const int tetrahedra = static_cast<int>(mesh.tetrahedra.size());
  report.min_quality = 2;
  for (int e = 0; e < mesh.element_count(); ++e) {
    double volume = element_volume(mesh, e);
    const double edge = longest_edge(mesh, e);
    if (!(std::abs(volume) > 1e-12 * edge * edge * edge))
      fail(mesh, fmt::format("{} has no volume ({:.3g} for edges of {:.3g})", element_name(mesh, e), volume, edge),
           "mesh the body again with another size, or remove flat elements with gmsh's Mesh.Optimize");
    if (volume < 0) {
      volume = -volume;
      ++report.flipped;
      if (e < tetrahedra) {
        auto& t = mesh.tetrahedra[static_cast<std::size_t>(e)];
        std::swap(t[0], t[1]);
      } else {
        auto& h = mesh.hexahedra[static_cast<std::size_t>(e - tetrahedra)];
        for (std::size_t k = 0; k < 4; ++k) std::swap(h[k], h[k + 4]);
      }
    }
    const double quality = e < tetrahedra ? tetrahedron_quality(mesh, e) : hexahedron_quality(mesh, e - tetrahedra);
    if (e >= tetrahedra && !(quality > 0))
      fail(mesh, element_name(mesh, e) + " is folded (the map at one of its corners is not invertible)",
           "check its node order (VTK's), or mesh the body again");
    if (curved_too_far(mesh, e))
      fail(mesh, element_name(mesh, e) + " is curved so far that it is folded (its map cannot be inverted)",
           "straighten it with gmsh's Mesh.HighOrderOptimize, use a finer mesh, or order = 1 in [body]");
    if (quality < sliver_quality) ++report.slivers;
    if (quality < report.min_quality) {
      report.min_quality = quality;
      report.worst_element = e;
    }
    report.volume += volume;
  }
}

void check_faces(const Mesh& mesh, MeshReport& report) {
  const auto faces = all_faces(mesh);
  const auto groups = group_faces(faces);
  for (std::size_t g = 0; g + 1 < groups.begin.size(); ++g) {
    const int sharing = groups.begin[g + 1] - groups.begin[g];
    if (sharing == 1) ++report.boundary_faces;
    if (sharing <= 2) continue;
    const Face& face = faces[static_cast<std::size_t>(groups.order[static_cast<std::size_t>(groups.begin[g])])];
    fail(mesh,
         fmt::format("{} elements share one face, of nodes {}, {} and {} (at most two can)", sharing, face.nodes[0],
                     face.nodes[1], face.nodes[2]),
         "elements overlap: mesh the body again, after removing overlapping volumes");
  }
}

int count_components(const Mesh& mesh) {
  std::vector<int> parent(mesh.nodes.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      auto& up = parent[static_cast<std::size_t>(i)];
      up = parent[static_cast<std::size_t>(up)];
      i = up;
    }
    return i;
  };
  int components = static_cast<int>(mesh.nodes.size() - mesh.edge_nodes.size());
  for (int e = 0; e < mesh.element_count(); ++e) {
    std::array<int, 8> nodes;
    const auto n = static_cast<std::size_t>(element_corners(mesh, e, nodes));
    for (std::size_t k = 1; k < n; ++k) {
      const int a = root(nodes[0]), b = root(nodes[k]);
      if (a == b) continue;
      parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      --components;
    }
  }
  return components;
}

int count_duplicate_nodes(const Mesh& mesh) {
  std::vector<std::array<double, 3>> sorted;
  sorted.reserve(mesh.nodes.size());
  for (const Vec3d& x : mesh.nodes) sorted.push_back({x[0], x[1], x[2]});
  std::sort(sorted.begin(), sorted.end());
  int duplicates = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) duplicates += sorted[i] == sorted[i - 1] ? 1 : 0;
  return duplicates;
}

// Drops nodes that no element uses, and triangles on them.
void drop_unused(Mesh& mesh, MeshReport& report) {
  std::vector<char> used(mesh.nodes.size(), 0);
  for (const auto& t : mesh.tetrahedra)
    for (const int node : t) used[static_cast<std::size_t>(node)] = 1;
  for (const auto& h : mesh.hexahedra)
    for (const int node : h) used[static_cast<std::size_t>(node)] = 1;
  if (mesh.order() == 2) {
    std::vector<std::pair<int, int>> edges;
    for (int e = 0; e < mesh.element_count(); ++e)
      for_each_edge(mesh, e, [&](int a, int b) { edges.push_back(std::minmax(a, b)); });
    std::sort(edges.begin(), edges.end());
    std::erase_if(mesh.edge_nodes, [&](const EdgeNode& edge) {
      return !std::binary_search(edges.begin(), edges.end(), std::pair{edge.a, edge.b});
    });
    for (const EdgeNode& edge : mesh.edge_nodes) used[static_cast<std::size_t>(edge.node)] = 1;
  }
  auto& map = report.node_of_original;
  map.assign(mesh.nodes.size(), -1);
  int kept = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    mesh.nodes[static_cast<std::size_t>(kept)] = mesh.nodes[i];
    map[i] = kept++;
  }
  report.unused_nodes = static_cast<int>(mesh.nodes.size()) - kept;
  if (report.unused_nodes == 0) return;
  mesh.nodes.resize(static_cast<std::size_t>(kept));
  const auto renumber = [&](auto& cells) {
    for (auto& cell : cells)
      for (int& node : cell) node = map[static_cast<std::size_t>(node)];
  };
  renumber(mesh.tetrahedra), renumber(mesh.hexahedra), renumber(mesh.triangles);
  for (EdgeNode& edge : mesh.edge_nodes)
    for (int* node : {&edge.a, &edge.b, &edge.node}) *node = map[static_cast<std::size_t>(*node)];
  std::vector<int> triangle_map(mesh.triangles.size(), -1);
  std::size_t triangles = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto triangle = mesh.triangles[t];
    if (std::find(triangle.begin(), triangle.end(), -1) != triangle.end()) continue;
    mesh.triangles[triangles] = triangle;
    triangle_map[t] = static_cast<int>(triangles++);
  }
  report.dropped_triangles = static_cast<int>(mesh.triangles.size() - triangles);
  mesh.triangles.resize(triangles);
  for (CellGroup& group : mesh.groups) {
    if (group.type != CellType::triangle) continue;
    for (int& cell : group.cells) cell = triangle_map[static_cast<std::size_t>(cell)];
    std::erase(group.cells, -1);
  }
}

void check_groups(const Mesh& mesh) {
  for (const CellGroup& group : mesh.groups) {
    const std::size_t cells = group.type == CellType::triangle      ? mesh.triangles.size()
                              : group.type == CellType::tetrahedron ? mesh.tetrahedra.size()
                                                                    : mesh.hexahedra.size();
    for (const int cell : group.cells)
      if (cell < 0 || static_cast<std::size_t>(cell) >= cells)
        fail(mesh, fmt::format("group \"{}\" has cell {} (there are {})", group.name, cell, cells),
             "export the mesh again");
  }
}

std::string plural(int n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

void write_notes(const Mesh& mesh, MeshReport& report) {
  auto& notes = report.notes;
  notes = mesh.notes;
  if (report.flipped > 0)
    notes.push_back("turned " + plural(report.flipped, "element", "elements") + " of negative volume");
  if (report.unused_nodes > 0)
    notes.push_back("dropped " + plural(report.unused_nodes, "node", "nodes") + " that no element uses");
  if (report.dropped_triangles > 0)
    notes.push_back("dropped " + plural(report.dropped_triangles, "triangle", "triangles") +
                    " that are not on the body");
  if (report.duplicate_nodes > 0)
    notes.push_back(
        plural(report.duplicate_nodes, "node is", "nodes are") +
        " at the place of another one: the body is cut there; if not intended, merge them (gmsh: Coherence Mesh)");
  if (report.slivers > 0)
    notes.push_back(fmt::format("{} of quality below {} (worst {:.2g}, {}): expect slow convergence and locking there",
                                plural(report.slivers, "element is", "elements are"), sliver_quality,
                                report.min_quality, element_name(mesh, report.worst_element)));
  if (report.components > 1)
    notes.push_back(fmt::format("the mesh has {} parts that share no node", report.components));
  if (report.tetrahedra > 0 && report.hexahedra > 0)
    notes.push_back("tetrahedra and hexahedra in one mesh: their faces do not match where they meet");
}

}  // namespace

MeshReport check_mesh(Mesh& mesh) {
  MeshReport report;
  if (mesh.element_count() == 0)
    fail(mesh,
         mesh.triangles.empty() ? "the mesh is empty" : "the mesh is a surface (a body needs tetrahedra or hexahedra)",
         "mesh the volume in 3D (gmsh -3) and put it in a physical group, or save all cells");
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    for (int k = 0; k < 3; ++k)
      if (!(std::abs(mesh.nodes[i][k]) <= 1e30))
        fail(mesh, fmt::format("node {} has the coordinate {} (not a usable number)", i, mesh.nodes[i][k]),
             "export the mesh again");
  check_indices(mesh, mesh.tetrahedra, "tetrahedron");
  check_indices(mesh, mesh.hexahedra, "hexahedron");
  check_indices(mesh, mesh.triangles, "triangle");
  check_groups(mesh);
  check_duplicates(mesh, mesh.tetrahedra, "tetrahedron");
  check_duplicates(mesh, mesh.hexahedra, "hexahedron");
  check_edges(mesh);
  check_shapes(mesh, report);
  check_faces(mesh, report);
  drop_unused(mesh, report);
  report.duplicate_nodes = count_duplicate_nodes(mesh);
  report.components = count_components(mesh);
  report.nodes = static_cast<int>(mesh.nodes.size());
  report.order = mesh.order();
  report.tetrahedra = static_cast<int>(mesh.tetrahedra.size());
  report.hexahedra = static_cast<int>(mesh.hexahedra.size());
  report.triangles = static_cast<int>(mesh.triangles.size());
  report.lower = report.upper = mesh.nodes.front();
  for (const Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      report.lower[k] = std::min(report.lower[k], x[k]);
      report.upper[k] = std::max(report.upper[k], x[k]);
    }
  write_notes(mesh, report);
  return report;
}

}  // namespace supple
