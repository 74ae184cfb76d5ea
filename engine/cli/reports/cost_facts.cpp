#include "engine/cli/reports/cost_facts.hpp"

#include <fmt/format.h>

#include "engine/cli/shell/progress_bar.hpp"

namespace supple::cli {

std::string cost_text(const ReductionCost& cost) {
  std::string states = cost.states > 0
                           ? fmt::format("about {} for {} states, {} in all", format_duration(cost.state_seconds),
                                         cost.states, format_duration(cost.seconds))
                           : fmt::format("about {}, with the states that are there", format_duration(cost.seconds));
  if (cost.most_seconds > cost.seconds)
    states += fmt::format(", up to {} if more are needed", format_duration(cost.most_seconds));
  return fmt::format("{}; {:.3g} MB of memory, {:.3g} MB on disk", states, 1e-6 * cost.memory, 1e-6 * cost.disk);
}

nlohmann::ordered_json cost_json(const ReductionCost& cost) {
  return {{"states", cost.states},       {"state_seconds", cost.state_seconds},
          {"seconds", cost.seconds},     {"most_seconds", cost.most_seconds},
          {"memory_bytes", cost.memory}, {"disk_bytes", cost.disk}};
}

}  // namespace supple::cli
