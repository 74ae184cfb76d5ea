#pragma once
// Signed distance to a closed triangulated surface: exact to its triangles (a tree of boxes finds the nearest),
// negative inside. The sign is that of (x - c) . N with c the nearest point and N the pseudonormal of the face, edge or
// corner c lies on: the face's normal, the sum of both faces' normals, the sum of normals weighted by the faces' angles
// there. This is right for every closed surface that does not cut itself: J. A. Baerentzen, H. Aanaes, "Signed distance
// computation using the angle weighted pseudonormal", IEEE Trans. Vis. Comput. Graph. 11(3), 2005.

#include <array>
#include <vector>

#include "engine/mesh/box_tree.hpp"
#include "engine/mesh/mesh.hpp"
#include "kernels/contact/proximity.hpp"

namespace supple {

class SurfaceDistance {
 public:
  // Throws InputError unless every triangle has an area (height above 1e-12 of its longest side), every edge belongs to
  // two triangles, and all normals point out of the volume that their connected part encloses (a part inside another
  // one is not a hole).
  explicit SurfaceDistance(Surface surface);

  // x finite. Where several points are nearest (the medial axis), always the same one of them. On an edge or corner
  // itself, within 1e-10 of the surface's size, the normal is the pseudonormal and the curvature 0; else both are those
  // of the polyhedron: curvature 0 over faces, 1/distance about edges and corners.
  Proximity at(const Vec3d& x) const;

  const Surface& surface() const { return surface_; }
  const BoundingBox& box() const { return tree_.bounds(); }

 private:
  std::array<Vec3d, 3> corners(int triangle) const;

  Surface surface_;
  BoxTree tree_;
  double smallest_;                                 // distance [m] at which a direction is still told from rounding
  std::vector<Vec3d> face_normals_;                 // unit, per triangle
  std::vector<std::array<Vec3d, 3>> edge_normals_;  // of the sides from corner k to the next; not unit
  std::vector<std::array<int, 3>> edges_;           // number of that edge: 3 triangle + k of the lower of its two sides
  std::vector<Vec3d> corner_normals_;               // per node; not unit
};

}  // namespace supple
