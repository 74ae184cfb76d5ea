// Mapped points of regions: loads spread over a surface, means and rotations of regions, and what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "engine/model/effectors.hpp"
#include "tests/engine/bodies/boxes.hpp"

namespace supple {
namespace {

using boxes::box_region;
using boxes::group_region;

ActuatorScene force(const Region& region, const Vec3d& direction = {{0, 0, 1}}) {
  ActuatorScene force;
  force.name = "press";
  force.kind = ActuatorKind::force;
  force.region = region;
  force.direction = direction;
  force.control = ActuatorControl::force;
  force.bilateral = true;
  return force;
}

EffectorScene effector(EffectorKind kind, const Region& region) {
  EffectorScene effector;
  effector.name = "e";
  effector.kind = kind;
  effector.region = region;
  return effector;
}

// A box of 0.4 x 0.1 x 0.2 m in 3 x 3 x 3 cells whose nodes are moved at random, those of a side within it: still a
// box.
Mesh irregular(bool hexahedra) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.4, 0.1, 0.2}};
  Mesh mesh = hexahedra ? box_hexahedra(lower, upper, 3, 3, 3) : box_tetrahedra(lower, upper, 3, 3, 3);
  boxes::Random random;
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k)
      if (x[k] > 1e-9 && x[k] < upper[k] - 1e-9) x[k] += 0.15 * upper[k] / 3 * random();
  return mesh;
}

Scene free_body() {
  return boxes::scene({"", MaterialModel::corotational});
}

std::vector<double> outputs(const FullModel& model, const std::vector<double>& q) {
  FullMechanics mechanics(model);
  std::vector<double> y(static_cast<std::size_t>(model.robot.outputs()));
  mechanics.evaluate_outputs(q, {}, y);
  return y;
}

Vec3d point(const std::vector<double>& y, int i) {
  const auto k = static_cast<std::size_t>(3 * i);
  return {{y[k], y[k + 1], y[k + 2]}};
}

class Regions : public testing::TestWithParam<bool> {};

// A uniform load on a side acts at the side's centre, however its nodes lie: same resultant, same moment.
TEST_P(Regions, ALoadOnASurfaceIsUniform) {
  const Mesh mesh = irregular(GetParam());
  const std::pair<const char*, Vec3d> sides[] = {{"x+", {{0.4, 0.05, 0.1}}}, {"y-", {{0.2, 0, 0.1}}}};
  for (const auto& [name, centre] : sides) {
    Scene scene = free_body();
    scene.actuators = {force(group_region(name))};
    const FullModel model = build_full_model(scene, mesh);
    const Interpolation& load = model.interpolation[0];
    EXPECT_EQ(load.node.size(), 16u);
    double sum = 0;
    Vec3d moment{{0, 0, 0}};
    for (std::size_t n = 0; n < load.node.size(); ++n) {
      EXPECT_GT(load.weight[n], 0);
      sum += load.weight[n];
      moment = moment + load.weight[n] * model.mesh.nodes[static_cast<std::size_t>(load.node[n])];
    }
    // Sums of 16 numbers.
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_LT(norm(moment - centre), 1e-15);
    EXPECT_LT(norm(model.robot.rest_points[0] - centre), 1e-15);
  }
}

TEST_P(Regions, ARegularGridSharesALoadByArea) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.4, 0.1, 0.1}};
  const Mesh mesh = GetParam() ? box_hexahedra(lower, upper, 4, 2, 2) : box_tetrahedra(lower, upper, 4, 2, 2);
  Scene scene = free_body();
  // A box counts the faces that lie in it whole: here the same side.
  scene.actuators = {force(group_region("x+")), force(box_region({{0.35, -1, -1}}, {{1, 1, 1}}))};
  scene.actuators[1].name = "again";
  const FullModel model = build_full_model(scene, mesh);
  EXPECT_EQ(model.interpolation[0].node, model.interpolation[1].node);
  EXPECT_EQ(model.interpolation[0].weight, model.interpolation[1].weight);
  const Interpolation& load = model.interpolation[0];
  ASSERT_EQ(load.node.size(), 9u);
  for (std::size_t n = 0; n < 9; ++n) {
    const Vec3d x = model.mesh.nodes[static_cast<std::size_t>(load.node[n])];
    const auto middle = [](double s) { return std::abs(s - 0.05) < 1e-9; };
    // Quadrilaterals share equally; the two triangles of a square do not, but nodes inside have a third of six.
    const double share = middle(x[1]) && middle(x[2]) ? 0.25 : middle(x[1]) || middle(x[2]) ? 0.125 : 0.0625;
    if (GetParam() || share != 0.0625) {
      EXPECT_NEAR(load.weight[n], share, 1e-15);
    }
  }
}

