// Newton's method by turning: bodies that bend far in one increment, and where they end.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/mesh/order.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// A strip of 200 x 10 x 4 mm, held at x = 0, pulled down by its weight times `gravity`.
Scene strip(double gravity, MaterialModel law) {
  Scene scene = boxes::scene({"", law}, 2e5, 0.45);
  scene.gravity = {{0, 0, -9.81 * gravity}};
  scene.bodies[0].order = 2;
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  EffectorScene tip;
  tip.name = "tip";
  tip.region = boxes::group_region("x+");
  scene.effectors = {tip};
  return scene;
}

Mesh strip_mesh(int order = 2) {
  Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{0.2, 0.01, 0.004}}, 20, 1, 1);
  set_order(mesh, order);
  return mesh;
}

RodScene wire() {
  RodScene rod;
  rod.points = {{{0, 0.005, 0.002}}, {{0.2, 0.005, 0.002}}};
  rod.radius = 2e-4;
  rod.young = 6e10;
  return rod;
}

struct Solved {
  State state;
  EquilibriumReport report;
};

Solved solved(Mechanics& mechanics, const EquilibriumSettings& settings = {}) {
  Solved result{rest_state(mechanics), {}};
  result.report = Equilibrium(mechanics, settings).solve(zero_control(mechanics), result.state);
  return result;
}

class FarAtOnce : public testing::TestWithParam<MaterialModel> {};

// The strip hangs nearly straight down. Without turning a stable neo-Hookean strip like it took 199 factorisations.
TEST_P(FarAtOnce, AStripBendsByItsWeight) {
  const FullModel model = build_full_model(strip(1, GetParam()), strip_mesh());
  FullMechanics mechanics(model);
  const Solved at_once = solved(mechanics);
  ASSERT_EQ(at_once.report.status, StepStatus::ok);
  EXPECT_LE(at_once.report.iterations, 40);
  RecordProperty("iterations", at_once.report.iterations);
  const Solved slowly = solved(mechanics, {.first_increment = 0.02});
  ASSERT_EQ(slowly.report.status, StepStatus::ok);
  EXPECT_LT(boxes::difference(at_once.state.q, slowly.state.q), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Laws, FarAtOnce,
                         testing::Values(MaterialModel::corotational, MaterialModel::stable_neo_hookean,
                                         MaterialModel::mooney_rivlin, MaterialModel::st_venant_kirchhoff),
                         [](const auto& info) { return "law_" + std::to_string(static_cast<int>(info.param)); });

TEST(TurnedSteps, AStiffWireTurnsWithTheBody) {
  Scene scene = strip(10, MaterialModel::stable_neo_hookean);
  scene.bodies[0].rods = {wire()};
  const FullModel model = build_full_model(scene, strip_mesh());
  FullMechanics mechanics(model);
  const Solved at_once = solved(mechanics);
  ASSERT_EQ(at_once.report.status, StepStatus::ok);
  EXPECT_LE(at_once.report.iterations, 80);  // 188 without
  RecordProperty("iterations", at_once.report.iterations);
  const Solved slowly = solved(mechanics, {.first_increment = 0.05});
  ASSERT_EQ(slowly.report.status, StepStatus::ok);
  EXPECT_LT(boxes::difference(at_once.state.q, slowly.state.q), 1e-7);
}

// A body that nothing holds, all of whose points a linear step turns alike, turns as a rigid body.
TEST(TurnedSteps, ABodyTurnsAsAWhole) {
  Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean}, 1e5, 0.45);
  const FullModel model = build_full_model(scene, strip_mesh(1));
  FullMechanics mechanics(model);
  const Vec3d w{{0.3, -0.9, 0.6}};
  const std::vector<double> rest(extent(model.coordinates.nq), 0.0);
  std::vector<double> dq(extent(model.coordinates.nv));
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
    const Vec3d d = cross(w, model.mesh.nodes[extent(model.free_nodes[i])]);
    for (int k = 0; k < 3; ++k) dq[3 * i + extent(k)] = d[k];
  }
  EXPECT_EQ(mechanics.turn_step(0, rest, {}, {}, dq), 1);
  const Mat3d R = boxes::rotation(w, norm(w));
  const auto now = [&](std::size_t i) {
    Vec3d x = model.mesh.nodes[extent(model.free_nodes[i])];
    for (int k = 0; k < 3; ++k) x[k] += dq[3 * i + extent(k)];
    return x;
  };
  for (std::size_t i = 1; i < model.free_nodes.size(); ++i) {
    const Vec3d before = model.mesh.nodes[extent(model.free_nodes[i])] - model.mesh.nodes[extent(model.free_nodes[0])];
    // What makes the matrix regular is 1e-9 of its diagonal, a thousandth of what turning the slender strip takes.
    EXPECT_LT(norm(now(i) - now(0) - R * before), 1e-5 * norm(before));
  }
}

