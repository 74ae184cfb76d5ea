#pragma once
// Bars with sheets below them, reduced by modes of the sheets' strains.

#include "engine/reduction/basis/strain_modes.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::strain_bodies {

inline MembraneScene sheet(const std::string& group, double young, double poisson = 0.4, double thickness = 1e-3) {
  MembraneScene membrane;
  membrane.region = boxes::group_region(group);
  membrane.young = young;
  membrane.poisson = poisson;
  membrane.thickness = thickness;
  return membrane;
}

// The irregular bar of reduced_bodies.hpp with a sheet below it and one on a side, unlike each other.
inline Scene covered(Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational})) {
  scene.bodies[0].membranes = {sheet("z-", 3e7), sheet("y+", 1e6, 0, 2e-3)};
  return scene;
}

inline const ElementField& sheets(const FullModel& model) {
  return model.fields[static_cast<std::size_t>(membrane_field(model))];
}

// Orthonormal strain modes at random; all of them are the unit vectors.
inline StrainBasis random_strains(const FullModel& model, int modes) {
  StrainBasis basis;
  const int length = 3 * sheets(model).elements();
  basis.modes = modes;
  basis.vectors = modes == length ? reduced_bodies::full_basis(length) : reduced_bodies::random_basis(length, modes);
  basis.tolerance = 0.1;
  basis.left_out = 0.07;
  return basis;
}

// Every solid element, and strain modes for the sheets.
inline ReducedModel with_strains(const FullModel& model, const std::vector<double>& basis, int modes,
                                 const StrainBasis& strains) {
  ReducedModel reduced = project(model, basis, modes, all_elements(model));
  use_strain_modes(reduced, membrane_field(model), strains);
  return reduced;
}

}  // namespace supple::strain_bodies
