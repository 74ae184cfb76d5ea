#include "engine/cli/reports/speed_facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cli/shell/terminal.hpp"

namespace supple::cli {

nlohmann::ordered_json speed_facts(const DriveReport& report, const DriveSettings& settings, int robots) {
  const StepRate rate = step_rate(report.seconds, robots, settings.time_step);
  const auto steps = static_cast<double>(report.seconds.size());
  const auto mean_us = [&](double seconds) { return steps > 0 ? 1e6 * seconds / steps : 0; };
  const StageTimes& stages = report.stages;
  return {{"steps", report.seconds.size()},
          {"steps_per_s", rate.steps_per_s},
          {"realtime_factor", rate.realtime_factor},
          {"p50_us", rate.p50_us},
          {"p99_us", rate.p99_us},
          {"p999_us", rate.p999_us},
          {"batch", robots},
          {"factorisations", report.factorisations},
          {"weakened_tangents", report.weakened},
          {"stages_us",
           {{"outputs", mean_us(stages.outputs)},
            {"forces", mean_us(stages.forces)},
            {"factor", mean_us(stages.factor)},
            {"solve", mean_us(stages.solve)},
            {"rows", mean_us(stages.rows)}}}};
}

void print_weakened_note(const DriveReport& report) {
  if (report.weakened == 0) return;
  print_note(
      fmt::format("in {} of {} steps the strain modes are compressed so far that the tangent leaves out some of "
                  "what that does to their stiffness: a shorter --time-step tells whether it matters",
                  report.weakened, report.seconds.size()));
}

nlohmann::ordered_json failed_json(const std::vector<FailedRobot>& failures, double time_step) {
  auto json = nlohmann::ordered_json::array();
  for (const FailedRobot& failure : failures) {
    json.push_back({{"robot", failure.robot},
                    {"step", failure.step},
                    {"time", static_cast<double>(failure.step) * time_step},
                    {"reason", describe(failure.report.status)}});
    if (failure.report.failed_element >= 0) json.back()["element"] = failure.report.failed_element;
  }
  return json;
}

}  // namespace supple::cli
