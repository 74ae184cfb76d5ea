#pragma once
// What the two mechanics of reduced robots share: sizes, gravity, the mapped points' rows, and in what the robots
// differ from each other. Stepping is ReducedMechanics (robot by robot on the CPU) or ReducedBatchMechanics (batched
// algebra on a device).

#include "engine/mechanics/mechanics.hpp"
#include "engine/mechanics/variations.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

// Throws InputError for a list of another length, numbers that are not finite, factors that are not above 0, friction
// or damping below 0, and stiffness damping of viscous materials.
void check_variations(const ReducedModel& model, int robots, const Variations& variations);

class ReducedRobots : public Mechanics {
 public:
  int robots() const final { return robots_; }
  const Robot& robot() const final { return model_.robot; }
  const Coordinates& coordinates() const final { return coordinates_; }
  const RowLayout& rows() const final { return rows_; }
  void external_forces(std::span<double> p) const final;
  int changes() const final { return changes_; }
  double friction(int robot, int obstacle) const final;
  RobotSystem system(int robot) const final;
  Damped damped() const final;
  void multiply_rows(const PointRows& rows, std::span<const double> X, int count, std::span<double> out) const final;
  void add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const final;

  const ReducedModel& model() const { return model_; }
  const Variations& variations() const { return variations_; }
  // For the steps to come, also between steps. Throws as check_variations() does.
  void set_variations(Variations variations) override;

 protected:
  // The model must outlive this object.
  ReducedRobots(const ReducedModel& model, int robots);
  // What is read of the model once is read again: it has changed in place.
  void read_again();
  // variations_ are new.
  virtual void take_variations() = 0;
  // [robots] where masses or damping differ, or null.
  const RobotSystem* own_systems() const { return systems_.empty() ? nullptr : systems_.data(); }
  // Norms of the generalised forces at strains of rounding_strain [N]: of all robots, or of each where their materials
  // differ.
  const std::vector<double>& rounding_forces() const { return rounding_forces_; }

  const ReducedModel& model_;
  int robots_, r_, m_;
  Coordinates coordinates_;
  RowLayout rows_;
  Variations variations_;

 private:
  void read_moduli();
  void find_rounding_forces();

  std::vector<RobotSystem> systems_;
  int changes_ = 0;
  std::vector<double> forces_of_regions_;  // [r][regions] generalised forces at strains of one
  std::vector<double> rounding_forces_;
};

}  // namespace supple
