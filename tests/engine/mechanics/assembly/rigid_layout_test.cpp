// Shapes of rigid bodies and their inertia; where rigid bodies are among the frames of an assembly.

#include "engine/mechanics/assembly/rigid_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "engine/mesh/closed_surface.hpp"
#include "engine/mesh/write.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

void expect_same(const RigidInertia& found, const RigidInertia& expected, double tolerance) {
  EXPECT_NEAR(found.mass, expected.mass, tolerance * expected.mass);
  const double size = std::sqrt(expected.inertia(0, 0) / expected.mass);
  EXPECT_LT(norm(found.centre - expected.centre), tolerance * size);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(found.inertia[k], expected.inertia[k], tolerance * expected.inertia(0, 0));
}

RigidScene shaped(RigidShape shape) {
  RigidScene rigid;
  rigid.name = "body";
  rigid.mass = 0.8;
  rigid.shape = shape;
  if (shape == RigidShape::box)
    rigid.size = Vec3d{{0.3, 0.2, 0.1}};
  else
    rigid.radius = 0.07;
  if (shape == RigidShape::capsule || shape == RigidShape::cylinder) rigid.length = 0.25;
  return rigid;
}

// Of discs of radius r(z), each a share of the mass: m (r^2/4 + z^2) across and m r^2/2 along.
RigidInertia of_discs(double mass, double half, const std::function<double(double)>& radius) {
  constexpr int discs = 200000;
  double volume = 0, across = 0, along = 0;
  for (int k = 0; k < discs; ++k) {
    const double z = half * (2 * (k + 0.5) / discs - 1), rr = std::pow(radius(z), 2);
    volume += rr;
    across += rr * (rr / 4 + z * z);
    along += rr * rr / 2;
  }
  return {
      mass, {{0, 0, 0}}, {{mass * across / volume, 0, 0, 0, mass * across / volume, 0, 0, 0, mass * along / volume}}};
}

TEST(RigidShapes, InertiaIsThatOfTheSolid) {
  const double m = 0.8, r = 0.07, l = 0.25;
  expect_same(rigid_solid(shaped(RigidShape::box))->inertia,
              {m, {{0, 0, 0}}, {{m / 12 * 0.05, 0, 0, 0, m / 12 * 0.1, 0, 0, 0, m / 12 * 0.13}}}, 1e-14);
  const auto ball = [&](double z) { return std::sqrt(r * r - z * z); };
  // The midpoint rule: of second order, less where a slope is vertical.
  expect_same(rigid_solid(shaped(RigidShape::sphere))->inertia, of_discs(m, r, ball), 1e-8);
  expect_same(rigid_solid(shaped(RigidShape::cylinder))->inertia, of_discs(m, l / 2, [&](double) { return r; }), 1e-8);
  expect_same(rigid_solid(shaped(RigidShape::capsule))->inertia,
              of_discs(m, l / 2 + r, [&](double z) { return ball(std::max(0.0, std::abs(z) - l / 2)); }), 1e-8);
}

TEST(RigidShapes, InertiaOfAMeshIsExact) {
  const reduced_bodies::TemporaryFolder folder;
  const Vec3d size{{0.3, 0.2, 0.1}};
  const Pose place = pose_in({{0.5, -0.3, 0.2}}, {{0.3, -0.8, 1.1}});
  Surface box = rigid_solid(shaped(RigidShape::box))->picture;
  for (Vec3d& x : box.nodes) x = place(x);
  box.nodes.push_back({{7, 7, 7}});  // of no triangle
  expect_same(enclosed_inertia(0.8, box), seen_from(place, box_inertia(0.8, size)), 1e-13);
  write_stl(folder / "box.stl", box);
  RigidScene rigid;
  rigid.name = "mesh";
  rigid.mass = 0.8;
  rigid.shape = RigidShape::mesh;
  rigid.surface = SurfaceScene{.file = folder / "box.stl", .unit = 1, .transform = {}};
  const RigidSolid solid = *rigid_solid(rigid);
  // STL has single precision.
  expect_same(solid.inertia, seen_from(place, box_inertia(0.8, size)), 1e-5);
  EXPECT_EQ(solid.contact.vertices(), 8);
  EXPECT_TRUE(solid.contact.closed && solid.flat);
  box.triangles.pop_back();
  write_stl(folder / "box.stl", box);
  EXPECT_THROW((void)rigid_solid(rigid), InputError);
}

TEST(RigidShapes, PicturesCloseAndLieOnTheShape) {
  for (const RigidShape shape : {RigidShape::box, RigidShape::sphere, RigidShape::capsule, RigidShape::cylinder}) {
    const RigidScene rigid = shaped(shape);
    const RigidSolid solid = *rigid_solid(rigid);
    auto triangles = solid.picture.triangles;
    const ClosedSurfaceReport report = orient_closed_surface(solid.picture.nodes, triangles);
    EXPECT_TRUE(report.closed() && report.turned == 0) << static_cast<int>(shape);
    EXPECT_EQ(solid.flat, shape == RigidShape::box || shape == RigidShape::cylinder);
    if (solid.flat) continue;
    for (const Vec3d& x : solid.picture.nodes) {
      const double z = std::max(0.0, std::abs(x[2]) - rigid.length / 2);
      EXPECT_NEAR(std::sqrt(x[0] * x[0] + x[1] * x[1] + z * z), solid.contact.radius, 1e-15);
    }
  }
  RigidScene none;
  EXPECT_FALSE(rigid_solid(none).has_value());
}

