#pragma once
// A reduction in words and as JSON: the same for the command line and for Python.

#include <nlohmann/json.hpp>
#include <string>

#include "engine/reduction/pipeline.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

/// Of a model whose errors may be too large for its use; "" of any other.
std::string error_warning(const ErrorSummary& errors, const ReductionScene& recipe);
/// Every figure of the reduction; what `supple reduce --json` writes, but for the machine.
nlohmann::ordered_json reduction_json(const Reduction& reduction, const std::string& warning);
/// Adds to the notes what was to be measured and could not be.
void note_failures(ReduceReport& report);
/// Why a model is not written, and what helps. folder: of its states, or ""; accept: how it is written
/// all the same, where the user may overrule that.
RunError refusal_of(const ReduceReport& report, const ReductionScene& recipe, const std::string& folder,
                    const std::string& accept);

}  // namespace supple::cli
