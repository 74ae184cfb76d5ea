#include "engine/reduction/reduced_shape.hpp"

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

}  // namespace supple
