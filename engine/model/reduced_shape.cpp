#include "engine/model/reduced_shape.hpp"

#include <unordered_map>

#include "kernels/base/contract.hpp"

namespace supple {

void displacements(std::span<const double> modes, std::span<const double> inputs, std::span<const double> q,
                   std::span<const double> motions, std::span<double> out) {
  SUPPLE_EXPECT(modes.size() == out.size() * q.size() && inputs.size() == out.size() * motions.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    for (std::size_t m = 0; m < q.size(); ++m) sum += modes[i * q.size() + m] * q[m];
    for (std::size_t m = 0; m < motions.size(); ++m) sum += inputs[i * motions.size() + m] * motions[m];
    out[i] = sum;
  }
}

KeptElements kept_elements(const ReducedField& field) {
  KeptElements kept;
  std::unordered_map<int, int> place;
  for (int u = 0; u < field.units(); ++u) {
    const auto [at, added] = place.emplace(field.element[static_cast<std::size_t>(u)], kept.count());
    if (added) kept.first.push_back(u);
    kept.of_unit.push_back(at->second);
  }
  return kept;
}

}  // namespace supple
