#pragma once
// The skin of a full model as a surface of an assembly, for tests and for the cases of bench/validation.

#include <string>

#include "engine/mechanics/assembly/assembly.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/model/full_model.hpp"

namespace supple::assemblies {

// Its nodes become mapped points of the model, which is body `number`.
inline Assembly::BodySurface skin_of(const std::string& name, FullModel& model, int number, const Pose& place,
                                     double friction) {
  const BoundarySurface skin = boundary_surface(model.mesh);
  Assembly::BodySurface of{name, make_collision_surface(skin.surface), {}, friction, false};
  for (const int node : skin.mesh_node) {
    Assembly::Point point;
    point.body = number;
    point.output = static_cast<int>(model.robot.rest_points.size());
    of.vertices.push_back(point);
    model.robot.rest_points.push_back(model.mesh.nodes[static_cast<std::size_t>(node)]);
    model.interpolation.push_back({{node}, {1.0}});
  }
  for (Vec3d& x : of.surface.rest) x = place(x);
  return of;
}

}  // namespace supple::assemblies
