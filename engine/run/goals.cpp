#include "engine/run/goals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

constexpr int most_figure_steps = 10'000'000;

std::vector<std::string> column_names(const Effector& effector) {
  const std::string& name = effector.name;
  switch (effector.kind) {
    case EffectorKind::position:
      return {name + " x", name + " y", name + " z"};
    case EffectorKind::orientation:
      return {name + " rx", name + " ry", name + " rz"};
    case EffectorKind::length:
    case EffectorKind::volume:
      break;
  }
  return {name};
}

// Turns done after `time` of `turns`, both in turns: the speed rises linearly over the first half turn's time.
double turned(double time, int turns) {
  constexpr double rise = 0.5;
  const double even = time < rise ? time * time / (2 * rise) : time - rise / 2;
  return even * turns / (turns - rise / 2);
}

}  // namespace

std::vector<Input> goal_inputs(const Robot& robot) {
  std::vector<Input> inputs;
  for (const Effector& effector : robot.effectors)
    for (const std::string& name : column_names(effector))
      inputs.push_back({name, goal_dimension(effector.kind), {}, false});
  for (const Input& input : inputs_of(robot))
    if (!input.motion) inputs.push_back(input);
  return inputs;
}

GoalPath::GoalPath(const Robot& robot, Actuation table) : robot_(robot), table_(std::move(table)) {
  std::size_t column = 0;
  bool any = false;
  for (const Effector& effector : robot.effectors) {
    const std::size_t count = column_names(effector).size();
    std::size_t given = 0;
    for (std::size_t k = 0; k < count; ++k) given += table_.given(column + k) ? 1 : 0;
    if (given != 0 && given != count)
      throw InputError(fmt::format("the goal of '{}' has {} of its {} columns", effector.name, given, count),
                       fmt::format("{}", fmt::join(column_names(effector), ", ")));
    first_.push_back(column);
    steered_.push_back(given == count);
    any = any || given == count;
    column += count;
  }
  if (!any)
    throw InputError("no effector has a goal",
                     robot.effectors.empty()
                         ? "a scene with an [[effector]]"
                         : fmt::format("columns {}", fmt::join(column_names(robot.effectors.front()), ", ")));
  first_known_ = column;
  column += robot.actuators.size();
  for (int j = 0; column < table_.inputs().size(); ++j, column += 2) {
    Limits limits{j, {}, {}};
    if (table_.given(column)) limits.least = column;
    if (table_.given(column + 1)) limits.largest = column + 1;
    if (limits.least || limits.largest) limits_.push_back(limits);
  }
  const std::size_t width = table_.inputs().size();
  for (std::size_t t = 0; t < table_.times().size(); ++t)
    for (const Limits& limits : limits_)
      (void)limited_force(robot.actuators[extent(limits.actuator)],
                          limits_at(limits, std::span(table_.values()).subspan(t * width, width)),
                          fmt::format(" at {}", format_quantity(table_.times()[t], Dimension::time)));
}

Interval GoalPath::own_limits(const Limits& limits) const {
  return own_force_limits(robot_.actuators[extent(limits.actuator)]);
}

Interval GoalPath::limits_at(const Limits& limits, std::span<const double> values) const {
  Interval asked = own_limits(limits);
  if (limits.least) asked.lower = values[*limits.least];
  if (limits.largest) asked.upper = values[*limits.largest];
  return asked;
}

// The row of the table at `time`.
std::vector<double> GoalPath::sample(double time, int robot) const {
  std::vector<double> values(table_.inputs().size());
  table_.sample(time, values, robot);
  return values;
}

Interval GoalPath::limits_within(const Limits& limits, std::span<const double> values) const {
  return clipped(limits_at(limits, values), own_limits(limits));
}

void GoalPath::goals(double time, std::span<double> goals, int robot) const {
  take_goals(sample(time, robot), goals);
}

void GoalPath::take_goals(std::span<const double> values, std::span<double> goals) const {
  for (std::size_t e = 0; e < robot_.effectors.size(); ++e) {
    if (steered_[e] == 0) continue;
    const auto count = static_cast<std::size_t>(robot_.effectors[e].goal_numbers());
    for (std::size_t k = 0; k < count; ++k) goals[3 * e + k] = values[first_[e] + k];
  }
}

std::uint64_t GoalPath::hash(std::uint64_t seed) const {
  for (const auto* numbers : {&table_.times(), &table_.values()})
    seed = hash_bytes(numbers->data(), numbers->size() * sizeof(double), seed);
  std::vector<char> given;
  for (std::size_t i = 0; i < table_.inputs().size(); ++i) given.push_back(table_.given(i) ? 1 : 0);
  seed = hash_bytes(given.data(), given.size(), seed);
  const std::vector<int> rows = table_.rows();
  return rows.empty() ? seed : hash_bytes(rows.data(), rows.size() * sizeof(int), seed);
}

