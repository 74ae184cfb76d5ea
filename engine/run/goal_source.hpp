#pragma once
// Where the goals of the robots of a run come from: a table over time (goals.hpp), or a program that sets them between
// two steps (batch_simulation.hpp).

#include <span>

#include "engine/inverse/inverse_law.hpp"

namespace supple {

class GoalSource {
 public:
  virtual ~GoalSource() = default;
  /// Tells the law which effectors are steered, before the first step.
  virtual void prepare(InverseLaw& law) const = 0;
  /// Goals of a robot at `time` [3 x effectors]; effectors that are not steered stay as they are in `goals`.
  virtual void goals(double time, std::span<double> goals, int robot = 0) const = 0;
  /// Tells the law the known commands of a robot at `time`; its index in the law is `of_law`.
  virtual void know(double time, InverseLaw& law, int robot = 0, int of_law = 0) const = 0;
  /// Tells the law the limits of forces of a robot at `time`; they hold for all robots of the law.
  virtual void limit(double time, InverseLaw& law, int robot = 0) const = 0;
  /// Whether robots of a batch have limits of their own.
  virtual bool limits_each_robot() const = 0;
};

}  // namespace supple
