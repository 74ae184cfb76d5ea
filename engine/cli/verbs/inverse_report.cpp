#include "engine/cli/verbs/inverse_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/contact_facts.hpp"
#include "engine/cli/reports/inverse_facts.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/reduction/model_errors.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

double median_us(std::vector<double> seconds) {
  if (seconds.empty()) return 0;
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<long>((seconds.size() - 1) / 2), seconds.end());
  return 1e6 * seconds[(seconds.size() - 1) / 2];
}

std::string millimetres(const TrackingError& error) {
  return fmt::format("mean {:.4g} mm, median {:.4g} mm, largest {:.4g} mm", 1e3 * error.mean, 1e3 * error.median,
                     1e3 * error.largest);
}

// Of a step, of all robots.
double qp_us(const InverseOutcome& of) {
  const std::vector<double>& seconds = of.report.record.qp_seconds;
  return median_us({seconds.begin() + 1, seconds.end()});
}

}  // namespace

nlohmann::ordered_json inverse_json(const Context& context, const InverseOutcome& of) {
  const InverseReportOfRun& report = of.report;
  const Robot& robot = of.robot;
  const TrackingError tracking = tracking_error(report.record.errors, of.state.robots),
                      replay_tracking = tracking_error(of.replayed.errors);
  nlohmann::ordered_json json = speed_facts(report.drive, of.settings, of.state.robots);
  json.update(machine_facts(context, to_string(of.device)));
  json["integrator"] = integrator_name(of.settings.integrator);
  json["tracking_error_mean"] = tracking.mean;
  json["tracking_error_median"] = tracking.median;
  json["tracking_error_max"] = tracking.largest;
  json["qp_us_median"] = qp_us(of);
  json["saturated_steps"] = report.saturated_steps;
  json["held_steps"] = report.held.steps();
  if (report.held.steps() > 0) json["held_reasons"] = held_json(report.held);
  if (robot.pairs() > 0) {
    json["contact"] = contact_figures_json(report.contact, of.state);
    json["contact"]["pyramid_error"] = report.pyramid_error;
    if (of.state.robots == 1)
      json["contact"].update(touch_json(robot, report.record.touching, report.record.normal_forces));
  }
  if (of.has_replay) {
    json["replay"] = {{"tracking_error_mean", replay_tracking.mean},
                      {"tracking_error_median", replay_tracking.median},
                      {"tracking_error_max", replay_tracking.largest}};
    if (robot.pairs() > 0) {
      json["replay"]["contact"] = touch_json(robot, of.replayed.touching, of.replayed.normal_forces);
      json["replay"]["contact"].update(contact_solves_json(of.replayed.contact.figures));
    }
  }
  if (of.reduced) {
    json["model_errors"] = errors_json(of.reduced->errors);
    json["warning"] = distrust(*of.reduced);
  }
  if (of.state.robots > 1) json["failed"] = failed_json(of.failures, of.settings.time_step);
  json["state_hash"] = hash_hex(hash(of.state));
  return json;
}

void print_inverse(const InverseOutcome& of) {
  const InverseReportOfRun& report = of.report;
  const Robot& robot = of.robot;
  const State& state = of.state;
  const StepRate rate = step_rate(report.drive.seconds, state.robots, of.settings.time_step);
  fmt::print("{}: {} control steps of {}{}, by the median step {:.4g} steps/s, {:.3g} x real time\n", robot.name,
             report.drive.seconds.size(), format_quantity(of.settings.time_step, Dimension::time),
             state.robots > 1 ? fmt::format(" of {} robots", state.robots) : "", rate.steps_per_s,
             rate.realtime_factor);
  const auto time = [](double us) { return format_quantity(1e-6 * us, Dimension::time); };
  Facts facts{{"step time", fmt::format("median {}, 99 % below {}, 99.9 % below {}; quadratic program median {}",
                                        time(rate.p50_us), time(rate.p99_us), time(rate.p999_us), time(qp_us(of)))},
              {"tracking error", millimetres(tracking_error(of.report.record.errors, of.state.robots)) +
                                     (of.reduced ? " (of the reduced model itself)" : "")}};
  if (of.has_replay)
    facts.emplace_back("on the full model", millimetres(tracking_error(of.replayed.errors)) + " (commands replayed)");
  if (of.reduced) facts.emplace_back("model's errors", errors_text(*of.reduced));
  if (state.robots > 1) facts.emplace_back("device", to_string(of.device));
  const std::vector<Input> inputs = inputs_of(robot);
  for (std::size_t i = 0; state.robots == 1 && i < robot.actuators.size(); ++i)
    facts.emplace_back(
        robot.actuators[i].name,
        fmt::format("command {}, {} {}", format_quantity(state.commands[i], inputs[i].dimension),
                    multiplier_word(robot.actuators[i].kind),
                    format_quantity(state.multipliers[i], multiplier_dimension(robot.actuators[i].kind))));
  if (of.inverse.solver == InverseSolver::quadratic_program && of.inverse.regularisation == Regularisation::proximal)
    facts.emplace_back("",
                       "where several commands reach a goal, those nearest to the step before are taken: they "
                       "depend on the way there (--regularisation energy: they do not)");
  add_contact_facts(facts, report.contact, robot, state);
  if (robot.pairs() > 0 && state.robots == 1) add_touch_facts(facts, robot, report.record, of.replayed);
  if (report.pyramid_error > 0)
    facts.emplace_back(
        "", fmt::format("commands are computed with a pyramid for the cone of friction, which makes errors of up to {} "
                        "in a step",
                        format_quantity(report.pyramid_error, Dimension::length)));
  facts.emplace_back("state hash", hash_hex(hash(state)));
  if (!of.output.empty())
    facts.emplace_back("written", of.output + "/commands.csv, tracking.csv" +
                                      (of.pictures.empty() && state.robots == 1 ? ", *.png" : ""));
  if (!of.record.empty()) facts.emplace_back("recorded", of.record);
  print_facts(facts);
  if (!of.pictures.empty()) print_note(of.pictures);
  if (report.saturated_steps > 0)
    print_note(fmt::format("limits kept the robot from its goal in {} steps", report.saturated_steps));
  print_contact_notes(report.contact);
  print_weakened_note(report.drive);
  if (report.held.steps() > 0) print_note(held_text(report.held));
  if (of.reduced && !of.has_replay)
    print_note(
        "the tracking error is that of the reduced model itself; --replay SCENE runs the commands on the full model "
        "and measures its error");
  if (of.reduced) print_warning(distrust(*of.reduced));
}

}  // namespace supple::cli
