#include "engine/cli/reports/recording_facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/scene/integrator.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

std::optional<std::string> place_of(const RecordedRobot& robot, const std::string& recording) {
  try {
    return find_robot(robot, recording);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string robot_text(const RecordedRobot& robot, const std::optional<std::string>& now) {
  return now ? *now : robot.file + " (gone, or changed since: it can be neither drawn nor simulated)";
}

nlohmann::ordered_json robot_json(const RecordedRobot& robot, const std::optional<std::string>& now) {
  return {{"file", robot.file},
          {"fingerprint", hash_hex(robot.fingerprint)},
          {"found", now ? nlohmann::ordered_json(*now) : nlohmann::ordered_json()}};
}

}  // namespace

RecordingSummary summarise_recording(const std::string& path) {
  RecordingReader reader(path, RecordingReader::Check::as_read);
  RecordingSummary summary;
  summary.file = path;
  summary.facts = reader.facts();
  summary.robot = place_of(summary.facts.robot, path);
  if (summary.facts.beside) summary.beside = place_of(*summary.facts.beside, path);
  summary.frames = reader.frames();
  const RecordedFrame& first = reader.frame(0);
  summary.first_time = first.state.time;
  summary.unknowns = first.state.q.size();
  summary.actuators = first.state.commands.size();
  summary.motions = first.state.motions.size();
  summary.effectors = first.goals.size() / 3;
  for (long k = 0; k < summary.frames; ++k) {
    const RecordedFrame& frame = reader.frame(k);
    summary.inverse += frame.inverse;
    summary.held += frame.held;
    summary.saturated += frame.saturated > 0;
    summary.pulled += !frame.pull.empty() && frame.pull[0] >= 0;
    summary.last_time = frame.state.time;
  }
  return summary;
}

Facts recording_facts(const RecordingSummary& summary) {
  const auto time = [](double seconds) { return format_quantity(seconds, Dimension::time); };
  Facts facts{{"recording", summary.file}, {"robot", robot_text(summary.facts.robot, summary.robot)}};
  if (summary.facts.beside) facts.emplace_back("beside it", robot_text(*summary.facts.beside, summary.beside));
  facts.emplace_back(
      "frames", fmt::format("{}, from {} to {}", summary.frames, time(summary.first_time), time(summary.last_time)));
  facts.emplace_back("steps",
                     fmt::format("{}, {}", time(summary.facts.time_step), integrator_name(summary.facts.integrator)));
  facts.emplace_back("state", fmt::format("{} unknowns, {} actuators, {} prescribed motions, {} effectors",
                                          summary.unknowns, summary.actuators, summary.motions, summary.effectors));
  if (!summary.facts.sensors.empty())
    facts.emplace_back("sensors", fmt::format("{}", fmt::join(summary.facts.sensors, "\n")));
  facts.emplace_back("commands", summary.inverse == 0 ? "given"
                                                      : fmt::format("found for goals in {} frames, held in {}, at a "
                                                                    "limit in {}",
                                                                    summary.inverse, summary.held, summary.saturated));
  if (summary.pulled > 0) facts.emplace_back("pulled at", fmt::format("in {} frames", summary.pulled));
  return facts;
}

nlohmann::ordered_json recording_json(const RecordingSummary& summary) {
  nlohmann::ordered_json json{{"robot", robot_json(summary.facts.robot, summary.robot)},
                              {"integrator", integrator_name(summary.facts.integrator)},
                              {"time_step", summary.facts.time_step},
                              {"frames", summary.frames},
                              {"first_time", summary.first_time},
                              {"last_time", summary.last_time},
                              {"unknowns", summary.unknowns},
                              {"actuators", summary.actuators},
                              {"motions", summary.motions},
                              {"effectors", summary.effectors},
                              {"inverse_frames", summary.inverse},
                              {"held_frames", summary.held},
                              {"saturated_frames", summary.saturated},
                              {"pulled_frames", summary.pulled}};
  if (!summary.facts.sensors.empty()) json["sensors"] = summary.facts.sensors;
  if (summary.facts.beside) json["beside"] = robot_json(*summary.facts.beside, summary.beside);
  return json;
}

}  // namespace supple::cli
