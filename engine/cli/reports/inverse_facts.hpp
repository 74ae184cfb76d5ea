#pragma once
// Report of an inverse run: steps in which commands were held, and contacts of its robot.

#include <nlohmann/json.hpp>
#include <string>

#include "engine/cli/reports/table.hpp"
#include "engine/run/inverse_record.hpp"

namespace supple::cli {

// The first and the most frequent reason. There is one.
std::string held_text(const HeldSteps& held);
nlohmann::ordered_json held_json(const HeldSteps& held);

// In how many steps there was contact and how often it came about; the largest normal force on each obstacle, as text
// where it is limited.
void add_touch_facts(Facts& facts, const Robot& robot, const InverseRecord& record, const ReplayRecord& replayed);
nlohmann::ordered_json touch_json(const Robot& robot, const std::vector<int>& touching,
                                  const std::vector<double>& normal_forces);

}  // namespace supple::cli
