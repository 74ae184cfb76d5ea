// Obstacles of a scene in a model, and which nodes of a body are kept off them.

#include "engine/model/collision_points.hpp"

#include <algorithm>
#include <fstream>

#include "tests/engine/bodies/hollow_bodies.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"

namespace supple {
namespace {

using boxes::box_region;
using obstacle_scenes::floor;
using obstacle_scenes::obstacle;

Scene on_a_floor(double height = -1) {
  Scene scene = boxes::scene({"", MaterialModel::corotational});
  scene.obstacles = {floor(height)};
  return scene;
}

// Their nodes, each of weight 1.
std::vector<int> points_of(const FullModel& model) {
  const Robot& robot = model.robot;
  std::vector<int> nodes;
  for (int p = robot.first_collision_point; p < robot.first_collision_point + robot.collision_points; ++p) {
    const auto i = static_cast<std::size_t>(p);
    EXPECT_EQ(model.interpolation[i].weight, std::vector<double>{1});
    nodes.push_back(model.interpolation[i].node[0]);
    EXPECT_EQ(robot.rest_points[i], model.mesh.nodes[static_cast<std::size_t>(nodes.back())]);
  }
  return nodes;
}

Vec3d at(const Mesh& mesh, int node) {
  return mesh.nodes[static_cast<std::size_t>(node)];
}

std::string refusal(const Scene& scene, const Mesh& mesh) {
  try {
    (void)build_full_model(scene, mesh);
  } catch (const InputError& error) {
    EXPECT_FALSE(error.suggestion().empty());
    return error.report();
  }
  return "none";
}

class CollisionPoints : public testing::TestWithParam<bool> {
 protected:
  Mesh box(int n) const {
    const Vec3d lower{{0, 0, 0}}, upper{{0.3, 0.1, 0.2}};
    return GetParam() ? box_hexahedra(lower, upper, n, n, n) : box_tetrahedra(lower, upper, n, n, n);
  }
};

// Free nodes of the surface; probes before them.
TEST_P(CollisionPoints, AreOnTheSurfaceWhereItIsFree) {
  Scene scene = on_a_floor();
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  scene.probes = {{"middle", {{0.15, 0.05, 0.1}}, "", {}}};
  scene.contact.distance = 0.002;
  const FullModel model = build_full_model(scene, box(4));
  EXPECT_EQ(model.robot.first_collision_point, 1);
  EXPECT_EQ(model.robot.outputs(), 3 * (1 + model.robot.collision_points));
  EXPECT_EQ(model.robot.pairs(), model.robot.collision_points);
  EXPECT_EQ(model.robot.contact_distance, 0.002);
  std::vector<int> expected;
  for (int i = 0; i < static_cast<int>(model.mesh.nodes.size()); ++i) {
    const Vec3d x = at(model.mesh, i);
    const auto side = [&](int k, double end) { return std::min(x[k], end - x[k]) < 1e-9; };
    if ((side(0, 0.3) || side(1, 0.1) || side(2, 0.2)) && x[0] > 1e-9) expected.push_back(i);
  }
  EXPECT_EQ(points_of(model), expected);

  scene.obstacles.clear();
  const FullModel alone = build_full_model(scene, box(4));
  EXPECT_EQ(alone.robot.collision_points, 0);
  EXPECT_EQ(alone.robot.outputs(), 3);
}

// No force moves held or driven nodes: rows of them could not be solved.
TEST_P(CollisionPoints, AreFree) {
  Scene scene = on_a_floor();
  scene.bodies[0].fixes = {boxes::clamp_at_origin(), boxes::clamp_at_origin()};
  scene.bodies[0].fixes[1].region = boxes::group_region("x+");
  scene.bodies[0].fixes[1].motion = "slide";
  scene.bodies[0].fixes[1].motion_direction = {{1, 0, 0}};
  const FullModel model = build_full_model(scene, box(2));
  EXPECT_EQ(model.robot.collision_points, 26 - 18);
}

TEST_P(CollisionPoints, AreInTheirRegion) {
  Scene scene = on_a_floor();
  scene.contact.region = boxes::group_region("z-");
  const FullModel model = build_full_model(scene, box(3));
  EXPECT_EQ(model.robot.collision_points, 16);
  for (const int node : points_of(model)) EXPECT_EQ(at(model.mesh, node)[2], 0);
  // Inside there is none.
  scene.contact.region = box_region({{0.05, 0.02, 0.02}}, {{0.25, 0.08, 0.18}});
  scene.contact.place = {"robot.toml", 12, 1, "[contact]"};
  const std::string text = refusal(scene, box(3));
  EXPECT_NE(text.find("robot.toml:12:1"), std::string::npos) << text;
  EXPECT_NE(text.find("no node of the body can be touched"), std::string::npos) << text;
}

// The walls of voids cannot be touched, and come after all points that can.
TEST_P(CollisionPoints, AreNotInVoids) {
  const auto outside = [](const Mesh& mesh, int node) {
    const Vec3d x = at(mesh, node);
    return !(x[0] > 0.03 && x[0] < 0.27 && x[1] > 0.02 && x[1] < 0.08 && x[2] > 0.02 && x[2] < 0.08);
  };
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::corotational}, ActuatorControl::force, 1e4);
  scene.obstacles = {floor(-1), obstacle("wall", ObstacleShape::plane, {{0, 0, -1}})};
  for (const bool actuated : {true, false}) {
    if (!actuated) scene.actuators.clear();
    const FullModel model = build_full_model(scene, hollow_bodies::bar(GetParam()));
    EXPECT_EQ(model.robot.collision_points, 5 * 12 + 4);  // rings of a 3 x 3 grid but the held one, and the far end
    EXPECT_EQ(model.robot.pairs(), 2 * model.robot.collision_points);
    for (const int node : points_of(model)) EXPECT_TRUE(outside(model.mesh, node));
    if (actuated) {
      EXPECT_EQ(model.robot.actuators[0].first_point, model.robot.first_collision_point + model.robot.collision_points);
    }
  }
}

