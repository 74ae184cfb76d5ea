#pragma once
// An inverse run saved between two steps, in its folder: what it needs to continue with the same bits, and all it has
// recorded. Only while the run is unfinished.

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
  InverseReportOfRun report;  // rates of the steps before are kept too
};

std::string saved_inverse_file(const std::string& folder);
// Written aside and renamed. Throws InputError or RunError (disk full).
void write_saved_inverse(const std::string& folder, const SavedInverse& run);
// Throws InputError: there is none, it is damaged, another version of the program wrote it, or its robot, its request
// or sizes are not those expected.
SavedInverse read_saved_inverse(const std::string& folder, const SavedInverse& expected, const Robot& robot);
// And what a kill left of one that was being written.
void remove_saved_inverse(const std::string& folder);

}  // namespace supple
