#pragma once
// One part of a ResidentStepper: a batch on a device with its rows in flight. For resident_*.cpp alone.

#include "engine/mechanics/reduced/resident_robots.hpp"
#include "engine/step/resident_contact.hpp"
#include "kernels/array/queued.hpp"
#include "kernels/step/row_ops.hpp"
#include "kernels/step/step_ops.hpp"

namespace supple {

// Rows of constraint space as a device evaluates them.
struct ResidentRows {
  RowLayout layout;
  Array<RowShape> shapes;
  Array<double> coefficients;  // of all polynomials
  Array<double> gradients, H;  // [robot][layout.gradients()], [robot][rows][r]
  ResidentRows() = default;
  ResidentRows(const Device& device, const RowLayout& rows, const std::vector<RowShape>& shape,
               const std::vector<double>& polynomials, int robots, int r);
  // phi [robot][rows], gradients and H at the outputs that lie there.
  void find(ResidentRobots& on, double* phi);
};

// Of the robot's actuators and constraints; of its effectors, for goals of zero.
ResidentRows actuator_rows(const Device& device, const ReducedModel& model, int robots);
ResidentRows effector_rows(const Device& device, const ReducedModel& model, int robots);
// What goals [3 x effectors] take from the values of a robot's effector rows at goals of zero.
void goal_values(const Robot& robot, std::span<const double> goals, std::span<double> values);

class ResidentStepper::Batch {
 public:
  Batch(const ReducedModel& model, const Device& device, int robots, const ResidentSettings& settings);
  ~Batch();

  // Queues everything up to W and delta on the host, unless that has been done at the present states.
  void linearise();
  // Waits for it, finds lambda and queues the motion. first: the number of this part's first robot.
  void advance(ConstraintLaw& law, std::span<const double> goals, int first, ResidentReport& report);
  // Of this part's robots; queues or copies what lies on the device.
  void set_state(const State& state);
  void read_state(std::span<double> q, std::span<double> v) const;
  void reset(std::span<const int> robots, const State& start);
  void set_variations(Variations variations);
  void read_outputs(std::span<double> y);
  void add_contact_forces(std::vector<double>& forces) const;
  int robots() const { return on_.robots; }
  // What the host knows of its robots: multipliers and commands, without q and v.
  const State& known() const { return known_; }
  ForwardLaw& forward() { return forward_; }

 private:
  void find_space_by_libraries(const RightSidesOp& sides, const SpaceOp& rows, const SpaceOp& effectors);
  void find_failures(int first, ResidentReport& report);
  ConstraintSpace space(std::span<const double> goals);
  void find_contact_forces(int first, ResidentReport& report);
  void place(std::span<const int> robots, const State& start, const std::vector<double>& values, Array<double>& target);

  const ReducedModel& model_;
  ReducedBatchMechanics mechanics_;
  ResidentRobots& on_;
  double time_step_;
  SystemAlgebra algebra_;
  int teams_ = 0;
  Array<double> exact_scratch_;  // fused algebra: [teams][scratch_length]
  Array<float> rounded_scratch_;
  SystemCoefficients coefficients_;
  int n_, e_;  // rows, effector rows
  ResidentRows rows_, effectors_;
  ForwardLaw forward_;
  std::optional<ResidentContact> contact_;
  State known_;
  bool linearised_ = false;
  // What the host gets, then what it does not: W, free, and with effectors their W, free and phi, and phi.
  Array<double> space_, p_, inertia_, compliance_, lambda_;
  Array<RobotFinding> findings_;
  Array<unsigned char> goes_;
  PinnedArray<double> host_space_, host_lambda_;
  PinnedArray<RobotFinding> host_findings_;
  PinnedArray<unsigned char> host_goes_;
  std::vector<char> failed_, left_out_;
  std::vector<double> phi_end_, commands_, goal_values_;
  Array<int> placed_robots_;
  Array<double> placed_values_;
  Mark begun_, outputs_, forces_, factored_, solved_, ready_;
};

}  // namespace supple