// Cells left out at an edge and in the middle of 3 x 3 x 3 have one edge in common: the boundary goes on round it.
TEST(CollisionPointsOfCubes, AreNotOnWallsThatAnEdgeConnectsToTheOutside) {
  Mesh mesh = box_hexahedra({{0, 0, 0}}, {{0.3, 0.3, 0.3}}, 3, 3, 3);
  mesh.groups.clear();
  mesh.triangles.clear();
  mesh.hexahedra.erase(mesh.hexahedra.begin() + 13);
  mesh.hexahedra.erase(mesh.hexahedra.begin() + 9);
  Scene scene = on_a_floor();
  EXPECT_EQ(build_full_model(scene, mesh).robot.collision_points, 64);
  scene.actuators = {
      hollow_bodies::cavity("c", box_region({{0.09, 0.09, 0.09}}, {{0.21, 0.21, 0.21}}), ActuatorControl::force, 1)};
  EXPECT_EQ(build_full_model(scene, mesh).robot.collision_points, 64 - 6);  // without the edge's two of the eight
}

// Apart from each other, and near enough to all that were left out; what is sharp stays.
TEST_P(CollisionPoints, AreThinnedEvenly) {
  Mesh mesh = box(6);
  boxes::Random random;
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      const double end = k == 0 ? 0.3 : k == 1 ? 0.1 : 0.2;
      if (x[k] > 1e-9 && x[k] < end - 1e-9) x[k] += 0.3 * end / 6 * random();
    }
  Scene scene = on_a_floor();
  const FullModel every = build_full_model(scene, mesh);
  const std::vector<int> all = points_of(every);
  std::size_t last = all.size();
  for (const double spacing : {0.02, 0.045, 0.08}) {
    scene.contact.spacing = spacing;
    const std::vector<int> kept = points_of(build_full_model(scene, mesh));
    EXPECT_LT(kept.size(), last);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    last = kept.size();
    int corners = 0;
    for (const int a : all) {
      double nearest = 1;
      for (const int b : kept)
        if (a != b) nearest = std::min(nearest, norm(at(mesh, a) - at(mesh, b)));
      if (std::binary_search(kept.begin(), kept.end(), a))
        EXPECT_GE(nearest, spacing * (1 - 1e-9));
      else
        EXPECT_LT(nearest, spacing * (1 + 1e-9));
      int ends = 0;
      for (int k = 0; k < 3; ++k)
        ends += at(mesh, a)[k] < 1e-9 || at(mesh, a)[k] > (k == 0 ? 0.3 : k == 1 ? 0.1 : 0.2) - 1e-9;
      // Corners are further apart than each spacing, nodes next to one on its edges are not.
      if (ends == 3) corners += std::binary_search(kept.begin(), kept.end(), a);
    }
    EXPECT_EQ(corners, 8);
  }
}

