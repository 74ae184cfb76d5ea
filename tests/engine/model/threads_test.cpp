// Layers of threads on a body: a round rod that is wound, against the closed form of its elastic state; threads that
// slacken; files.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/io/model_file.hpp"
#include "engine/mesh/order.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

constexpr double radius = 0.01, length = 0.12, young = 1e6, poisson = 0.4;
constexpr double stiffness = 30, spacing = 0.003;  // as stiff as the rod, about

// Along x, second order; the sides of the square that became a circle are groups y-, y+, z-, z+.
Mesh rod(int across = 3) {
  Mesh mesh = box_hexahedra({{0, -1, -1}}, {{length, 1, 1}}, 4 * across, across, across);
  set_order(mesh, 2);
  for (Vec3d& x : mesh.nodes)
    x = {{x[0], radius * x[1] * std::sqrt(1 - x[2] * x[2] / 2), radius * x[2] * std::sqrt(1 - x[1] * x[1] / 2)}};
  return mesh;
}

// Held at x = 0, pulled along x.
Scene wound(std::optional<double> degrees, bool push = true) {
  Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean}, young, poisson);
  BodyScene& body = scene.bodies[0];
  body.order = 2;
  body.fixes = {boxes::clamp_at_origin()};
  for (const char* side : {"y-", "y+", "z-", "z+"}) {
    if (!degrees) break;
    MembraneScene layer;
    layer.region = boxes::group_region(side);
    layer.threads = ThreadScene{.stiffness = stiffness,
                                .spacing = spacing,
                                .push = push,
                                .buckling = 1e-7,
                                .direction = {},
                                .axis = {{1, 0, 0}},
                                .centre = Vec3d{{0, 0, 0}},
                                .angle = *degrees / 180 * std::numbers::pi};
    body.membranes.push_back(layer);
  }
  ActuatorScene pull;
  pull.name = "pull";
  pull.kind = ActuatorKind::force;
  pull.region = boxes::group_region("x+");
  pull.direction = {{1, 0, 0}};
  pull.control = ActuatorControl::force;
  pull.bilateral = true;
  pull.range = {-1, 1};
  scene.actuators = {pull};
  return scene;
}

struct Strains {
  double along, around, turn;  // turn: of the surface, R dphi/dx
};

// Between x = L/4 and 3 L/4, where the ends are forgotten.
Strains measured(const Scene& scene, double force, int across = 3) {
  const FullModel model = build_full_model(scene, rod(across));
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {force};
  EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(model, state.q, state.motions, u);
  double along[2]{}, turned[2]{}, around = 0;
  int count[2]{}, all = 0;
  for (std::size_t n = 0; n < model.mesh.nodes.size(); ++n) {
    const Vec3d& x = model.mesh.nodes[n];
    const double r = std::hypot(x[1], x[2]);
    if (std::abs(r - radius) > 1e-9) continue;
    if (x[0] > length / 4 - 1e-9 && x[0] < length * 0.75 + 1e-9) {
      around += (x[1] * u[3 * n + 1] + x[2] * u[3 * n + 2]) / (r * r);
      ++all;
    }
    for (int k = 0; k < 2; ++k) {
      if (std::abs(x[0] - length * (k == 0 ? 0.25 : 0.75)) > 1e-9) continue;
      along[k] += u[3 * n];
      turned[k] += (x[1] * u[3 * n + 2] - x[2] * u[3 * n + 1]) / r;
      ++count[k];
    }
  }
  EXPECT_EQ(count[0], count[1]);
  const double n = count[0], between = length / 2;
  return {(along[1] - along[0]) / n / between, around / all, (turned[1] - turned[0]) / n / between};
}

// Homogeneous: the threads press with N sin^2/R on the rod, carry N cos^2 2 pi R along it, and turn it with N sin cos.
Strains closed_form(double degrees, double force) {
  const double s = std::sin(degrees / 180 * std::numbers::pi), c = std::cos(degrees / 180 * std::numbers::pi);
  const double mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const double k = stiffness / spacing, pi = std::numbers::pi, R = radius;
  const Eigen::RowVector3d thread(c * c, s * s, s * c);  // strain along it
  Eigen::Matrix3d A;
  A.row(0) = pi * R * R * Eigen::RowVector3d(lambda + 2 * mu, 2 * lambda, 0) + 2 * pi * R * c * c * k * thread;
  A.row(1) = Eigen::RowVector3d(lambda, 2 * (lambda + mu), 0) + s * s / R * k * thread;
  A.row(2) = mu * pi * R * R * R / 2 * Eigen::RowVector3d(0, 0, 1) + 2 * pi * R * R * s * c * k * thread;
  const Eigen::Vector3d x = A.partialPivLu().solve(Eigen::Vector3d(force, 0, 0));
  return {x[0], x[1], x[2]};
}

