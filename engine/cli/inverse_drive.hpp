#pragma once
// Inverse control of one robot, step after step, along a path of goals: the same for the full and the reduced
// mechanics. And the commands it found, replayed forward on another model.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cli/contact_facts.hpp"
#include "engine/cli/drive.hpp"
#include "engine/cli/goals.hpp"
#include "engine/cli/run_recorder.hpp"
#include "engine/inverse/held_steps.hpp"
#include "engine/inverse/inverse_step.hpp"

namespace supple::cli {

// What was done at each step; step 0 is the start.
struct InverseRecord {
  std::vector<double> times;               // s
  std::vector<double> commands;            // [steps + 1][actuators, then motions]
  std::vector<double> multipliers;         // [steps + 1][actuators]
  std::vector<double> goals, reached;      // [steps + 1][3 x effectors]
  std::vector<double> errors, qp_seconds;  // [steps + 1]; m
  std::vector<int> saturated;              // [steps + 1]: limits that held the robot back
  std::vector<char> held;                  // [steps + 1]: no answer, the last commands held
  std::vector<int> touching;               // [steps + 1]: contacts that press
  std::vector<double> normal_forces;       // [steps + 1][obstacles]: sums on each [N]
};

struct InverseReportOfRun {
  DriveReport drive;
  InverseRecord record;
  long saturated_steps = 0;  // goal not reached, and a limit of a range, rate or force active
  HeldSteps held;
  ContactRecord contact;
  double pyramid_error = 0;  // the most (InverseReport) [m]
};

// Steps from report.drive.step to the last of `settings`, each added to `report` (at first empty), after which `after`
// is called; `model` is null for a full model. After a failed step `state` is that of the step before it.
void drive_inverse(InverseStep& step, Mechanics& mechanics, const ReducedModel* model, const DriveSettings& settings,
                   const GoalPath& path, State& state, RunRecorder& recorder, const Progress& progress,
                   InverseReportOfRun& report, const std::function<void()>& after);

// Errors over steps 1 to the last.
struct TrackingError {
  double mean = 0, median = 0, largest = 0;
};
TrackingError tracking_error(const std::vector<double>& errors);

// Commands as a table for forward runs.
Actuation recorded_actuation(const InverseRecord& record, const Robot& robot);

// What the commands do on another model at each step.
struct ReplayRecord {
  std::vector<double> errors;         // [steps + 1]: distance to the goals [m]
  std::vector<double> reached;        // [steps + 1][3 x effectors]
  std::vector<int> touching;          // [steps + 1]: contacts that press
  std::vector<double> normal_forces;  // [steps + 1][obstacles]: sums on each [N]
  ContactRecord contact;
};

// Runs `mechanics` forward under the recorded commands from equilibrium under the first of them. Throws RunError,
// Interrupted.
ReplayRecord replay(Mechanics& mechanics, const InverseRecord& record, const GoalPath& path,
                    const DriveSettings& settings, const Progress& progress);

}  // namespace supple::cli