// Of two nodes too near to each other the one on an edge that stands out stays, not the one in a corner of a hollow.
TEST(CollisionPointsOfHollows, AreNotSharp) {
  Mesh mesh = box_hexahedra({{0, 0, 0}}, {{0.3, 0.3, 0.2}}, 3, 3, 2);
  mesh.hexahedra.erase(mesh.hexahedra.begin() + 17);  // both cells at x+, y+
  mesh.hexahedra.erase(mesh.hexahedra.begin() + 8);
  const auto node = [](int i, int j) { return i + 4 * (j + 4); };  // at half the height
  const int side = node(1, 0), hollow = node(2, 2), edge = node(0, 3);
  EXPECT_EQ(spaced_nodes(mesh, {side, hollow}, 0.5), std::vector<int>{side});  // the first of equals
  EXPECT_EQ(spaced_nodes(mesh, {side, edge}, 0.5), std::vector<int>{edge});
  EXPECT_EQ(spaced_nodes(mesh, {hollow, edge}, 0.5), std::vector<int>{edge});
  EXPECT_EQ(spaced_nodes(mesh, {side, hollow, edge}, 0.1).size(), 3u);
}

// As far apart as the nodes of a grid: all of them.
TEST_P(CollisionPoints, OfAGridStayAtItsOwnSpacing) {
  Scene scene = on_a_floor();
  Mesh mesh = GetParam() ? box_hexahedra({{0, 0, 0}}, {{0.7, 0.7, 0.7}}, 7, 7, 7)
                         : box_tetrahedra({{0, 0, 0}}, {{0.7, 0.7, 0.7}}, 7, 7, 7);
  scene.contact.spacing = 0.1;
  EXPECT_EQ(build_full_model(scene, mesh).robot.collision_points, 8 * 8 * 8 - 6 * 6 * 6);
  // Twice that, along the edges every second node, which the ends of an edge of seven cells do not both allow.
  scene.contact.spacing = 0.2;
  const FullModel model = build_full_model(scene, mesh);
  EXPECT_GE(model.robot.collision_points, 8 + 12 * 2 + 6 * 4);
  EXPECT_LE(model.robot.collision_points, 8 + 12 * 3 + 6 * 9);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CollisionPoints, testing::Bool(),
                         [](const auto& info) { return info.param ? "hexahedra" : "tetrahedra"; });

