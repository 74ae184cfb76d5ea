#pragma once
// Whole steps of a batch of reduced robots whose states stay on a device: one linearisation of implicit Euler, forward
// among obstacles too (step.hpp, alpha = beta = 1). Of each robot the bus sees W and delta on their way to the host,
// lambda on its way back, one finding (whether the robot can go on) and one answer; states only where they are asked
// for (docs/decisions/0017-batches-on-a-gpu.md). The stages are those of ReducedBatchMechanics and what lies between
// them is kernels/step/row_ops.hpp and step_ops.hpp, the same source on the CPU and on a GPU; the states are those of
// a Stepper with ReducedBatchMechanics to rounding.
//
// A batch is stepped in parts, each with its own rows in flight: while the host solves one, the device works on the
// next. On the CPU a robot's bits depend neither on the parts nor on the size of the batch nor on threads; on a GPU the
// products are cuBLAS's, which may take another way for another size.
//
// Among obstacles (kernels/contact/contact_ops.hpp) the device finds which pairs need rows, brings them into constraint
// space and finds the forces, in turns until no pair is below its distance; the host sees one finding a robot and turn.
// Its method is that of solvers/contact, the same source (kernels/contact/contact_search.hpp), from one start. Forces
// that it does not find to tight_residual are found on the host, and counted.
//
// A robot whose step fails keeps its state, multipliers and commands and is named; the others do not notice. It is
// tried again in the next step.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/mechanics/reduced/reduced_batch_mechanics.hpp"
#include "engine/step/contact_stage.hpp"
#include "engine/step/step.hpp"

namespace supple {

// Why a model's robots cannot be stepped so: obstacles that are meshes, driven regions, springs, constraints with
// damping, implicit factors, cavities without polynomials; with effectors: orientations, obstacles. None: they can.
// The feature alone, and as an error for those who call the library.
std::optional<std::string> feature_that_cannot_stay(const ReducedModel& model, bool effectors = false);
std::optional<InputError> cannot_stay(const ReducedModel& model, bool effectors = false);

// From K to constraint space: batched algebra of libraries, or one team of threads for each robot, all in one
// (FusedSystemTeamOp). The same to rounding.
enum class SystemAlgebra { library, fused };

// Who finds the forces of contacts, all for the same problems. sweeps: the device by Gauss-Seidel alone, to compare
// with.
enum class ContactSolver { device, sweeps, host };

struct ResidentSettings {
  double time_step = 0.01;  // s
  Precision precision = Precision::fp64;
  SystemAlgebra algebra = SystemAlgebra::library;
  ContactSolver contact = ContactSolver::device;
  // Rows of pairs that a robot may have in a step; one that needs more fails (too_many_contacts). 0: one for each pair,
  // four where an obstacle is not flat (cutting planes), at most 128.
  int most_contacts = 0;
  // Of Gauss-Seidel and of Newton's method on the device, before the host is asked. Where Newton's method will be done
  // earlier it takes over.
  int contact_sweeps = 300, contact_newton_steps = 100;
  // Rows of the effectors too, for laws that want them (InverseLaw).
  bool effectors = false;
  int parts = 0;  // 0: two on a GPU, one on a CPU
  // The device linearises at the new states before it is told to step again: it works while the host makes up the next
  // commands. In vain for parts of which robots are then put somewhere else.
  bool ahead = false;
};

struct RobotFailure {
  int robot = 0;
  StepStatus status = StepStatus::ok;
  int element = -1;  // undefined_points: mesh element, where it is a point's fault
};

struct [[nodiscard]] ResidentReport {
  StepStatus status = StepStatus::ok;                 // of the first failure
  std::vector<RobotFailure> failures;                 // ascending robots
  int limited_commands = 0;                           // cut to their range or rate
  int inverted = 0;                                   // points with det F <= 0
  int weakened = 0;                                   // as in SystemReport
  ContactFigures contact;                             // as in StepReport
  int contact_problems = 0;                           // solved in this step: one a robot and turn
  int contact_on_host = 0;                            // of these on the host, where the device had found no forces
  long contact_sweeps = 0, contact_newton_steps = 0;  // on the device
  // Summed over the parts. Of the stages before rows: on the device. rows: constraint space and its way to the host,
  // and the law there; fused algebra: all of it is `solve`. Parts overlap, so that the sum may be more than the step.
  StageTimes times;
};

class ResidentStepper {
 public:
  struct Part {
    int first, count;  // robots
  };

  // At rest under zero commands. The model must outlive this object. Throws InputError where cannot_stay() has a reason
  // or the batch is too large, CapabilityError for a device that is not there.
  ResidentStepper(const ReducedModel& model, const Device& device, int robots, const ResidentSettings& settings = {});
  ~ResidentStepper();

  int robots() const { return robots_; }
  int parts() const { return static_cast<int>(parts_.size()); }
  Part part(int number) const;

  // One step of all robots; commands [robots x actuators].
  ResidentReport step(std::span<const double> commands);
  // The same under any laws, one for each part and of as many robots. A law's effector rows, if it has any, are those
  // of effector_layout() at goals [3 x effectors of a robot] for all robots; without effectors its space has no phi.
  // Throws InputError for goals of another length, and among obstacles: there commands alone lead.
  ResidentReport step(std::span<ConstraintLaw* const> laws, std::span<const double> goals = {});

  // Copies all that restarts a run from or to the host.
  void set_state(const State& state);
  State state() const;
  // As reset() of state.hpp.
  void reset(std::span<const int> robots, const State& start);
  // As ReducedRobots::set_variations.
  void set_variations(const Variations& variations);
  // Mapped points y [robots x outputs] at the present states.
  std::vector<double> outputs();

 private:
  class Batch;
  ResidentReport step_under(std::span<ConstraintLaw* const> laws, std::span<const double> goals);
  const ReducedModel& model_;
  ResidentSettings settings_;
  int robots_;
  double time_ = 0;
  std::vector<std::unique_ptr<Batch>> parts_;
};

}  // namespace supple
