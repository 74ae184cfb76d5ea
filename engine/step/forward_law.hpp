#pragma once
// The law of forward simulation: every actuator has a command, multipliers are complementary to its row
// (engine/model/rows.hpp, solvers/complementarity). Constraints have the target 0, and multipliers of either sign
// unless they are one-sided.

#include <memory>
#include <vector>

#include "engine/step/constraint_law.hpp"

namespace supple {

class ForwardLaw final : public ConstraintLaw {
 public:
  ForwardLaw(const Robot& robot, int robots);

  // Commands of the steps to come [B x actuators]; must live until then.
  void command(std::span<const double> commands) { commands_ = commands; }

  // Of the linearisation that solve() saw last [B x rows]: multipliers in [lower, upper], complementary to delta -
  // target.
  std::span<const double> target() const { return target_; }
  std::span<const double> lower() const { return lower_; }
  std::span<const double> upper() const { return upper_; }

  const RowLayout& effector_rows() const override { return no_rows_; }
  void evaluate_effectors(int, std::span<const double>, std::span<double>, std::span<double>) const override {}
  std::span<const double> goals(int) const override { return {}; }
  bool moves_inputs() const override { return false; }
  int begin(const State& state, double step, bool at_rest, std::span<double> multipliers) override;
  bool solve(const ConstraintSpace& space, std::span<const char> touch, std::span<double> multipliers,
             std::span<double> dc) override;
  bool solved(int robot) const override { return solved_[static_cast<std::size_t>(robot)] != 0; }
  ContactReport solve_in_contact(int robot, const ContactSpace& space, std::span<double> multipliers,
                                 std::span<double> dc) override;
  double violation(int robot, std::span<const double> delta, std::span<const double> scale,
                   std::span<const double> multipliers) const override;
  void commands(std::span<const double> delta, std::span<const double> scale, std::span<const double> multipliers,
                std::span<double> commands) const override;

 private:
  const Robot& robot_;
  RowLayout no_rows_;
  std::span<const double> commands_;
  std::vector<double> asked_;  // commands as displacements, before their scale
  std::vector<double> target_, lower_, upper_;
  bool at_rest_ = false;
  struct Scratch {
    std::vector<double> shifted, work;
  };
  std::vector<char> solved_;  // [B]
  std::vector<double> contact_shifted_;
  std::unique_ptr<ContactWorkspace> workspace_;  // grows
  std::vector<Scratch> scratch_;                 // of one thread
};

}  // namespace supple
