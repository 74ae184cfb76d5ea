// Rods and cords in a body: beams with a wire against beam theory, small and large; cords that slacken; ends; mass; files.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/io/model_file.hpp"
#include "engine/mesh/order.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

constexpr double length = 0.12, side = 0.012, young = 2e5, wire_radius = 5e-4, wire_young = 6e10;
constexpr double pi = std::numbers::pi;
const double body_bending = young * std::pow(side, 4) / 12,
             wire_bending = wire_young * pi / 4 * std::pow(wire_radius, 4);

// Along x, of order 2.
Mesh beam(int along = 16) {
  Mesh mesh = box_hexahedra({{0, -side / 2, -side / 2}}, {{length, side / 2, side / 2}}, along, 2, 2);
  set_order(mesh, 2);
  return mesh;
}

RodScene straight_rod(double y = 0, double z = 0) {
  RodScene rod;
  rod.points = {{{0, y, z}}, {{length, y, z}}};
  rod.radius = wire_radius;
  rod.young = wire_young;
  return rod;
}

// Held at x = 0, a force on x = L.
Scene held(const std::vector<RodScene>& rods, const Vec3d& direction) {
  Scene scene = boxes::scene({"", MaterialModel::stable_neo_hookean}, young, 0);
  BodyScene& body = scene.bodies[0];
  body.order = 2;
  body.rods = rods;
  body.fixes = {boxes::clamp_at_origin()};
  ActuatorScene force;
  force.name = "force";
  force.kind = ActuatorKind::force;
  force.region = boxes::group_region("x+");
  force.direction = direction;
  force.control = ActuatorControl::force;
  force.bilateral = true;
  force.range = {-10, 10};
  scene.actuators = {force};
  EffectorScene tip;
  tip.name = "tip";
  tip.region = boxes::group_region("x+");
  scene.effectors = {tip};
  return scene;
}

struct Bent {
  FullModel model;
  State state;
  std::vector<double> u;
  Vec3d tip;  // mean displacement of x+
};

Bent bent(const Scene& scene, double force, int along = 16) {
  Bent result{build_full_model(scene, beam(along)), {}, {}, {{0, 0, 0}}};
  FullMechanics mechanics(result.model);
  result.state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = {force};
  EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, result.state).status, StepStatus::ok);
  result.u.resize(3 * result.model.mesh.nodes.size());
  node_displacements(result.model, result.state.q, result.state.motions, result.u);
  const Interpolation& tip = result.model.interpolation[extent(result.model.robot.effectors[0].point)];
  for (std::size_t k = 0; k < tip.node.size(); ++k)
    for (int i = 0; i < 3; ++i) result.tip[i] += tip.weight[k] * result.u[extent(tip.node[k], 3) + extent(i)];
  return result;
}

// Both bend together: F L^3/(3 sum of E I). The body shears besides, which carries a ninth of the load: below 0.5 %.
TEST(Rods, BendWithTheBody) {
  const double force = 1e-4;
  const double expected = force * std::pow(length, 3) / (3 * (body_bending + wire_bending));
  EXPECT_NEAR(-bent(held({straight_rod()}, {{0, 0, -1}}), force).tip[2], expected, 0.01 * expected);
  // Finer nodes than elements do not make it stiff: elements of second order bend.
  RodScene fine = straight_rod();
  fine.spacing = length / 64;
  EXPECT_NEAR(-bent(held({fine}, {{0, 0, -1}}), force).tip[2], expected, 0.01 * expected);
  // A tube of twice the radius with the same second moment.
  RodScene tube = straight_rod();
  tube.radius = 2 * wire_radius;
  tube.inner_radius = wire_radius * std::pow(15, 0.25);
  EXPECT_NEAR(-bent(held({tube}, {{0, 0, -1}}), force).tip[2], expected, 0.01 * expected);
}

// The elastica at P L^2/(E I) = 5 (K. E. Bisshopp, D. C. Drucker 1945): 0.71379 L down, 0.38763 L back.
TEST(Rods, BendFarAsTheElastica) {
  const double force = 5 * (body_bending + wire_bending) / (length * length);
  const Vec3d tip = bent(held({straight_rod()}, {{0, 0, -1}}), force, 24).tip;
  // The body is bent by half its own length across: its fibres are stretched by up to 15 %, where neo-Hooke is no
  // longer Hooke. 0.6 % measured.
  EXPECT_NEAR(-tip[2], 0.71379 * length, 0.01 * length);
  EXPECT_NEAR(-tip[0], 0.38763 * length, 0.01 * length);
}

