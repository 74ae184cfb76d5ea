// Meshes with elements of half the size.

#include "engine/mesh/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/order.hpp"
#include "engine/mesh/select.hpp"

namespace supple {
namespace {

struct Case {
  bool hexahedra;
  int order;
};

class Refine : public testing::TestWithParam<Case> {
 protected:
  Mesh box() const {
    const Vec3d lower{{0, 0, 0}}, upper{{2, 1, 1}};
    Mesh mesh = GetParam().hexahedra ? box_hexahedra(lower, upper, 4, 2, 1) : box_tetrahedra(lower, upper, 4, 2, 1);
    set_order(mesh, GetParam().order);
    return mesh;
  }
  static double volume(const Mesh& mesh) {
    double sum = 0;
    for (int e = 0; e < mesh.element_count(); ++e) sum += element_volume(mesh, e);
    return sum;
  }
};

TEST_P(Refine, HasEightTimesTheElementsAndTheSameBody) {
  const Mesh coarse = box();
  Mesh fine = refined(coarse);
  const MeshReport report = check_mesh(fine);
  EXPECT_EQ(fine.element_count(), 8 * coarse.element_count());
  EXPECT_EQ(report.order, GetParam().order);
  EXPECT_EQ(report.components, 1);
  EXPECT_NEAR(volume(fine), 2, 1e-13);
  // Conforming: the boundary is that of the box, with four times the faces.
  EXPECT_EQ(boundary_faces(fine).size(), 4 * boundary_faces(coarse).size());
  for (int e = 0; e < fine.element_count(); ++e) EXPECT_GT(element_volume(fine, e), 0);
  // As many nodes as the same box of halved cells has.
  const Vec3d lower{{0, 0, 0}}, upper{{2, 1, 1}};
  if (GetParam().hexahedra) {
    Mesh halved = box_hexahedra(lower, upper, 8, 4, 2);
    set_order(halved, GetParam().order);
    EXPECT_EQ(fine.nodes.size(), halved.nodes.size());
  }
  for (const char* group : {"x-", "z+", "body"}) {
    double largest = 0;
    const std::vector<int> nodes = nodes_of_group(fine, group);
    if (std::string(group) == "body") {
      EXPECT_EQ(nodes.size(), fine.nodes.size());
      continue;
    }
    for (const int node : nodes) {
      const Vec3d& x = fine.nodes[static_cast<std::size_t>(node)];
      largest = std::max(largest, std::abs(std::string(group) == "x-" ? x[0] : x[2] - 1));
    }
    EXPECT_LT(largest, 1e-14) << group;
    const auto on_side = std::ranges::count_if(
        fine.nodes, [&](const Vec3d& x) { return std::abs(std::string(group) == "x-" ? x[0] : x[2] - 1) < 1e-12; });
    EXPECT_EQ(static_cast<long>(nodes.size()), on_side) << group;
  }
}

// Nodes of curved elements lie on their shape: z -> z + x^2/10 is exact in second order.
TEST_P(Refine, CurvedElementsKeepTheirShape) {
  if (GetParam().order == 1) GTEST_SKIP() << "elements of first order are straight";
  const auto bend = [](const Vec3d& x) { return Vec3d{{x[0], x[1], x[2] + 0.1 * x[0] * x[0]}}; };
  Mesh curved = box();
  for (Vec3d& x : curved.nodes) x = bend(x);
  const Mesh straight = refined(box()), fine = refined(curved);
  ASSERT_EQ(fine.nodes.size(), straight.nodes.size());
  for (std::size_t i = 0; i < fine.nodes.size(); ++i) {
    // The cut of a tetrahedron may be another one where edges are bent; nodes of its own are then elsewhere.
    const Vec3d x = fine.nodes[i];
    const Vec3d flat{{x[0], x[1], x[2] - 0.1 * x[0] * x[0]}};
    const auto near = std::ranges::min_element(straight.nodes, {}, [&](const Vec3d& y) { return norm(y - flat); });
    if (GetParam().hexahedra) {
      EXPECT_LT(norm(*near - flat), 1e-13);
    }
    EXPECT_GT(flat[2], -1e-13);
    EXPECT_LT(flat[2], 1 + 1e-13);
  }
  Mesh checked = fine;
  EXPECT_EQ(check_mesh(checked).order, 2);
}

INSTANTIATE_TEST_SUITE_P(Meshes, Refine, testing::Values(Case{false, 1}, Case{false, 2}, Case{true, 1}, Case{true, 2}),
                         [](const auto& info) {
                           return std::string(info.param.hexahedra ? "hexahedra" : "tetrahedra") +
                                  (info.param.order == 2 ? "_order_2" : "");
                         });

}  // namespace
}  // namespace supple
