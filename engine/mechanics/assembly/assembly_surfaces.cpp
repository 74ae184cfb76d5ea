#include "engine/mechanics/assembly/assembly_surfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "engine/mesh/boundary.hpp"
#include "engine/model/collision_points.hpp"
#include "engine/model/element_fields.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr double default_distance = 0.002;  // of the smallest body's diagonal

// Pieces: what moves as one is one piece, numbered as the first of its bodies.
class Pieces {
 public:
  Pieces(const AssemblyScene& scene, const RigidLayout& layout)
      : scene_(scene), layout_(layout), parts_(static_cast<int>(scene.parts.size())) {
    for (const LinkScene& link : scene.links) {
      if (!link.joins()) continue;
      const int a = named(owner(link.from)), b = named(owner(link.to));
      if (a >= 0 && b >= 0) joined_.insert(std::minmax(a, b));
    }
  }
  bool may_touch(int a, int b) const {
    const int i = piece(a), j = piece(b);
    return i != j && (moves(a) || moves(b)) && carrier(a) != j && carrier(b) != i &&
           !joined_.contains(std::minmax(i, j));
  }

 private:
  static std::string owner(const std::string& point) { return point.substr(0, point.find(':')); }
  bool soft(int body) const { return body < parts_; }
  int piece(int body) const { return soft(body) ? body : parts_ + layout_.seats[extent(body - parts_)].welded_to; }
  // Of a part the piece that carries it; -1: none.
  int carrier(int body) const {
    const int rigid = soft(body) ? find_rigid(scene_, scene_.parts[extent(body)].on) : -1;
    return rigid < 0 ? -1 : piece(parts_ + rigid);
  }
  bool moves(int body) const { return soft(body) || layout_.seats[extent(body - parts_)].free; }
  int named(const std::string& name) const {
    const auto part = std::ranges::find(scene_.parts, name, &PartScene::name);
    if (part != scene_.parts.end()) return static_cast<int>(part - scene_.parts.begin());
    const int rigid = find_rigid(scene_, name);
    return rigid < 0 ? -1 : piece(parts_ + rigid);
  }

  const AssemblyScene& scene_;
  const RigidLayout& layout_;
  int parts_;
  std::set<std::pair<int, int>> joined_;
};

// The nodes that triangles have, ascending; the triangles count them afterwards.
std::vector<int> used_nodes(std::vector<std::array<int, 3>>& triangles) {
  std::set<int> used;
  for (const auto& triangle : triangles) used.insert(triangle.begin(), triangle.end());
  const std::vector<int> nodes(used.begin(), used.end());
  for (auto& triangle : triangles)
    for (int& node : triangle) node = static_cast<int>(std::ranges::lower_bound(nodes, node) - nodes.begin());
  return nodes;
}

// Leaves those that touch others.
void choose_region(const PartScene& part, const std::vector<Vec3d>& nodes, std::vector<std::array<int, 3>>& triangles) {
  if (!part.touching || triangles.empty()) return;
  Mesh mesh;
  mesh.nodes = nodes;
  const std::vector<int> inside = nodes_in(*part.touching, mesh);
  std::erase_if(triangles, [&](const std::array<int, 3>& triangle) {
    return !std::ranges::all_of(triangle, [&](int node) { return std::ranges::binary_search(inside, node); });
  });
  if (triangles.empty())
    throw InputError(fmt::format("no face of the skin of part '{}' lies in its region", part.name),
                     "a larger box or sphere; it is in the axes of the part's own scene", part.place);
}

