#pragma once
// A run of steps of reduced robots that a scalar of its states is differentiated through. The states that it records
// are its checkpoints, and as many factors of steps as fit into a given memory; going back takes the other steps once
// more before their derivatives (step_derivative.hpp). A gradient costs one to five runs, whatever it is a gradient by.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/derivative/step_derivative.hpp"
#include "engine/step/step.hpp"

namespace supple {

/// States of T steps, the first one where it began: [T + 1][B x nv], [T + 1][B x nv].
/// Forces, forces of obstacles and applied commands of each step: [T][B x rows], [T][B x pairs x 3], [T][B x
/// actuators].
struct RolloutRecord {
  int steps = 0;
  std::vector<double> q, v, forces, contact_forces, applied;
};

/// Derivatives of a scalar by a record; an empty list: by none of it. Shapes as there.
struct RecordGradient {
  std::span<const double> q = {}, v = {}, forces = {}, contact_forces = {};
};

/// Derivatives by what a run was given.
struct RolloutGradient {
  std::vector<double> q, v;            // of the first state [B x nv]
  std::vector<double> applied;         // B x actuators: the commands before the first step, which rates begin from
  std::vector<double> commands;        // [T][B x actuators]
  std::vector<double> loads;           // [T][B x nv], per N
  std::vector<double> gravity;         // B x 3, as Variations has it
  std::vector<double> material_scale;  // B x regions, the same
  std::vector<double> friction;        // B x obstacles, the same
  std::vector<double> density, rayleigh_mass, rayleigh_stiffness;  // B, the same
};

class Rollout {
 public:
  /// time_step [s]: none: the robot's. memory [bytes]: for factors of steps, from the last one back as many as fit.
  /// Throws InputError where steps have no derivatives (no_derivative).
  Rollout(std::shared_ptr<const ReducedModel> model, int robots, std::optional<double> time_step = {},
          std::size_t memory = default_memory);
  static constexpr std::size_t default_memory = std::size_t{1} << 28;

  const ReducedModel& model() const { return *model_; }
  int robots() const { return mechanics_.robots(); }
  double time_step() const { return settings_.time_step; }
  /// For the runs to come; there is no record then. Throws as check_variations().
  void set_variations(const Variations& variations);

  /// Where a run starts; what is empty is at rest or 0.
  struct Start {
    std::span<const double> q = {}, v = {};  // B x nv
    std::span<const double> applied = {};    // B x actuators: commands before the first step
  };
  /// One step for each entry of commands [T][B x actuators]. loads: generalised forces of each step [T][B x nv, N], or
  /// empty. `stopped` is called before each step; true: Interrupted. Throws RunError where a step fails, InputError for
  /// lists of other sizes or numbers that are not finite; there is no record then.
  const RolloutRecord& run(std::span<const double> commands, const Start& start, std::span<const double> loads,
                           const std::function<bool()>& stopped = {});
  const RolloutRecord& record() const { return record_; }
  /// Changes with each run: a record with another number is not that of the same run.
  long runs() const { return runs_; }
  /// Of the run on record, InputError where there is none. Throws as run() does, and RunError where contacts of a step
  /// have no exact forces (softened, or not solved), or where rows share their forces in more than one way and the
  /// scalar depends on it.
  RolloutGradient pull_back(const RecordGradient& gradient, const std::function<bool()>& stopped = {});

 private:
  // The state before step `step` of the record.
  void set_state(int step, State& state) const;
  void forget();
  void take_step(int step, State& state);
  // The factor of a step from `before` to what it returns.
  State step_again(int step, const State& before);
  std::span<const double> of_step(const std::vector<double>& values, int step) const {
    const std::size_t own = values.size() / static_cast<std::size_t>(record_.steps);
    return std::span(values).subspan(static_cast<std::size_t>(step) * own, own);
  }

  std::shared_ptr<const ReducedModel> model_;
  ReducedMechanics mechanics_;
  StepSettings settings_;
  Stepper stepper_;
  StepDerivative derivative_;
  Control control_;
  std::vector<double> commands_, loads_, start_;  // start_: commands before the first step
  RolloutRecord record_;
  std::size_t memory_;
  // Of the last steps, each at its number modulo how many there are: factors [most_kept_][factor_size()].
  int most_kept_ = 0;
  std::vector<double> factors_;
  std::vector<char> inexact_;  // [T]: contacts without exact forces: 1 softened, 2 not solved
  long runs_ = 0;
};

}  // namespace supple
