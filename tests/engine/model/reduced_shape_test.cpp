// What a reduced model looks like: its skin and its kept elements are where the mesh has them, at rest and displaced.

#include "engine/model/reduced_shape.hpp"

#include <algorithm>
#include <set>

#include "engine/mesh/generate.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"

namespace supple {
namespace {

// A bar three cells thick, so that it has nodes inside; with two driven ends, or with none.
FullModel thick_bar(bool hexahedra, bool driven) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.3, 0.1, 0.1}};
  Mesh mesh = hexahedra ? box_hexahedra(lower, upper, 3, 3, 3) : box_tetrahedra(lower, upper, 3, 3, 3);
  boxes::Random random;
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k)
      if (x[0] > 1e-9 && x[0] < 0.3 - 1e-9) x[k] += 0.004 * random();
  return build_full_model(
      driven ? driven_bodies::scene(driven_bodies::Drive::ends) : reduced_bodies::bar_scene(boxes::all_laws()[0]),
      std::move(mesh));
}

class ReducedShape : public testing::TestWithParam<std::tuple<bool, bool>> {
 protected:
  static constexpr int r = 5;
  const FullModel full_ = thick_bar(std::get<0>(GetParam()), std::get<1>(GetParam()));
  const std::vector<double> basis_ = reduced_bodies::random_basis(full_.coordinates.nv, r);
  const std::vector<IntegrationDomain> domains_ = reduced_bodies::some_elements(full_);
  const ReducedModel model_ = project(full_, basis_, r, domains_);

  std::size_t on_skin() const { return model_.skin.rest.size(); }
  // Of the skin, then of the interior.
  std::vector<Vec3d> rest() const {
    std::vector<Vec3d> nodes = model_.skin.rest;
    nodes.insert(nodes.end(), model_.interior.rest.begin(), model_.interior.rest.end());
    return nodes;
  }
  // Calls check(corner of the model, node of the mesh) for every corner of every kept element.
  template <class Check>
  void for_each_corner(const Check& check) const {
    for (const ReducedField& field : model_.fields) {
      const auto n = static_cast<std::size_t>(field.corners_per_element());
      ASSERT_EQ(field.corners.size(), n * field.element.size());
      for (std::size_t e = 0; e < field.element.size(); ++e) {
        std::array<int, 8> nodes;
        ASSERT_EQ(element_corners(full_.mesh, field.element[e], nodes), field.corners_per_element());
        for (std::size_t k = 0; k < n; ++k) check(field.corners[n * e + k], nodes[k]);
      }
    }
  }
};

TEST_P(ReducedShape, CornersAreTheMeshsNodes) {
  const std::vector<Vec3d> nodes = rest();
  std::set<int> used;
  for_each_corner([&](int corner, int node) {
    ASSERT_LT(static_cast<std::size_t>(corner), nodes.size());
    EXPECT_EQ(nodes[static_cast<std::size_t>(corner)], full_.mesh.nodes[static_cast<std::size_t>(node)]);
    used.insert(corner);
  });
  // Every interior node is a corner, and none of them is on the skin.
  EXPECT_GT(model_.interior.rest.size(), 0u);
  for (std::size_t i = on_skin(); i < nodes.size(); ++i) {
    EXPECT_EQ(used.count(static_cast<int>(i)), 1u);
    EXPECT_EQ(std::count(nodes.begin(), nodes.end(), nodes[i]), 1);
  }
}

TEST_P(ReducedShape, SkinSaysWhereItComesFrom) {
  ASSERT_EQ(model_.skin.mesh_node.size(), on_skin());
  for (std::size_t i = 0; i < on_skin(); ++i)
    EXPECT_EQ(model_.skin.rest[i], full_.mesh.nodes[static_cast<std::size_t>(model_.skin.mesh_node[i])]);
  ASSERT_EQ(model_.skin.element.size(), model_.skin.triangles.size());
  for (std::size_t t = 0; t < model_.skin.triangles.size(); ++t) {
    std::array<int, 8> nodes;
    const int count = element_corners(full_.mesh, model_.skin.element[t], nodes);
    for (const int corner : model_.skin.triangles[t])
      EXPECT_EQ(
          std::count(nodes.begin(), nodes.begin() + count, model_.skin.mesh_node[static_cast<std::size_t>(corner)]), 1);
  }
}