class WoundRod : public testing::TestWithParam<double> {};

TEST_P(WoundRod, ComesToTheClosedFormsState) {
  constexpr double force = 0.01;  // strains of some 1e-5: small
  const Strains expected = closed_form(GetParam(), force);
  const double plain = force / (young * std::numbers::pi * radius * radius);
  double before = 0;
  for (const int across : {3, 6}) {
    const Strains found = measured(wound(GetParam()), force, across);
    const double error = std::max({std::abs(found.along - expected.along), std::abs(found.around - expected.around),
                                   std::abs(found.turn - expected.turn)}) /
                         plain;
    // Of first order: threads pull at the nodes of flat triangles, 24 or 48 around, and not along their way.
    EXPECT_LT(error, across == 3 ? 0.05 : 0.025);
    if (across == 6) {
      EXPECT_LT(error, 0.7 * before);
    }
    before = error;
  }
}

INSTANTIATE_TEST_SUITE_P(Angles, WoundRod, testing::Values(0.0, 30.0, -30.0, 55.0, 80.0, 90.0));

// Pulled it turns against the helix, and the other way for the other hand.
TEST(Threads, TurnTheRodByTheirHand) {
  EXPECT_LT(closed_form(30, 0.01).turn, -1e-6);
  const Strains right = measured(wound(30), 0.01), left = measured(wound(-30), 0.01);
  EXPECT_NEAR(right.turn, -left.turn, 0.01 * std::abs(right.turn));  // the mesh has a hand by its triangles
}

// Straight along the rod: pressed far beyond the strain at which they buckle (strains are 3e-5), they are as if there
// were none.
TEST(Threads, Buckle) {
  const Strains plain = measured(wound({}), -0.01), slack = measured(wound(0, false), -0.01),
                wires = measured(wound(0), -0.01);
  EXPECT_NEAR(slack.along, plain.along, 0.01 * std::abs(plain.along));  // near the clamp some are pulled
  EXPECT_GT(wires.along, 0.8 * plain.along);
  // Pulled, threads are as wires, but for those that the rod's contraction presses near the clamp.
  EXPECT_NEAR(measured(wound(0, false), 0.01).along, measured(wound(0), 0.01).along, 0.01 * plain.along * -1);
}

TEST(Threads, ReducedModelsAndFilesHaveThem) {
  const FullModel model = build_full_model(wound(40, false), rod());
  ASSERT_EQ(model.fields.back().law, LawId::fibres);
  const int modes = 6;
  const std::vector<double> basis = reduced_bodies::random_basis(model.coordinates.nv, modes);
  const ReducedModel reduced = project(model, basis, modes, all_elements(model));
  FullMechanics full(model);
  ReducedMechanics mechanics(reduced);
  const std::vector<double> alpha = boxes::random_vector(modes, 0.002);
  std::vector<double> f(extent(model.coordinates.nv)), g(extent(modes));
  EXPECT_EQ(full.evaluate_forces(reduced_bodies::lift(basis, alpha), {}, TangentKind::exact, f).undefined, 0);
  EXPECT_EQ(mechanics.evaluate_forces(alpha, {}, TangentKind::exact, g).undefined, 0);
  EXPECT_LT(boxes::difference(g, reduced_bodies::restrict_vector(basis, f)), 1e-12);
  const reduced_bodies::TemporaryFolder folder;
  write_model(reduced, folder / "rod.h5");
  reduced_bodies::expect_same_model(read_model(folder / "rod.h5"), reduced);
}

