#pragma once
// The folder of an inverse run: commands.csv (for `simulate` and `run --actuation`), tracking.csv (goals, what was
// reached, errors, forces), pictures of both.

#include <string>

#include "engine/cli/inverse_drive.hpp"

namespace supple::cli {

// Refuses a folder that holds such files already, unless `force`. Throws InputError.
void check_inverse_folder(const std::string& folder, bool force);
// replayed: errors of the replay at each step, or empty. Returns a note on pictures, "" if all is well.
std::string write_inverse_results(const std::string& folder, const InverseRecord& record, const Robot& robot,
                                  const std::vector<double>& replayed);

}  // namespace supple::cli
