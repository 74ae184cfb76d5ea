#pragma once
// An inverse run saved between two steps, in its folder: what is needed to continue it with the same bits, and all that
// it has recorded. Only while the run is unfinished.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/io/saved_run.hpp"
#include "engine/run/inverse_record.hpp"

namespace supple {

struct InverseReportOfRun {
  DriveReport drive;
  InverseRecord record;
  long saturated_steps = 0;  // of a robot: goal not reached, and a limit of a range, rate or force active
  HeldSteps held;
  ContactRecord contact;
  double pyramid_error = 0;  // the most (InverseReport) [m]
};

struct SavedInverse {
  std::uint64_t robot = 0;    // of what is controlled (RecordedRobot)
  std::uint64_t request = 0;  // of the goals, the settings and the steps
  State state;
  std::vector<int> memory;  // InverseAnswers::memory
  SavedFailures failures;
  std::vector<double> sensor_memory;  // SensorReadings::memory
  InverseReportOfRun report;          // rates of the steps before are kept too
};

std::string saved_inverse_file(const std::string& folder);
/// Written aside and renamed. Throws InputError or RunError (disk full).
void write_saved_inverse(const std::string& folder, const SavedInverse& run);
/// Throws InputError if there is no saved run, if it is damaged or written by another version of the program, or if its
/// robot, its request or its sizes are not those expected.
SavedInverse read_saved_inverse(const std::string& folder, const SavedInverse& expected, const Robot& robot);
/// Removes the saved run, and a partial file that a killed process left.
void remove_saved_inverse(const std::string& folder);

}  // namespace supple
