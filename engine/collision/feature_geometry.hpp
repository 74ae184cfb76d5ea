#pragma once
// Directions at a feature of a surface: where its outside is, and whether a point can be nearest to it. u is a unit
// vector from the feature to the point. Formulas hold at the positions that are given, no rest shape is used.

#include "engine/collision/surface_set.hpp"

namespace supple {

/// Pseudonormal, not unit: the normal of a face, the sum of those at an edge, the sum weighted with the faces' angles
/// at a vertex (engine/obstacles/surface_distance.hpp has the source). Zero where there are no faces.
Vec3d outward_normal(const SurfaceSet& set, const SurfaceFeature& feature, const Positions& x);

/// The feature is nearest to the point, among its neighbours, if no way along the surface leads towards the point:
/// max over unit tangents t of faces and edges around it of u . t, at most 0. (Not of tangents within the feature.)
double rise_towards(const SurfaceSet& set, const SurfaceFeature& feature, const Vec3d& u, const Positions& x);

/// visit(unit normal) of the faces that the feature belongs to.
template <class Visit>
void for_each_face_normal(const SurfaceSet& set, const SurfaceFeature& feature, const Positions& x, Visit visit);

/// Unit normal of a triangle, zero without an area.
Vec3d face_normal(const SurfaceSet& set, int surface, int triangle, const Positions& x);

template <class Visit>
void for_each_face_normal(const SurfaceSet& set, const SurfaceFeature& feature, const Positions& x, Visit visit) {
  const CollisionSurface& s = set.surface(feature.surface);
  const auto index = static_cast<std::size_t>(feature.index);
  if (feature.points == 3) visit(face_normal(set, feature.surface, feature.index, x));
  if (feature.points == 2)
    for (const int t : s.edge_triangles[index])
      if (t >= 0) visit(face_normal(set, feature.surface, t, x));
  if (feature.points == 1)
    for (const int t : s.triangles_of(feature.index)) visit(face_normal(set, feature.surface, t, x));
}

}  // namespace supple