void GoalPath::prepare(InverseLaw& law) const {
  for (std::size_t e = 0; e < steered_.size(); ++e) law.steer(static_cast<int>(e), steered_[e] != 0);
}

void GoalPath::know(double time, InverseLaw& law, int robot, int of_law) const {
  const std::vector<double> values = sample(time, robot);
  for (std::size_t j = 0; j < robot_.actuators.size(); ++j)
    if (table_.given(first_known_ + j)) law.know(of_law, static_cast<int>(j), values[first_known_ + j]);
}

void GoalPath::limit(double time, InverseLaw& law, int robot) const {
  if (limits_.empty()) return;
  const std::vector<double> values = sample(time, robot);
  for (const Limits& limits : limits_) law.limit_force(limits.actuator, limits_within(limits, values));
}

void GoalPath::ask(double time, LiveRequest& request) const {
  const std::vector<double> values = sample(time, 0);
  request.mode = LiveMode::inverse;
  request.steered = steered_;
  take_goals(values, request.goals);
  request.known.assign(robot_.actuators.size(), std::nan(""));
  request.limits.resize(robot_.actuators.size());
  std::ranges::transform(robot_.actuators, request.limits.begin(), own_force_limits);
  for (std::size_t j = 0; j < robot_.actuators.size(); ++j)
    if (table_.given(first_known_ + j)) request.known[j] = values[first_known_ + j];
  for (const Limits& limits : limits_) request.limits[extent(limits.actuator)] = limits_within(limits, values);
}

GoalPath read_goals(const std::string& path, const Robot& robot, int robots) {
  std::vector<Input> columns = goal_inputs(robot);
  for (const ActuatorRow& actuator : robot.actuators)
    for (const char* side : {" min", " max"})
      columns.push_back({actuator.name + side, multiplier_dimension(actuator.kind), {}, false});
  Actuation table = read_table(path, columns, robots);
  try {
    return {robot, std::move(table)};
  } catch (const InputError& error) {
    throw InputError(error.what(), error.suggestion(), {path, 0, 0, ""});
  }
}

GoalPath figure_goals(const Robot& robot, std::span<const double> y, const FigureSettings& settings, double time_step) {
  const Effector* effector = nullptr;
  for (const Effector& candidate : robot.effectors)
    if (effector == nullptr && candidate.kind == EffectorKind::position) effector = &candidate;
  if (effector == nullptr) throw InputError("no effector is steered by its position", "--goal CSV");
  const double *start = y.data() + 3 * effector->point, part = settings.duration / (settings.turns + 1);
  const Vec3d& rest = robot.rest_points[static_cast<std::size_t>(effector->point)];
  const Vec3d centre{{rest[0], rest[1], rest[2] + settings.height}};
  const std::vector<Input> inputs = goal_inputs(robot);
  std::vector<std::string> names;
  for (const Input& input : inputs) names.push_back(input.name);
  const auto first =
      static_cast<std::size_t>(std::ranges::find(names, column_names(*effector).front()) - names.begin());
  const double count = settings.duration / time_step;
  if (!(count <= most_figure_steps))
    throw InputError(fmt::format("the figure has {:.3g} steps, at most {} are possible", count, most_figure_steps),
                     "fewer --turns, a shorter --duration or a longer --time-step");
  std::vector<double> times, values;
  for (long k = 0; k <= std::lround(count); ++k) {
    const double t = static_cast<double>(k) * time_step;
    // Outwards smoothly, so that the goal starts at rest.
    const double out = std::min(1.0, t / part), share = out * out * (3 - 2 * out);
    const double angle = 2 * std::numbers::pi * turned(std::max(0.0, t / part - 1), settings.turns);
    const double u = std::cos(angle), v = settings.figure == Figure::circle ? std::sin(angle) : std::sin(2 * angle) / 2;
    const Vec3d goal{{centre[0] + settings.radius * u, centre[1] + settings.radius * v, centre[2]}};
    times.push_back(t);
    values.resize(values.size() + inputs.size(), 0.0);
    // Written with fma, so that the bits of a figure do not depend on what a compiler makes of the lines around it.
    double* to = values.data() + values.size() - inputs.size() + first;
    for (int i = 0; i < 2; ++i) to[i] = std::fma(share, goal[i], (1 - share) * start[i]);
    to[2] = std::fma(1 - share, start[2], share * goal[2]);
  }
  Actuation table(inputs, names, std::move(times), std::move(values));
  table.give(first, 3);
  return {robot, std::move(table)};
}

}  // namespace supple