// Pulled sideways: threads along a tube that are slack on one side leave it nearly as soft as it is; the default buckling
// strain is small enough for stiff ones.
TEST(Threads, AreSlackInBendingByDefault) {
  const auto sideways = [](std::optional<ThreadScene> threads) {
    Scene scene = wound({});
    if (threads)
      for (const char* side : {"y-", "y+", "z-", "z+"}) {
        MembraneScene layer;
        layer.region = boxes::group_region(side);
        layer.threads = threads;
        scene.bodies[0].membranes.push_back(layer);
      }
    scene.actuators[0].direction = {{0, 0, 1}};
    const FullModel model = build_full_model(scene, rod(2));
    FullMechanics mechanics(model);
    State state = rest_state(mechanics);
    Control control = zero_control(mechanics);
    control.commands = {0.2};  // threads carry 0.3 mN each when they are slack
    EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
    std::vector<double> u(3 * model.mesh.nodes.size());
    node_displacements(model, state.q, state.motions, u);
    double tip = 0;
    for (std::size_t i = 2; i < u.size(); i += 3) tip = std::max(tip, u[i]);
    return tip;
  };
  ThreadScene stiff{.stiffness = 300, .spacing = 0.003, .direction = Vec3d{{1, 0, 0}}, .centre = {}};
  const double by_default = sideways(stiff);
  stiff.buckling /= 10;
  const double slacker = sideways(stiff);
  stiff.push = true;
  const double wires = sideways(stiff);
  EXPECT_NEAR(by_default, slacker, 0.02 * slacker);
  EXPECT_GT(by_default, 2 * wires);
}

struct Directions {
  std::vector<Vec3d> centre, thread, normal;
};

// Of a layer at this angle about x on all four sides, which may be a part of them, of a body that is moved.
Directions directions(double degrees, const std::vector<const char*>& sides, const Vec3d& shift,
                      std::optional<Vec3d> centre) {
  Scene scene = wound(degrees);
  std::vector<MembraneScene> layers = std::exchange(scene.bodies[0].membranes, {});
  for (MembraneScene& layer : layers)
    if (std::ranges::find(sides, layer.region.group) != sides.end()) {
      layer.threads->centre = centre;
      scene.bodies[0].membranes.push_back(layer);
    }
  Mesh mesh = rod();
  for (Vec3d& x : mesh.nodes) x = x + shift;
  scene.bodies[0].fixes[0].region = boxes::group_region("x-");
  const FullModel model = build_full_model(scene, mesh);
  const ElementField& field = model.fields.back();
  Directions found;
  for (int e = 0; e < field.elements(); ++e) {
    Vec3d centre_of{{0, 0, 0}};
    for (int a = 0; a < 3; ++a)
      centre_of = centre_of + (1.0 / 3) * model.mesh.nodes[extent(field.node[extent(3 * e + a)])];
    found.centre.push_back(centre_of - shift);
    const Mat3d& frame = field.edges[extent(e)];
    found.thread.push_back({{frame(0, 0), frame(1, 0), frame(2, 0)}});
    found.normal.push_back({{frame(0, 2), frame(1, 2), frame(2, 2)}});
  }
  return found;
}

// A right-handed helix at its angle on every face, wherever the body is and whichever way its triangles are turned.
TEST(Threads, HaveTheirAngleWhereverTheBodyIs) {
  for (const double degrees : {30.0, -75.0, 90.0})
    for (const Vec3d& shift : {Vec3d{{0, 0, 0}}, Vec3d{{0.2, 0.05, -0.3}}}) {
      const Directions found = directions(degrees, {"y-", "y+", "z-", "z+"}, shift, shift);
      ASSERT_FALSE(found.thread.empty());
      for (std::size_t e = 0; e < found.thread.size(); ++e) {
        const Vec3d outwards = normalized(Vec3d{{0, found.centre[e][1], found.centre[e][2]}});
        const Vec3d around = cross(Vec3d{{1, 0, 0}}, outwards);
        const double along = found.thread[e][0], turn = dot(found.thread[e], around);
        const double angle = std::atan2(turn, along) * 180 / std::numbers::pi;
        EXPECT_NEAR(angle, degrees, 1.5);  // faces are flat: the normal is not quite radial
      }
    }
}

void expect_error(const Scene& scene, const std::string& what) {
  try {
    (void)build_full_model(scene, rod());
    FAIL() << what;
  } catch (const InputError& error) {
    EXPECT_NE((error.what() + error.suggestion()).find(what), std::string::npos) << error.what();
  }
}

