#include "engine/cli/verbs/inverse_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "engine/cli/reports/contact_facts.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/model/touches.hpp"
#include "engine/run/actuation.hpp"
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

// What a line asks for; nothing is taken over unless all of it is understood.
struct Request {
  std::vector<double> goals;
  std::vector<char> steered;
  std::vector<std::pair<int, double>> known;
  std::vector<std::pair<int, Interval>> limits;  // of forces and pressures
  bool reset = false;
};

// [least, largest] or null: the robot's own limits of an actuator's force or pressure.
Interval read_limits(const ActuatorRow& actuator, const Json& value) {
  const Interval own = own_force_limits(actuator);
  if (value.is_null()) return own;
  if (!value.is_array() || value.size() != 2)
    throw InputError(fmt::format("the limits of '{}' are not two numbers", actuator.name), "[0, 5], or null");
  const double least = number(value[0], actuator.name), largest = number(value[1], actuator.name);
  if (least > largest)
    throw InputError(fmt::format("the limits of '{}' are reversed", actuator.name), "[least, largest]");
  // What it is commanded by has a range of its own.
  Interval allowed = own;
  if (actuator.control == ActuatorControl::force)
    allowed = {std::max(own.lower, actuator.range.lower), std::min(own.upper, actuator.range.upper)};
  if (least > allowed.upper || largest < allowed.lower)
    throw InputError(fmt::format("the limits of '{}' lie outside those of the robot ({} to {})", actuator.name,
                                 format_quantity(allowed.lower, multiplier_dimension(actuator.kind)),
                                 format_quantity(allowed.upper, multiplier_dimension(actuator.kind))),
                     "limits within them");
  return {std::max(least, own.lower), std::min(largest, own.upper)};
}

void read_request(const std::string& line, const Robot& robot, Request& request) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) throw InputError("this is not a JSON object", "{\"goal\": {\"tip\": [0, 0, 0.1]}}");
  if (json.contains("reset")) {
    if (!json["reset"].is_boolean()) throw InputError("'reset' is neither true nor false", "true");
    request.reset = json["reset"].get<bool>();
    if (request.reset) std::fill(request.steered.begin(), request.steered.end(), 0);
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "reset") {
      continue;  // read before the others
    } else if (key == "goal") {
      if (!value.is_object()) throw InputError("'goal' is not an object", "{\"tip\": [0, 0, 0.1]}");
      for (const auto& [name, goal] : value.items()) {
        const std::size_t e = find_named(robot.effectors, name, "effector");
        const auto count = static_cast<std::size_t>(robot.effectors[e].goal_numbers());
        const bool scalar = count == 1 && goal.is_number();
        if (!scalar && (!goal.is_array() || goal.size() != count))
          throw InputError(fmt::format("the goal of '{}' needs {}", name, count == 1 ? "a number" : "3 numbers"),
                           count == 1 ? fmt::format("{{\"{}\": 0.002}}", name) : "[x, y, z]");
        for (std::size_t k = 0; k < count; ++k) request.goals[3 * e + k] = number(scalar ? goal : goal[k], name);
        request.steered[e] = 1;
      }
    } else if (key == "known") {
      if (!value.is_object()) throw InputError("'known' is not an object", "{\"north\": 0.01}");
      for (const auto& [name, command] : value.items())
        request.known.emplace_back(static_cast<int>(find_named(robot.actuators, name, "actuator")),
                                   command.is_null() ? std::nan("") : number(command, name));
    } else if (key == "limits") {
      if (!value.is_object()) throw InputError("'limits' is not an object", "{\"north\": [0, 5]}");
      for (const auto& [name, limits] : value.items()) {
        const std::size_t j = find_named(robot.actuators, name, "actuator");
        request.limits.emplace_back(static_cast<int>(j), read_limits(robot.actuators[j], limits));
      }
    } else {
      throw InputError(fmt::format("'{}' means nothing here", key), "goal, known, limits or reset");
    }
  }
}

}  // namespace

