// Meshes of assets/ with cavities: what their README files promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/closed_surface.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/select.hpp"

namespace supple::test {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

Triangles triangles_of(const Mesh& mesh, const std::string& name) {
  Triangles triangles;
  for (const CellGroup& group : mesh.groups)
    if (group.name == name && group.type == CellType::triangle)
      for (const int t : group.cells) triangles.push_back(mesh.triangles[static_cast<std::size_t>(t)]);
  return triangles;
}

// Beginning with the lowest node, so that equal triangles of equal orientation are equal.
std::array<int, 3> turned(std::array<int, 3> t) {
  std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
  return t;
}

// Every triangle of the group is a face of the body's boundary, with its orientation or, `reversed`, the other one.
void expect_on_boundary(const Mesh& mesh, const Triangles& triangles, bool reversed) {
  std::set<std::array<int, 3>> boundary;
  for (const Face& face : boundary_faces(mesh)) {
    std::array<int, 3> t{face.nodes[0], face.nodes[1], face.nodes[2]};
    if (reversed) std::swap(t[1], t[2]);
    boundary.insert(turned(t));
  }
  ASSERT_FALSE(triangles.empty());
  for (const auto& t : triangles) ASSERT_TRUE(boundary.count(turned(t)));
}

// Millimetres. Cavities are closed, turned so that their volume is positive, and voids of the body.
void check_asset(const std::string& file, int nodes, int tetrahedra, double quality,
                 const std::vector<std::string>& cavities, double cavity_volume, double floor_area) {
  SCOPED_TRACE(file);
  Mesh mesh = read_mesh(SUPPLE_SOURCE_DIR "/assets/" + file);
  const MeshReport report = check_mesh(mesh);
  EXPECT_EQ(report.nodes, nodes);
  EXPECT_EQ(report.tetrahedra, tetrahedra);
  EXPECT_GT(report.min_quality, quality);
  EXPECT_EQ(report.flipped + report.unused_nodes + report.duplicate_nodes, 0);
  EXPECT_EQ(report.components, 1);
  for (const std::string& name : cavities) {
    SCOPED_TRACE(name);
    Triangles triangles = triangles_of(mesh, name);
    expect_on_boundary(mesh, triangles, true);
    const ClosedSurfaceReport closed = orient_closed_surface(mesh.nodes, triangles);
    EXPECT_TRUE(closed.closed()) << describe(closed, mesh.nodes);
    EXPECT_EQ(closed.turned, 0);
    EXPECT_EQ(closed.parts, 1);
    EXPECT_NEAR(enclosed_volume(mesh.nodes, triangles), cavity_volume, 1e-6 * cavity_volume);
  }
  expect_on_boundary(mesh, triangles_of(mesh, "bottom"), false);
  EXPECT_NEAR(surface_area(mesh.nodes, triangles_of(mesh, "bottom")), floor_area, 1e-6 * floor_area);
  for (const int node : nodes_of_group(mesh, "bottom")) EXPECT_EQ(mesh.nodes[static_cast<std::size_t>(node)][2], 0);
  EXPECT_EQ(report.lower[2], 0);
}

TEST(AssetMeshes, MultigaitHasFiveCavitiesOverItsLayer) {
  const std::vector<std::string> cavities{"cavity_centre", "cavity_front_left", "cavity_front_right",
                                          "cavity_rear_left", "cavity_rear_right"};
  check_asset("multigait/multigait_coarse.msh", 2710, 9576, 0.32, cavities, 835.2, 4349.436);
  check_asset("multigait/multigait_fine.msh", 13422, 59016, 0.51, cavities, 835.2, 4349.436);
}

TEST(AssetMeshes, PneumaticFingerHasOneCavity) {
  for (const bool fine : {false, true}) {
    check_asset(fine ? "pneumatic_finger/pneumatic_finger_fine.msh" : "pneumatic_finger/pneumatic_finger_coarse.msh",
                fine ? 13544 : 1530, fine ? 61188 : 5688, fine ? 0.47 : 0.32, {"cavity"}, 4600, 1530);
  }
}

}  // namespace
}  // namespace supple::test
