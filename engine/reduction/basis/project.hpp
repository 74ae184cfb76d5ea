#pragma once
// From a full model and a basis to a reduced model (Goury & Duriez 2018, eqs. 16-20): everything projected once,
// exactly, except the nonlinear internal forces, which are integrated on the chosen elements with their weights.

#include <span>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

// Units of one field that are kept (numbers within the field: elements, or after by_points 8 element + point) and their
// weights xi > 0.
struct IntegrationDomain {
  std::vector<int> elements;
  std::vector<double> xi;
  double tolerance = 0, residual = 0;
};

// Every element with weight one: POD without hyper-reduction.
std::vector<IntegrationDomain> all_elements(const FullModel& model);

// basis: nv x modes, column-major, orthonormal; the lifting of prescribed motions is added to it. A column that is a
// translation of the whole body to the last bit makes no force, to the last bit. One domain per field.
// Throws InputError as lifting_of does (lifting.hpp).
ReducedModel project(const FullModel& model, std::span<const double> basis, int modes,
                     const std::vector<IntegrationDomain>& domains);

// all: projected with all_elements. The same model, every point of a hexahedron a unit of its own.
ReducedModel by_points(ReducedModel all);

// The same reduced model on other domains: copies only the kept units' part of a model projected with all_elements. The
// domain of a field that is strain modes has no units.
ReducedModel restrict_to(const ReducedModel& all, const std::vector<IntegrationDomain>& domains);

}  // namespace supple