TEST_P(ReducedShape, DisplacementsAreTheFullModels) {
  const std::vector<double> alpha = boxes::random_vector(r, 0.01);
  const std::vector<double> motions = boxes::random_vector(model_.motions(), 0.02);
  // q = Phi alpha + Psi_f c.
  const Lifting lifting = lifting_of(full_);
  const auto nv = static_cast<std::size_t>(full_.coordinates.nv);
  std::vector<double> q(nv, 0.0);
  for (std::size_t m = 0; m < alpha.size(); ++m)
    for (std::size_t i = 0; i < nv; ++i) q[i] += basis_[m * nv + i] * alpha[m];
  q = driven_bodies::lifted(lifting.free, q, motions);
  std::vector<double> expected(3 * full_.mesh.nodes.size());
  node_displacements(full_, q, motions, expected);
  std::vector<double> u(3 * rest().size());
  const std::span<double> skin = std::span(u).first(3 * on_skin()), interior = std::span(u).subspan(3 * on_skin());
  displacements(model_, model_.skin, alpha, motions, skin);
  displacements(model_, model_.interior, alpha, motions, interior);
  // Sums of seven products of about 0.01.
  const auto expect_same = [&](int shown, int node) {
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(u[3 * static_cast<std::size_t>(shown) + k], expected[3 * static_cast<std::size_t>(node) + k], 1e-16);
  };
  for_each_corner(expect_same);
  for (std::size_t i = 0; i < on_skin(); ++i) expect_same(static_cast<int>(i), model_.skin.mesh_node[i]);
}

TEST_P(ReducedShape, RestrictingIsProjecting) {
  const ReducedModel all = project(full_, basis_, r, all_elements(full_));
  EXPECT_EQ(all.skin.rest.size() + all.interior.rest.size(), full_.mesh.nodes.size());
  reduced_bodies::expect_same_model(restrict_to(all, domains_), model_);
}

INSTANTIATE_TEST_SUITE_P(Bars, ReducedShape, testing::Combine(testing::Bool(), testing::Bool()), [](const auto& info) {
  return std::string(std::get<0>(info.param) ? "Hexahedra" : "Tetrahedra") +
         (std::get<1>(info.param) ? "Driven" : "Held");
});

TEST(Displacements, WithoutModesAreNone) {
  const ReducedModel model;
  const std::vector<Vec3d> rest{{{1, 2, 3}}};
  std::vector<double> u(3, 7.0);
  displacements(model, rest, {}, {}, {}, {}, u);
  EXPECT_EQ(u, (std::vector<double>{0, 0, 0}));
}

// On a frame: pose(X + u) - X.
TEST(Displacements, OnAFrameAreThoseOfItsPose) {
  ReducedModel model;
  model.on_frame = true;
  model.modes = 1;
  model.rest_inertia = {1, {{0.1, 0.2, 0.3}}, Mat3d::identity()};
  const std::vector<Vec3d> rest{{{1, 2, 3}}};
  const std::vector<double> modes{0.5, -1, 2};
  std::vector<double> q{0.1, 0, 0, 0, 0, 0, 0, 0}, u(3);
  write_pose({{0.4, 0.2, 0.3}}, quaternion_exp({{0, 0, 0.7}}), q.data() + 1);
  displacements(model, rest, modes, {}, q, {}, u);
  const Vec3d r = Vec3d{{1.05, 1.9, 3.2}} - model.rest_inertia.centre,
              expected = Vec3d{{0.4, 0.2, 0.3}} + boxes::rotation({{0, 0, 1}}, 0.7) * r - rest[0];
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(u[static_cast<std::size_t>(k)], expected[k], 1e-15);
}

}  // namespace
}  // namespace supple
