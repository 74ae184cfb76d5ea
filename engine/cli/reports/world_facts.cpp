#include "engine/cli/reports/world_facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/cli/reports/table.hpp"

namespace supple::cli {

namespace {

nlohmann::ordered_json errors_json(const WorldRow& row) {
  const ErrorSummary& errors = row.errors;
  nlohmann::ordered_json json = {{"states", errors.states},
                                 {"failed", errors.failed},
                                 {"goal_error_mean", errors.goal_mean},
                                 {"goal_error_median", errors.goal_median},
                                 {"goal_error_max", errors.goal_max},
                                 {"shape_error_mean", errors.shape_mean},
                                 {"shape_error_median", errors.shape_median},
                                 {"shape_error_max", errors.shape_max}};
  if (!errors.sets.empty()) {
    json["force_error_mean"] = row.force_mean;
    json["force_error_max"] = row.force_max;
  }
  return json;
}

}  // namespace

nlohmann::ordered_json world_json(const WorldReduction& reduction) {
  nlohmann::ordered_json json;
  for (std::size_t k = 0; k < reduction.kinds.size(); ++k)
    json["parts"].push_back({{"scene", reduction.kinds[k].scene},
                             {"file", reduction.kinds[k].file},
                             {"modes", reduction.row().modes[k]},
                             {"elements", reduction.row().elements[k]}});
  json["states"] = reduction.states;
  json["failed_states"] = reduction.failed_states;
  json["validation"] = errors_json(reduction.row());
  for (const WorldRow& row : reduction.rows)
    json["rounds"].push_back({{"modes", row.modes}, {"elements", row.elements}, {"errors", errors_json(row)}});
  json["speed"] = {{"fom_steps_per_s", reduction.full.steps_per_s},
                   {"hrom_steps_per_s", reduction.reduced.steps_per_s}};
  json["seconds"] = {{"total", reduction.seconds}};
  json["notes"] = reduction.notes;
  return json;
}

RunError refusal_of(const WorldReduction& reduction, const WorldRecipe& recipe, const std::string& accept) {
  const WorldRow& row = reduction.row();
  std::vector<std::string> missed;
  const auto add = [&](const char* what, double error, double asked) {
    if (error > asked)
      missed.push_back(fmt::format("{} by {} on average, {} were asked for", what, percent(error), percent(asked)));
  };
  add("motion and shape", row.error(), recipe.error);
  add("contact forces", row.force_mean, recipe.force_error);
  return RunError(fmt::format("the reduced parts miss {}", fmt::join(missed, "; ")),
                  fmt::format("states = ... of [reduce], more than now; {}; a larger error; {}",
                              recipe.along.file.empty() ? "smaller ranges of the inputs" : "less variation", accept));
}

}  // namespace supple::cli
