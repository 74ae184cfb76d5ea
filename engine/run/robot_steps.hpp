#pragma once
// The robots of a run and who takes their steps: a CPU, robot by robot (steps_on_cpu.hpp), or a device, all together
// (steps_on_device.hpp); forward under commands or inversely towards goals.
//
// A robot whose step fails keeps its state before that step for the rest of the run, and the others continue. A run of
// one robot is a batch of one.

#include <span>
#include <string>
#include <vector>

#include "engine/inverse/inverse_law.hpp"
#include "engine/mechanics/variations.hpp"
#include "engine/model/state.hpp"
#include "engine/step/step.hpp"

namespace supple {

struct FailedRobot {
  int robot = 0;
  long step = 0;      // that failed
  StepReport report;  // its status and what is known of the cause
};

struct TakenStep {
  double seconds = 0;  // without the time that commands and goals take to be made up
  int limited = 0;     // motions cut to their range
  /// For one robot its own report. For a batch: counts are sums, iterations and residuals are the largest, times are
  /// averages over the threads. status: that of the first failure if no robot is left, else ok.
  StepReport report;
};

class RobotSteps {
 public:
  virtual ~RobotSteps() = default;
  /// Step `number` of all robots that have not failed, from where they are to `time`.
  virtual TakenStep step(long number, double time) = 0;
  /// The present states, copied from a device on request. The lists stay where they are, step after step; what they
  /// hold is valid until the next step.
  virtual const State& state() = 0;
  /// Mapped points there [robots x outputs].
  virtual const std::vector<double>& outputs() = 0;
  /// These robots, in any order, become those of `start` (reset() of state.hpp): also ones that have failed. Programs of
  /// inverse steps start cold.
  void reset(std::span<const int> robots, const State& start);
  /// The same for all robots, and the time is that of `state`, which has as many robots.
  void set_state(const State& state);
  /// In what robots of a reduced model differ, for the steps to come. On a CPU each has mechanics of its own
  /// (MechanicsTeam::Members::robots). Throws as check_variations().
  virtual void set_variations(const Variations& variations) = 0;

  int robots() const { return static_cast<int>(failed_.size()); }
  /// In the order in which they failed.
  const std::vector<FailedRobot>& failures() const { return failures_; }
  bool failed(int robot) const { return failed_[static_cast<std::size_t>(robot)] != 0; }
  /// Those that failed before the run was saved.
  void set_failures(const std::vector<FailedRobot>& failures) {
    for (const FailedRobot& failure : failures) add_failure(failure);
  }

 protected:
  explicit RobotSteps(int robots) : failed_(static_cast<std::size_t>(robots), 0) {}
  void add_failure(const FailedRobot& failure) {
    failures_.push_back(failure);
    failed_[static_cast<std::size_t>(failure.robot)] = 1;
  }
  bool all_failed() const { return failures_.size() == failed_.size(); }
  // What is kept of these robots becomes that of `start`.
  virtual void restart(std::span<const int> robots, const State& start) = 0;
  // The time of all robots.
  virtual void set_time(double time) = 0;

 private:
  std::vector<char> failed_;
  std::vector<FailedRobot> failures_;
};

/// Results of inverse steps beside the states. Robots that have failed keep their last results.
class InverseAnswers {
 public:
  virtual ~InverseAnswers() = default;
  /// Of the last step [robots].
  const std::vector<InverseReport>& reports() const { return reports_; }
  /// Why commands were held, "" where they were not [robots].
  const std::vector<std::string>& conflicts() const { return conflicts_; }
  /// [robots x 3 x effectors]
  const std::vector<double>& goals() const { return goals_; }
  /// Time spent in quadratic programs by all robots [s].
  double qp_seconds() const { return qp_seconds_; }
  /// As InverseLaw::memory(), robot after robot.
  virtual std::vector<int> memory() const = 0;
  virtual void recall(const std::vector<int>& memory) = 0;

 protected:
  InverseAnswers(int robots, int effectors)
      : reports_(static_cast<std::size_t>(robots)),
        conflicts_(static_cast<std::size_t>(robots)),
        goals_(static_cast<std::size_t>(robots) * 3 * static_cast<std::size_t>(effectors), 0.0) {}
  void answer(const InverseLaw& law, int of_law, int robot) {
    const auto b = static_cast<std::size_t>(robot);
    reports_[b] = law.report(of_law);
    if (reports_[b].held)
      conflicts_[b] = law.conflict(of_law);
    else
      conflicts_[b].clear();
  }
  std::vector<InverseReport> reports_;
  std::vector<std::string> conflicts_;
  std::vector<double> goals_;
  double qp_seconds_ = 0;
};

}  // namespace supple
