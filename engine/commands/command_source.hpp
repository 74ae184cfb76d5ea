#pragma once
// Where the commands of the robots of a run come from: a table over time (actuation.hpp), or a program that sets them
// between two steps (engine/run/batch_simulation.hpp).

#include "engine/model/state.hpp"

namespace supple {

class CommandSource {
 public:
  virtual ~CommandSource() = default;
  /// The commands of `robots` robots at `time`; `control` keeps its size. Prescribed motions are clamped to their range
  /// (a step clamps commands); returns how many were, over all robots.
  virtual int evaluate(double time, int robots, Control& control) const = 0;
  /// False: all robots have the same commands.
  virtual bool for_each_robot() const = 0;
};

}  // namespace supple
