#include "engine/run/effector_errors.hpp"

#include <cmath>

#include "kernels/base/extent.hpp"

namespace supple {

void effector_states(const Robot& robot, std::span<const double> y, std::span<double> states) {
  for (std::size_t e = 0; e < robot.effectors.size(); ++e)
    effector_state(robot, static_cast<int>(e), y, states.subspan(3 * e, 3));
}

EffectorErrors::EffectorErrors(const Robot& robot)
    : robot_(robot),
      layout_(effector_layout(robot)),
      phi_(extent(layout_.rows())),
      gradients_(extent(layout_.gradients())) {}

double EffectorErrors::evaluate(std::span<const double> y, std::span<const double> goals, std::span<const char> steered,
                                std::span<double> errors) {
  evaluate_effectors(robot_, layout_, y, goals, phi_, gradients_);
  double all = 0;
  std::size_t row = 0;
  for (std::size_t e = 0; e < robot_.effectors.size(); ++e) {
    double own = 0;
    for (int i = 0; i < robot_.effectors[e].rows(); ++i, ++row) {
      // Written with fma, so that the bits do not depend on what a compiler makes of two sums of one product.
      own = std::fma(phi_[row], phi_[row], own);
      if (steered[e] != 0) all = std::fma(phi_[row], phi_[row], all);
    }
    if (!errors.empty()) errors[e] = std::sqrt(own);
  }
  return std::sqrt(all);
}

}  // namespace supple
