#include "engine/model/viscosity.hpp"

#include <algorithm>
#include <type_traits>

#include "kernels/base/extent.hpp"

namespace supple {

double FieldViscosity::added(int region, double step) const {
  double sum = 0;
  for (std::size_t at = extent(region, terms); at < extent(region + 1, terms); ++at)
    if (viscosity[at] != 0) sum += viscosity[at] / (time[at] + step);
  return sum;
}

MaterialParameters<double> shape_parameters(LawId law, const MaterialParameters<double>& parameters) {
  MaterialParameters<double> shape = parameters;
  visit_law(law, [&](auto type) {
    using Law = decltype(type);
    if constexpr (solid_law<Law>) shape.p[Law::volumetric] -= Law::volumetric_share * Law::bulk_modulus(parameters);
  });
  return shape;
}

StepParameters step_parameters(LawId law, const std::vector<MaterialParameters<double>>& parameters,
                               const FieldViscosity& viscosity, double step) {
  StepParameters all{parameters, parameters, 1};
  for (std::size_t region = 0; region < parameters.size(); ++region) {
    const double added = viscosity.added(static_cast<int>(region), step);
    all.factor = std::max(all.factor, 1 + added);
    const MaterialParameters<double> shape = shape_parameters(law, parameters[region]);
    visit_law(law, [&](auto type) {
      for (int i = 0; i < type.parameters; ++i) {
        if ((type.moduli >> i & 1u) == 0) continue;
        all.added[region].p[i] = added * shape.p[i];
        all.in_step[region].p[i] += all.added[region].p[i];
      }
    });
  }
  return all;
}

}  // namespace supple
