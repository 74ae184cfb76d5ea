#pragma once
// Where inverse control is to bring a robot over time: goals of its effectors, from a file or a built-in figure, and
// commands that are known.
//
// CSV as for actuation (actuation.hpp), columns: `tip x`, `tip y`, `tip z` of an effector by position (length), `tip
// rx`, `tip ry`, `tip rz` by orientation (rotation vector from rest, angle), `tip` by length or volume; names of
// actuators whose commands are known; `north min`, `north max`, limits of an actuator's force or pressure, within the
// robot's own; `robot`, where each robot of a batch has its own. Effectors without columns are not steered.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/commands/actuation.hpp"
#include "engine/run/goal_source.hpp"
#include "engine/run/live_robot.hpp"

namespace supple {

/// Columns of goals and known commands, in order: effectors, then actuators.
std::vector<Input> goal_inputs(const Robot& robot);

class GoalPath final : public GoalSource {
 public:
  /// The table has the columns of goal_inputs, and may have those of limits after them. Throws InputError if no effector
  /// has a goal, if a goal is incomplete, or for limits that limited_force rejects.
  GoalPath(const Robot& robot, Actuation table);
  void goals(double time, std::span<double> goals, int robot = 0) const override;
  void prepare(InverseLaw& law) const override;
  void know(double time, InverseLaw& law, int robot = 0, int of_law = 0) const override;
  void limit(double time, InverseLaw& law, int robot = 0) const override;
  /// All of that as a request to one robot.
  void ask(double time, LiveRequest& request) const;
  const std::vector<char>& steered() const { return steered_; }  // [effectors]
  bool limits_each_robot() const override { return !limits_.empty() && table_.for_each_robot(); }
  double end() const { return table_.end(); }
  std::uint64_t hash(std::uint64_t seed) const;  // of the table, and what it has columns for

 private:
  // Of an actuator; a side without a column is that of the robot.
  struct Limits {
    int actuator = 0;
    std::optional<std::size_t> least, largest;  // columns
  };
  Interval own_limits(const Limits& limits) const;
  // As asked for, and within those of the robot; values: a row of the table.
  Interval limits_at(const Limits& limits, std::span<const double> values) const;
  Interval limits_within(const Limits& limits, std::span<const double> values) const;
  std::vector<double> sample(double time, int robot) const;
  void take_goals(std::span<const double> values, std::span<double> goals) const;

  const Robot& robot_;
  Actuation table_;
  std::vector<char> steered_;
  std::vector<std::size_t> first_;  // column of each effector
  std::size_t first_known_ = 0;     // column of the first actuator
  std::vector<Limits> limits_;
};

GoalPath read_goals(const std::string& path, const Robot& robot, int robots = 1);

/// A closed figure in the horizontal plane about the rest position of the first effector by position, `height` above
/// it: from where the effector is (y: mapped points) to the figure in the first of `turns + 1` equal parts of
/// `duration`, then round it once in each of the others.
enum class Figure { circle, lemniscate };
struct FigureSettings {
  Figure figure = Figure::circle;
  double radius = 0, height = 0;  // m
  double duration = 0;            // s
  int turns = 2;
};
GoalPath figure_goals(const Robot& robot, std::span<const double> y, const FigureSettings& settings, double time_step);

}  // namespace supple
