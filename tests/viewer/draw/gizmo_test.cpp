// The gizmo: its handles are where they are drawn, and a drag moves the goal by the millimetres that its pixels cover.

#include "viewer/draw/gizmo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::view {
namespace {

constexpr double pi = std::numbers::pi;
constexpr Viewport viewport{1000, 800};
const Vec3d goal{{0.02, -0.01, 0.125}};
const std::pair<Handle, Vec3d> arrows[] = {
    {Handle::x, {{1, 0, 0}}}, {Handle::y, {{0, 1, 0}}}, {Handle::z, {{0, 0, 1}}}};
const std::pair<Handle, Vec3d> squares[] = {
    {Handle::yz, {{0, 1, 1}}}, {Handle::zx, {{1, 0, 1}}}, {Handle::xy, {{1, 1, 0}}}};

Camera askew() {
  return {{{0, 0, 0.1}}, 0.6, 0.6, 0.35, 0.5};
}
// Looks along +y at the goal: x to the right, z up.
Camera front() {
  return {goal, 0.5, 0, 0, 0.5};
}

std::array<double, 3> pixel_of(const Camera& camera, const Vec3d& point) {
  return *camera.project(point, viewport);
}

TEST(GizmoHandles, AreWhereTheyAreDrawn) {
  const Camera camera = askew();
  const double pixel = camera.pixel_size(goal, viewport);
  const auto at = [&](const Vec3d& point) {
    const auto p = pixel_of(camera, point);
    return handle_at(camera, viewport, goal, p[0], p[1]);
  };
  for (const auto& [handle, axis] : arrows)
    for (const double along : {55.0, 70.0, 89.0}) EXPECT_EQ(at(goal + (along * pixel) * axis), handle) << along;
  for (const auto& [handle, diagonal] : squares) EXPECT_EQ(at(goal + (33 * pixel) * diagonal), handle);
  EXPECT_EQ(at(goal), Handle::view);
  EXPECT_EQ(at(goal + (-40 * pixel) * Vec3d{{1, 1, 1}}), Handle::none);
  for (const auto& [handle, axis] : arrows) EXPECT_EQ(at(goal + (-60 * pixel) * axis), Handle::none);
  EXPECT_EQ(at(goal + (110 * pixel) * Vec3d{{0, 0, 1}}), Handle::none);
}

TEST(GizmoHandles, AreTheSameSizeFromEveryDistance) {
  for (const double distance : {0.05, 0.5, 20.0}) {
    Camera camera = front();
    camera.distance = distance;
    const auto middle = pixel_of(camera, goal);
    EXPECT_EQ(handle_at(camera, viewport, goal, middle[0] + 85, middle[1]), Handle::x);
    EXPECT_EQ(handle_at(camera, viewport, goal, middle[0] + 85, middle[1] + 5), Handle::x);
    EXPECT_EQ(handle_at(camera, viewport, goal, middle[0] + 85, middle[1] + 12), Handle::none);
    EXPECT_EQ(handle_at(camera, viewport, goal, middle[0] + 105, middle[1]), Handle::none);
    EXPECT_EQ(handle_at(camera, viewport, goal, middle[0], middle[1] - 85), Handle::z);
    EXPECT_EQ(handle_at(camera, viewport, goal, middle[0] + 33, middle[1] - 33), Handle::zx);
  }
}

TEST(GizmoHandles, SeenEdgeOnAreNotOffered) {
  // From the front the arrow y points away and the squares yz and xy are lines.
  const auto middle = pixel_of(front(), goal);
  for (int x = -120; x <= 120; x += 3)
    for (int y = -120; y <= 120; y += 3) {
      const Handle handle = handle_at(front(), viewport, goal, middle[0] + x, middle[1] + y);
      EXPECT_TRUE(handle != Handle::y && handle != Handle::yz && handle != Handle::xy) << x << ' ' << y;
    }
  DrawList list, whole;
  draw_gizmo(front(), viewport, goal, Handle::none, list);
  draw_gizmo(askew(), viewport, goal, Handle::none, whole);
  EXPECT_LT(list.on_top_solid.triangles.size(), whole.on_top_solid.triangles.size());
}

TEST(GizmoHandles, NoneBehindTheCamera) {
  Camera camera = front();
  camera.target = goal + Vec3d{{0, 1, 0}};
  EXPECT_EQ(handle_at(camera, viewport, goal, 500, 400), Handle::none);
  DrawList list;
  draw_gizmo(camera, viewport, goal, Handle::none, list);
  EXPECT_TRUE(list.on_top_solid.triangles.empty());
}

// From the front, pixels along x and z are pixel_size each. Rounding: lengths of 1 m and a goal about 0.1 m.
constexpr double rounding = 1e-14;

TEST(GizmoDrag, ArrowMovesByTheMillimetresOfItsPixels) {
  const Camera camera = front();
  const double pixel = camera.pixel_size(goal, viewport);
  const auto middle = pixel_of(camera, goal);
  // Taken hold of somewhere on the arrow, and beside it.
  GizmoDrag drag(Handle::x, camera, viewport, goal, middle[0] + 60, middle[1] + 4);
  const Vec3d moved = drag.place(camera, viewport, middle[0] + 60 + 25, middle[1] + 4);
  // The grip is 4 pixels off the axis, so the rays meet the axis a little behind the plane of the picture: exact on it.
  EXPECT_NEAR(moved[0] - goal[0], 25 * pixel, 1e-3 * 25 * pixel);
  EXPECT_EQ(moved[1], goal[1]);
  EXPECT_EQ(moved[2], goal[2]);
  GizmoDrag straight(Handle::x, camera, viewport, goal, middle[0] + 60, middle[1]);
  EXPECT_NEAR(straight.place(camera, viewport, middle[0] + 35, middle[1])[0] - goal[0], -25 * pixel, rounding);
  // Back at the grip it is back at its place.
  EXPECT_NEAR(norm(straight.place(camera, viewport, middle[0] + 60, middle[1]) - goal), 0, rounding);
  // Across the axis nothing moves but by perspective: a ray 30 pixels off is nearest to the axis a little elsewhere.
  EXPECT_NEAR(norm(straight.place(camera, viewport, middle[0] + 60, middle[1] + 30) - goal), 0, 0.05 * pixel);
}

TEST(GizmoDrag, KeepsTheGripUnderThePointer) {
  const Camera camera = askew();
  const double pixel = camera.pixel_size(goal, viewport);
  for (const auto& [handle, axis] : arrows) {
    const auto grip = pixel_of(camera, goal + (60 * pixel) * axis);
    const auto to = pixel_of(camera, goal + (60 * pixel + 0.03) * axis);
    GizmoDrag drag(handle, camera, viewport, goal, grip[0], grip[1]);
    const Vec3d moved = drag.place(camera, viewport, to[0], to[1]);
    EXPECT_LT(norm(moved - (goal + 0.03 * axis)), 1e-13);  // pixels round at 1e-13, a pixel is under a millimetre
    for (int k = 0; k < 3; ++k)
      if (axis[k] == 0) {
        EXPECT_EQ(moved[k], goal[k]);
      }
    EXPECT_EQ(drag.handle(), handle);
  }
  for (const auto& [handle, diagonal] : squares) {
    const Vec3d shift{{0.03 * diagonal[0], -0.01 * diagonal[1], 0.02 * diagonal[2]}};
    const auto grip = pixel_of(camera, goal + (33 * pixel) * diagonal);
    const auto to = pixel_of(camera, goal + (33 * pixel) * diagonal + shift);
    GizmoDrag drag(handle, camera, viewport, goal, grip[0], grip[1]);
    const Vec3d moved = drag.place(camera, viewport, to[0], to[1]);
    EXPECT_LT(norm(moved - (goal + shift)), 1e-13);
    for (int k = 0; k < 3; ++k)
      if (diagonal[k] == 0) {
        EXPECT_EQ(moved[k], goal[k]);
      }
  }
}

TEST(GizmoDrag, BallMovesInThePlaneThatFacesTheCamera) {
  const Camera camera = askew();
  const double pixel = camera.pixel_size(goal, viewport);
  const auto middle = pixel_of(camera, goal);
  GizmoDrag drag(Handle::view, camera, viewport, goal, middle[0] + 3, middle[1] - 2);
  const Vec3d moved = drag.place(camera, viewport, middle[0] + 3 + 40, middle[1] - 2 - 70);
  EXPECT_NEAR(dot(moved - goal, camera.right()), 40 * pixel, rounding);
  EXPECT_NEAR(dot(moved - goal, camera.up()), 70 * pixel, rounding);
  EXPECT_NEAR(dot(moved - goal, camera.forward()), 0, rounding);
}

TEST(GizmoDrag, EdgeOnTheGoalStays) {
  const Camera camera = front();
  const auto middle = pixel_of(camera, goal);
  for (const Handle handle : {Handle::y, Handle::xy, Handle::yz}) {
    GizmoDrag drag(handle, camera, viewport, goal, middle[0], middle[1]);
    EXPECT_EQ(drag.place(camera, viewport, middle[0] + 50, middle[1] + 20), goal);
  }
  // A drag that comes to the horizon of its plane keeps the last place.
  const Camera low{goal, 0.5, 0, 10 * pi / 180, 0.8};
  GizmoDrag drag(Handle::xy, low, viewport, goal, 500, 400);
  Vec3d last = goal;
  bool stayed = false;
  for (double y = 400; y > 0; y -= 10) {
    const Vec3d place = drag.place(low, viewport, 500, y);
    EXPECT_GE(place[1], last[1]);
    EXPECT_LT(norm(place - goal), 0.5 / std::sin(2 * pi / 180));
    stayed = stayed || (y < 400 && place == last);
    last = place;
  }
  EXPECT_TRUE(stayed);
  EXPECT_NE(last, goal);
  GizmoDrag nothing(Handle::none, low, viewport, goal, 500, 400);
  EXPECT_EQ(nothing.place(low, viewport, 100, 100), goal);
}

TEST(Gizmo, IsDrawnOnTopWithTheHotHandleInAnotherColour) {
  const Camera camera = askew();
  DrawList cold;
  draw_gizmo(camera, viewport, goal, Handle::none, cold);
  EXPECT_FALSE(cold.on_top_solid.triangles.empty());
  EXPECT_TRUE(cold.solid.triangles.empty());
  const double pixel = camera.pixel_size(goal, viewport);
  for (const Vertex& vertex : cold.on_top_solid.vertices) {
    const Vec3d from = Vec3d{{vertex.position[0], vertex.position[1], vertex.position[2]}} - goal;
    EXPECT_LT(norm(from), 91 * pixel);
  }
  for (const Handle hot : {Handle::x, Handle::y, Handle::z, Handle::yz, Handle::zx, Handle::xy, Handle::view}) {
    DrawList list;
    draw_gizmo(camera, viewport, goal, hot, list);
    const auto& a = list.on_top_solid.vertices;
    const auto& b = cold.on_top_solid.vertices;
    ASSERT_EQ(a.size(), b.size());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].position, b[i].position);
      changed += a[i].colour == b[i].colour ? 0 : 1;
    }
    EXPECT_GT(changed, 0u);
    EXPECT_LT(changed, a.size());
  }
}

}  // namespace
}  // namespace supple::view