// A step that turns by twice as much as may be is half of it.
TEST(TurnedSteps, AreCutShort) {
  const FullModel model = build_full_model(strip(1, MaterialModel::corotational), strip_mesh());
  FullMechanics mechanics(model);
  const std::vector<double> rest(extent(model.coordinates.nq), 0.0);
  // Bent down by a linear motion of which the end turns by 2.8.
  std::vector<double> dq(rest.size(), 0.0);
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
    const Vec3d x = model.mesh.nodes[extent(model.free_nodes[i])];
    dq[3 * i + 2] = -2.8 * x[0] * x[0] / 0.4;
    dq[3 * i] = 2.8 * x[0] * (x[2] - 0.002) / 0.2;
  }
  const double share = mechanics.turn_step(0, rest, {}, {}, dq);
  EXPECT_NEAR(share, 0.5, 0.02);  // at points within the last elements
  double farthest = 0;
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i) farthest = std::max(farthest, -dq[3 * i + 2]);
  // An arc of that curvature, by 1.4 in all: R (1 - cos 1.4).
  EXPECT_NEAR(farthest, 0.2 / 1.4 * (1 - std::cos(1.4)), 0.005);
}

// A body of an assembly takes the steps that it takes alone, also where they are cut short.
TEST(TurnedSteps, OfAnAssemblyAreThoseOfItsBodies) {
  const FullModel model = build_full_model(strip(1, MaterialModel::stable_neo_hookean), strip_mesh());
  FullMechanics alone(model), body(model);
  Assembly assembly;
  assembly.frames = {assemblies::frame("base", Assembly::Hold::fixed)};
  assembly.bodies = {assemblies::body("strip", body, body_inertia(model), 0)};
  AssemblyMechanics mechanics(assembly);
  for (const double size : {0.0005, 0.2}) {
    const std::vector<double> rest(extent(model.coordinates.nq), 0.0);
    std::vector<double> own = boxes::random_vector(model.coordinates.nv, size), whole = own;
    const double share = alone.turn_step(0, rest, {}, {}, own);
    EXPECT_EQ(mechanics.turn_step(0, rest, {}, {}, whole), share);
    EXPECT_EQ(share<1, size> 0.1);
    EXPECT_LT(boxes::difference(whole, own), 1e-12);
  }
}

// Small steps are Newton's own.
TEST(TurnedSteps, SmallOnesStayAsTheyAre) {
  const FullModel model = build_full_model(strip(1, MaterialModel::corotational), strip_mesh());
  FullMechanics mechanics(model);
  std::vector<double> dq = boxes::random_vector(model.coordinates.nv, 1e-6);
  const std::vector<double> before = dq, rest(extent(model.coordinates.nq), 0.0);
  EXPECT_EQ(mechanics.turn_step(0, rest, {}, {}, dq), 1);
  EXPECT_EQ(dq, before);
}

// With as many modes as coordinates a reduced step is that of the full model, and so is the tangent at its end.
TEST(TurnedSteps, ReducedOnesAreTheSame) {
  for (const boxes::Law& law : boxes::exact_laws()) {
    const Scene scene = reduced_bodies::bar_scene(law);
    const FullModel full = build_full_model(scene, reduced_bodies::bar(/*hexahedra=*/false));
    const std::vector<double> basis = reduced_bodies::full_basis(full.coordinates.nv);
    const ReducedModel model = project(full, basis, full.coordinates.nv, all_elements(full));
    FullMechanics mechanics(full);
    ReducedMechanics reduced(model);
    const auto n = extent(full.coordinates.nv);
    const std::vector<double> q = boxes::random_vector(full.coordinates.nv, 0.002);
    std::vector<double> dq = boxes::random_vector(full.coordinates.nv, 0.01), reduced_dq = dq;
    EXPECT_EQ(reduced.turn_step(0, q, {}, {}, reduced_dq), mechanics.turn_step(0, q, {}, {}, dq)) << law.name;
    EXPECT_LT(boxes::difference(reduced_dq, dq), 1e-6) << law.name;
    std::vector<double> f(n), reduced_f(n), x = boxes::random_vector(full.coordinates.nv, 1), y = x;
    std::vector<double> at = boxes::plus(q, 1, dq);
    (void)mechanics.evaluate_forces(at, {}, TangentKind::exact, f);
    (void)reduced.evaluate_forces(at, {}, TangentKind::exact, reduced_f);
    EXPECT_LT(boxes::difference(reduced_f, f), 1e-10) << law.name;
    ASSERT_EQ(mechanics.factor({.mass = 1e6}, {}, {}).status, SystemStatus::ok);
    ASSERT_EQ(reduced.factor({.mass = 1e6}, {}, {}).status, SystemStatus::ok);
    mechanics.solve(x, 1);
    reduced.solve(y, 1);
    EXPECT_LT(boxes::difference(y, x), 1e-6) << law.name;
    // The next evaluation is one of its own.
    (void)mechanics.evaluate_forces(at, {}, TangentKind::exact, f);
    ASSERT_EQ(mechanics.factor({.mass = 1e6}, {}, {}).status, SystemStatus::ok);
    std::vector<double> z = boxes::random_vector(full.coordinates.nv, 1);
    mechanics.solve(z, 1);
    EXPECT_GT(boxes::difference(z, x), 1e-6) << law.name;
  }
}

}  // namespace
}  // namespace supple
