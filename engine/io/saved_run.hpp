#pragma once
// A run saved between two steps: everything that is needed to continue it as if it had not stopped. One HDF5 file, SI.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/model/state.hpp"

namespace supple {

class Hdf5File;

/// Group /state of a file. Reading throws InputError; sizes within the state agree.
void write_robots(Hdf5File& file, const State& state);
State read_robots(const Hdf5File& file);

/// Group /failed of a file: robots of a batch that have left the run.
struct SavedFailures {
  std::vector<int> robot, step, status, element;  // of each (FailedRobot in engine/run)
};
void write_failures(Hdf5File& file, const SavedFailures& failures);
/// Empty if the file has no such group. Throws InputError for robot indices out of range and for lists of different
/// lengths.
SavedFailures read_failures(const Hdf5File& file, int robots);

struct SavedRun {
  State state;
  std::int64_t step = 0;          // steps done
  std::int64_t steps = 0;         // steps the run was to have
  std::int64_t every = 1;         // steps between two pictures
  double time_step = 0;           // s
  std::string integrator;         // word of the scene file
  std::string model;              // absolute path of the scene or model file
  std::uint64_t fingerprint = 0;  // of what is simulated: a changed scene or mesh must not continue from this state
  /// The commands: names of all inputs, times [T, s] and values [T][inputs] in SI, linear in between. rows: where each
  /// robot has a table of its own, how many of the T it has; empty: one for all.
  std::vector<std::string> inputs;
  std::vector<double> times, values;
  std::vector<int> rows;
  SavedFailures failures;
  /// Of robots with sensors: the seed of their noise, and what their next readings need of those before
  /// (engine/run/sensor_readings.hpp) [robots x memory].
  std::uint64_t sensor_seed = 1;
  std::vector<double> sensor_memory;
};

/// Written aside and renamed. Throws InputError or RunError (disk full).
void write_state(const std::string& path, const SavedRun& run);
/// Throws InputError for a file that is not a saved run, or is damaged. Sizes within the file agree; the caller checks
/// whether the state fits a robot.
SavedRun read_state(const std::string& path);

/// Version of the HDF5 library that is linked, "1.10.8".
std::string hdf5_version();

}  // namespace supple
