#include "engine/cli/drive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/cli/terminal.hpp"
#include "engine/dynamics/forward_step.hpp"
#include "engine/scene/units.hpp"

namespace supple::cli {

DriveReport drive(Mechanics& mechanics, const DriveSettings& settings, const Actuation& actuation, State& state,
                  const Progress& progress, const std::function<void(long, const StepReport&)>& after) {
  ForwardStep forward(mechanics, settings.integrator, settings.time_step, settings.keep_tangent);
  Control control = zero_control(mechanics);
  DriveReport report;
  report.step = settings.first;
  report.seconds.reserve(static_cast<std::size_t>(std::clamp(settings.last - settings.first, 0L, 1'000'000L)));
  while (report.step < settings.last) {
    if (progress.stopped()) {
      report.stopped = true;
      return report;
    }
    const double time = static_cast<double>(report.step + 1) * settings.time_step;
    const int limited = actuation.evaluate(time, state.robots, control);
    const auto start = std::chrono::steady_clock::now();
    report.final = forward.step(control, state);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (report.failed()) return report;
    if (settings.integrator == Integrator::quasi_static) state.time = time;  // exactly, whatever was summed
    ++report.step;
    report.seconds.push_back(seconds);
    report.stages += report.final.times;
    report.factorisations += report.final.iterations;
    report.weakened += report.final.weakened > 0 ? 1 : 0;
    report.limited += limited + report.final.limited_commands;
    after(report.step, report.final);
    progress("simulating", static_cast<double>(report.step), static_cast<double>(settings.last),
             format_quantity(time, Dimension::time));
  }
  return report;
}

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
  print_note(fmt::format(
      "in {} of {} steps the membranes' strain modes are compressed so far that the tangent leaves out some of "
      "what that does to their stiffness: a shorter --time-step tells whether it matters",
      report.weakened, report.seconds.size()));
}

void throw_step_failure(const DriveReport& report, const DriveSettings& settings, const std::string& saved) {
  const StepReport& step = report.final;
  std::string problem =
      fmt::format("step {} (to {}) failed: {}", report.step + 1,
                  format_quantity(static_cast<double>(report.step + 1) * settings.time_step, Dimension::time),
                  describe(step.status));
  if (step.failed_element >= 0) problem += fmt::format(", element {}", step.failed_element);
  if (step.status == StepStatus::not_converged)
    problem += fmt::format(", residual {:.2g} after {} iterations", step.residual, step.iterations);
  if (step.status == StepStatus::rows_unsolved && step.contact.residual > 0)
    problem += fmt::format(", those of contacts to {:.2g}", step.contact.residual);
  std::string remedy;
  switch (step.status) {
    case StepStatus::singular:
      remedy = "hold the body with a [[fix]] region; `supple check` shows what is fixed";
      break;
    case StepStatus::loose_among_obstacles:
      remedy = "let it come to rest in time: --integrator implicit-euler, damping in [body]";
      break;
    case StepStatus::unbalanced:
      remedy = "hold the body with a [[fix]] region, take gravity away, or let it move: --integrator implicit-euler";
      break;
    case StepStatus::rows_unsolved:
      remedy =
          "slower commands or a shorter --time-step; `supple check` finds constraints that ask for the same or "
          "contradict "
          "each other";
      break;
    case StepStatus::too_many_contacts:
      remedy = "fewer points: `spacing` or a region in [contact]; `supple check` says which lie in an obstacle at rest";
      break;
    case StepStatus::out_of_memory:
      remedy = "a coarser mesh, or a machine with more memory";
      break;
    default:
      remedy = settings.integrator == Integrator::implicit_euler
                   ? "slower commands, a shorter --time-step, or --integrator implicit-euler-newton"
                   : "slower or smaller commands, or a shorter --time-step; `supple check` looks at the mesh";
  }
  if (!saved.empty()) remedy += fmt::format("\n       (the last good state is in {})", saved);
  throw RunError(problem, remedy);
}

}  // namespace supple::cli