// Corners of a collision surface, carried where they are; those on the clamped end are left out.
TEST_P(CollisionPoints, MayBeCornersOfASurface) {
  const reduced_bodies::TemporaryFolder folder;
  std::ofstream(folder / "skin.obj") << "v 0 50 100\nv 100 30 0\nv 200 60 -1\nv 150 50 100\nf 1 2 3\nf 1 3 4\n";
  Scene scene = on_a_floor();
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  scene.contact.surface = SurfaceScene{folder / "skin.obj", 1e-3, {}};
  const FullModel model = build_full_model(scene, box(4));
  const Robot& robot = model.robot;
  ASSERT_EQ(robot.collision_points, 3);
  const Vec3d expected[] = {{{0.1, 0.03, 0}}, {{0.2, 0.06, -0.001}}, {{0.15, 0.05, 0.1}}};
  for (int p = 0; p < 3; ++p) {
    const auto i = static_cast<std::size_t>(robot.first_collision_point + p);
    Vec3d carried{{0, 0, 0}};
    for (std::size_t n = 0; n < model.interpolation[i].node.size(); ++n)
      carried = carried + model.interpolation[i].weight[n] * at(model.mesh, model.interpolation[i].node[n]);
    EXPECT_LT(norm(carried - expected[p]), 1e-15);
    EXPECT_LT(norm(robot.rest_points[i] - expected[p]), 1e-15);
  }
  EXPECT_TRUE(std::any_of(model.notes.begin(), model.notes.end(), [](const std::string& note) {
    return note.find("corners of the collision surface lie up to 1 mm outside the mesh") == 0;
  }));
  scene.contact.region = box_region({{-1, -1, -1}}, {{1, 1, 0.01}});
  EXPECT_EQ(build_full_model(scene, box(4)).robot.collision_points, 2);
  scene.contact.region = box_region({{-1, -1, -1}}, {{1, 1, -0.5}});
  const auto refused = [&](const std::string& why) {
    const std::string text = refusal(scene, box(4));
    EXPECT_NE(text.find(why), std::string::npos) << text;
  };
  refused("no corner of the collision surface can be touched (0 of 4 are in the region)");
  scene.contact.region = box_region({{-1, -1, -1}}, {{0.001, 1, 1}});
  refused("no corner of the collision surface can be touched (1 of 4 are in the region, and held)");
  // Other units, whatever the region: too large, too small, and somewhere else.
  scene.contact.surface->unit = 1;
  scene.contact.surface->place = {"robot.toml", 14, 11, "surface = {}"};
  refused("robot.toml:14:11: error: the collision surface is 2.26e+05 mm across, the body 374 mm");
  scene.contact.surface->unit = 1e-6;
  refused("the collision surface is 0.226 mm across");
  scene.contact.region = {};
  scene.contact.surface->unit = 1e-2;
  refused("away from the body");
}

// In single precision, as in STL files, corners of a held face lie a little beside it, as far as they are from the
// origin: they are held all the same. Triangles need not share corners.
TEST_P(CollisionPoints, OfASurfaceInSinglePrecisionAreFree) {
  const reduced_bodies::TemporaryFolder folder;
  Mesh mesh = box(3);
  const Vec3d shift{{0.71, -0.33, 0.07}};
  for (Vec3d& x : mesh.nodes) x = x + shift;
  Scene scene = on_a_floor();
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  scene.bodies[0].fixes[0].region = boxes::group_region("x-");
  const FullModel by_nodes = build_full_model(scene, mesh);
  std::ofstream file(folder / "skin.stl", std::ios::binary);
  const std::vector<std::array<int, 3>> triangles = triangles_of(boundary_faces(mesh));
  file << std::string(80, ' ');
  const auto count = static_cast<std::uint32_t>(triangles.size());
  file.write(reinterpret_cast<const char*>(&count), 4);
  double off = 0;
  for (const auto& triangle : triangles) {
    float numbers[12] = {};
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < 3; ++c) {
        const double x = at(mesh, triangle[static_cast<std::size_t>(k)])[c];
        numbers[3 + 3 * k + c] = static_cast<float>(x);
        off = std::max(off, std::abs(x - numbers[3 + 3 * k + c]));
      }
    file.write(reinterpret_cast<const char*>(numbers), sizeof numbers);
    file.write("\0\0", 2);
  }
  file.close();
  EXPECT_GT(off, 1e-8);
  scene.contact.surface = SurfaceScene{folder / "skin.stl", 1, {}};
  const FullModel by_corners = build_full_model(scene, mesh);
  ASSERT_EQ(by_corners.robot.collision_points, by_nodes.robot.collision_points);
  for (const std::string& note : by_corners.notes) EXPECT_EQ(note.find("outside the mesh"), std::string::npos) << note;
}

