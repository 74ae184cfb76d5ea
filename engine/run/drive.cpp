#include "engine/run/drive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/scene/units.hpp"
#include "kernels/base/error.hpp"

namespace supple {

namespace {

constexpr int save_share = 20;      // a save that took long is not made again for so many times as long
constexpr std::size_t told_of = 5;  // failed robots that are told of one by one

// When a run is saved next.
class SaveClock {
 public:
  explicit SaveClock(std::chrono::seconds interval) : interval_(interval), next_(Clock::now() + interval) {}
  void tick(const std::function<void()>& save) {
    const Clock::time_point now = Clock::now();
    if (!save || now < next_) return;
    save();
    const Clock::time_point saved = Clock::now();
    next_ = saved + std::max<Clock::duration>(interval_, save_share * (saved - now));
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::seconds interval_;
  Clock::time_point next_;
};

}  // namespace

void drive(RobotSteps& robots, const DriveSettings& settings, const std::string& doing, const Progress& progress,
           const Keeping& keeping, DriveReport& report) {
  SaveClock clock(keeping.interval);
  report.seconds.reserve(report.seconds.size() +
                         static_cast<std::size_t>(std::clamp(settings.last - report.step, 0L, 1'000'000L)));
  while (report.step < settings.last) {
    if (progress.stopped()) {
      report.stopped = true;
      return;
    }
    const double time = static_cast<double>(report.step + 1) * settings.time_step;
    const TakenStep taken = robots.step(report.step + 1, time);
    report.final = taken.report;
    if (report.failed()) return;
    ++report.step;
    report.seconds.push_back(taken.seconds);
    report.stages += taken.report.times;
    report.factorisations += taken.report.iterations;
    report.weakened += taken.report.weakened > 0 ? 1 : 0;
    report.limited += taken.limited + taken.report.limited_commands;
    if (keeping.record) keeping.record(report.step, taken);
    clock.tick(keeping.save);
    progress(doing, static_cast<double>(report.step), static_cast<double>(settings.last),
             format_quantity(time, Dimension::time));
  }
}

std::string failure_text(const FailedRobot& failure, double time_step) {
  const StepReport& step = failure.report;
  std::string problem = fmt::format("step {} (to {}) failed: {}", failure.step,
                                    format_quantity(static_cast<double>(failure.step) * time_step, Dimension::time),
                                    describe(step.status));
  if (step.failed_element >= 0) problem += fmt::format(", element {}", step.failed_element);
  if (step.status == StepStatus::not_converged && step.iterations > 0)
    problem += fmt::format(", residual {:.2g} after {} iterations", step.residual, step.iterations);
  if (step.status == StepStatus::rows_unsolved && step.contact.residual > 0)
    problem += fmt::format(", those of contacts to {:.2g}", step.contact.residual);
  return problem;
}

std::string failure_remedy(StepStatus status, Integrator integrator) {
  switch (status) {
    case StepStatus::singular:
      return "hold the body with a [[fix]] region; `supple check` shows what is fixed";
    case StepStatus::loose_among_obstacles:
      return "let it come to rest in time: --integrator implicit-euler, damping in [body]";
    case StepStatus::unbalanced:
      return "hold the body with a [[fix]] region, take gravity away, or let it move: --integrator implicit-euler";
    case StepStatus::rows_unsolved:
      return "slower commands or a shorter --time-step; `supple check` finds constraints that ask for the same or "
             "are in conflict";
    case StepStatus::too_many_contacts:
      return "fewer points: `spacing` or a region in [contact]; `supple check` lists those that lie in an obstacle at "
             "rest";
    case StepStatus::out_of_memory:
      return "a coarser mesh, or a machine with more memory";
    default:
      return integrator == Integrator::implicit_euler
                 ? "slower commands, a shorter --time-step, or --integrator implicit-euler-newton"
                 : "slower or smaller commands, or a shorter --time-step; `supple check` looks at the mesh";
  }
}

void throw_step_failure(const DriveReport& report, const DriveSettings& settings, const std::string& saved) {
  std::string remedy = failure_remedy(report.final.status, settings.integrator);
  if (!saved.empty()) remedy += fmt::format("\n       (the last good state is in {})", saved);
  throw RunError(failure_text({0, report.step + 1, report.final}, settings.time_step), remedy);
}

void throw_robot_failures(const std::vector<FailedRobot>& failures, int robots, const DriveSettings& settings,
                          const std::string& saved) {
  std::string problem = fmt::format("{} of {} robots failed", failures.size(), robots);
  for (std::size_t k = 0; k < std::min(failures.size(), told_of); ++k)
    problem += fmt::format("{} robot {}: {}", k == 0 ? ":" : ";", failures[k].robot,
                           failure_text(failures[k], settings.time_step));
  if (failures.size() > told_of) problem += "; --json has all";
  std::string remedy = failure_remedy(failures.front().report.status, settings.integrator);
  if (!saved.empty()) remedy += fmt::format("\n       (the last good states are in {})", saved);
  throw RunError(problem, remedy);
}

}  // namespace supple