TEST(Threads, AreNotAcrossAFace) {
  Scene scene = wound({});
  MembraneScene layer;
  layer.region = boxes::group_region("x+");
  layer.threads = ThreadScene{.stiffness = stiffness, .spacing = spacing, .direction = Vec3d{{1, 0, 0}}, .centre = {}};
  scene.bodies[0].membranes = {layer};
  expect_error(scene, "no direction on the face");
}

// Windings without a direction, or with two.
TEST(Threads, AreWoundAboutAnAxisInsideTheSection) {
  Scene scene = wound(45);
  scene.bodies[0].membranes[0].region = boxes::group_region("x+");
  expect_error(scene, "across the axis");
  // A face whose plane holds the axis, as the flat side of a half-round section that is wound about its edge.
  scene = wound(45);
  scene.bodies[0].membranes = {scene.bodies[0].membranes[3]};  // z+
  MembraneScene& top = scene.bodies[0].membranes[0];
  top.threads->axis = {{0, 1, 0}};
  top.threads->centre = Vec3d{{length / 2, 0, radius}};
  expect_error(scene, "centre = [x, y, z] inside the section");
  scene = wound(45);
  MembraneScene& all = scene.bodies[0].membranes[0];
  all.region = boxes::box_region({{0.001, -1, -1}}, {{length - 0.001, 1, 1}});
  EXPECT_NO_THROW((void)build_full_model(
      [&] {
        Scene s = scene;
        s.bodies[0].membranes = {all};
        return s;
      }(),
      rod()));
  all.threads->centre = Vec3d{{0, 0, 2.5 * radius}};
  expect_error(scene, "turn both ways");
}

TEST(Threads, DoNotLieTwiceInOneDirection) {
  Scene scene = wound(45);
  scene.bodies[0].membranes.push_back(scene.bodies[0].membranes[1]);
  expect_error(scene, "of membranes 2 and 5");
}

// Strain modes stand for the sheets; the region of the threads before them is another.
TEST(Threads, AreNoSheets) {
  Scene scene = wound(45);
  MembraneScene sheet;
  sheet.region = boxes::group_region("y+");
  sheet.thickness = 0.001;
  sheet.young = 1e6;
  sheet.poisson = 0.3;
  scene.bodies[0].membranes.push_back(sheet);
  const FullModel model = build_full_model(scene, rod());
  const std::vector<double> basis = reduced_bodies::random_basis(model.coordinates.nv, 4);
  const ReducedModel reduced = project(model, basis, 4, all_elements(model));
  const ReducedField& sheets = reduced.fields[reduced.fields.size() - 2];
  ASSERT_EQ(sheets.law, LawId::corotational_membrane);
  EXPECT_EQ(reduced.strain_region(sheets), reduced.materials() + 4);
}

// A sheet and two crossing layers of threads on the same faces: three membranes, two fields, triangles numbered on.
TEST(Threads, LieOnSheets) {
  Scene scene = wound(45);
  for (std::size_t m = 0; m < 4; ++m) {
    MembraneScene other = scene.bodies[0].membranes[m];
    other.threads->angle *= -1;
    scene.bodies[0].membranes.push_back(other);
  }
  MembraneScene sheet;
  sheet.region = boxes::group_region("y+");
  sheet.thickness = 0.001;
  sheet.young = 1e6;
  sheet.poisson = 0.3;
  scene.bodies[0].membranes.push_back(sheet);
  const FullModel model = build_full_model(scene, rod());
  const ElementField& threads = model.fields.back();
  const ElementField& sheets = model.fields[model.fields.size() - 2];
  EXPECT_EQ(sheets.law, LawId::corotational_membrane);
  EXPECT_EQ(threads.elements(), 8 * sheets.elements());
  EXPECT_EQ(sheets.element.front(), model.mesh.element_count());
  EXPECT_EQ(threads.element.front(), sheets.element.back() + 1);
  EXPECT_EQ(threads.parameters.size(), 9u);
  EXPECT_EQ(sheets.region.front(), 8);
  // Crossing layers have no hand.
  EXPECT_NEAR(measured(scene, 0.01).turn, 0, 0.01 * measured(wound(45), 0.01).along);
}

}  // namespace
}  // namespace supple
