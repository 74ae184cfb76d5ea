#pragma once
// The loop of every run: one step after the other, timed, recorded and saved, until it is done, fails or is
// interrupted. Forward and inverse, one robot and many, on a CPU or a device.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "engine/commands/actuation.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/scene/integrator.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/progress.hpp"

namespace supple {

inline constexpr long most_robots = 1'000'000;  // of a batch

struct DriveSettings {
  Integrator integrator = Integrator::implicit_euler;
  double time_step = 0.01;  // s
  double keep_tangent = 0;  // see StepSettings
  long first = 0;           // steps done before
  long last = 0;            // steps done when the run is complete
};

struct DriveReport {
  long step = 0;  // steps done, in all
  bool stopped = false;
  StepReport final;             // of the last step tried: its status tells whether the run failed
  std::vector<double> seconds;  // of each step done here
  StageTimes stages;            // summed
  long factorisations = 0;
  long weakened = 0;  // steps with a weakened safe tangent (StepReport)
  long limited = 0;   // commands cut to their range or rate, motions to their range
  bool failed() const { return final.status != StepStatus::ok; }
};

/// What is kept of a run while it continues.
struct Keeping {
  /// After each step, outside the timing: results, recordings.
  std::function<void(long step, const TakenStep& taken)> record;
  /// Saves the state that the run is resumed from: `interval` after the last time, later where saving takes long.
  /// Empty: never.
  std::function<void()> save;
  std::chrono::seconds interval{30};
};

/// Steps report.step + 1 to settings.last; step k goes to time k h under the commands or goals of that time (implicit).
/// Quasi-static steps obey the actuators' rates too: h between two equilibria. Adds to `report`. A step after which no
/// robot is left has failed, and ends the run; the robots are then as they were before it. `doing`: for the progress,
/// "simulating".
void drive(RobotSteps& robots, const DriveSettings& settings, const std::string& doing, const Progress& progress,
           const Keeping& keeping, DriveReport& report);

/// Description of a failed step of a robot: "step 3 (to 30 ms) failed: ..., element 5".
std::string failure_text(const FailedRobot& failure, double time_step);
/// The remedy for a failed step.
std::string failure_remedy(StepStatus status, Integrator integrator);
/// The RunError for a run of one robot; saved: folder with its last good state, or "".
[[noreturn]] void throw_step_failure(const DriveReport& report, const DriveSettings& settings,
                                     const std::string& saved);
/// The RunError for a batch of which these robots failed.
[[noreturn]] void throw_robot_failures(const std::vector<FailedRobot>& failures, int robots,
                                       const DriveSettings& settings, const std::string& saved);

}  // namespace supple
