#pragma once
// An inverse run saved between two steps, in its folder: what it needs to go on with the same bits, and all it has
// recorded. Only while the run is unfinished.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cli/inverse_drive.hpp"

namespace supple::cli {

struct SavedInverse {
  std::uint64_t robot = 0;    // of what is controlled (RecordedRobot)
  std::uint64_t request = 0;  // of the goals, the settings and the steps
  State state;
  std::vector<int> memory;    // InverseLaw::memory
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

}  // namespace supple::cli