// Corners count that free nodes have a part in, and that triangles have.
TEST_P(CollisionPoints, OfASurfaceNearAHeldFaceCount) {
  const reduced_bodies::TemporaryFolder folder;
  std::ofstream(folder / "skin.obj") << "v 9e-6 0.05 0.1\nv 9e-4 0.05 0.1\nv 0.2 0.06 0\nv 0.5 0 0\nf 1 2 3\n";
  Scene scene = on_a_floor();
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  scene.contact.surface = SurfaceScene{folder / "skin.obj", 1, {}};
  EXPECT_EQ(build_full_model(scene, box(3)).robot.collision_points, 2);  // the first is held by 1 - 9e-5
}

// A finger without edges is touched at its tip first.
TEST(CollisionPointsOfRoundBodies, HaveTheTip) {
  Scene scene = on_a_floor();
  scene.contact.spacing = 0.03;
  const FullModel model = build_full_model(scene, hollow_bodies::shell(6, 1, 0.01, 0.02, 0.1, 5));
  double top = -1, bottom = 1;
  for (const int node : points_of(model)) {
    top = std::max(top, at(model.mesh, node)[2]);
    bottom = std::min(bottom, at(model.mesh, node)[2]);
    EXPECT_GT(norm(at(model.mesh, node) - Vec3d{{0, 0, std::clamp(at(model.mesh, node)[2], -0.05, 0.05)}}), 0.015);
  }
  EXPECT_NEAR(top, 0.07, 1e-12);
  EXPECT_NEAR(bottom, -0.07, 1e-12);
}

// Shapes stand where their scene says, turned as meshes are.
TEST(PlacedObstacles, AreWhereTheSceneSays) {
  const reduced_bodies::TemporaryFolder folder;
  obstacle_scenes::write_cube(folder / "rock.obj");
  Scene scene = on_a_floor();
  scene.obstacles = obstacle_scenes::all_shapes(folder / "rock.obj");
  const Robot robot = build_full_model(scene, reduced_bodies::bar(true)).robot;
  ASSERT_EQ(robot.obstacles.size(), scene.obstacles.size());
  // A point 10 mm off the surface in the obstacle's own frame, on its z axis or, in tubes, inside of it.
  const Vec3d own[] = {{{7, -3, 0.01}}, {{0, 0.06, 0}}, {{0, 0.29, 0.02}}, {{-0.49, 0, 0.3}},
                       {{0, 0, -0.26}}, {{0, 0, 0.06}}, {{0, 0.19, 0.1}}};
  for (std::size_t i = 0; i < robot.obstacles.size(); ++i) {
    const PlacedObstacle& placed = robot.obstacles[i];
    const ObstacleScene& from = scene.obstacles[i];
    EXPECT_EQ(placed.name, from.name);
    EXPECT_EQ(placed.friction, from.friction);
    EXPECT_EQ(placed.max_force, from.max_force);
    EXPECT_EQ(static_cast<int>(placed.obstacle.shape()), static_cast<int>(from.shape));
    const Vec3d x = apply({from.rotation, from.position, 1}, own[i]);
    EXPECT_NEAR(placed.obstacle.at(placed.pose, x).gap, 0.01, 1e-14) << placed.name;
  }
  // The cube is turned by its surface's own transform first.
  const PlacedObstacle& rock = robot.obstacles[5];
  EXPECT_NEAR(rock.obstacle
                  .at(rock.pose, apply({scene.obstacles[5].rotation, scene.obstacles[5].position, 1},
                                       apply({{{0, 0, 0.3}}, {{0, 0, 0}}, 1}, {{0.06, 0.04, 0.02}})))
                  .gap,
              0.01, 1e-14);
}