void stream_inverse(InverseStep& step, Mechanics& mechanics, const State& start, std::istream& in, std::ostream& out,
                    RunRecorder& recorder) {
  const Robot& robot = mechanics.robot();
  const InterruptGuard guard(false);
  Request current;
  current.goals.assign(3 * robot.effectors.size(), 0.0);
  current.steered.assign(robot.effectors.size(), 0);
  for (std::size_t e = 0; e < current.steered.size(); ++e) step.law().steer(static_cast<int>(e), false);
  State state = start;
  long steps = 0;  // since the start, or the last reset
  std::vector<double> y(static_cast<std::size_t>(robot.outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  recorder.add(steps, state, y, current.goals, current.steered, {}, 0);
  for (std::string line; !interrupted() && std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json answer;
    bool stepped = false;
    try {
      Request request = current;
      request.known.clear();
      request.limits.clear();
      request.reset = false;
      read_request(line, robot, request);
      if (request.reset) {
        state = start;
        steps = 0;
        step.law().forget();
      }
      current = request;
      for (std::size_t e = 0; e < request.steered.size(); ++e)
        step.law().steer(static_cast<int>(e), request.steered[e] != 0);
      for (const auto& [actuator, command] : request.known) step.law().know(0, actuator, command);
      for (const auto& [actuator, limits] : request.limits) step.law().limit_force(actuator, limits);
      const auto begin = std::chrono::steady_clock::now();
      const StepReport report = step.step(current.goals, state);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (report.status != StepStatus::ok) throw RunError(describe(report.status), "the state is as it was before");
      ++steps;
      answer["time"] = state.time;
      const std::vector<Input> inputs = inputs_of(robot);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        answer["commands"][inputs[i].name] =
            i < robot.actuators.size() ? state.commands[i] : state.motions[i - robot.actuators.size()];
      for (std::size_t i = 0; i < robot.actuators.size(); ++i)
        answer["forces"][robot.actuators[i].name] = state.multipliers[i];
      double reached[3], sum = 0;
      for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
        effector_state(robot, static_cast<int>(e), step.outputs(), reached);
        answer["reached"][robot.effectors[e].name] =
            std::vector<double>(reached, reached + robot.effectors[e].goal_numbers());
      }
      const RowLayout& layout = step.law().effector_rows();
      std::vector<double> phi(static_cast<std::size_t>(layout.rows())),
          gradients(static_cast<std::size_t>(layout.gradients()));
      step.law().evaluate_effectors(0, step.outputs(), phi, gradients);
      std::size_t row = 0;
      for (std::size_t e = 0; e < robot.effectors.size(); ++e)
        for (int i = 0; i < robot.effectors[e].rows(); ++i, ++row)
          if (current.steered[e] != 0) sum += phi[row] * phi[row];
      answer["distance"] = std::sqrt(sum);
      const InverseReport& inverse = step.law().report(0);
      answer["saturated"] = inverse.saturated;
      if (robot.pairs() > 0) {
        const std::vector<Touch> pressing = touches(robot, state, step.outputs());
        const std::vector<double> sums = normal_forces(robot, pressing);
        Json& contact = answer["contact"];
        contact["pressing"] = pressing.size();
        for (std::size_t o = 0; o < sums.size(); ++o) contact["forces"][robot.obstacles[o].name] = sums[o];
        contact.update(contact_solves_json(report.contact));
      }
      answer["held"] = inverse.held ? Json(step.law().conflict(0)) : Json(nullptr);
      stepped = true;
      answer["step_us"] = 1e6 * seconds;
    } catch (const Error& error) {
      answer = {{"error", error.what()}};
    }
    out << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
    // After the answer, which nothing should wait for.
    if (!stepped || !recorder.records()) continue;
    mechanics.evaluate_outputs(state.q, state.motions, y);
    recorder.add(steps, state, y, current.goals, current.steered, step.law().report(0), step.law().qp_seconds());
  }
}

}  // namespace supple::cli