// A wire away from the axis moves the neutral line, as in the theory of composite beams: pulled along the axis the beam
// bends, with the curvature and the strain of
//   [EA  ES; ES  EI] (strain, curvature) = (N, 0).
TEST(Rods, BendABeamThatIsPulled) {
  RodScene rod = straight_rod(0, side / 4);
  rod.young = 1e8;
  const double stretch_rod = rod.young * pi * rod.radius * rod.radius, stretch_body = young * side * side;
  const double force = 1e-3, z = side / 4;
  const double EA = stretch_body + stretch_rod, ES = stretch_rod * z,
               EI = body_bending + stretch_rod * z * z + rod.young * pi / 4 * std::pow(rod.radius, 4);
  const double curvature = -ES * force / (EA * EI - ES * ES), strain = (force - ES * curvature) / EA;
  const Bent found = bent(held({rod}, {{1, 0, 0}}), force, 24);
  // Between x = L/4 and 3 L/4, where the ends are forgotten: u_x of the axis and of a fibre away from it.
  double axis[2]{}, top[2]{};
  int count[2]{};
  for (std::size_t n = 0; n < found.model.mesh.nodes.size(); ++n) {
    const Vec3d& x = found.model.mesh.nodes[n];
    for (int end = 0; end < 2; ++end) {
      if (std::abs(x[0] - length * (end == 0 ? 0.25 : 0.75)) > 1e-9 || std::abs(x[1]) > 1e-9) continue;
      if (std::abs(x[2]) < 1e-9) axis[end] += found.u[3 * n], ++count[end];
      if (std::abs(x[2] - side / 2) < 1e-9) top[end] += found.u[3 * n];
    }
  }
  ASSERT_EQ(count[0], 1);
  ASSERT_EQ(count[1], 1);
  const double half = length / 2;
  // The wire is thinner than an element, and near it the section does not stay plane. 0.7 % measured.
  EXPECT_NEAR((axis[1] - axis[0]) / half, strain, 0.01 * strain);
  EXPECT_NEAR((top[1] - top[0]) / half, strain + curvature * side / 2, 0.01 * strain);
}

// Compressed cords are as if there were none (they carry 0.08 mN), pulled they are rods.
TEST(Rods, CordsBuckle) {
  RodScene cord = straight_rod();
  cord.young = 1e8;
  cord.bending = false;
  RodScene bar = cord;
  cord.push = false;
  const Vec3d along{{1, 0, 0}};
  const double plain = bent(held({}, along), -0.02).tip[0], slack = bent(held({cord}, along), -0.02).tip[0],
               pressed = bent(held({bar}, along), -0.02).tip[0];
  EXPECT_NEAR(slack, plain, 0.01 * std::abs(plain));
  EXPECT_GT(pressed, 0.6 * plain);
  EXPECT_NEAR(bent(held({cord}, along), 0.02).tip[0], bent(held({bar}, along), 0.02).tip[0], 0.01 * std::abs(plain));
}

// A hinge at the root leaves bending there to the body alone.
TEST(Rods, EndsAreClampedWhereTheBodyIsHeld) {
  RodScene hinge = straight_rod();
  hinge.clamped = false;
  const Vec3d down{{0, 0, -1}};
  const double clamped = -bent(held({straight_rod()}, down), 1e-4).tip[2],
               hinged = -bent(held({hinge}, down), 1e-4).tip[2];
  EXPECT_GT(hinged, 1.8 * clamped);
  // The other end is free: the same from the other side.
  RodScene turned = straight_rod();
  std::swap(turned.points[0], turned.points[1]);
  EXPECT_NEAR(-bent(held({turned}, down), 1e-4).tip[2], clamped, 1e-9 * clamped);
}

// A rod that goes on through held material is clamped where it passes into it.
TEST(Rods, AreClampedWhereTheyPassIntoWhatIsHeld) {
  const Vec3d down{{0, 0, -1}};
  Scene through = held({straight_rod()}, down), at_face = held({straight_rod()}, down);
  through.bodies[0].rods[0].spacing = length / 16;
  FixScene deep;
  deep.region = boxes::box_region({{-1, -1, -1}}, {{length / 4 + 1e-9, 1, 1}});
  through.bodies[0].fixes = at_face.bodies[0].fixes = {deep};
  RodScene& shorter = at_face.bodies[0].rods[0];
  shorter.points[0][0] = length / 4;
  shorter.spacing = length / 16;
  const double expected = bent(at_face, 1e-4).tip[2];
  EXPECT_NEAR(bent(through, 1e-4).tip[2], expected, 1e-6 * std::abs(expected));
}

