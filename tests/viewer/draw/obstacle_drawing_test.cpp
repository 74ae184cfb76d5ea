// Obstacles as triangles: each vertex lies on the surface of its obstacle; forces as arrows.

#include "viewer/draw/obstacle_drawing.hpp"

#include <cmath>
#include <set>

#include "tests/engine/bodies/obstacle_scenes.hpp"
#include "tests/viewer/draw/viewed_bar.hpp"

namespace supple::view {
namespace {

using obstacle_scenes::obstacle;

class DrawnObstacles : public testing::Test {
 protected:
  // Builds the bar among them.
  void place(const std::vector<ObstacleScene>& obstacles) {
    Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
    scene.obstacles = obstacles;
    model_ = build_full_model(scene, reduced_bodies::bar(false));
    shape_ = std::make_unique<RobotShape>(*model_);
  }
  const PlacedObstacle& placed(std::size_t i) const { return model_->robot.obstacles[i]; }
  static Vec3d at(const std::array<float, 3>& x) { return {{x[0], x[1], x[2]}}; }

  std::optional<FullModel> model_;
  std::unique_ptr<RobotShape> shape_;
};

// Every shape, turned and shifted: corners of its triangles are on it, and its triangles look out of the solid, or
// inwards where the robot is inside.
TEST_F(DrawnObstacles, AreWhereTheyAre) {
  const reduced_bodies::TemporaryFolder folder;
  obstacle_scenes::write_cube(folder / "rock.obj");
  const std::vector<ObstacleScene> all = obstacle_scenes::all_shapes(folder / "rock.obj");
  const Vec3d offset{{0.5, -0.25, 0.125}};
  for (const ObstacleScene& each : all) {
    SCOPED_TRACE(each.name);
    place({each});
    DrawList list;
    draw_obstacles(*shape_, offset, list);
    const bool tube = each.shape == ObstacleShape::tube;  // its outer side is a layer of its own
    const bool solid = !each.inside && each.shape != ObstacleShape::plane && !tube;
    ASSERT_EQ(list.see_through.size(), solid ? 0u : tube ? 2u : 1u);
    EXPECT_EQ(list.solid.triangles.empty(), !solid);
    Surfaces drawn = solid ? list.solid : list.see_through[0];
    ASSERT_FALSE(drawn.triangles.empty());
    if (tube) {
      for (const std::uint32_t vertex : list.see_through[1].triangles)
        drawn.triangles.push_back(vertex + static_cast<std::uint32_t>(drawn.vertices.size()));
      drawn.vertices.insert(drawn.vertices.end(), list.see_through[1].vertices.begin(),
                            list.see_through[1].vertices.end());
    }
    std::set<int> faces;
    for (const Vertex& vertex : drawn.vertices) {
      EXPECT_EQ(vertex.colour.a == 1, solid);
      // Coordinates up to 1.5 m as floats.
      EXPECT_NEAR(placed(0).obstacle.at(placed(0).pose, at(vertex.position) - offset).gap, 0, 1e-6);
    }
    for (std::size_t t = 0; t < drawn.triangles.size(); t += 3) {
      const auto corner = [&](std::size_t k) { return at(drawn.vertices[drawn.triangles[t + k]].position) - offset; };
      const Vec3d middle = (1.0 / 3) * (corner(0) + corner(1) + corner(2));
      const Vec3d area = cross(corner(1) - corner(0), corner(2) - corner(0));
      // `normal` points to the free side, which is that the triangle is seen from.
      const Proximity near = placed(0).obstacle.at(placed(0).pose, middle);
      EXPECT_GT(dot(area, near.normal), 0);
      if (tube) faces.insert(near.index);
    }
    EXPECT_EQ(faces.size(), tube ? 4u : 0u);
  }
}

TEST_F(DrawnObstacles, CanBeLeftOut) {
  place({obstacle_scenes::floor(-0.02)});
  FullMechanics mechanics(*model_);
  const State state = rest_state(mechanics);
  std::vector<double> y(static_cast<std::size_t>(model_->robot.outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  DrawingOptions options;
  DrawList with, without;
  draw_robot(*shape_, {state, y}, options, with);
  options.obstacles = false;
  draw_robot(*shape_, {state, y}, options, without);
  EXPECT_EQ(with.see_through.size(), 1u);
  EXPECT_TRUE(without.see_through.empty());
  EXPECT_EQ(with.solid.triangles.size(), without.solid.triangles.size());
}

TEST_F(DrawnObstacles, PushWithArrows) {
  place({obstacle_scenes::floor(0), obstacle_scenes::floor(-1)});
  FullMechanics mechanics(*model_);
  State state = rest_state(mechanics);
  std::vector<double> y(static_cast<std::size_t>(model_->robot.outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  const auto arrows = [&] {
    DrawList list;
    draw_contact_forces(*shape_, {state, y}, {{0, 0, 0}}, list);
    return list.on_top_solid;
  };
  state.contact_forces.assign(3 * static_cast<std::size_t>(model_->robot.pairs()), 0.0);
  EXPECT_TRUE(arrows().triangles.empty());
  // The third point is pushed up by the first obstacle, and hardly at all by the second.
  const std::size_t pair = 2 * 2;
  state.contact_forces[3 * pair + 2] = 3;
  state.contact_forces[3 * (pair + 1)] = 0.001;
  const Surfaces one = arrows();
  const Vec3d foot = model_->robot.rest_points[static_cast<std::size_t>(model_->robot.first_collision_point) + 2];
  double low = 1, high = -1;
  for (const Vertex& vertex : one.vertices) {
    const Vec3d x = at(vertex.position) - foot;
    EXPECT_LT(std::hypot(x[0], x[1]), 0.02 * shape_->extent());
    low = std::min(low, x[2]);
    high = std::max(high, x[2]);
  }
  // Places below 1 m as floats.
  EXPECT_NEAR(low, 0, 1e-6);
  EXPECT_NEAR(high, 0.25 * shape_->extent(), 1e-6);
  state.contact_forces[3 * (pair + 1)] = 4;
  EXPECT_EQ(arrows().triangles.size(), 2 * one.triangles.size());
  // States from elsewhere have none.
  state.contact_forces.clear();
  EXPECT_TRUE(arrows().triangles.empty());
}

// Points that stick, slide and lie idle near the floor each have their colour; those far away are not shown.
TEST_F(DrawnObstacles, PointsOfContactShowWhatTheyDo) {
  place({obstacle_scenes::floor(-0.01)});
  FullMechanics mechanics(*model_);
  const State state = rest_state(mechanics);
  std::vector<double> y(static_cast<std::size_t>(model_->robot.outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  const Robot& robot = model_->robot;
  const auto rest = [&](int p) { return robot.rest_points[static_cast<std::size_t>(robot.first_collision_point + p)]; };
  const std::vector<Touch> touches{
      {.point = 1, .at = rest(1), .force = {{0, 0, 1}}, .normal_force = 1},
      {.point = 4, .at = rest(4), .force = {{0, 0, 1}}, .normal_force = 1, .sliding = true}};
  DrawList list;
  DrawnState pose{state, y};
  draw_contact_points(*shape_, pose, {{0, 0, 0}}, list);
  EXPECT_TRUE(list.on_top_solid.vertices.empty());  // nothing is known of them
  EXPECT_TRUE(list.solid.vertices.empty());
  pose.touches = &touches;
  const Vec3d offset{{0.5, 0, 0}};
  draw_contact_points(*shape_, pose, offset, list);
  std::size_t stick = 0, slide = 0;
  for (const Vertex& vertex : list.on_top_solid.vertices) {
    const bool sliding = vertex.colour.r == slide_colour.r && vertex.colour.b == slide_colour.b;
    EXPECT_TRUE(sliding || (vertex.colour.r == stick_colour.r && vertex.colour.b == stick_colour.b));
    ++(sliding ? slide : stick);
    EXPECT_NEAR(norm(at(vertex.position) - offset - rest(sliding ? 4 : 1)), 0.009 * shape_->extent(),
                0.001 * shape_->extent());
  }
  EXPECT_EQ(stick, slide);
  EXPECT_GT(stick, 0u);
  int near = 0;
  for (int p = 0; p < robot.collision_points; ++p)
    near += p != 1 && p != 4 && rest(p)[2] + 0.01 <= idle_reach * shape_->extent() ? 1 : 0;
  ASSERT_GT(near, 2);
  ASSERT_LT(near, robot.collision_points - 2);
  EXPECT_EQ(list.solid.vertices.size(), static_cast<std::size_t>(near) * stick);
  for (const Vertex& vertex : list.solid.vertices) EXPECT_EQ(vertex.colour.g, idle_colour.g);
}

TEST_F(DrawnObstacles, LevelPlanesAreFloors) {
  ObstacleScene ball = obstacle("ball", ObstacleShape::sphere, {{0.5, 0, 0}});
  ball.radius = 0.1;
  place({ball});
  EXPECT_FALSE(stands_on_a_plane(model_->robot));
  place({obstacle_scenes::floor(-0.02)});
  EXPECT_TRUE(stands_on_a_plane(model_->robot));
  ObstacleScene wall = obstacle_scenes::floor(0);
  wall.rotation = {{1.5, 0, 0}};
  place({wall});
  EXPECT_FALSE(stands_on_a_plane(model_->robot));
}

}  // namespace
}  // namespace supple::view
