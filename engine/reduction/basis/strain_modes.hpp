#pragma once
// A membrane by modes of its strains. What the modes of a body leave out of a state stretches a layer that in truth
// only bends, and the layer fights every motion (membrane locking). Its Green strains E = (F_s^T F_s - I)/2 of all
// triangles, weighted so that the energy of plane stress is their square,
//   z = sqrt(w) (sqrt(mu + lambda) tr E, sqrt(mu) (E_11 - E_22), 2 sqrt(mu) E_12),   W = 1/2 |z|^2,   w = area
//   thickness,
// get a POD basis S of the strains of the full states: what of the modes' strains lies outside S costs nothing. E is
// quadratic in the coordinates, so s = S^T z is StrainModes exactly. Rigid modes strain nothing in first order, and
// translations nothing at all, to the last bit.
// Green strains stand for the stretches S - I of the law: E - (S - I) = (S - I)^2 / 2, small where the layer is stiff.
// docs/theory/reduction.md#membranes-by-strain-modes

#include <span>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"

namespace supple {

// z [3 triangles] of a membrane field; u [nodes][3] of all nodes of the mesh.
std::vector<double> green_strains(const ElementField& field, std::span<const double> u);

struct StrainSettings {
  double tolerance = 0;  // share of the strains, in the norm of energy, that may be left out (PodTruncation::root)
  int max_modes = 0;     // 0: any number
  int every = 1;         // uses every n-th training snapshot
};

struct StrainBasis {
  int modes = 0;
  std::vector<double> vectors;  // [modes][3 triangles], orthonormal
  double tolerance = 0, left_out = 0;
  // Of the training states: |z - z_law| / |z_law| with the law's own S - I, and the largest of these stretches.
  double off_law = 0, largest = 0;
};

// A layer that is further off its law than this stretches too much for Green strains.
inline constexpr double largest_off_law = 0.05;

// displacements: of the set's states as they are, [nv] each. Throws InputError where nothing is strained, and above
// largest_off_law.
StrainBasis strain_basis(const FullModel& model, int field, const ColumnBlocks& displacements, const SnapshotSet& set,
                         const StrainSettings& settings);

// The field of `all`, a model with every element, by strain modes; its elements go.
void use_strain_modes(ReducedModel& all, int field, const StrainBasis& basis);

// Modes in the place of a field's elements.
void become_strain_modes(ReducedField& field, StrainModes modes, double tolerance, double left_out);

// Number of the model's membrane field, -1: none.
int membrane_field(const FullModel& model);

}  // namespace supple
