#pragma once
// The folder of an inverse run: commands.csv (for `simulate` and `run --actuation`), tracking.csv (goals, what was
// reached, errors, forces), pictures of both.

#include <string>

#include "engine/run/inverse_record.hpp"

namespace supple::cli {

// Throws InputError if the folder holds such files already, unless `force`.
void check_inverse_folder(const std::string& folder, bool force);
// replayed: of all steps, or empty. Returns a note on pictures, "" if all is well.
std::string write_inverse_results(const std::string& folder, const InverseRecord& record, const Robot& robot,
                                  const ReplayRecord& replayed);

}  // namespace supple::cli
