#pragma once
// Which bodies of a scene may touch each other, and the skins of parts as contact needs them.

#include <array>
#include <vector>

#include "engine/mechanics/assembly/rigid_layout.hpp"
#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

/// Bodies are numbered: the parts of the scene, then its rigid bodies.
struct TouchingBodies {
  std::vector<int> bodies;                         // those with something to touch, ascending
  std::vector<std::array<int, 2>> never_touching;  // pairs of them, as places in `bodies`
  bool has(int body) const;
};

/// Not: what has no surface or `collision = "none"`; a part and what carries it, with all that is welded to that;
/// bodies that a joint ties, with what is welded to them; two bodies neither of which can move. Bodies that can then
/// touch nothing are left out.
TouchingBodies touching_bodies(const AssemblyScene& scene, const RigidLayout& layout);

/// The outer skin of a part, in its axes, without walls of cavities and voids.
struct PartSkin {
  Surface surface;
  int first_output = 0;  // its nodes are mapped points of the model, from this one
};

/// Both append mapped points to the model, one for each node, those that are held too. `part` may choose a region:
/// throws InputError where no face lies in it.
PartSkin add_skin_points(const PartScene& part, const Scene& scene, FullModel& model);
PartSkin add_skin_points(const PartScene& part, ReducedModel& model);

/// Contact distance where none is given [m]: a share of the diagonal of the smallest surface.
double default_contact_distance(const std::vector<Assembly::BodySurface>& surfaces);

}  // namespace supple
