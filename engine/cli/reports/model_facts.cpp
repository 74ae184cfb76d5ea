#include "engine/cli/reports/model_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/robot_facts.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/reduction/world_reduction.hpp"
#include "engine/run/drive.hpp"
#include "engine/sofa/sofa_import.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

bool known(const ReducedField& field) {
  return field.tolerance != unknown_tolerance;
}

// What its errors were measured on.
const char* unseen(const ReducedModel& model) {
  if (std::ranges::find(model.errors.sets, forces_along_commands, &ErrorSummary::Set::name) != model.errors.sets.end())
    return "states along commands of its world";
  return shaken_in_time(model.robot) ? "time steps" : "equilibria";
}

// "relaxes 0.4 of its shear modulus in 100 ms; retardation 2 ms", of every material that does.
std::string viscosity_text(const ReducedModel& model) {
  std::string text;
  for (const ReducedField& field : model.fields) {
    const FieldViscosity& viscosity = field.viscosity;
    for (std::size_t at = 0; at < viscosity.viscosity.size(); ++at) {
      const double eta = viscosity.viscosity[at], time = viscosity.time[at];
      if (eta == 0) continue;
      const std::string branch = time > 0 ? fmt::format("relaxes {:.4g} of its shear modulus in {}", eta / time,
                                                        format_quantity(time, Dimension::time))
                                          : fmt::format("retardation {}", format_quantity(eta, Dimension::time));
      if (text.find(branch) == std::string::npos) text += (text.empty() ? "" : "; ") + branch;
    }
  }
  return text;
}

}  // namespace

nlohmann::ordered_json rid_json(const ReducedModel& model) {
  auto json = nlohmann::ordered_json::object();
  for (const ReducedField& field : model.fields) {
    json[field.name] = {
        {"elements", kept_elements(field).count()},
        {"of", field.total_elements},
        {"points", field.points()},
        {"unit", field.unit == DomainUnit::point ? "point" : "element"},
        {"tolerance", known(field) ? nlohmann::ordered_json(field.tolerance) : nlohmann::ordered_json()},
        {"residual", known(field) ? nlohmann::ordered_json(field.residual) : nlohmann::ordered_json()}};
    if (field.strains.count > 0) json[field.name]["strain_modes"] = field.strains.count;
  }
  return json;
}

std::string forces_of(int elements, int strain_modes) {
  if (strain_modes == 0) return fmt::format("{}", elements);
  return elements == 0 ? fmt::format("{} strains", strain_modes)
                       : fmt::format("{} + {} strains", elements, strain_modes);
}

std::string errors_text(const ReducedModel& model) {
  const ErrorSummary& errors = model.errors;
  if (errors.states == 0) return "never measured: do not trust this model";
  std::string text = fmt::format("{} on average over {} {}", mean_errors_text(errors), errors.states, unseen(model));
  if (errors.failed > 0) text += fmt::format(" ({})", failed_states_text(errors));
  return text;
}

