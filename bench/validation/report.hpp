#pragma once
// The page docs/validation.md, from the runs.

#include <string>
#include <vector>

#include "bench/validation/cases.hpp"

namespace supple::validation {

/// Runs of a case: element by element, refinement by refinement.
struct CaseRuns {
  const Case* of;
  std::vector<std::vector<Run>> runs;
};

/// One line of a table of the terminal.
std::string line(const Element& element, const Run& run);
/// The default element's figures on the practical mesh, within the bar or not.
bool meets_bar(const Case& each, const Run& run);
std::string page(const std::vector<CaseRuns>& cases);

}  // namespace supple::validation
