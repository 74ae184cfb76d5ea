#pragma once
// What the law sees of each row with a multiplier (step.hpp): phi/beta + start phi_n + rate phi'_n, a compliance on the
// diagonal of W. Derivation: docs/theory/full-model.md, "Time steps" and "Constraints".

#include <span>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/step/step_settings.hpp"
#include "kernels/array/mirrored.hpp"
#include "kernels/step/step_ops.hpp"

namespace supple {

class RowScheme {
 public:
  RowScheme(const Device& device, const Robot& robot);
  // Anew where the time step is not that of before; everything else of the settings stays the same.
  void set(const StepSettings& settings);

  // Whether a step takes values and rates of the rows at its start.
  bool looks_back() const { return looks_back_; }
  // A constraint that is a spring: its multiplier is alpha lambda_{n+1}.
  bool averaged(std::size_t row) const { return averaged_[row] != 0; }
  // [rows], on the host; the others on the device.
  std::span<const double> compliance() { return compliance_.host(); }
  const double* compliance_on_device() { return compliance_.data(); }
  const RowWeights* weights() { return plain_ ? nullptr : weights_.data(); }
  // Constraints that are springs [rows], and springs between points.
  const SpringRow* constraint_springs() { return constraint_springs_.data(); }
  const SpringRow* springs() { return springs_.data(); }

 private:
  Device device_;
  const Robot& robot_;
  double time_step_ = -1;
  bool plain_ = true, looks_back_ = false;
  std::vector<char> averaged_;
  Mirrored<double> compliance_;
  Mirrored<RowWeights> weights_;
  Mirrored<SpringRow> constraint_springs_, springs_;
};

}  // namespace supple
