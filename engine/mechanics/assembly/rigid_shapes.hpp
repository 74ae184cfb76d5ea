#pragma once
// The shapes of rigid bodies: triangles for pictures, features for contact, and the inertia of the homogeneous solid.

#include <optional>
#include <vector>

#include "engine/collision/collision_surface.hpp"
#include "engine/model/pose.hpp"
#include "engine/scene/assembly_scene.hpp"

namespace supple {

/// In the axes of the body's frame [m].
struct RigidSolid {
  Surface picture;
  CollisionSurface contact;
  /// Whether its surface is its triangles alone, so that no other points of it than the vertices touch a plane first.
  bool flat = true;
  RigidInertia inertia;  // without mass where the body has none
};

/// None where the scene gives the body no measures. Throws InputError, with the body's place unless a surface file
/// itself is wrong.
std::optional<RigidSolid> rigid_solid(const RigidScene& rigid);

/// Homogeneous solids about their centres [kg, m]; the axis of capsule and cylinder is z, a capsule's length that of
/// its segment.
RigidInertia box_inertia(double mass, const Vec3d& size);
RigidInertia sphere_inertia(double mass, double radius);
RigidInertia cylinder_inertia(double mass, double radius, double length);
RigidInertia capsule_inertia(double mass, double radius, double length);
/// What a closed surface encloses, triangles outwards: exact integrals over its tetrahedra.
RigidInertia enclosed_inertia(double mass, const Surface& surface);

}  // namespace supple
