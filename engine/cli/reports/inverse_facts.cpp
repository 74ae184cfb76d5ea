#include "engine/cli/reports/inverse_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/scene/units.hpp"

namespace supple::cli {

namespace {

struct ContactTimes {
  int steps = 0, touchdowns = 0;
};

// touching [steps + 1]; step 0 is the start.
ContactTimes contact_times(const std::vector<int>& touching) {
  ContactTimes times;
  for (std::size_t k = 1; k < touching.size(); ++k) {
    times.steps += touching[k] > 0 ? 1 : 0;
    times.touchdowns += touching[k] > 0 && touching[k - 1] == 0 ? 1 : 0;
  }
  return times;
}

// normal_forces [steps + 1][obstacles].
double largest_force(const std::vector<double>& normal_forces, std::size_t obstacle, std::size_t obstacles) {
  double largest = 0;
  for (std::size_t i = obstacle; i < normal_forces.size(); i += obstacles)
    largest = std::max(largest, normal_forces[i]);
  return largest;
}

std::string words(const ContactTimes& times) {
  return fmt::format("in {} of the steps, after {} touchdown{}", times.steps, times.touchdowns,
                     times.touchdowns == 1 ? "" : "s");
}

}  // namespace

std::string held_text(const HeldSteps& held) {
  const HeldSteps::Reason &first = held.reasons().front(), &most = held.most_frequent();
  std::string text = fmt::format("in {} steps there was no answer and the last commands were held; at {}: {}",
                                 held.steps(), format_quantity(first.first, Dimension::time), first.text);
  if (held.reasons().size() == 1) return text;
  text += fmt::format(" ({} steps)", first.steps);
  if (&most != &first)
    text += fmt::format("; most often, from {} on: {} ({} steps)", format_quantity(most.first, Dimension::time),
                        most.text, most.steps);
  const std::size_t told = &most != &first ? 2 : 1, left = held.reasons().size() - told;
  if (left > 0) text += fmt::format("; {} other reason{} (--json has all)", left, left == 1 ? "" : "s");
  return text;
}

nlohmann::ordered_json held_json(const HeldSteps& held) {
  auto json = nlohmann::ordered_json::array();
  for (const HeldSteps::Reason& reason : held.reasons())
    json.push_back({{"reason", reason.text}, {"steps", reason.steps}, {"first", reason.first}});
  return json;
}

void add_touch_facts(Facts& facts, const Robot& robot, const InverseRecord& record, const ReplayRecord& replayed) {
  const bool replay = !replayed.touching.empty();
  std::string text = "contact " + words(contact_times(record.touching));
  if (replay) text += "; on the full model " + words(contact_times(replayed.touching));
  facts.emplace_back("", text);
  const std::size_t obstacles = robot.obstacles.size();
  for (std::size_t o = 0; o < obstacles; ++o) {
    const PlacedObstacle& obstacle = robot.obstacles[o];
    if (obstacle.max_force == unlimited) continue;
    const auto force = [](double newton) { return format_quantity(newton, Dimension::force); };
    text = fmt::format("on '{}' at most {} of {}", obstacle.name,
                       force(largest_force(record.normal_forces, o, obstacles)), force(obstacle.max_force));
    if (replay) text += ", on the full model " + force(largest_force(replayed.normal_forces, o, obstacles));
    facts.emplace_back("", text);
  }
}

nlohmann::ordered_json touch_json(const Robot& robot, const std::vector<int>& touching,
                                  const std::vector<double>& normal_forces) {
  const ContactTimes times = contact_times(touching);
  nlohmann::ordered_json json = {{"steps", times.steps}, {"touchdowns", times.touchdowns}};
  for (std::size_t o = 0; o < robot.obstacles.size(); ++o)
    json["largest_normal_force"][robot.obstacles[o].name] = largest_force(normal_forces, o, robot.obstacles.size());
  return json;
}

}  // namespace supple::cli
