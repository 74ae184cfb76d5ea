#pragma once
// One pair of features at one moment: its normal and sign, and whether it is a contact or the shadow of a nearer one.
// A vertex near a mesh is within reach of many triangles; a contact is only where it is nearest. In the words of
// polyhedra: either closest point lies in the Voronoi region of the other one's feature (B. Mirtich, "V-Clip", ACM
// Trans. Graph. 17(3), 1998), which stops rows that would hinder sliding over edges inside a surface.

#include "engine/collision/feature_geometry.hpp"
#include "engine/collision/surface_trees.hpp"

namespace supple {

struct PairGeometry {
  SurfaceFeature a, b;                             // the closest features; a has fewer points, of equals the lower code
  std::array<double, 3> weights_a{}, weights_b{};  // of their vertices
  Vec3d normal{{0, 0, 1}};                         // unit, from b to a
  double distance = 0;                             // normal . (point of a - point of b) [m]: below 0 in a solid
  bool parallel = false;                           // two edges along each other
  bool touching = false;                           // closest points coincide to within rounding: the normal is not set
};

/// a and b are features in the order of the closest points' arguments, size is their largest coordinate [m].
PairGeometry pair_geometry(const SurfaceSet& set, const SurfaceFeature& a, const SurfaceFeature& b,
                           const ClosestPoints& points, double size);

enum class Facing {
  yes,     // nearest among its neighbours on either side, or along the normal of a face
  almost,  // nearer features are beside it
  no       // behind a closed surface, or with a part of its own between; edges: covered by pairs of their vertices
};
/// `edges`: the pair was found as two edges. Closest points at an end, and parallel edges, are contacts of vertices.
Facing facing(const SurfaceSet& set, const PairGeometry& pair, bool edges, const Positions& x);

/// The normal of a pair whose points coincide: of the normals of faces, edges and vertices there, the one along which
/// both surfaces are on their own side. false: there is none, the surfaces do not meet here.
bool set_touching_normal(const SurfaceSet& set, PairGeometry& pair, bool edges, const Positions& x);

/// A pair that is up to `depth` [m] inside a closed surface, with normal and sign turned: a vertex of which the nearest
/// feature of the surface tells that it is inside, or two edges across each other of which one pierces a face of the
/// other. false: it is not.
bool turn_if_inside(const SurfaceSet& set, const SurfaceTrees& trees, PairGeometry& pair, bool edges, double depth,
                    const Positions& x);

}  // namespace supple
