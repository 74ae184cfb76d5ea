// Scenes of several bodies: what turns with what, what moves freely, and what may touch what.

#include <gtest/gtest.h>

#include <fstream>
#include <numbers>

#include "engine/collision/surface_set.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/model/on_frame.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/basis/basis.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "engine/sofa/sofa_audit.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"

namespace supple {
namespace {

using namespace assemblies;

const boxes::Law law{"corotational", MaterialModel::corotational};

std::string write_scene_with(const reduced_bodies::TemporaryFolder& folder, Scene scene, const Mesh& mesh,
                             const std::string& name) {
  write_msh(folder / (name + ".msh"), mesh);
  scene.bodies[0].mesh_file = folder / (name + ".msh");
  std::ofstream(folder / (name + ".toml")) << write_scene(scene);
  return folder / (name + ".toml");
}

PartScene part_of(const std::string& name, const std::string& scene, const std::string& on = "") {
  PartScene part;
  part.name = name;
  part.scene = scene;
  part.on = on;
  return part;
}

RigidScene box(const std::string& name, const Vec3d& translation = {{0, 0, 0}}) {
  RigidScene rigid;
  rigid.name = name;
  rigid.mass = 0.3;
  rigid.size = Vec3d{{0.1, 0.2, 0.3}};
  rigid.translation = translation;
  return rigid;
}

std::string refusal(const AssemblyScene& scene) {
  try {
    AssemblyRobot robot(scene);
  } catch (const InputError& error) {
    EXPECT_FALSE(error.suggestion().empty());
    return error.what();
  }
  return "none";
}

// A turntable that is lifted, on it a wrist, on that a bar.
TEST(CarriedBodies, TheTipOfABarGoesRoundWithWhatCarriesIt) {
  const reduced_bodies::TemporaryFolder folder;
  Scene bar = reduced_bodies::bar_scene(law);
  bar.gravity = {{0, 0, 0}};
  bar.bodies[0].fixes = {boxes::clamp_at_origin()};
  AssemblyScene scene;
  scene.name = "arm";
  scene.gravity = {{0, 0, 0}};
  RigidScene table = box("table", {{0.3, 0.1, -0.2}}), wrist = box("wrist", {{0.2, 0, 0.1}});
  table.rotation = {{0, 0.2, 0.3}};
  table.motions = {{.name = "lift", .direction = {{0, 0, 1}}, .range = {}, .place = {}},
                   {.name = "turn",
                    .kind = MotionKind::rotation,
                    .direction = {{0, 0, 1}},
                    .centre = {{0.05, 0, 0}},
                    .range = {-4, 4},
                    .place = {}}};
  wrist.on = "table";
  wrist.motions = {
      {.name = "bend", .kind = MotionKind::rotation, .direction = {{0, 1, 0}}, .range = {-2, 2}, .place = {}}};
  scene.rigids = {wrist, table};
  scene.parts = {part_of("bar", write_scene_with(folder, bar, reduced_bodies::bar(false), "bar"), "wrist")};
  scene.parts[0].translation = {{0.01, 0.02, 0.03}};
  AssemblyRobot robot(scene);
  AssemblyMechanics& mechanics = robot.mechanics();
  const std::vector<Input> inputs = inputs_of(mechanics.robot());
  Control control = zero_control(mechanics);
  const double lift = 0.07, turn = 2.5, bend = -1.2;
  for (std::size_t m = 0; m < control.motions.size(); ++m) {
    const Input& input = inputs[control.commands.size() + m];
    const bool angle = input.name != "table/lift";
    EXPECT_EQ(input.dimension, angle ? Dimension::angle : Dimension::length) << input.name;
    control.motions[m] = !angle ? lift : input.name == "table/turn" ? turn : bend;
  }
  Actuation actuation = parse_table("time [s],table/turn [deg]\n0,90\n", "t.csv", inputs);
  actuation.set("wrist/bend=-0.25 rev");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_NEAR(actuation.values()[i],
                (inputs[i].name == "table/turn"   ? 1
                 : inputs[i].name == "wrist/bend" ? -1
                                                  : 0) *
                    std::numbers::pi / 2,
                1e-15);
  EXPECT_EQ(display_unit(Dimension::angle), "deg");
  State state = rest_state(mechanics);
  std::vector<double> y(extent(mechanics.robot().outputs()));
  const int tip = effector_point(mechanics.robot(), "bar/" + bar.effectors[0].name);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  const Vec3d rest = point_at(y, tip);
  ASSERT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  const Pose at = pose_in(table.translation, table.rotation), hand = at * pose_in(wrist.translation, wrist.rotation);
  const auto turned_about = [](const Vec3d& centre, const Vec3d& axis, double angle) {
    const Mat3d R = rotation_exp(angle * axis);
    return Pose{centre - R * centre, R};
  };
  const Pose moved = Pose{{{0, 0, lift}}, Mat3d::identity()} * turned_about(at({{0.05, 0, 0}}), {{0, 0, 1}}, turn) *
                     turned_about(hand.position, at.rotation * Vec3d{{0, 1, 0}}, bend);
  EXPECT_GT(norm(point_at(y, tip) - rest), 0.1);
  EXPECT_LT(norm(point_at(y, tip) - moved(rest)), 1e-9);
  EXPECT_LT(norm(robot.rigid_pose(0, state.q, state.motions).position - moved(hand.position)), 1e-14);
  // The wrist carries the bar; the table does not.
  const Assembly& assembly = mechanics.assembly();
  ASSERT_EQ(assembly.surfaces.size(), 2u);
  EXPECT_EQ(assembly.surfaces[0].name, "bar");
  EXPECT_EQ(assembly.surfaces[1].name, "table");
}

// Parts that nothing holds fall as anything does, reduced ones on frames of their own.
TEST(CarriedBodies, PartsThatNothingHoldsFall) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string file = write_scene_with(folder, floating_bodies::scene(), floating_bodies::mesh(), "floating");
  const FullModel full = build_full_model(read_scene(file));
  const int nv = full.coordinates.nv;
  const std::vector<double> rigid = rigid_modes(full);
  std::vector<double> shapes = reduced_bodies::random_basis(nv, 3);
  remove_modes(rigid, nv, shapes);
  const std::vector<double> basis = join_modes(rigid, orthonormalise(shapes, nv, 3).basis, nv);
  write_model(put_on_frame(project(full, basis, 9, all_elements(full))), folder / "floating.rom.h5");
  AssemblyScene scene;
  scene.name = "falling";
  scene.integrator = Integrator::implicit_euler_newton;
  scene.parts = {part_of("full", file), part_of("reduced", "")};
  scene.parts[1].model = folder / "floating.rom.h5";
  for (PartScene& part : scene.parts) part.rotation = {{0.3, 0.2, -0.1}};
  scene.parts[1].translation = {{0, 1, 0}};
  AssemblyRobot robot(scene);
  AssemblyMechanics& mechanics = robot.mechanics();
  EXPECT_TRUE(robot.moves_freely());
  ASSERT_EQ(mechanics.assembly().frames.size(), 2u);
  EXPECT_EQ(mechanics.assembly().surfaces.size(), 2u);
  std::vector<double> y(extent(mechanics.robot().outputs()));
  State state = rest_state(mechanics);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  const std::vector<double> start = y;
  const double h = 0.01;
  const int steps = 20;
  ForwardStep forward(mechanics, scene.integrator, h);
  for (int k = 0; k < steps; ++k) ASSERT_EQ(forward.step(zero_control(mechanics), state).status, StepStatus::ok);
  mechanics.evaluate_outputs(state.q, state.motions, y);
  for (const char* name : {"full/head", "full/tail", "reduced/head", "reduced/tail"}) {
    const int point = effector_point(mechanics.robot(), name);
    const Vec3d fallen{{0, 0, -9.81 * h * h * steps * (steps + 1) / 2}};
    EXPECT_LT(norm(point_at(y, point) - point_at(start, point) - fallen), 1e-8) << name;
  }
  scene.rigids = {box("palm")};
  scene.rigids[0].held = true;
  for (std::size_t k = 0; k < 2; ++k) {
    AssemblyScene carried = scene;
    carried.parts[k].on = "palm";
    EXPECT_NE(refusal(carried).find("is free-floating"), std::string::npos);
  }
}

TEST(TouchingBodies, AreAllButThoseThatCarryJoinOrCannotMove) {
  AssemblyScene scene;
  scene.parts = {part_of("carried", "", "palm"), part_of("alone", "")};
  scene.rigids = {box("palm"), box("pad"), box("ball"), box("block"), box("shelf"), box("hook")};
  scene.rigids[0].held = scene.rigids[4].held = true;
  scene.rigids[1].on = "palm";
  scene.rigids[5].on = "ball";
  LinkScene joint;
  joint.from = "hook:eye";
  joint.to = "block";
  scene.links = {joint};
  const auto touching = [&] {
    std::vector<std::optional<RigidSolid>> solids;
    for (const RigidScene& rigid : scene.rigids) solids.push_back(rigid_solid(rigid));
    return touching_bodies(scene, lay_out_rigids(scene, solids));
  };
  // Numbers: carried 0, alone 1, palm 2, pad 3, ball 4, block 5, shelf 6, hook 7.
  TouchingBodies found = touching();
  EXPECT_EQ(found.bodies, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(found.never_touching,
            (std::vector<std::array<int, 2>>{{0, 2}, {0, 3}, {2, 3}, {4, 5}, {2, 6}, {3, 6}, {4, 7}, {5, 7}}));
  // A rope keeps nothing apart.
  scene.links[0].kind = LinkKind::limit;
  EXPECT_EQ(touching().never_touching.size(), 6u);
  for (const std::size_t k : {2, 3, 5}) scene.rigids[k].collides = false;
  scene.parts[1].collides = false;
  found = touching();  // the bar and the shelf; what carries the bar has none to touch
  EXPECT_EQ(found.bodies, (std::vector<int>{0, 6}));
  EXPECT_TRUE(found.never_touching.empty() && found.has(6) && !found.has(2));
  scene.rigids[4].collides = false;
  EXPECT_TRUE(touching().bodies.empty());
  scene.parts[0].self_contact = true;
  EXPECT_EQ(touching().bodies, (std::vector<int>{0}));
}

// A bar with a void inside, full and reduced: their outer skins, all nodes of them, where they are in the world.
TEST(TouchingBodies, SkinsAreMappedPointsOfTheirParts) {
  const reduced_bodies::TemporaryFolder folder;
  Scene hollow = hollow_bodies::bar_scene(law, ActuatorControl::force, 1e3);
  const std::string file = write_scene_with(folder, hollow, hollow_bodies::bar(false), "hollow");
  const FullModel full = build_full_model(read_scene(file));
  write_model(project(full, reduced_bodies::random_basis(full.coordinates.nv, 4), 4, all_elements(full)),
              folder / "hollow.rom.h5");
  AssemblyScene scene;
  scene.name = "bars";
  scene.parts = {part_of("full", file), part_of("reduced", "")};
  scene.parts[1].model = folder / "hollow.rom.h5";
  scene.parts[1].friction = 0.3;
  scene.parts[1].self_contact = true;
  for (PartScene& part : scene.parts) part.rotation = {{0.3, 0.2, -0.1}};
  scene.parts[1].translation = {{0.1, 0.4, 0}};
  RigidScene capsule = box("capsule", {{0, 0, 1}}), pin = box("pin", {{0.01, 0, 0}});
  capsule.size.reset();
  capsule.shape = RigidShape::capsule;
  capsule.radius = 0.02;
  capsule.length = 0.03;
  pin.on = "capsule";
  pin.size = Vec3d{{0.01, 0.01, 0.2}};
  scene.rigids = {capsule, pin};
  AssemblyRobot robot(scene);
  AssemblyMechanics& mechanics = robot.mechanics();
  const Assembly& assembly = mechanics.assembly();
  ASSERT_EQ(assembly.surfaces.size(), 4u);
  EXPECT_EQ(assembly.never_touching, (std::vector<std::array<int, 2>>{{2, 3}}));
  EXPECT_EQ(assembly.surfaces[1].friction, 0.3);
  EXPECT_TRUE(assembly.surfaces[1].touches_itself && !assembly.surfaces[0].touches_itself);
  EXPECT_EQ(assembly.surfaces[2].surface.radius, 0.02);
  EXPECT_NEAR(assembly.contact_distance, 0.002 * std::sqrt(0.04 * 0.04 + 0.04 * 0.04 + 0.07 * 0.07), 1e-15);
  // The void and its walls are left out, held nodes are not.
  const BoundarySurface all = boundary_surface(full.mesh);
  std::size_t outer = 0, held = 0;
  for (const int node : all.mesh_node) {
    const Vec3d& x = full.mesh.nodes[extent(node)];
    const bool wall = x[0] > 0.03 && x[0] < 0.27 && x[1] > 0.02 && x[1] < 0.08 && x[2] > 0.02 && x[2] < 0.08;
    outer += wall ? 0 : 1;
    held += full.node_unknown[extent(node)] < 0 ? 1 : 0;
  }
  EXPECT_GT(held, 8u);
  EXPECT_LT(outer, all.mesh_node.size());
  State state = rest_state(mechanics);
  for (std::size_t s = 0; s < 4; ++s) {
    const Assembly::BodySurface& body = assembly.surfaces[s];
    ASSERT_EQ(body.vertices.size(), body.surface.rest.size());
    EXPECT_TRUE(s >= 2 || body.vertices.size() == outer) << s;
    EXPECT_TRUE(s == 2 || body.surface.closed);
    for (std::size_t k = 0; k < body.vertices.size(); ++k) {
      const Assembly::Point& vertex = body.vertices[k];
      const Vec3d x = s < 2 ? mechanics.body_pose(vertex.body, state.q, state.motions)(
                                  assembly.bodies[s].mechanics->robot().rest_points[extent(vertex.output)])
                            : mechanics.frame_pose(vertex.frame, state.q, state.motions)(vertex.position);
      EXPECT_LT(norm(x - body.surface.rest[k]), 1e-14);
    }
  }
  std::vector<PlacedSurface> placed;
  int first = 0;
  for (const Assembly::BodySurface& body : assembly.surfaces) {
    placed.push_back({body.surface, first, body.touches_itself, 2 * assembly.contact_distance});
    first += body.surface.vertices();
  }
  const SurfaceSet set(placed, {.only_listed = false, .listed = assembly.never_touching});
  EXPECT_TRUE(set.may_touch(0, 1) && set.may_touch(1, 1) && set.may_touch(0, 2) && set.may_touch(1, 3));
  EXPECT_FALSE(set.may_touch(2, 3) || set.may_touch(0, 0));
  // Deformed, the reduced one's are its skin.
  Mechanics& reduced = *assembly.bodies[1].mechanics;
  const std::vector<double> q = boxes::random_vector(4, 1);
  std::vector<double> y(extent(reduced.robot().outputs())), u(3 * robot.reduced(1)->skin.rest.size());
  reduced.evaluate_outputs(q, {}, y);
  displacements(*robot.reduced(1), robot.reduced(1)->skin, q, {}, u);
  std::size_t same = 0;
  for (const Assembly::Point& vertex : assembly.surfaces[1].vertices)
    for (std::size_t i = 0; i < robot.reduced(1)->skin.rest.size(); ++i) {
      const Vec3d& rest = robot.reduced(1)->skin.rest[i];
      if (norm(reduced.robot().rest_points[extent(vertex.output)] - rest) > 1e-12) continue;
      EXPECT_LT(norm(point_at(y, vertex.output) - rest - Vec3d{{u[3 * i], u[3 * i + 1], u[3 * i + 2]}}), 1e-12);
      ++same;
    }
  EXPECT_EQ(same, outer);
}

TEST(TouchingBodies, RoundBodiesThatMoveFreelyDoNotTouchObstaclesYet) {
  AssemblyScene scene;
  scene.name = "ball";
  RigidScene ball = box("ball", {{0, 0, 1}});
  ball.size.reset();
  ball.shape = RigidShape::sphere;
  ball.radius = 0.1;
  scene.rigids = {ball};
  ObstacleScene floor;
  floor.name = "floor";
  scene.obstacles = {floor};
  EXPECT_NE(refusal(scene).find("do not touch [[obstacle]]s yet (here 'ball' does)"), std::string::npos);
  scene.rigids[0].shape = RigidShape::cylinder;
  scene.rigids[0].length = 0.2;
  AssemblyRobot robot(scene);
  EXPECT_EQ(robot.mechanics().robot().collision_points, 64);
  EXPECT_TRUE(robot.mechanics().assembly().surfaces.empty());
}

// Faces with all corners in a region, of a full part and of a reduced one; parts of one file with other regions share no
// skin.
TEST(TouchingBodies, APartMayTouchWithARegionOfItsSkin) {
  const reduced_bodies::TemporaryFolder folder;
  const std::string file = write_scene_with(folder, hollow_bodies::bar_scene(law, ActuatorControl::force, 1e3),
                                            hollow_bodies::bar(false), "hollow");
  const FullModel full = build_full_model(read_scene(file));
  write_model(project(full, reduced_bodies::random_basis(full.coordinates.nv, 4), 4, all_elements(full)),
              folder / "hollow.rom.h5");
  AssemblyScene scene;
  scene.name = "bars";
  scene.parts = {part_of("whole", file), part_of("box", file), part_of("ball", file), part_of("reduced", "")};
  scene.parts[3].model = folder / "hollow.rom.h5";
  for (const std::size_t k : {1, 2, 3}) {
    scene.parts[k].translation = {{0, static_cast<double>(k), 0}};
    Region& region = scene.parts[k].touching.emplace();
    region.kind = k == 2 ? Region::Kind::sphere : Region::Kind::box;
    region.lower = {{0.1, -1, -1}};
    region.upper = {{0.31, 1, 1}};
    region.centre = {{0.3, 0.05, 0.05}};
    region.radius = 0.12;
  }
  AssemblyRobot robot(scene);
  const std::vector<Vec3d> whole = robot.touching_skin(0).surface.nodes;
  for (int part = 1; part < 4; ++part) {
    const PartSkin& skin = robot.touching_skin(part);
    std::size_t inside = 0;
    for (const Vec3d& x : whole) inside += part == 2 ? norm(x - Vec3d{{0.3, 0.05, 0.05}}) <= 0.12 : x[0] >= 0.1;
    EXPECT_EQ(skin.surface.nodes.size(), inside) << part;  // all have a face in it
    EXPECT_LT(inside, whole.size());
    EXPECT_GT(inside, 10u);
    EXPECT_FALSE(robot.mechanics().assembly().surfaces[extent(part)].surface.closed);
  }
  scene.parts[1].touching->upper[0] = 0.11;
  try {
    (void)AssemblyRobot(scene);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "no face of the skin of part 'box' lies in its region");
  }
}

}  // namespace
}  // namespace supple
