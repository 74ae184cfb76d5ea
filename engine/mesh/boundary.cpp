#include "engine/mesh/boundary.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace supple {

namespace {

std::span<const int> corners_of(const Face& face) {
  return {face.nodes.data(), static_cast<std::size_t>(face.count)};
}

}  // namespace

std::vector<int> connected_parts(const std::vector<Face>& faces) {
  std::vector<int> part(faces.size());
  std::iota(part.begin(), part.end(), 0);
  const auto root = [&](int f) {
    while (part[static_cast<std::size_t>(f)] != f) {
      int& up = part[static_cast<std::size_t>(f)];
      up = part[static_cast<std::size_t>(up)];
      f = up;
    }
    return f;
  };
  std::vector<std::array<int, 3>> sides;  // both nodes in ascending order, then the face
  for (std::size_t f = 0; f < faces.size(); ++f) {
    const auto nodes = corners_of(faces[f]);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const auto [low, high] = std::minmax(nodes[k], nodes[(k + 1) % nodes.size()]);
      sides.push_back({low, high, static_cast<int>(f)});
    }
  }
  std::sort(sides.begin(), sides.end());
  for (std::size_t i = 1; i < sides.size(); ++i) {
    if (sides[i][0] != sides[i - 1][0] || sides[i][1] != sides[i - 1][1]) continue;
    const int a = root(sides[i - 1][2]), b = root(sides[i][2]);
    part[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t f = 0; f < faces.size(); ++f) part[f] = root(static_cast<int>(f));
  return part;
}

std::vector<Face> boundary_faces(const Mesh& mesh) {
  const auto faces = all_faces(mesh);
  const auto groups = group_faces(faces);
  std::vector<int> outer;
  for (std::size_t g = 0; g + 1 < groups.begin.size(); ++g)
    if (groups.begin[g + 1] - groups.begin[g] == 1)
      outer.push_back(groups.order[static_cast<std::size_t>(groups.begin[g])]);
  std::sort(outer.begin(), outer.end());
  std::vector<Face> boundary;
  for (const int f : outer) boundary.push_back(faces[static_cast<std::size_t>(f)]);
  return boundary;
}

std::vector<Face> boundary_faces_among(const Mesh& mesh, const std::vector<int>& nodes) {
  std::vector<Face> faces = boundary_faces(mesh);
  std::erase_if(faces, [&](const Face& face) {
    return !std::ranges::all_of(face.all_nodes(),
                                [&](int node) { return std::binary_search(nodes.begin(), nodes.end(), node); });
  });
  return faces;
}

std::vector<std::array<int, 3>> triangles_of(const std::vector<Face>& faces) {
  std::vector<std::array<int, 3>> triangles;
  for (const Face& face : faces) {
    const auto& n = face.nodes;
    if (face.size() == face.count) {
      triangles.push_back({n[0], n[1], n[2]});
      if (face.count == 4) triangles.push_back({n[0], n[2], n[3]});
      continue;
    }
    // A triangle at each corner, and what is left between the nodes of the edges.
    const auto corners = static_cast<std::size_t>(face.count);
    for (std::size_t k = 0; k < corners; ++k)
      triangles.push_back({n[k], n[corners + k], n[corners + (k + corners - 1) % corners]});
    triangles.push_back({n[corners], n[corners + 1], n[corners + 2]});
    if (corners == 4) triangles.push_back({n[4], n[6], n[7]});
  }
  return triangles;
}

std::vector<Face> without_voids(const std::vector<Vec3d>& nodes, const std::vector<Face>& faces) {
  const std::vector<int> part = connected_parts(faces);
  // Faces look out of the body: round a void the volume they enclose is negative.
  std::vector<double> volume(faces.size(), 0.0);
  for (std::size_t f = 0; f < faces.size(); ++f)
    for (const auto& triangle : triangles_of({faces[f]})) {
      const auto x = [&](std::size_t k) { return nodes[static_cast<std::size_t>(triangle[k])] - nodes.front(); };
      volume[static_cast<std::size_t>(part[f])] += dot(x(0), cross(x(1), x(2)));
    }
  std::vector<Face> outer;
  for (std::size_t f = 0; f < faces.size(); ++f)
    if (volume[static_cast<std::size_t>(part[f])] > 0) outer.push_back(faces[f]);
  return outer;
}

BoundarySurface boundary_surface(const Mesh& mesh) {
  const std::vector<Face> outer = boundary_faces(mesh);
  BoundarySurface boundary;
  boundary.surface.name = mesh.name;
  std::vector<int> surface_node(mesh.nodes.size(), -1);
  for (const Face& face : outer)
    for (const int node : face.all_nodes()) surface_node[static_cast<std::size_t>(node)] = 0;
  for (std::size_t i = 0; i < surface_node.size(); ++i) {
    if (surface_node[i] < 0) continue;
    surface_node[i] = static_cast<int>(boundary.mesh_node.size());
    boundary.mesh_node.push_back(static_cast<int>(i));
    boundary.surface.nodes.push_back(mesh.nodes[i]);
  }
  for (const Face& face : outer)
    for (std::array<int, 3> triangle : triangles_of({face})) {
      for (int& node : triangle) node = surface_node[static_cast<std::size_t>(node)];
      boundary.surface.triangles.push_back(triangle);
      boundary.element.push_back(face.element);
    }
  return boundary;
}

}  // namespace supple
