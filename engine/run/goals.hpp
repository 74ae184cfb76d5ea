#pragma once
// Where inverse control is to bring a robot over time: goals of its effectors, from a file or a built-in figure, and
// commands that are known.
//
// CSV as for actuation (actuation.hpp), columns: `tip x`, `tip y`, `tip z` of an effector by position (length), `tip
// rx`, `tip ry`, `tip rz` by orientation (rotation vector from rest, angle), `tip` by length or volume; names of
// actuators whose commands are known; `robot`, where each robot of a batch has its own. Effectors without columns are
// not steered.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/inverse/inverse_law.hpp"
#include "engine/run/actuation.hpp"

namespace supple {

/// Columns of a file of goals, in order: effectors, then actuators.
std::vector<Input> goal_inputs(const Robot& robot);

class GoalPath {
 public:
  /// Throws InputError if no effector has a goal, or if a goal is incomplete.
  GoalPath(const Robot& robot, Actuation table);
  /// Goals of a robot at `time` [3 x effectors]; effectors that are not steered stay as they are in `goals`.
  void goals(double time, std::span<double> goals, int robot = 0) const;
  /// Tells the law which effectors are steered, and the known commands of a robot at `time`; its index in the law is
  /// `of_law`.
  void prepare(InverseLaw& law) const;
  void know(double time, InverseLaw& law, int robot = 0, int of_law = 0) const;
  const std::vector<char>& steered() const { return steered_; }  // [effectors]
  double end() const { return table_.end(); }
  std::uint64_t hash(std::uint64_t seed) const;  // of the table, and what it has columns for

 private:
  const Robot& robot_;
  Actuation table_;
  std::vector<char> steered_;
  std::vector<std::size_t> first_;  // column of each effector
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
