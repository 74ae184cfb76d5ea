#pragma once
// Where a robot's effectors are, and how far they are from their goals.

#include <span>
#include <vector>

#include "engine/model/effectors.hpp"

namespace supple {

/// Present values of all effectors [3 x effectors] at one robot's mapped points (effector_state).
void effector_states(const Robot& robot, std::span<const double> y, std::span<double> states);

class EffectorErrors {
 public:
  /// The robot must outlive this object.
  explicit EffectorErrors(const Robot& robot);
  /// Norm of the rows of each effector at one robot's mapped points y [m]; of an orientation: rad times lever. errors
  /// [effectors], or empty. Returns the norm of the rows of all effectors that are steered [effectors].
  double evaluate(std::span<const double> y, std::span<const double> goals, std::span<const char> steered,
                  std::span<double> errors);

 private:
  const Robot& robot_;
  RowLayout layout_;
  std::vector<double> phi_, gradients_;
};

}  // namespace supple
