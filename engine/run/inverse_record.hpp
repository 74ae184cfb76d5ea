#pragma once
// What inverse control did at each step, of one robot or a batch, and its commands replayed forward on another model.

#include <functional>
#include <string>
#include <vector>

#include "engine/inverse/held_steps.hpp"
#include "engine/run/contact_record.hpp"
#include "engine/run/drive.hpp"
#include "engine/run/goals.hpp"

namespace supple {

/// Step 0 is the start. Robots that have failed keep their last rows, but for errors, which are NaN.
struct InverseRecord {
  int robots = 1;
  std::vector<double> times;           // [steps + 1] s
  std::vector<double> qp_seconds;      // [steps + 1], of all robots
  std::vector<double> commands;        // [steps + 1][robots][actuators, then motions]
  std::vector<double> multipliers;     // [steps + 1][robots][actuators]
  std::vector<double> goals, reached;  // [steps + 1][robots][3 x effectors]
  std::vector<double> errors;          // [steps + 1][robots]; m
  std::vector<int> saturated;          // [steps + 1][robots]: limits that held the robot back
  std::vector<char> held;              // [steps + 1][robots]: no answer, the last commands held
  std::vector<int> touching;           // [steps + 1][robots]: contacts that press
  std::vector<double> normal_forces;   // [steps + 1][robots][obstacles]: sums on each [N]
  std::vector<double> sensors;         // [steps + 1][robots][numbers]: readings (sensor_readings.hpp), SI
};

/// Adds a row for each robot, as they are after a step to `time`, or with null at the start. sensors: readings then.
void record_step(const Robot& robot, RobotSteps& robots, const InverseAnswers& answers, const GoalPath& path,
                 double time, std::span<const double> sensors, const TakenStep* taken, InverseRecord& record);

/// Errors of all robots over steps 1 to the last.
struct TrackingError {
  double mean = 0, median = 0, largest = 0;
};
TrackingError tracking_error(const std::vector<double>& errors, int robots = 1);

/// Commands of one robot as a table for forward runs.
Actuation recorded_actuation(const InverseRecord& record, const Robot& robot);

/// Response of another model to the commands at each step.
struct ReplayRecord {
  std::vector<double> errors;         // [steps + 1]: distance to the goals [m]
  std::vector<double> reached;        // [steps + 1][3 x effectors]
  std::vector<int> touching;          // [steps + 1]: contacts that press
  std::vector<double> normal_forces;  // [steps + 1][obstacles]: sums on each [N]
  ContactRecord contact;
};

/// Runs `mechanics` forward under the recorded commands of one robot from equilibrium under the first of them. Throws
/// RunError, Interrupted.
ReplayRecord replay(Mechanics& mechanics, const InverseRecord& record, const GoalPath& path,
                    const DriveSettings& settings, const Progress& progress);

}  // namespace supple
