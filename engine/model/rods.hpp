#pragma once
// The rods of a body: elements of one point, its nodes. They have no unknowns of their own: a node is a mapped point of
// the body, so that a rod's directions are linear in the displacements of the nodes of up to three elements.

#include "engine/model/place_points.hpp"

namespace supple {

// Of its path [m].
double length_of(const RodScene& rod);

// Adds their nodes to the mapped points, a field for all of them where there are any (elements rod by rod, region and
// parameters the rods'), and what they weigh to the mass of the nodes. A note where a rod ends beside held nodes. Throws
// InputError: a rod away from the body, or no longer than thick; one that bends in its path although it resists bending,
// or turns back; fewer than two segments of such a rod.
void add_rods(const BodyScene& body, PointPlacer& placer, FullModel& model);

}  // namespace supple
