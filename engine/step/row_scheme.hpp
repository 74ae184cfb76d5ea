#pragma once
// What the law sees of each row with a multiplier (step.hpp): phi/beta + start phi_n + rate phi'_n, a compliance on the
// diagonal of W; of gas its law, linearised (GasRowsTeamOp). Derivation: docs/theory/full-model.md, "Time steps",
// "Constraints" and "Gas".

#include <span>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/step/step_settings.hpp"
#include "kernels/array/mirrored.hpp"
#include "kernels/step/step_ops.hpp"

namespace supple {

class RowScheme {
 public:
  RowScheme(const Device& device, const Robot& robot, int robots);
  // Anew where the time step is not that of before; everything else of the settings stays the same.
  void set(const StepSettings& settings);

  // Whether a step takes values and rates of the rows at its start.
  bool looks_back() const { return looks_back_; }
  // A constraint that is a spring: its multiplier is alpha lambda_{n+1}.
  bool averaged(std::size_t row) const { return averaged_[row] != 0; }
  // [robots x rows], on the host; the others on the device.
  std::span<const double> compliance() { return compliance_.host(); }
  ConstVectors compliance_on_device() { return {compliance_.data(), robots_, robot_.rows()}; }
  // Rows whose scale the host sets: cables with friction.
  void set_scale(std::size_t robot, std::size_t row, double scale) {
    scale_.host()[robot * static_cast<std::size_t>(robot_.rows()) + row] = scale;
  }
  void send_scale() { scale_.send(); }
  const double* scale_on_device() const { return scale_.data(); }
  // Rows of gas, whose compliance and scale are those of a linearisation, and what a step does with them.
  int gas_rows() const { return static_cast<int>(gas_.size()); }
  GasRowsTeamOp gas(ConstVectors phi, ConstVectors lambda, ConstVectors history, Vectors values);
  // [robots x rows]: delta = scale command. Empty: 1 of all.
  std::span<const double> command_scale() { return scale_.host(); }
  // To the host; waits for nothing.
  void fetch();
  const RowWeights* weights() { return plain_ ? nullptr : weights_.data(); }
  // Constraints that are springs [rows], and springs between points.
  const SpringRow* constraint_springs() { return constraint_springs_.data(); }
  const SpringRow* springs() { return springs_.data(); }

 private:
  void list_gas(const StepSettings& settings);

  Device device_;
  const Robot& robot_;
  int robots_;
  double time_step_ = -1;
  bool plain_ = true, looks_back_ = false;
  std::vector<char> averaged_;
  Mirrored<double> compliance_, scale_;
  Mirrored<GasRow> gas_;
  Mirrored<RowWeights> weights_;
  Mirrored<SpringRow> constraint_springs_, springs_;
};

}  // namespace supple
