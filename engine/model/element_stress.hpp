#pragma once
// Von Mises stress for pictures: of Cauchy's stress sigma = P F^T / det F,
//   sigma_v = sqrt(3/2 dev(sigma) : dev(sigma))   [Pa]
// (of a membrane sigma = P F^T / (area now / area at rest): its thickness is taken as that at rest); of an element the
// mean of its points by rest volume. Zero where the law has no stress (det F = 0 and the like).

#include <span>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

// Whether there is a stress to speak of: threads and rods have forces.
bool has_stress(LawId law);

// u [mesh nodes][3]: displacements. Stress of every element, by its number (ElementField::element); elements of no
// field, and threads, keep zero.
std::vector<double> von_mises(const FullModel& model, std::span<const double> u);

// Of the elements of a reduced model's domain, field after field in the order of kept_elements (reduced_shape.hpp), those
// of a law in two parts once, without rods; the mean is over those points of an element that are kept, by their weights. scale: factors on the moduli of each region
// (Variations::material_scale), or empty.
std::vector<double> von_mises(const ReducedModel& model, std::span<const double> q, std::span<const double> motions,
                              std::span<const double> scale = {});

}  // namespace supple
