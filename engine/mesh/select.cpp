#include "engine/mesh/select.hpp"

#include <algorithm>
#include <cmath>

#include "engine/mesh/geometry.hpp"
#include "engine/mesh/reference_element.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

double tolerance(const Mesh& mesh) {
  double largest = 0;
  for (const Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) largest = std::max(largest, std::abs(x[k] - mesh.nodes.front()[k]));
  return 1e-9 * largest;
}

struct Box {
  Vec3d lower, upper;
  double slack;
  bool operator()(const Vec3d& x) const {
    for (int k = 0; k < 3; ++k)
      if (!(x[k] >= lower[k] - slack && x[k] <= upper[k] + slack)) return false;
    return true;
  }
};

struct Sphere {
  Vec3d centre;
  double radius, slack;
  bool operator()(const Vec3d& x) const { return norm(x - centre) <= radius + slack; }
};

template <class Region>
std::vector<int> nodes_in(const Mesh& mesh, const Region& region) {
  std::vector<int> found;
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i)
    if (region(mesh.nodes[i])) found.push_back(static_cast<int>(i));
  return found;
}

template <class Region>
std::vector<int> elements_in(const Mesh& mesh, const Region& region) {
  std::vector<int> found;
  for (int e = 0; e < mesh.element_count(); ++e)
    if (region(element_centroid(mesh, e))) found.push_back(e);
  return found;
}

std::vector<const CellGroup*> groups_named(const Mesh& mesh, const std::string& name) {
  std::vector<const CellGroup*> found;
  std::vector<std::string> names;
  for (const CellGroup& group : mesh.groups) {
    if (group.name == name) found.push_back(&group);
    if (std::find(names.begin(), names.end(), group.name) == names.end()) names.push_back(group.name);
  }
  if (!found.empty()) return found;
  std::string listed;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 20); ++i)
    listed += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
  if (names.size() > 20) listed += ", ...";
  const std::string near = nearest_word(name, names);
  const std::string suggestion = names.empty()  ? "name a physical group in gmsh, or choose a region by a box"
                                 : near.empty() ? "choose one of the groups of the mesh"
                                                : "did you mean \"" + near + "\"?";
  throw InputError(
      "the mesh has no group \"" + name + "\" (" + (names.empty() ? "it has no groups" : "it has " + listed) + ")",
      suggestion, {mesh.name, 0, 0, ""});
}

std::vector<int> sorted_once(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

std::vector<int> nodes_in_box(const Mesh& mesh, const Vec3d& lower, const Vec3d& upper) {
  return nodes_in(mesh, Box{lower, upper, tolerance(mesh)});
}

std::vector<int> nodes_in_sphere(const Mesh& mesh, const Vec3d& centre, double radius) {
  return nodes_in(mesh, Sphere{centre, radius, tolerance(mesh)});
}

std::vector<int> elements_in_box(const Mesh& mesh, const Vec3d& lower, const Vec3d& upper) {
  return elements_in(mesh, Box{lower, upper, tolerance(mesh)});
}

std::vector<int> elements_in_sphere(const Mesh& mesh, const Vec3d& centre, double radius) {
  return elements_in(mesh, Sphere{centre, radius, tolerance(mesh)});
}

std::vector<int> nodes_of_group(const Mesh& mesh, const std::string& name) {
  std::vector<int> nodes;
  const auto add = [&](const auto& cells, const CellGroup& group) {
    for (const int c : group.cells) {
      const auto& cell = cells[static_cast<std::size_t>(c)];
      nodes.insert(nodes.end(), cell.begin(), cell.end());
      if (mesh.order() == 1) continue;
      for (const CellEdge& edge : cell_edges(static_cast<int>(cell.size()))) {
        const int node =
            edge_node(mesh, cell[static_cast<std::size_t>(edge[0])], cell[static_cast<std::size_t>(edge[1])]);
        if (node >= 0) nodes.push_back(node);
      }
    }
  };
  for (const CellGroup* group : groups_named(mesh, name)) {
    if (group->type == CellType::triangle) add(mesh.triangles, *group);
    if (group->type == CellType::tetrahedron) add(mesh.tetrahedra, *group);
    if (group->type == CellType::hexahedron) add(mesh.hexahedra, *group);
  }
  return sorted_once(std::move(nodes));
}

std::vector<int> elements_of_group(const Mesh& mesh, const std::string& name) {
  std::vector<int> elements;
  bool volume = false;
  for (const CellGroup* group : groups_named(mesh, name)) {
    if (group->type == CellType::triangle) continue;
    volume = true;
    const int first = group->type == CellType::hexahedron ? static_cast<int>(mesh.tetrahedra.size()) : 0;
    for (const int c : group->cells) elements.push_back(first + c);
  }
  if (!volume)
    throw InputError("group \"" + name + "\" of the mesh holds only triangles (elements are wanted)",
                     "name a physical volume in gmsh, or choose elements by a box", {mesh.name, 0, 0, ""});
  return sorted_once(std::move(elements));
}

std::vector<int> triangles_of_group(const Mesh& mesh, const std::string& name) {
  std::vector<int> triangles;
  for (const CellGroup* group : groups_named(mesh, name))
    if (group->type == CellType::triangle) triangles.insert(triangles.end(), group->cells.begin(), group->cells.end());
  if (triangles.empty())
    throw InputError("group \"" + name + "\" of the mesh holds no triangle of the body (a surface is wanted)",
                     "name a physical surface in gmsh, or choose a part of the surface by a box",
                     {mesh.name, 0, 0, ""});
  return sorted_once(std::move(triangles));
}

}  // namespace supple
