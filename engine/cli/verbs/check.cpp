// supple check: is this scene fit to be simulated?
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/cost_facts.hpp"
#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/scene_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/shell/terminal.hpp"
#include "engine/cli/verbs/assembly.hpp"
#include "engine/measure/mesh_error.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/read.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/reduction/pipeline.hpp"
#include "engine/reduction/snapshots/sweep_increment.hpp"
#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/equilibrium.hpp"

namespace supple::cli {

namespace {

// Why there is no equilibrium under gravity to look for, or "".
std::string no_equilibrium(const Scene& scene, const FullModel& model) {
  if (model.robot.floating && model.robot.pairs() > 0)
    return "the body is free-floating, and how it comes to lie on obstacles depends on the way there";
  if (model.robot.floating && !model.robot.held_in_space() && norm(scene.gravity) > 0)
    return "the body is free-floating, so that it falls";
  for (const ElementField& field : model.fields)
    if (!has_exact_tangent(field.law)) return "rotations from element edges have no exact tangent";
  return "";
}

// Solves for the rest shape under gravity with all commands at zero. Throws InputError if it cannot be found.
std::string try_equilibrium(const Scene& scene, const FullModel& model, nlohmann::ordered_json& json) {
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  Equilibrium equilibrium(mechanics, {});
  const EquilibriumReport report = equilibrium.solve(zero_control(mechanics), state);
  json = {{"status", describe(report.status)},
          {"iterations", report.iterations},
          {"residual", report.residual},
          {"inverted", report.inverted},
          {"negative_pivots", report.negative_pivots}};
  if (report.status != StepStatus::ok)
    throw InputError(
        fmt::format("no equilibrium under gravity with all commands at zero: {}{}", describe(report.status),
                    report.failed_element < 0 ? "" : fmt::format(" (element {})", report.failed_element)),
        "check units and mass, and that the fixed regions hold the body; a soft robot may also simply "
        "be too heavy",
        {scene.file, 0, 0, ""});
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(mechanics.model(), state.q, state.motions, u);
  double largest = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < model.mesh.nodes.size(); ++i) {
    const double size = norm(Vec3d{{u[3 * i], u[3 * i + 1], u[3 * i + 2]}});
    if (size > largest) {
      largest = size;
      where = i;
    }
  }
  json["max_displacement"] = largest;
  std::string text =
      fmt::format("found in {} iterations, residual {:.1e}; sags by at most {} (node at {})", report.iterations,
                  report.residual, format_quantity(largest, Dimension::length), format_point(model.mesh.nodes[where]));
  if (report.inverted > 0) text += fmt::format("\n{} points of elements are turned inside out", report.inverted);
  if (report.unstable > 0) text += "\nit is unstable: the robot would buckle away from it";
  return text;
}

// Above it there is a warning.
constexpr double much_error = 0.02;

// What the mesh makes of the scene's loads, and the warning where it is much; "" where there is nothing to say.
struct MeshWords {
  std::string fact, warning;
};

MeshWords mesh_words(const Scene& scene, const FullModel& model, nlohmann::ordered_json& json) {
  json = nlohmann::ordered_json::object();
  if (const std::string why = no_mesh_error(model); !why.empty()) return {fmt::format("not estimated: {}", why), ""};
  MeshError estimate;
  try {
    estimate = estimate_mesh_error(scene, model);
  } catch (const InputError& error) {
    return {fmt::format("not estimated (with a finer mesh: {})", error.what()), ""};
  }
  if (estimate.loads.empty()) return {};
  for (const MeshError::Load& load : estimate.loads)
    json[load.name] = {{"further", load.further}, {"error", load.error}};
  const MeshError::Load* worst = &estimate.worst();
  MeshWords result{fmt::format("about {} at rest, beside {}", worst->in_words(), estimate.finer), ""};
  if (worst->counts <= much_error) return result;
  result.warning =
      model.mesh.order() == 1
          ? fmt::format(
                "linear elements of this mesh lock: with order = 2 in [body] ({} unknowns, now {}) {} "
                "moves the body {:.3g} times as far",
                estimate.unknowns, model.coordinates.nv, worst->name, 1 + worst->further)
          : fmt::format("the mesh is coarse: with {} ({} unknowns, now {}) {} moves the body {:.3g} times as far",
                        estimate.finer, estimate.unknowns, model.coordinates.nv, worst->name, 1 + worst->further);
  return result;
}

int check(Context& context, const std::string& file) {
  check_json_target(context);
  if (is_assembly(file)) return check_assembly(context, file);
  const Scene scene = read_scene(file);
  Mesh mesh = read_mesh(scene.bodies.front().mesh_file);
  Mesh checked = mesh;
  place_mesh(scene.bodies.front(), checked);
  const MeshReport mesh_report = check_mesh(checked);
  const FullModel model = build_full_model(scene, std::move(mesh));
  if (const auto why = cannot_step(model.robot, scene.integrator)) throw InputError(*why);

  nlohmann::ordered_json json = machine_facts(context, "cpu");
  json["scene"] = scene_json(scene, model);
  json["mesh"] = mesh_json(mesh_report);
  Facts facts = scene_facts(scene, model);
  for (auto& fact : mesh_facts(mesh_report, 1))
    if (fact.first == "boundary" || fact.first == "parts" || fact.first == "quality") facts.push_back(std::move(fact));
  if (mesh_report.components > 1)
    facts.emplace_back("note", "the parts are not connected: each must be held by a fixed region of its own");

  std::string reducible = "yes";
  try {
    check_reducible(scene);
    check_states(model, scene);
    (void)make_plans(model.robot, scene.reduction);
    check_recipe(scene.reduction, model);
  } catch (const InputError& error) {
    reducible = fmt::format("no: {}", error.what());
  }
  json["reducible"] = reducible == "yes";
  if (reducible == "yes") {
    const ReductionCost cost = expected_cost(model, scene, {}, ReduceSettings{}.rate_seconds);
    json["reduction_cost"] = cost_json(cost);
    reducible += fmt::format("; {}", cost_text(cost));
  }
  facts.emplace_back("reducible", reducible);
  const MeshWords of_mesh = mesh_words(scene, model, json["mesh_error"]);
  if (!of_mesh.fact.empty()) facts.emplace_back("mesh error", of_mesh.fact);
  const std::string unsettled = json["reducible"] ? unsettled_sweep(model, scene.reduction) : "";
  json["sweep_warning"] = unsettled;
  if (!context.common.quiet) print_facts(facts);
  if (!context.common.quiet) print_warning(of_mesh.warning);
  if (!context.common.quiet) print_warning(unsettled);

  const std::string why_not = no_equilibrium(scene, model);
  const std::string result =
      why_not.empty() ? try_equilibrium(scene, model, json["equilibrium"]) : fmt::format("not looked for: {}", why_not);
  if (!context.common.quiet) {
    print_facts({{"equilibrium", result}});
    fmt::print("{} is fit to be simulated.\n", file);
  }
  write_json(context, json);
  return 0;
}

}  // namespace

Command check_command() {
  Command command;
  command.name = "check";
  command.description = "check a scene and its mesh, and let it sag under gravity once";
  command.examples =
      "  supple check assets/cantilever\n"
      "  supple check my_robot/scene.toml --json check.json\n";
  command.declare = [](Options& options) -> Run {
    const auto file = std::make_shared<std::string>();
    options.positional("SCENE", *file, "scene file, or a folder with a scene.toml");
    return [file](Context& context) { return check(context, *file); };
  };
  return command;
}

}  // namespace supple::cli
