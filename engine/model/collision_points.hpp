#pragma once
// What of a body may touch what around it: the obstacles of a scene, and the nodes that are kept off them.

#include <string>
#include <vector>

#include "engine/mesh/geometry.hpp"
#include "engine/model/full_model.hpp"

namespace supple {

// Throws InputError, with the obstacle's place unless a surface file itself is wrong.
PlacedObstacle place_obstacle(const ObstacleScene& scene);

// The body's outer boundary: without connected parts that enclose a void of the body, and without walls of cavities.
std::vector<Face> outer_faces(const Scene& scene, const FullModel& model);

// Ascending. Free nodes of the outer boundary in the region of `contact`: no force of an obstacle moves one that is
// held or driven.
std::vector<int> outer_nodes(const Scene& scene, const FullModel& model);

// Corners of the triangles of a collision surface, in the axes of the body; of equal ones the first. Throws InputError
// with its place where their size is not that of a thing of a body of diagonal `size` [m], as with a wrong unit.
std::vector<Vec3d> surface_corners(const SurfaceScene& scene, double size);

// Those that lie in the region (no group).
std::vector<Vec3d> points_in(const Region& region, const std::vector<Vec3d>& points);

// Thins `nodes` of the model out (ascending): those that stay are at least `spacing` apart, and none that goes is
// further from all that stay. What touches first comes first: nodes where the outline is sharp, the sharpest before the
// others; among equals always the node furthest from those that are taken already.
std::vector<int> spaced_nodes(const Mesh& mesh, const std::vector<int>& nodes, double spacing);

// What a user should know of points in obstacles, or nearer than the contact distance, at rest.
std::vector<std::string> notes_on_contact(const Robot& robot);

}  // namespace supple