TEST(Rods, AreHingedBesideHeldNodesAndSaySo) {
  Scene scene = held({straight_rod()}, {{0, 0, -1}});
  EXPECT_TRUE(build_full_model(scene, beam(4)).notes.empty());
  scene.bodies[0].rods[0].points[0][0] = 5e-4;
  const std::vector<std::string> notes = build_full_model(scene, beam(4)).notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("hinged"), std::string::npos) << notes[0];
}

// Cords have a node at each corner: their length and mass are those of the path.
TEST(Rods, CordsPassThroughTheirPoints) {
  RodScene cord;
  cord.points = {{{0.01, 0, 0}}, {{0.03, 0.005, 0}}, {{0.047, -0.005, 0}}};
  cord.radius = 1e-4;
  cord.young = 1e9;
  cord.density = 1400;
  cord.bending = false;
  const Scene scene = held({cord}, {{1, 0, 0}});
  Scene bare = scene;
  bare.bodies[0].rods.clear();
  const FullModel model = build_full_model(scene, beam(5));
  const double path = norm(cord.points[1] - cord.points[0]) + norm(cord.points[2] - cord.points[1]);
  const double mass = 1400 * pi * 1e-8 * path;
  EXPECT_NEAR(model.total_mass - build_full_model(bare, beam(5)).total_mass, mass, 1e-9 * mass);
  bool corner = false;
  for (int k = 0; k < model.robot.rods[0].point_count; ++k)
    corner =
        corner || norm(model.robot.rest_points[extent(model.robot.rods[0].first_point + k)] - cord.points[1]) < 1e-12;
  EXPECT_TRUE(corner);
}

// rho A L, at its place: what it weighs at the clamp.
TEST(Rods, WeighWhatTheyAre) {
  for (const MassKind kind : {MassKind::consistent, MassKind::lumped, MassKind::per_node}) {
    Scene scene = held({straight_rod()}, {{1, 0, 0}});
    scene.bodies[0].mass_kind = kind;
    const double before = build_full_model(scene, beam()).total_mass;
    scene.bodies[0].rods[0].density = 6450;
    const FullModel model = build_full_model(scene, beam());
    const double mass = 6450 * pi * wire_radius * wire_radius * length;
    EXPECT_NEAR(model.total_mass - before, mass, 1e-12 * mass);
    double sum = 0;
    for (std::size_t column = 0; column + 1 < model.mass.column_start.size(); ++column)
      for (int k = model.mass.column_start[column]; k < model.mass.column_start[column + 1]; ++k)
        sum += model.mass.value[extent(k)] * (model.mass.row[extent(k)] == static_cast<int>(column) ? 1 : 2);
    EXPECT_NEAR(sum, model.total_mass, 1e-12 * sum);
  }
}

TEST(Rods, ReducedModelsAndFilesHaveThem) {
  RodScene cord = straight_rod(0.003, 0.003);
  cord.push = false;
  cord.bending = false;
  const FullModel model = build_full_model(held({straight_rod(), cord}, {{0, 0, 1}}), beam(6));
  ASSERT_EQ(model.fields.back().law, LawId::rod);
  ASSERT_EQ(model.robot.rods.size(), 2u);
  EXPECT_EQ(model.fields.back().elements(), model.robot.rods[0].point_count + model.robot.rods[1].point_count);
  const int modes = 6;
  const std::vector<double> basis = reduced_bodies::random_basis(model.coordinates.nv, modes);
  const ReducedModel reduced = project(model, basis, modes, all_elements(model));
  EXPECT_EQ(reduced.regions(), 3);  // a material, two rods
  EXPECT_EQ(reduced.first_region(reduced.fields.back()), 1);
  FullMechanics full(model);
  ReducedMechanics mechanics(reduced);
  const std::vector<double> alpha = boxes::random_vector(modes, 0.002);
  std::vector<double> f(extent(model.coordinates.nv)), g(extent(modes));
  EXPECT_EQ(full.evaluate_forces(reduced_bodies::lift(basis, alpha), {}, TangentKind::exact, f).undefined, 0);
  EXPECT_EQ(mechanics.evaluate_forces(alpha, {}, TangentKind::exact, g).undefined, 0);
  EXPECT_LT(boxes::difference(g, reduced_bodies::restrict_vector(basis, f)), 1e-11);
  const reduced_bodies::TemporaryFolder folder;
  write_model(reduced, folder / "rod.h5");
  const ReducedModel read = read_model(folder / "rod.h5");
  reduced_bodies::expect_same_model(read, reduced);
  ASSERT_EQ(read.robot.rods.size(), 2u);
  EXPECT_EQ(read.robot.rods[1].first_point, model.robot.rods[1].first_point);
  EXPECT_EQ(read.robot.rods[1].radius, wire_radius);
}