RigidScene named(const std::string& name, const std::string& on = "") {
  RigidScene rigid = shaped(RigidShape::box);
  rigid.name = name;
  rigid.on = on;
  rigid.translation = {{0.1, 0.2, -0.3}};
  rigid.rotation = {{0.2, -0.4, 0.6}};
  return rigid;
}

RigidLayout layout_of(const AssemblyScene& scene) {
  std::vector<std::optional<RigidSolid>> solids;
  for (const RigidScene& rigid : scene.rigids) solids.push_back(rigid_solid(rigid));
  return lay_out_rigids(scene, solids);
}

void expect_pose(const Pose& found, const Pose& expected) {
  EXPECT_LT(norm(found.position - expected.position), 1e-15);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(found.rotation[k], expected.rotation[k], 1e-15);
}

const Pose step = pose_in({{0.1, 0.2, -0.3}}, {{0.2, -0.4, 0.6}});

TEST(RigidLayout, WhatIsWeldedToAFreeBodyIsAPartOfIt) {
  AssemblyScene scene;
  scene.rigids = {named("tip", "middle"), named("middle", "root"), named("root")};
  const RigidLayout layout = layout_of(scene);
  ASSERT_EQ(layout.frames.size(), 2u);  // the world, and one
  EXPECT_EQ(layout.frames[1].name, "root");
  EXPECT_EQ(layout.frames[1].hold, Assembly::Hold::free);
  const RigidInertia box = box_inertia(0.8, {{0.3, 0.2, 0.1}});
  expect_same(layout.frames[1].inertia, box + seen_from(step, box) + seen_from(step * step, box), 1e-14);
  for (const RigidLayout::Seat& seat : layout.seats) {
    EXPECT_EQ(seat.frame, 1);
    EXPECT_EQ(seat.welded_to, 2);
    EXPECT_TRUE(seat.free && seat.moves);
    expect_pose(layout.frames[1].pose * seat.offset, seat.rest);
  }
  expect_pose(layout.seats[0].rest, step * step * step);
  // Without a mass it is one more shape.
  scene.rigids[0].mass.reset();
  expect_same(layout_of(scene).frames[1].inertia, box + seen_from(step, box), 1e-14);
}

TEST(RigidLayout, MotionsAreInTheWorldAtRestAndCarriersComeFirst) {
  AssemblyScene scene;
  scene.rigids = {named("hand", "arm"), named("arm", "shelf"), named("shelf"), named("pad", "hand")};
  scene.rigids[2].held = true;
  scene.rigids[1].motions = {{.name = "slide", .direction = {{1, 0, 0}}, .range = {0, 0.1}, .place = {}}};
  scene.rigids[0].motions = {{.name = "turn",
                              .kind = MotionKind::rotation,
                              .direction = {{0, 0, 1}},
                              .centre = {{0.01, 0.02, 0.03}},
                              .range = {-1, 2},
                              .place = {}}};
  const RigidLayout layout = layout_of(scene);
  ASSERT_EQ(layout.frames.size(), 5u);
  const auto frame = [&](int rigid) -> const Assembly::Frame& {
    return layout.frames[extent(layout.seats[extent(rigid)].frame)];
  };
  for (std::size_t f = 0; f < layout.frames.size(); ++f) EXPECT_LT(layout.frames[f].carrier, static_cast<int>(f));
  EXPECT_EQ(frame(2).hold, Assembly::Hold::fixed);
  EXPECT_EQ(frame(2).carrier, -1);
  EXPECT_EQ(frame(1).hold, Assembly::Hold::driven);
  EXPECT_EQ(frame(1).carrier, layout.seats[2].frame);
  EXPECT_EQ(frame(3).hold, Assembly::Hold::fixed);
  EXPECT_EQ(frame(3).carrier, layout.seats[0].frame);
  EXPECT_EQ(layout.seats[3].welded_to, 0);
  EXPECT_TRUE(layout.seats[3].moves && !layout.seats[3].free && !layout.seats[2].moves);
  const MotionInput &slide = frame(1).motions.at(0), &turn = frame(0).motions.at(0);
  EXPECT_FALSE(slide.rotation);
  EXPECT_LT(norm(slide.direction - step.rotation * Vec3d{{1, 0, 0}}), 1e-15);
  EXPECT_TRUE(turn.rotation);
  EXPECT_LT(norm(turn.direction - (step * step).rotation * Vec3d{{0, 0, 1}}), 1e-15);
  EXPECT_LT(norm(turn.centre - (step * step * step)({{0.01, 0.02, 0.03}})), 1e-15);
  EXPECT_EQ(turn.range.upper, 2);
}

TEST(RigidLayout, ImpossibleCarriersAreRefused) {
  const auto refused = [](const AssemblyScene& scene, const std::string& problem) {
    try {
      (void)layout_of(scene);
      ADD_FAILURE() << problem;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
      EXPECT_FALSE(error.suggestion().empty());
      EXPECT_EQ(error.place().line, 7);
    }
  };
  AssemblyScene scene;
  scene.rigids = {named("a", "b"), named("b", "a")};
  for (RigidScene& rigid : scene.rigids) rigid.place = {"scene.toml", 7, 1, ""};
  refused(scene, "which it carries itself");
  scene.rigids[1].on = "c";
  refused(scene, "'c', which is no rigid body");
  scene.rigids[1].on = "b";
  refused(scene, "which it carries itself");
  scene.rigids[1].on.clear();
  scene.rigids[0].motions = {
      {.name = "turn", .direction = {{1, 0, 0}}, .range = {}, .place = {"scene.toml", 7, 1, ""}}};
  refused(scene, "which moves freely");
}

}  // namespace
}  // namespace supple
