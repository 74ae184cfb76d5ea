#include "engine/cli/reports/reduction_facts.hpp"

#include <fmt/format.h>

#include "engine/cli/reports/model_facts.hpp"
#include "engine/reduction/model_errors.hpp"

namespace supple::cli {

namespace {

// What makes a model better; its snapshots are used again.
std::string better_model(const ReductionScene& recipe) {
  const bool strains = recipe.solids == FieldForm::strains;
  return fmt::format("{}a tighter modes_tolerance (--modes-tolerance {:.2g}; it was {:.2g}), {}, or {}",
                     recipe.max_modes > 0 ? fmt::format("more modes (max_modes is {}), ", recipe.max_modes) : "",
                     0.1 * recipe.pod_tolerance, recipe.pod_tolerance,
                     strains ? "--solids elements where all elements (POD only) have smaller errors"
                             : "a tighter --tolerance of the elements",
                     recipe.along.file.empty() ? "more training snapshots (`states` in [reduce])"
                                               : "a smaller `variation` in [reduce]");
}

}  // namespace

std::string error_warning(const ErrorSummary& errors, const ReductionScene& recipe) {
  const ErrorLevel level = error_level(errors);
  if (level != ErrorLevel::large && level != ErrorLevel::too_large) return "";
  return fmt::format("the model's mean error on test states is {} (more than {:g} %); try {}", mean_errors_text(errors),
                     100 * (level == ErrorLevel::large ? warned_error : refused_error), better_model(recipe));
}

nlohmann::ordered_json reduction_json(const Reduction& reduction, const std::string& warning) {
  const ReducedModel& model = reduction.model;
  const ReduceReport& report = reduction.report;
  nlohmann::ordered_json json{{"nodes", model.provenance.nodes},
                              {"elements", model.provenance.elements},
                              {"actuators", model.robot.actuators.size()},
                              {"snapshots", model.provenance.snapshots},
                              {"modes", model.modes},
                              {"pod_tolerance", model.provenance.pod_tolerance},
                              {"rid", rid_json(model)},
                              {"validation", errors_json(model.errors)}};
  const auto number = [](bool known, double value) {
    return known ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  const DynamicError& dynamic = report.dynamic;
  json["validation"]["dynamic_failed"] = dynamic.failed;
  json["validation"]["dynamic_steps"] = dynamic.steps;
  json["validation"]["dynamic_goal_error_mean"] = number(!dynamic.failed, dynamic.goal_mean);
  json["validation"]["dynamic_goal_error_max"] = number(!dynamic.failed, dynamic.goal_max);
  const auto rate = [&](std::size_t row) {
    const Rate& measured = report.table.at(row).rate;
    return number(measured.status == StepStatus::ok, measured.steps_per_s);
  };
  json["speed"] = {{"fom_steps_per_s", rate(0)}, {"rom_steps_per_s", rate(1)}, {"hrom_steps_per_s", rate(3)}};
  const StageSeconds& seconds = report.seconds;
  json["seconds"] = {{"snapshots", seconds.snapshots},   {"pod", seconds.pod},
                     {"training", seconds.training},     {"selection", seconds.selection},
                     {"validation", seconds.validation}, {"total", seconds.total}};
  for (const auto& [key, rows] : {std::pair{"table", &report.table}, {"curve", &report.curve}}) {
    json[key] = nlohmann::ordered_json::array();
    for (const ModelRow& row : *rows) {
      const bool ok = row.rate.status == StepStatus::ok;
      auto sets = nlohmann::ordered_json::object();  // mean errors of the probes that are reported together
      for (const ErrorSummary::Set& set : row.errors.sets) sets[set.name] = set.mean;
      json[key].push_back({{"label", row.label},
                           {"modes", row.modes},
                           {"elements", row.elements},
                           {"points", row.points},
                           {"strain_modes", row.strain_modes},
                           {"tolerance", row.tolerance},
                           {"residual", row.residual},
                           {"goal_error_mean", row.errors.goal_mean},
                           {"goal_error_max", row.errors.goal_max},
                           {"shape_error_mean", row.errors.shape_mean},
                           {"shape_error_max", row.errors.shape_max},
                           {"sets", sets},
                           {"steps_per_s", number(ok, row.rate.steps_per_s)},
                           {"p50_us", number(ok, row.rate.p50_us)}});
    }
  }
  const auto put_errors = [](nlohmann::ordered_json line, const ErrorSummary& errors) {
    line["goal_error_mean"] = errors.goal_mean;
    line["goal_error_max"] = errors.goal_max;
    line["shape_error_mean"] = errors.shape_mean;
    line["shape_error_max"] = errors.shape_max;
    return line;
  };
  json["mode_search"] = nlohmann::ordered_json::array();
  for (const ModelRow& row : report.mode_search)
    json["mode_search"].push_back(put_errors({{"modes", row.modes}}, row.errors));
  json["state_search"] = nlohmann::ordered_json::array();
  for (const StateRow& row : report.state_search)
    json["state_search"].push_back(put_errors({{"states", row.states}, {"modes", row.modes}}, row.errors));
  json["branches"] = nlohmann::ordered_json::array();
  for (const Branch& branch : report.branches)
    json["branches"].push_back({{"commands", branch.commands}, {"apart_m", branch.apart}});
  json["singular_values"] = report.singular_values;
  json["notes"] = report.notes;
  json["warning"] = warning;
  json["refused"] = report.refused;
  json["limited_by"] = report.limited_by;
  json["forced"] = !model.provenance.forced.empty();
  return json;
}

void note_failures(ReduceReport& report) {
  for (const auto* rows : {&report.table, &report.curve})
    for (const ModelRow& row : *rows)
      if (row.rate.status != StepStatus::ok)
        report.notes.push_back(fmt::format("no rate of '{}' ({} modes, {} elements): {}", row.label, row.modes,
                                           row.elements, describe(row.rate.status)));
  if (report.dynamic.failed)
    report.notes.push_back(
        fmt::format("driven along an unseen path the model or the full one failed after {} steps: no goal error in "
                    "motion",
                    report.dynamic.steps));
}

RunError refusal_of(const ReduceReport& report, const ReductionScene& recipe, const std::string& folder,
                    const std::string& accept) {
  std::string remedy = report.remedy.empty() ? better_model(recipe) : report.remedy;
  // Other commands are another plan of states.
  if (!folder.empty() && recipe.along.file.empty()) remedy += fmt::format("; states in '{}' are used again", folder);
  if (report.forcible) remedy += "; " + accept;
  return {fmt::format("the model is rejected: {}{}", report.refused,
                      report.limited_by.empty() ? "" : "; limited by " + report.limited_by),
          remedy};
}

}  // namespace supple::cli