// Points of a region follow every affine motion exactly, rigid ones among them.
TEST_P(Regions, MeansAndRotationsOfAMovedBodyAreExact) {
  Scene scene = free_body();
  const Region half = box_region({{0.19, -1, -1}}, {{1, 1, 1}});
  scene.effectors = {effector(EffectorKind::position, half), effector(EffectorKind::orientation, half)};
  scene.actuators = {force(group_region("z+"))};
  const FullModel model = build_full_model(scene, irregular(GetParam()));
  ASSERT_EQ(model.robot.effectors[1].point_count, 3);
  const Vec3d theta{{0.7, -1.9, 1.1}}, shift{{3, -1, 0.5}};
  Mat3d stretch = Mat3d::identity();
  stretch(0, 1) = 0.3;
  stretch(2, 2) = 1.4;
  for (const Mat3d& F : {Mat3d::identity(), rotation_of_vector(theta), rotation_of_vector(theta) * stretch}) {
    const std::vector<double> y = outputs(model, boxes::affine(model, F, shift));
    for (const int p :
         {model.robot.actuators[0].first_point, model.robot.effectors[0].point, model.robot.effectors[1].point})
      // Sums over up to 64 nodes of positions of a few metres.
      EXPECT_LT(norm(point(y, p) - (F * model.robot.rest_points[static_cast<std::size_t>(p)] + shift)), 2e-14);
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r)
        // Weights of 10 / m times displacements of metres.
        EXPECT_NEAR(point(y, model.robot.effectors[1].first_point + c)[r], F(r, c), 2e-13);
  }
  std::vector<double> state(3);
  effector_state(model.robot, 1, outputs(model, boxes::affine(model, rotation_of_vector(theta), shift)), state);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(state[static_cast<std::size_t>(k)], theta[k], 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Regions, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

// Shares of volume: the mean of a whole body of tetrahedra is its centre of volume, fine here and coarse there or not.
TEST(RegionMean, DoesNotDependOnTheGrading) {
  Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 8, 2, 2);
  for (Vec3d& x : mesh.nodes) x[0] = x[0] * x[0] * x[0];
  Scene scene = free_body();
  scene.effectors = {effector(EffectorKind::position, Region{})};
  const FullModel model = build_full_model(scene, mesh);
  EXPECT_LT(norm(model.robot.rest_points[0] - Vec3d{{0.5, 0.5, 0.5}}), 1e-14);  // sums of 81 numbers
  Vec3d plain{{0, 0, 0}};
  for (const Vec3d& x : model.mesh.nodes) plain = plain + (1.0 / 81) * x;
  EXPECT_GT(norm(plain - Vec3d{{0.5, 0.5, 0.5}}), 0.2);
}

TEST(Paths, ALengthIsTheCableItNames) {
  Scene scene = free_body();
  ActuatorScene cable;
  cable.name = "c";
  cable.points = {{{0.35, 0.02, 0.1}}, {{0.1, 0.05, 0.1}}};
  cable.pull_point = {{-0.1, 0.05, 0.1}};
  cable.attachment_radius = 0.12;
  scene.actuators = {cable};
  EffectorScene length;
  length.name = "l";
  length.kind = EffectorKind::length;
  length.points = cable.points;
  length.pull_point = cable.pull_point;
  length.attachment_radius = cable.attachment_radius;
  scene.effectors = {length};
  const FullModel model = build_full_model(scene, irregular(false));
  const std::vector<double> y = outputs(model, boxes::random_vector(model.coordinates.nv, 0.01));
  const RowLayout layout = row_layout(model.robot);
  std::vector<double> phi(1), gradients(static_cast<std::size_t>(layout.gradients())), state(3);
  evaluate_rows(model.robot, layout, y, phi, gradients);
  effector_state(model.robot, 0, y, state);
  EXPECT_EQ(state[0], phi[0]);
}

std::string refusal(const Scene& scene) {
  try {
    (void)build_full_model(scene, irregular(false));
  } catch (const InputError& error) {
    EXPECT_FALSE(error.suggestion().empty());
    return error.what();
  }
  return "none";
}

TEST(BadRegions, AreExplained) {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const auto with = [&](const auto& change) {
    Scene scene = free_body();
    change(scene);
    return refusal(scene);
  };
  EXPECT_TRUE(has(with([](Scene& s) {
                    s.actuators = {force(box_region({{0.1, 0.02, 0.05}}, {{0.3, 0.08, 0.15}}))};
                  }),
                  "holds no face of the body's surface"));
  EXPECT_TRUE(has(with([](Scene& s) { s.actuators = {force(group_region("nothing"))}; }), "no group \"nothing\""));
  EXPECT_TRUE(has(with([](Scene& s) {
                    s.bodies[0].fixes = {boxes::clamp_at_origin()};
                    s.actuators = {force(group_region("x-"))};
                  }),
                  "acts on held nodes only"));
  EXPECT_TRUE(has(with([](Scene& s) {
                    s.actuators = {force(group_region("x+"))};
                    s.actuators[0].region.reset();
                    s.actuators[0].points = {{{2, 0, 0}}};
                  }),
                  "m away from the body"));
  EXPECT_TRUE(has(with([](Scene& s) {
                    s.effectors = {effector(EffectorKind::position, box_region({{5, 5, 5}}, {{6, 6, 6}}))};
                  }),
                  "holds no node"));
  for (const Region& flat :
       {group_region("x+"), box_region({{0.39, -1, -1}}, {{1, 1, 1}}), box_region({{0.39, 0.09, 0.19}}, {{1, 1, 1}})})
    EXPECT_TRUE(has(with([&](Scene& s) { s.effectors = {effector(EffectorKind::orientation, flat)}; }),
                    "cannot be told how it turns"));
}

}  // namespace
}  // namespace supple
