#pragma once
// The response of a body to prescribed motions: u = Phi alpha + Psi c with one lifting column per prescribed input. Psi
// is the motion's direction on its nodes, 0 on the other nodes that are held, and on the free nodes the linear response
// at rest: K_ff Psi_f = -K_fc (exact tangent, springs included). A rigid motion needs no solve: Psi is its direction
// everywhere, to the last bit. Snapshots enter the basis without it, as q - Psi_f c.
// A free-floating body has no prescribed motions. Its snapshots enter without their rigid part (rigid_motion.hpp);
// those of a free-floating body in contact enter unchanged: it turns while it bends, rotations are linear in the modes,
// and the basis needs the shapes that correct for that.

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

// The data of the basis: the displacements of a set without their lifting or, of equilibria, without their rigid part,
// left on disk (displacement_blocks) in at least `parts` blocks. The set must outlive them.
ColumnBlocks basis_columns(const FullModel& model, const std::string& folder, const SnapshotSet& set,
                           RigidMotionForm form, int parts = 1);

}  // namespace supple
