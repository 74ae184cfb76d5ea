#pragma once
// The folder of a run: trajectory.csv (every step), step_000010.vtu and result.pvd (every few steps), state.h5 (to go
// on). The trajectory grows at its end, before the state is replaced: after a crash it may be longer than the state is
// old, and going on cuts it. All others are replaced whole, so that a reader never sees half of one.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cli/actuation.hpp"
#include "engine/dynamics/mechanics.hpp"
#include "engine/io/saved_run.hpp"
#include "engine/mesh/write.hpp"

namespace supple::cli {

// Writes the robot's shape in a state to a .vtu file.
using WriteShape = std::function<void(const std::string& path, const State& state)>;

class ResultFolder {
 public:
  // Refuses a folder that holds results already, unless `force`, or that could not be made. Nothing is touched.
  static void check(const std::string& folder, bool force);
  static std::string state_file(const std::string& folder) { return folder + "/state.h5"; }

  // Creates the folder; results in it are replaced. Mechanics must outlive this object (one robot). every: steps
  // between two shapes.
  ResultFolder(const std::string& folder, Mechanics& mechanics, WriteShape write_shape, long every);
  // Takes up what is there, as it was after `step` steps; later lines are cut off the trajectory. Throws InputError if
  // the trajectory is not that long.
  ResultFolder(const std::string& folder, Mechanics& mechanics, WriteShape write_shape, long every, long step);

  // A line of the trajectory, and at every `every`-th step a shape.
  void record(long step, const State& state);
  // Writes what the trajectory has gained, then the state. Throws InputError if that fails.
  void save(const SavedRun& run);

  const std::string& folder() const { return folder_; }

 private:
  std::string trajectory_file() const { return folder_ + "/trajectory.csv"; }
  std::string shape_name(long step) const;
  std::string header() const;

  std::string folder_;
  Mechanics& mechanics_;
  WriteShape write_shape_;
  long every_;
  std::vector<Input> inputs_;
  std::vector<double> y_;
  std::string gained_;  // lines of the trajectory that are not in its file yet
  std::unique_ptr<PvdWriter> shapes_;
};

}  // namespace supple::cli
