#include "engine/reduction/snapshots/reach.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple {

namespace {

struct Halves {
  std::string name;
  double near_missed = 0, near = 0, far_missed = 0, far = 0;
  double near_rate() const { return near > 0 ? near_missed / near : 0; }
  double far_rate() const { return far > 0 ? far_missed / far : 0; }
};

constexpr double tells_much = 0.15;  // between the rates of both halves
constexpr std::size_t most_named = 3;

}  // namespace

std::string where_out_of_reach(const Robot& robot, const SnapshotSet& set) {
  if (set.out_of_reach.empty()) return "";
  const std::vector<InputRange> inputs = input_ranges(robot);
  const Sample released = released_sample(robot);
  std::vector<Halves> halves;
  for (std::size_t i = 0; i < robot.actuators.size(); ++i) {
    Halves one{robot.actuators[i].name};
    const Interval& range = inputs[i].range;
    const double most = std::max(range.upper - released[i], released[i] - range.lower);
    const auto far = [&](const Sample& sample) { return std::abs(sample[i] - released[i]) > 0.5 * most; };
    for (const Sample& sample : set.out_of_reach) {
      ++(far(sample) ? one.far : one.near);
      ++(far(sample) ? one.far_missed : one.near_missed);
    }
    for (std::size_t s = 0; s < set.commands.size(); ++s)
      if (!set.source[s].in_time && !set.source[s].replaced) ++(far(set.commands[s]) ? one.far : one.near);
    if (one.far_rate() - one.near_rate() > tells_much) halves.push_back(std::move(one));
  }
  std::ranges::stable_sort(halves, std::greater<>(), [](const Halves& h) { return h.far_rate() - h.near_rate(); });
  halves.resize(std::min(halves.size(), most_named));
  std::string text;
  for (const Halves& h : halves)
    text += fmt::format("{}'{}' {:.0f} % in the far half of its range, {:.0f} % in the near one",
                        text.empty() ? "" : "; ", h.name, 100 * h.far_rate(), 100 * h.near_rate());
  return text;
}

std::string failures_text(const SnapshotSet& set) {
  std::string text;
  for (const auto& [status, count] : set.failures)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", count, describe(status));
  return text;
}

}  // namespace supple
