#include "engine/cli/verbs/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "engine/cli/reports/contact_facts.hpp"
#include "engine/cli/reports/robot_facts.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/run/goals.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

namespace {

using Json = nlohmann::ordered_json;

template <class Range>
std::size_t find_named(const Range& things, const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (things[i].name == name) return i;
    names.push_back(things[i].name);
  }
  throw InputError(fmt::format("the robot has no {} '{}'", what, name),
                   names.empty() ? "none" : fmt::format("one of {}", fmt::join(names, ", ")));
}

double number(const Json& value, const std::string& name) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    throw InputError(fmt::format("'{}' is not a number", name), "numbers in SI units");
  return value.get<double>();
}

void read_goal(const Robot& robot, const std::string& name, const Json& goal, LiveRequest& request) {
  const std::size_t e = find_named(robot.effectors, name, "effector");
  const auto count = static_cast<std::size_t>(robot.effectors[e].goal_numbers());
  const bool scalar = count == 1 && goal.is_number();
  if (!scalar && (!goal.is_array() || goal.size() != count))
    throw InputError(fmt::format("the goal of '{}' needs {}", name, count == 1 ? "a number" : "3 numbers"),
                     count == 1 ? fmt::format("{{\"{}\": 0.002}}", name) : "[x, y, z]");
  for (std::size_t k = 0; k < count; ++k) request.goals[3 * e + k] = number(scalar ? goal : goal[k], name);
  request.steered[e] = 1;
}

void read_known(const Robot& robot, const std::string& name, const Json& command, LiveRequest& request) {
  const std::size_t j = find_named(robot.actuators, name, "actuator");
  request.known[j] = command.is_null() ? std::nan("") : number(command, name);
}

// [least, largest] or null: the robot's own limits of an actuator's force or pressure.
void read_limits(const Robot& robot, const std::string& name, const Json& value, LiveRequest& request) {
  const std::size_t j = find_named(robot.actuators, name, "actuator");
  const ActuatorRow& actuator = robot.actuators[j];
  if (!value.is_null() && (!value.is_array() || value.size() != 2))
    throw InputError(fmt::format("the limits of '{}' are not two numbers", name), "[0, 5], or null");
  request.limits[j] = value.is_null() ? own_force_limits(actuator)
                                      : limited_force(actuator, {number(value[0], name), number(value[1], name)});
}

void read_command(const Robot& robot, const std::string& name, const Json& value, LiveRequest& request) {
  request.commands[find_named(inputs_of(robot), name, "input")] = number(value, name);
}

// What a line may have besides "reset": an object with a value for each name.
struct Key {
  const char* name;
  const char* example;
  void (*read)(const Robot& robot, const std::string& name, const Json& value, LiveRequest& request);
};
constexpr Key inverse_keys[] = {{"goal", "{\"tip\": [0, 0, 0.1]}", read_goal},
                                {"known", "{\"north\": 0.01}", read_known},
                                {"limits", "{\"north\": [0, 5]}", read_limits}};
constexpr Key forward_keys[] = {{"commands", "{\"north\": 0.01}", read_command}};

std::span<const Key> keys_of(LiveMode mode) {
  if (mode == LiveMode::inverse) return inverse_keys;
  return forward_keys;
}

struct Line {
  LiveRequest request;
  bool reset = false;
};

// What a line asks after `last`; `first`: before the first line.
Line read_line(const std::string& text, const Robot& robot, const LiveRequest& last, const LiveRequest& first) {
  const std::span<const Key> keys = keys_of(last.mode);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    throw InputError("this is not a JSON object", fmt::format("{{\"{}\": {}}}", keys[0].name, keys[0].example));
  Line line;
  if (json.contains("reset")) {
    if (!json["reset"].is_boolean()) throw InputError("'reset' is neither true nor false", "true");
    line.reset = json["reset"].get<bool>();
  }
  line.request = line.reset ? first : last;
  for (const auto& [key, value] : json.items()) {
    if (key == "reset") continue;  // read before the others
    const auto found = std::ranges::find(keys, key, &Key::name);
    if (found == keys.end()) {
      std::string names;
      for (const Key& known : keys) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
      throw InputError(fmt::format("'{}' means nothing here", key), names + " or reset");
    }
    if (!value.is_object()) throw InputError(fmt::format("'{}' is not an object", key), found->example);
    for (const auto& [name, part] : value.items()) found->read(robot, name, part, line.request);
  }
  return line;
}