TEST(PlacedObstacles, ThatAreNoneAreExplained) {
  const reduced_bodies::TemporaryFolder folder;
  Scene scene = on_a_floor();
  scene.obstacles = {obstacle("ball", ObstacleShape::sphere, {{0, 0, 0}})};
  scene.obstacles[0].place = {"robot.toml", 7, 1, "[[obstacle]]"};
  std::string text = refusal(scene, reduced_bodies::bar(true));
  EXPECT_NE(text.find("robot.toml:7:1: error: obstacle 'ball': the radius"), std::string::npos) << text;
  // An open surface is its file's mistake.
  std::ofstream(folder / "open.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  scene.obstacles[0].shape = ObstacleShape::mesh;
  scene.obstacles[0].surface = SurfaceScene{folder / "open.obj", 1, {}};
  text = refusal(scene, reduced_bodies::bar(true));
  EXPECT_NE(text.find("open.obj"), std::string::npos) << text;
  EXPECT_NE(text.find("does not enclose a volume"), std::string::npos) << text;
}

// Standing on an obstacle is nothing to talk about, being in one is.
TEST(ContactNotes, SayWhatIsInObstaclesAtRest) {
  const Mesh mesh = box_hexahedra({{0, 0, 0.3}}, {{0.3, 0.1, 0.5}}, 3, 1, 2);
  Scene scene = on_a_floor(0.3);
  EXPECT_TRUE(build_full_model(scene, mesh).notes.empty());
  scene.contact.distance = 0.002;
  const std::vector<std::string> notes = build_full_model(scene, mesh).notes;
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("8 of 24 collision points are too near to obstacle 'floor'"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("300) mm by 2 mm"), std::string::npos) << notes[0];
}

// The points of the reduced model follow the modes as those of the full one, and polynomials stand behind them.
TEST(CollisionPointsOfReducedModels, Move) {
  const reduced_bodies::TemporaryFolder folder;
  std::ofstream(folder / "skin.obj") << "v 0.11 0.01 0.005\nv 0.2 0.095 0.05\nv 0.29 0.03 0.099\nf 1 2 3\n";
  for (const bool hexahedra : {false, true}) {
    Scene scene = hollow_bodies::bar_scene({"", MaterialModel::corotational}, ActuatorControl::force, 1e4);
    scene.obstacles = {floor(-1)};
    if (hexahedra) scene.contact.surface = SurfaceScene{folder / "skin.obj", 1, {}};
    const FullModel full = build_full_model(scene, hollow_bodies::bar(hexahedra));
    const auto basis = reduced_bodies::random_basis(full.coordinates.nv, 4);
    const ReducedModel reduced = project(full, basis, 4, reduced_bodies::some_elements(full));
    const int first = full.robot.first_collision_point, count = full.robot.collision_points;
    EXPECT_EQ(reduced.robot.first_collision_point, first);
    EXPECT_EQ(reduced.robot.collision_points, count);
    if (hexahedra) {
      EXPECT_EQ(count, 3);
    }
    EXPECT_EQ(reduced.robot.obstacles.size(), 1u);
    EXPECT_EQ(reduced.robot.actuators[0].first_point, first + count);
    const std::vector<double> alpha = boxes::random_vector(4, 0.01);
    const auto outputs = [](const auto& model, auto&& mechanics, const std::vector<double>& q) {
      std::vector<double> y(static_cast<std::size_t>(model.robot.outputs()));
      mechanics.evaluate_outputs(q, {}, y);
      return y;
    };
    const auto y = outputs(full, FullMechanics(full), reduced_bodies::lift(basis, alpha));
    const auto z = outputs(reduced, ReducedMechanics(reduced), alpha);
    for (int k = 3 * first; k < 3 * (first + count); ++k)
      // Sums of four products, and of eight nodes of an element, of positions below 1 m.
      EXPECT_NEAR(y[static_cast<std::size_t>(k)], z[static_cast<std::size_t>(k)], 1e-15);
  }
}

}  // namespace
}  // namespace supple
