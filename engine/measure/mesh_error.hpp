#pragma once
// How far off a mesh is: its response at rest beside that of a finer one, under the loads that the scene has.

#include <string>
#include <vector>

#include "engine/model/full_model.hpp"

namespace supple {

struct MeshError {
  struct Load {
    std::string name;  // "gravity" or the actuator's
    // How far the finer mesh moves, over how far this one does, less 1: above 0 this one is too stiff.
    double further = 0;
    double error = 0;  // distance of the two at the effectors, over how far the finer one moves them
    // The same, of gravity over the largest motion of the commands, at the ends of their ranges, where that is larger: a
    // robot that hangs along its backbone sags by microns.
    double counts = 0;
    std::string in_words() const;  // "12 % under cable", or "0.1 % of what the commands move under gravity"
  };
  std::vector<Load> loads;
  int unknowns = 0;        // of the finer mesh
  const char* finer = "";  // what it is, in words
  /// That which counts most; there are some.
  const Load& worst() const;
};

/// Why the estimate is not made of such a model: what it needs is missing, or it would take minutes; "": it is.
std::string no_mesh_error(const FullModel& model);

/// Of a model whose laws have exact tangents. The finer mesh: the same with elements of second order, or, where it has
/// them, with all edges halved. Linear: at rest, gravity as it is, actuators by their commands (a unit of force, or of
/// what is pulled). Measured at the effectors, where there are none by the work of the load itself. No loads where the
/// body is not held (K at rest is singular) or nothing loads it. Cost: one factorisation of each mesh.
MeshError estimate_mesh_error(const Scene& scene, const FullModel& model);

}  // namespace supple