nlohmann::ordered_json errors_json(const ErrorSummary& errors) {
  const bool known = errors.worst_state >= 0;
  const auto solved = [&](double mean) {
    const std::optional<double> value = mean_of_solved(errors, mean);
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  return {{"states", errors.states},
          {"failed", errors.failed},
          {"elsewhere", errors.elsewhere},
          {"goal_error_mean", errors.goal_mean},
          {"goal_error_median", errors.goal_median},
          {"goal_error_max", errors.goal_max},
          {"shape_error_mean", errors.shape_mean},
          {"shape_error_median", errors.shape_median},
          {"shape_error_max", errors.shape_max},
          {"goal_error_mean_without_failed", solved(errors.goal_mean)},
          {"shape_error_mean_without_failed", solved(errors.shape_mean)},
          {"worst_state", known ? nlohmann::ordered_json(errors.worst_state) : nlohmann::ordered_json()},
          {"worst_commands", errors.worst_commands}};
}

Facts model_facts(const ReducedModel& model) {
  const Provenance& from = model.provenance;
  Facts facts{{"robot", model.robot.name},
              {"from", fmt::format("{} nodes, {} elements, {} states", from.nodes, from.elements, from.snapshots)},
              {"modes", from.pod_tolerance > 0 ? fmt::format("{} (tolerance {:g})", model.modes, from.pod_tolerance)
                                               : fmt::format("{}", model.modes)}};
  for (const ReducedField& field : model.fields)
    if (field.strains.count > 0)
      facts.emplace_back("strain modes",
                         fmt::format("{} for {} elements in {} (tolerance {:g}, left out {:.3g})", field.strains.count,
                                     field.total_elements, field.name, field.tolerance, field.residual));
    else
      facts.emplace_back(
          "elements",
          fmt::format("{}{} of {} in {} ({})",
                      field.unit == DomainUnit::point ? fmt::format("{} points in ", field.points()) : "",
                      kept_elements(field).count(), field.total_elements, field.name,
                      known(field) ? fmt::format("tolerance {:g}, residual {:.3g}", field.tolerance, field.residual)
                                   : "tolerance not known"));
  if (const std::string text = viscosity_text(model); !text.empty()) facts.emplace_back("viscous", text);
  const ErrorSummary& errors = model.errors;
  if (errors.states > 0) {
    const auto line = [](double mean, double median, double largest) {
      return fmt::format("{:.3g} % on average, {:.3g} % median, {:.3g} % at most", 100 * mean, 100 * median,
                         100 * largest);
    };
    facts.emplace_back("goal error", line(errors.goal_mean, errors.goal_median, errors.goal_max));
    facts.emplace_back("shape error", line(errors.shape_mean, errors.shape_median, errors.shape_max));
    for (const ErrorSummary::Set& set : errors.sets)
      facts.emplace_back(set.name + " error", line(set.mean, set.median, set.max));
    facts.emplace_back("measured on", fmt::format("{} {} under unseen actuation, {} failed", errors.states,
                                                  unseen(model), errors.failed));
    if (errors.failed > 0) facts.emplace_back("failed", failed_states_text(errors));
    if (errors.elsewhere > 0)
      facts.emplace_back("elsewhere", fmt::format("{} of these states are compared with another equilibrium than "
                                                  "the full model has found from rest",
                                                  errors.elsewhere));
  } else {
    facts.emplace_back("errors", errors_text(model));
  }
  facts.emplace_back("time step", step_text(model.robot, model.robot.time_step, model.robot.integrator));
  std::vector<std::vector<std::string>> rows;
  const std::vector<Input> inputs = inputs_of(model.robot);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    rows.push_back({inputs[i].name,
                    inputs[i].motion ? describe(model.robot.motions[i - model.robot.actuators.size()])
                                     : describe(model.robot.actuators[i]),
                    format_range(inputs[i].range, inputs[i].dimension)});
  std::string table = rows.empty() ? "none\n" : format_table(rows);
  table.pop_back();
  facts.emplace_back("actuators", table);
  for (const auto& cells : constraints_table(model.robot))
    facts.emplace_back("constraint", fmt::format("{}", fmt::join(cells, "  ")));
  for (const Effector& effector : model.robot.effectors)
    facts.emplace_back("effector", fmt::format("{}", fmt::join(effector_cells(model.robot, effector), "  ")));
  for (const Sensor& sensor : model.robot.sensors)
    facts.emplace_back("sensor", fmt::format("{}", fmt::join(sensor_cells(model.robot, sensor), "  ")));
  for (const Parameter& parameter : model.robot.parameters)
    facts.emplace_back("parameter", fmt::format("{}", fmt::join(parameter_cells(parameter), "  ")));
  for (const PlacedObstacle& obstacle : model.robot.obstacles)
    facts.emplace_back("obstacle", fmt::format("{}", fmt::join(obstacle_cells(obstacle), "  ")));
  if (model.robot.collision_points > 0) facts.emplace_back("contact", contact_text(model.robot));
  facts.emplace_back("scene hash", hash_hex(from.scene_hash));
  facts.emplace_back("mesh hash", hash_hex(from.mesh_hash));
  for (const std::string& note : provenance_notes(from)) facts.emplace_back("note", note);
  if (const std::string why = distrust(model); !why.empty()) facts.emplace_back("warning", why);
  facts.emplace_back("made by", fmt::format("supple {}, seed {}", from.version, from.seed));
  return facts;
}

nlohmann::ordered_json model_json(const ReducedModel& model) {
  const Provenance& from = model.provenance;
  auto obstacles = nlohmann::ordered_json::array();
  for (const PlacedObstacle& obstacle : model.robot.obstacles) obstacles.push_back(obstacle_json(obstacle));
  auto sensors = nlohmann::ordered_json::array();
  for (const Sensor& sensor : model.robot.sensors) sensors.push_back(sensor_json(model.robot, sensor));
  auto parameters = nlohmann::ordered_json::array();
  for (const Parameter& parameter : model.robot.parameters) parameters.push_back(parameter_json(parameter));
  return {{"name", model.robot.name},
          {"nodes", from.nodes},
          {"elements", from.elements},
          {"actuators", model.robot.actuators.size()},
          {"motions", model.robot.motions.size()},
          {"constraints", constraints_json(model.robot)},
          {"sensors", std::move(sensors)},
          {"parameters", std::move(parameters)},
          {"obstacles", std::move(obstacles)},
          {"contact", contact_json(model.robot)},
          {"snapshots", from.snapshots},
          {"modes", model.modes},
          {"pod_tolerance", from.pod_tolerance},
          {"rid", rid_json(model)},
          {"validation", errors_json(model.errors)},
          {"scene_hash", hash_hex(from.scene_hash)},
          {"mesh_hash", hash_hex(from.mesh_hash)},
          {"seed", from.seed},
          {"forced", from.forced},
          {"warning", distrust(model)},
          {"notes", provenance_notes(from)}};
}

}  // namespace supple::cli
