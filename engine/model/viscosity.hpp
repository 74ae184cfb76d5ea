#pragma once
// Viscosity of the materials of a field (kernels/elements/viscous_ops.hpp has the formulas).

#include <vector>

#include "kernels/elements/point_ops.hpp"
#include "kernels/materials/dispatch.hpp"

namespace supple {

/// Branches of one material at most: most_prony_terms of the scene, and Kelvin-Voigt's.
inline constexpr int most_viscous_terms = 16;

/// Branches of springs and dashpots beside the law, the same number for each of a field's regions.
struct FieldViscosity {
  int terms = 0;                  // 0: no region of the field is viscous
  std::vector<double> viscosity;  // [regions][terms] modulus relative to the law's times time [s]; 0: no such branch
  std::vector<double> time;       // [regions][terms] relaxation time [s]; 0: Kelvin-Voigt
  /// Numbers that a field of so many points remembers (State::viscous).
  int numbers(int points) const { return symmetric_components * terms * padded(points); }
  /// Sum of eta / (tau + h) of a region.
  double added(int region, double step) const;
};

/// What a viscous field's points have in a step of length h [s], by region (PointField).
struct StepParameters {
  std::vector<MaterialParameters<double>> in_step, added;
  double factor = 1;  // 1 + the largest sum of eta / (tau + h): stresses are so many times as large
};
StepParameters step_parameters(LawId law, const std::vector<MaterialParameters<double>>& parameters,
                               const FieldViscosity& viscosity, double step);
/// Parameters of the part of a law that resists a change of shape: without bulk modulus at rest.
MaterialParameters<double> shape_parameters(LawId law, const MaterialParameters<double>& parameters);

/// Numbers that the points of all fields remember.
template <class Fields>
int viscous_numbers(const Fields& fields) {
  int sum = 0;
  for (const auto& field : fields) sum += field.viscosity.numbers(field.points());
  return sum;
}

}  // namespace supple
