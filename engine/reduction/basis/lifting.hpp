#pragma once
// How a body follows its regions with a prescribed motion: u = Phi alpha + Psi c with one lifting column per prescribed
// input. Psi is the motion's direction on its nodes, 0 on the other nodes that are held, and on the free nodes the
// linear response at rest: K_ff Psi_f = -K_fc (exact tangent, springs included). A rigid motion needs no solve: Psi is
// its direction everywhere, to the last bit. Snapshots enter the basis without it, as q - Psi_f c.
// A free-floating body has no regions with a prescribed motion; its snapshots enter without their rigid part
// (rigid_motion.hpp), but those of one that lies free-floating in contact with obstacles as they are: it turns while it
// bends, rotations are linear in the modes, and the shapes that make up for that have to be in the training set.

#include <span>
#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"

namespace supple {

struct Lifting {
  int motions = 0;
  std::vector<double> nodes;  // [motions][3 mesh nodes] Psi [m/m]
  std::vector<double> free;   // [motions][nv] its rows of the unknowns
};

// Throws InputError where the response is not determined (the body is not held enough, or unstable at rest).
Lifting lifting_of(const FullModel& model);

// q <- q - Psi_f c for one state; c [motions].
void remove_lifting(const Lifting& lifting, std::span<const double> c, std::span<double> q);

// What the basis is made of: the displacements of a set without their lifting or, of equilibria, their rigid part, left
// on disk (displacement_blocks) in at least `parts` blocks. The set must outlive them.
ColumnBlocks basis_columns(const FullModel& model, const std::string& folder, const SnapshotSet& set, int parts = 1);

}  // namespace supple