// The stiffness of the full model is the derivative of its forces, also where rods share nodes.
TEST(Rods, StiffnessIsTheDerivativeOfTheForces) {
  RodScene soft = straight_rod();
  soft.young = 1e8;
  RodScene across;
  across.points = {{{0.02, -0.005, -0.005}}, {{0.1, 0.005, 0.004}}};
  across.radius = 1e-3;
  across.young = 1e7;
  Scene scene = held({soft, across}, {{0, 0, 1}});
  scene.bodies[0].rayleigh_stiffness = 1;  // damping is K v
  const FullModel model = build_full_model(scene, beam(4));
  FullMechanics mechanics(model);
  const auto forces = [&](const std::vector<double>& q, TangentKind kind) {
    std::vector<double> f(q.size());
    EXPECT_EQ(mechanics.evaluate_forces(q, {}, kind, f).undefined, 0);
    return f;
  };
  const std::vector<double> q = boxes::random_vector(model.coordinates.nv, 3e-4),
                            v = boxes::random_vector(model.coordinates.nv, 1);
  const std::vector<double> f = forces(q, TangentKind::exact);
  std::vector<double> Kv(q.size());
  mechanics.damping(v, {}, Kv);
  const double h = 1e-9;  // of displacements of 0.3 mm in segments of 10 mm
  std::vector<double> slope = boxes::plus(forces(boxes::plus(q, h, v), TangentKind::none), -1,
                                          forces(boxes::plus(q, -h, v), TangentKind::none));
  for (double& x : slope) x /= 2 * h;
  EXPECT_LT(boxes::difference(slope, Kv), 1e-6);
}

// The continuum robot of assets, without its weight: constant curvature T r/(sum of E I) up to the tendon's end, 145 mm
// along, straight beyond.
TEST(Rods, ABackboneBendsByItsTendon) {
  Scene scene = read_scene(SUPPLE_SOURCE_DIR "/assets/continuum/scene.toml");
  scene.gravity = {{0, 0, 0}};
  const FullModel model = build_full_model(scene);
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  const double tension = 0.2;
  control.commands[0] = tension;
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(model, state.q, state.motions, u);
  Vec3d tip{{0, 0, 0}};
  const Interpolation& point = model.interpolation[extent(model.robot.effectors[0].point)];
  for (std::size_t k = 0; k < point.node.size(); ++k)
    for (int i = 0; i < 3; ++i) tip[i] += point.weight[k] * u[extent(point.node[k], 3) + extent(i)];
  const double EI = 6e10 * pi / 4 * std::pow(4e-4, 4) + 150e3 * pi / 4 * std::pow(7e-3, 4);
  const double curvature = tension * 5e-3 / EI, angle = curvature * 0.145;
  const double sideways = (1 - std::cos(angle)) / curvature + 0.004 * std::sin(angle);
  // Between its eyelets, 25 mm apart, the tendon is straight: 0.04 of 5 mm further from the backbone than the arc.
  EXPECT_NEAR(tip[0], sideways, 0.012 * sideways);
  EXPECT_NEAR(tip[1], 0, 1e-3 * sideways);
}

void expect_error(const RodScene& rod, const std::string& what) {
  try {
    (void)build_full_model(held({rod}, {{1, 0, 0}}), beam(4));
    FAIL() << what;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
  }
}

TEST(Rods, RefuseWhatTheyAreNot) {
  RodScene corner = straight_rod();
  corner.points.push_back({{length, side / 2, 0}});
  expect_error(corner, "straight at rest");
  corner.bending = false;
  EXPECT_NO_THROW((void)build_full_model(held({corner}, {{1, 0, 0}}), beam(4)));
  RodScene outside = straight_rod();
  outside.points[1] = {{2 * length, 0, 0}};
  expect_error(outside, "away from the body");
  RodScene coarse = straight_rod();
  coarse.spacing = 1.0;
  expect_error(coarse, "one segment");
  RodScene back = corner;
  back.points = {{{0, 0, 0}}, {{length, 0, 0}}, {{0.01, 0, 0}}};
  expect_error(back, "turns back");
  RodScene thick = straight_rod();
  thick.radius = length;
  expect_error(thick, "no longer than it is thick");
  RodScene fine = straight_rod();
  fine.spacing = 1e-9;
  expect_error(fine, "at most");
}

}  // namespace
}  // namespace supple