Json contact_json(const Robot& robot, const LiveFrame& frame) {
  Json contact;
  contact["pressing"] = frame.touches.size();
  const std::vector<double> sums = normal_forces(robot, frame.touches);
  for (std::size_t o = 0; o < sums.size(); ++o) contact["forces"][robot.obstacles[o].name] = sums[o];
  contact.update(contact_solves_json(frame.report.contact));
  return contact;
}

Json answer_of(const Robot& robot, const LiveFrame& frame) {
  const State& state = frame.state;
  const bool inverse = frame.mode == LiveMode::inverse;
  Json answer;
  answer["time"] = state.time;
  const std::vector<Input> inputs = inputs_of(robot);
  const std::size_t actuators = robot.actuators.size();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    answer["commands"][inputs[i].name] = i < actuators ? state.commands[i] : state.motions[i - actuators];
  for (std::size_t i = 0; i < actuators; ++i) answer["forces"][robot.actuators[i].name] = state.multipliers[i];
  for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
    const double* reached = frame.reached.data() + 3 * e;
    answer["reached"][robot.effectors[e].name] =
        std::vector<double>(reached, reached + robot.effectors[e].goal_numbers());
  }
  if (!robot.sensors.empty()) answer["sensors"] = sensors_json(robot, frame.sensors);
  if (inverse) {
    answer["distance"] = frame.distance;
    answer["saturated"] = frame.saturated;
  }
  if (robot.pairs() > 0) answer["contact"] = contact_json(robot, frame);
  if (inverse)
    answer["held"] = frame.held.empty() ? Json(nullptr) : Json(frame.held);
  else
    answer["limited"] = frame.limited;
  answer["step_us"] = 1e6 * frame.step_seconds;
  return answer;
}

}  // namespace

void check_stream(const CommonOptions& common, std::initializer_list<Given> runs,
                  std::initializer_list<Given> results) {
  refuse_with("--stdin, where each line is a step of one robot", runs, "leave it out");
  refuse_with("--stdin", results, "save the lines that come out, or --record FILE");
  refuse_with("--stdin", {{!common.json.empty(), "--json"}}, "save the lines that come out");
  refuse_with("--stdin", {{common.device.starts_with("cuda"), "--device cuda"}}, "--device cpu");
}

void stream(LiveRobot& robot, const LiveRequest& first, std::istream& in, std::ostream& out, RunRecorder& recorder) {
  const InterruptGuard guard(false);
  LiveFrame start = robot.frame();
  start.mode = first.mode;
  if (first.mode == LiveMode::inverse) start.steered = first.steered;
  recorder.add(start);
  LiveRequest request = first;
  for (std::string text; !interrupted() && std::getline(in, text);) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json answer;
    bool stepped = false;
    try {
      Line line = read_line(text, robot.robot(), request, first);
      if (line.reset) robot.reset();
      const StepStatus status = robot.step(line.request);
      if (status != StepStatus::ok) throw RunError(describe(status), "another line; this one is forgotten");
      request = std::move(line.request);
      answer = answer_of(robot.robot(), robot.frame());
      stepped = true;
    } catch (const Error& error) {
      answer = {{"error", error.what()}};
    }
    out << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
    if (stepped) recorder.add(robot.frame());  // after the answer, which nothing should wait for
  }
}

}  // namespace supple::cli
