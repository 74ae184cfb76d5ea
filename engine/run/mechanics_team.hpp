#pragma once
// Mechanics of one robot for each thread of a CPU, which step the robots of a batch one by one: every robot moves with
// the bits that it would have alone, whatever the batch and the number of threads, and fails alone.

#include <functional>
#include <memory>
#include <vector>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/model/state.hpp"

namespace supple {

class MechanicsTeam {
 public:
  /// Mechanics of one robot, which step all of them in turn. `alone` must outlive this object.
  explicit MechanicsTeam(Mechanics& alone, int robots = 1);
  /// How many members a team has: one for each thread, or one for each robot, whose mechanics then keep no data of
  /// another robot (StepSettings::keep_tangent).
  enum class Members { threads, robots };
  /// The model must outlive this object.
  MechanicsTeam(const ReducedModel& model, int robots, Members members = Members::threads);

  /// One robot's mechanics for each member, which must outlive this object: for each thread, or for each robot.
  MechanicsTeam(std::vector<Mechanics*> members, int robots);

  int robots() const { return robots_; }
  int threads() const { return threads_; }
  int size() const { return static_cast<int>(members_.size()); }
  Mechanics& member(int number) const { return *members_[static_cast<std::size_t>(number)]; }
  const Robot& robot() const { return member(0).robot(); }

  /// Mechanics of all robots at once, for steps without a look at each; null for one robot and for robots on frames.
  std::unique_ptr<ReducedMechanics> make_batch() const;
  /// Of reduced robots, each of which has a member; checked (check_variations).
  void set_variations(const Variations& variations) const;
  /// Calls action(robot, member) for all robots, each member from one thread at a time. The first exception is thrown
  /// when all have been called.
  void each_robot(const std::function<void(int, int)>& action) const;
  /// y [robots x outputs] of a state of all robots.
  void evaluate_outputs(const State& state, std::vector<double>& y) const;

 private:
  const ReducedModel* model_ = nullptr;
  int robots_, threads_;
  std::vector<std::unique_ptr<Mechanics>> own_;
  std::vector<Mechanics*> members_;
};

}  // namespace supple
