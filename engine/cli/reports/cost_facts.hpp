#pragma once
// The expected cost of a reduction, in words and as JSON.

#include <nlohmann/json.hpp>
#include <string>

#include "engine/reduction/cost.hpp"

namespace supple::cli {

// "about 40 s for 320 states, 55 s in all, up to 3 min 10 s if more are needed; 260 MB of memory, 12 MB on disk"
std::string cost_text(const ReductionCost& cost);
nlohmann::ordered_json cost_json(const ReductionCost& cost);

}  // namespace supple::cli
