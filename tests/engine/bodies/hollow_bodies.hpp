#pragma once
// Bodies with a cavity: a bar with a void, and thick shells (sphere, capsule) of hexahedra.

#include <string>

#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::hollow_bodies {

// Bar of 0.3 x 0.1 x 0.1 m, 5 x 3 x 3 cells, with the three cells in its middle left out; the walls are irregular.
Mesh bar(bool hexahedra);

Region walls_of_bar();

ActuatorScene cavity(const std::string& name, const Region& walls, ActuatorControl control, double upper);

// Held at x = 0, with a cable beside the cavity.
Scene bar_scene(const boxes::Law& law, ActuatorControl control, double upper);

// Shell between the radii a and b round a segment of the z axis of the given length (0: a sphere): the faces of a cube
// with n x n cells blown up to a sphere, cut at its equator, `along` cells round the segment, `layers` through the
// wall.
Mesh shell(int n, int layers, double a, double b, double length = 0, int along = 0);

}  // namespace supple::hollow_bodies
