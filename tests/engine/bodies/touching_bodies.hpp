#pragma once
// Rigid and soft bodies that touch each other, made in memory.

#include <algorithm>
#include <string>

#include "engine/collision/surface_gaps.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/body_skin.hpp"

namespace supple::assemblies {

inline constexpr double distance = 1e-4;

inline RigidInertia box_of(double mass, const Vec3d& size) {
  RigidInertia box{mass, {{0, 0, 0}}, Mat3d::zero()};
  for (int k = 0; k < 3; ++k) box.inertia(k, k) = mass / 12 * (dot(size, size) - size[k] * size[k]);
  return box;
}

// Surfaces of rigid frames.
struct World {
  Assembly assembly;
  explicit World(const Vec3d& gravity = Vec3d{{0, 0, -9.81}}) {
    assembly.gravity = gravity;
    assembly.contact_distance = distance;
  }
  int add(const std::string& name, const CollisionSurface& surface, const RigidInertia& inertia, Hold hold,
          const Pose& pose, double friction) {
    const auto number = static_cast<int>(assembly.frames.size());
    assembly.frames.push_back(frame(name, hold, pose, inertia));
    Assembly::BodySurface of{name, surface, {}, friction, false};
    for (Vec3d& x : of.surface.rest) {
      of.vertices.push_back(on_frame(number, x));
      x = pose(x);
    }
    for (std::size_t other = 0; other < assembly.surfaces.size(); ++other)
      if (const int its = assembly.surfaces[other].vertices[0].frame;
          its >= 0 && hold != Hold::free && assembly.frames[extent(its)].hold != Hold::free)
        assembly.never_touching.push_back({static_cast<int>(other), static_cast<int>(assembly.surfaces.size())});
    assembly.surfaces.push_back(std::move(of));
    return number;
  }
  int box(const std::string& name, const Vec3d& size, double mass, Hold hold, const Pose& pose, double friction = 0) {
    return add(name, box_surface(size), box_of(mass, size), hold, pose, friction);
  }
  int ball(const std::string& name, double radius, double mass, const Vec3d& at, double friction = 0) {
    return add(name, sphere_surface(radius), {mass, {{0, 0, 0}}, 0.4 * mass * radius * radius * Mat3d::identity()},
               Hold::free, {at, Mat3d::identity()}, friction);
  }
};

inline double least(const AssemblyMechanics& mechanics, Stepper& stepper) {
  const std::vector<double> y = stepper.outputs();
  const Robot& robot = mechanics.robot();
  return least_gap(*robot.surfaces, std::span(y).subspan(extent(3, robot.first_surface_point))).gap;
}

}  // namespace supple::assemblies
