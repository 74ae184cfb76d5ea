#pragma once
// Where the rigid bodies of a scene are among the frames of its assembly. One that is carried without a motion is
// welded to its carrier: where that moves freely it is a part of it, without a frame of its own.

#include <optional>
#include <vector>

#include "engine/mechanics/assembly/assembly.hpp"
#include "engine/mechanics/assembly/rigid_shapes.hpp"

namespace supple {

struct RigidLayout {
  struct Seat {
    int frame = 0;       // of the assembly
    Pose offset;         // of the body's own frame in it
    Pose rest;           // of the body's own frame in the world
    int welded_to = -1;  // the first of the rigid bodies that it is one piece with: itself, if it is carried by none
    bool free = false;   // moves freely
    bool moves = false;  // freely or by an input
  };
  std::vector<Assembly::Frame> frames;  // the world, then carriers before what they carry
  std::vector<Seat> seats;              // of the rigid bodies, in the scene's order
};

/// solids: of the rigid bodies, in the scene's order; their inertia counts where they move freely. Throws InputError
/// for carriers that do not exist or carry each other, and for motions on a body that moves freely.
RigidLayout lay_out_rigids(const AssemblyScene& scene, const std::vector<std::optional<RigidSolid>>& solids);

/// The number of the rigid body of that name, or -1.
int find_rigid(const AssemblyScene& scene, const std::string& name);

/// Turned about x, then y, then z [rad].
Pose pose_in(const Vec3d& translation, const Vec3d& rotation);

}  // namespace supple
