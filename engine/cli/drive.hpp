#pragma once
// A run: one step after the other under given commands, timed, until it is done, fails or is interrupted. The same for
// the full and the reduced mechanics.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cli/actuation.hpp"
#include "engine/dynamics/step.hpp"
#include "engine/dynamics/step_rate.hpp"
#include "engine/scene/integrator.hpp"
#include "kernels/base/progress.hpp"

namespace supple::cli {

// Of every rate, for the help of the verbs that print one (StepRate).
inline constexpr const char* rate_words =
    "\nsteps/s is robots / median step time, the x real time is time step / median step time; p50, p99 and p999 are\n"
    "quantiles of the time of a step of all robots.\n";

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

// Step k goes to time k h under the commands of that time (implicit). Quasi-static steps obey the actuators' rates
// too: h between two equilibria. `after` is called with k and its report when it is done, outside the timing. After a
// failed step `state` is that of the step before it.
DriveReport drive(Mechanics& mechanics, const DriveSettings& settings, const Actuation& actuation, State& state,
                  const Progress& progress, const std::function<void(long, const StepReport&)>& after);

// {steps, steps_per_s, realtime_factor, p50_us, p99_us, p999_us, batch, factorisations, weakened_tangents, stages_us}
// as in StepRate; stages are means per step.
nlohmann::ordered_json speed_facts(const DriveReport& report, const DriveSettings& settings, int robots);

// What weakened tangents mean for a run, if it had any.
void print_weakened_note(const DriveReport& report);

// The RunError for a failed step: what happened, where, and what may help.
[[noreturn]] void throw_step_failure(const DriveReport& report, const DriveSettings& settings,
                                     const std::string& saved);

}  // namespace supple::cli
