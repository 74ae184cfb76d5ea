#pragma once
// Steps of a batch of reduced robots whose states stay on a device: one linearisation or Newton's method, forward under
// commands or under any laws. The step is that of step.hpp; of each robot the bus sees W and delta on their way to the
// host, lambda on its way back, one finding and one answer, states only where they are asked for
// (docs/decisions/0017-batches-on-a-gpu.md).
//
// A batch is stepped in parts, each with its own rows in flight: while the host solves one, the device works on the
// next. On the CPU a robot's bits depend neither on the parts nor on the size of the batch nor on threads; on a GPU the
// products are cuBLAS's, which may take another way for another size.
//
// A robot whose step fails keeps its state, multipliers and commands and is named; the others are not affected. It is
// tried again in the next step.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/step/step.hpp"

namespace supple {

struct BatchStepSettings {
  StepScheme scheme = StepScheme::one_linearisation;  // or newton
  double time_step = 0.01;                            // s
  double implicit_velocity = 1, implicit_position = 1;
  Precision precision = Precision::fp64;
  SystemAlgebra algebra = SystemAlgebra::library;
  // Forces of contacts are found on the device, unless the robot's obstacles or motions prevent it
  // (needs_contact_on_host), laws other than commands lead, or Newton's method iterates.
  DeviceContactSettings contact = {};
  bool laws = false;  // steps are taken under laws, not commands
  int parts = 0;      // 0: two on a GPU, one on a CPU
  // The device linearises at the new states before it is told to step again: it works while the host makes up the next
  // commands. Wasted for parts of which robots are then reset. Without effect where the host is needed
  // before (Stepper::prepare).
  bool ahead = false;
};

class BatchStepper {
 public:
  struct Part {
    int first, count;  // robots
  };

  // At rest under zero commands. The model must outlive this object. Throws as ReducedBatchMechanics does, and
  // InputError where the batch is too large for its contacts.
  BatchStepper(const ReducedModel& model, const Device& device, int robots, const BatchStepSettings& settings = {});
  ~BatchStepper();

  int robots() const { return robots_; }
  int parts() const { return static_cast<int>(parts_.size()); }
  Part part(int number) const;

  // One step of all robots; commands [robots x actuators], motions [robots x prescribed inputs].
  StepReport step(std::span<const double> commands, std::span<const double> motions = {});
  // The same under any laws, one for each part and of as many robots; motions: where prescribed inputs go unless the
  // laws move them.
  StepReport step(std::span<ConstraintLaw* const> laws, std::span<const double> motions = {});

  // Copies all that restarts a run from or to the host.
  void set_state(const State& state);
  State state() const;
  // As reset() of state.hpp.
  void reset(std::span<const int> robots, const State& start);
  void set_time(double time) { time_ = time; }
  // As ReducedRobots::set_variations.
  void set_variations(const Variations& variations);
  // Mapped points y [robots x outputs] at the present states.
  std::vector<double> outputs();

 private:
  struct Robots;
  const ReducedModel& model_;
  BatchStepSettings settings_;
  int robots_;
  double time_ = 0;  // of all parts, also of one whose robots all fail
  std::vector<std::unique_ptr<Robots>> parts_;
};

}  // namespace supple
