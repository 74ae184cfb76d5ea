#pragma once
// How fast a run was and which robots failed, for its report.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/run/drive.hpp"
#include "engine/step/step_rate.hpp"

namespace supple::cli {

// Of every rate, for the help of the verbs that print one (StepRate).
inline constexpr const char* rate_words =
    "\nsteps/s is robots / median step time, the x real time is time step / median step time; p50, p99 and p999 are\n"
    "quantiles of the time of a step of all robots.\n";

// {steps, steps_per_s, realtime_factor, p50_us, p99_us, p999_us, batch, factorisations, weakened_tangents, stages_us}
// as in StepRate; stages are means per step.
nlohmann::ordered_json speed_facts(const DriveReport& report, const DriveSettings& settings, int robots);

// [{robot, step, time, reason}], in the order in which they failed.
nlohmann::ordered_json failed_json(const std::vector<FailedRobot>& failures, double time_step);

// What weakened tangents mean for a run, if it had any.
void print_weakened_note(const DriveReport& report);

}  // namespace supple::cli
