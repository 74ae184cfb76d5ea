#pragma once
// The folder of a run: trajectory.csv, step_000010.vtu and result.pvd (of one robot, every few steps), state.h5 (to
// resume). The trajectory has a line for every step of one robot; of a batch, with a column `robot`, one for each robot
// at every few steps until it fails. It grows at its end, before the state is replaced: after a crash it may extend
// beyond the saved state, and resuming cuts it. All others are replaced whole, so that a reader never sees half of one.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/commands/actuation.hpp"
#include "engine/io/saved_run.hpp"
#include "engine/mesh/write.hpp"
#include "engine/run/robot_steps.hpp"
#include "engine/run/sensor_readings.hpp"

namespace supple {

/// Writes the robot's shape in a state to a .vtu file.
using WriteShape = std::function<void(const std::string& path, const State& state)>;

class ResultFolder {
 public:
  /// Throws InputError for a folder that holds results already, unless `force`, or that could not be made. Nothing is
  /// changed.
  static void check(const std::string& folder, bool force);
  static std::string state_file(const std::string& folder) { return folder + "/state.h5"; }

  /// Creates the folder; results in it are replaced. The robot must outlive this object. every: steps between two
  /// shapes of one robot, between two lines of each robot of a batch.
  ResultFolder(const std::string& folder, const Robot& robot, int robots, WriteShape write_shape, long every);
  /// Continues the results in the folder after `step` steps; later lines of the trajectory are removed. Throws
  /// InputError if the trajectory is not that long.
  ResultFolder(const std::string& folder, const Robot& robot, int robots, WriteShape write_shape, long every, long step,
               const std::vector<FailedRobot>& failures);

  /// Lines of the trajectory and a shape, where this step has any. sensors: as after this step.
  void record(long step, RobotSteps& robots, SensorReadings& sensors);
  /// Writes what the trajectory has gained, then the state. Throws InputError if that fails.
  void save(const SavedRun& run);

  const std::string& folder() const { return folder_; }

 private:
  std::string trajectory_file() const { return folder_ + "/trajectory.csv"; }
  std::string shape_name(long step) const;
  std::string header() const;
  bool has_lines(long step) const { return robots_ == 1 || step % every_ == 0; }
  void add_line(const State& state, std::span<const double> y, std::span<const double> sensors, int robot);

  struct Common {};  // of both ways to begin
  ResultFolder(Common, const std::string& folder, const Robot& robot, int robots, WriteShape write_shape, long every);

  std::string folder_;
  const Robot& robot_;
  int robots_;
  WriteShape write_shape_;
  long every_;
  std::vector<Input> inputs_;
  std::vector<SensorNumber> sensor_numbers_;
  std::string gained_;                 // lines of the trajectory that are not in its file yet
  std::unique_ptr<PvdWriter> shapes_;  // of one robot
};

}  // namespace supple