// The outer triangles of a reduced model's skin.
std::vector<std::array<int, 3>> outer_triangles(const ReducedModel& model) {
  std::vector<Face> faces;
  for (const auto& [a, b, c] : model.skin.triangles) faces.push_back({0, 3, {a, b, c, -1, -1, -1, -1, -1}});
  if (!faces.empty()) faces = without_voids(model.skin.rest, faces);
  // Walls that only an edge connects to the outside: all of their corners are corners of a cavity.
  for (const ReducedWalls& walls : model.walls) {
    std::set<std::array<double, 3>> places;
    for (const Vec3d& x : walls.rest) places.insert({x[0], x[1], x[2]});
    std::erase_if(faces, [&](const Face& face) {
      return std::ranges::all_of(face.all_nodes(), [&](int node) {
        const Vec3d& x = model.skin.rest[extent(node)];
        return places.contains({x[0], x[1], x[2]});
      });
    });
  }
  return triangles_of(faces);
}

}  // namespace

bool TouchingBodies::has(int body) const {
  return std::ranges::binary_search(bodies, body);
}

TouchingBodies touching_bodies(const AssemblyScene& scene, const RigidLayout& layout) {
  const auto parts = static_cast<int>(scene.parts.size()), rigids = static_cast<int>(scene.rigids.size());
  std::vector<int> candidates;
  for (int p = 0; p < parts; ++p)
    if (scene.parts[extent(p)].collides) candidates.push_back(p);
  for (int r = 0; r < rigids; ++r)
    if (scene.rigids[extent(r)].collides && scene.rigids[extent(r)].has_shape()) candidates.push_back(parts + r);
  const Pieces pieces(scene, layout);
  TouchingBodies touching;
  for (const int a : candidates) {
    const bool itself = a < parts && scene.parts[extent(a)].self_contact;
    if (itself || std::ranges::any_of(candidates, [&](int b) { return b != a && pieces.may_touch(a, b); }))
      touching.bodies.push_back(a);
  }
  for (std::size_t j = 0; j < touching.bodies.size(); ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (!pieces.may_touch(touching.bodies[i], touching.bodies[j]))
        touching.never_touching.push_back({static_cast<int>(i), static_cast<int>(j)});
  return touching;
}

PartSkin add_skin_points(const PartScene& part, const Scene& scene, FullModel& model) {
  PartSkin skin;
  skin.first_output = static_cast<int>(model.robot.rest_points.size());
  skin.surface.triangles = triangles_of(outer_faces(scene, model));
  choose_region(part, model.mesh.nodes, skin.surface.triangles);
  for (const int node : used_nodes(skin.surface.triangles)) {
    skin.surface.nodes.push_back(model.mesh.nodes[extent(node)]);
    model.robot.rest_points.push_back(model.mesh.nodes[extent(node)]);
    model.interpolation.push_back({{node}, {1}});
  }
  return skin;
}

PartSkin add_skin_points(const PartScene& part, ReducedModel& model) {
  PartSkin skin;
  skin.first_output = static_cast<int>(model.robot.rest_points.size());
  skin.surface.triangles = outer_triangles(model);
  choose_region(part, model.skin.rest, skin.surface.triangles);
  const auto append = [](const std::vector<double>& rows, int node, int columns, std::vector<double>& to) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(extent(3, node, columns));
    to.insert(to.end(), first, first + 3 * columns);
  };
  for (const int node : used_nodes(skin.surface.triangles)) {
    skin.surface.nodes.push_back(model.skin.rest[extent(node)]);
    model.robot.rest_points.push_back(model.skin.rest[extent(node)]);
    append(model.skin.modes, node, model.modes, model.outputs);
    append(model.skin.inputs, node, model.motions(), model.output_inputs);
  }
  return skin;
}

double default_contact_distance(const std::vector<Assembly::BodySurface>& surfaces) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Assembly::BodySurface& body : surfaces) {
    Vec3d lower = body.surface.rest.front(), upper = lower;
    for (const Vec3d& x : body.surface.rest)
      for (int k = 0; k < 3; ++k) {
        lower[k] = std::min(lower[k], x[k]);
        upper[k] = std::max(upper[k], x[k]);
      }
    const double round = 2 * body.surface.radius;
    smallest = std::min(smallest, norm(upper - lower + Vec3d{{round, round, round}}));
  }
  return surfaces.empty() ? 0 : default_distance * smallest;
}

}  // namespace supple
