// supple simulate: the full model of a scene, step by step.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/shape_writer.hpp"
#include "engine/cli/reports/speed_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/cli/shell/options.hpp"
#include "engine/cli/verbs/assembly.hpp"
#include "engine/cli/verbs/change_options.hpp"
#include "engine/cli/verbs/session.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/scene/assembly_scene.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/array/device.hpp"

namespace supple::cli {

namespace {

int simulate(Context& context, const SessionArguments& arguments) {
  check_json_target(context);
  SessionPlan plan = plan_session(context, arguments, "simulate", "SCENE");
  if (context.common.device != "auto" && parse_device(context.common.device).kind == Device::Kind::cuda)
    throw CapabilityError("the full model runs on the CPU only", "--device cpu, or reduce it and `supple run` that");
  if (is_assembly(plan.model)) return simulate_assembly(context, arguments, plan);
  Scene scene = read_scene(plan.model);
  if (plan.integrator) scene.integrator = integrator_of(*plan.integrator);
  if (plan.time_step) scene.time_step = *plan.time_step;
  FullModel model = build_full_model(scene);
  take_changes(arguments.changes, model);
  print_change_notes(context, arguments.changes, model.robot);
  check_settle(arguments, model);
  FullMechanics mechanics(model);
  const MechanicsTeam team(mechanics);
  const Subject subject{team,
                        "simulate",
                        scene.name,
                        scene.file,
                        with_changes(scene_fingerprint(scene), model.robot),
                        scene.duration,
                        full_shape_writer(mechanics),
                        full_skin(mechanics)};
  DriveSettings settings;
  settings.integrator = scene.integrator;
  settings.time_step = scene.time_step;
  if (arguments.stream) return converse(context, arguments, plan, subject, settings);
  const SessionResult result = perform(context, arguments, plan, subject, settings);
  nlohmann::ordered_json json = session_json(context, subject, result);
  json["scene"] = scene.file;
  write_json(context, json);
  if (!context.common.quiet) print_session(plan, subject, result);
  return 0;
}

}  // namespace

Command simulate_command() {
  Command command;
  command.name = "simulate";
  command.description = "simulate the full model of a scene";
  command.examples =
      "  supple simulate assets/cantilever\n"
      "  supple simulate assets/diamond --set north=\"20 mm\" --duration \"2 s\" -o /tmp/diamond\n"
      "  supple simulate assets/diamond --actuation commands.csv --json speed.json\n"
      "  supple simulate --resume /tmp/diamond\n"
      "\n"
      "A file of commands begins with a line like `time [s],north [mm],west [mm]`; numbers follow, straight lines\n"
      "are drawn between them, and inputs without a column stay at zero.\n";
  command.examples += stream_words;
  command.examples += rate_words;
  command.declare = [](Options& options) -> Run {
    const auto arguments = std::make_shared<SessionArguments>();
    options.positional("SCENE", arguments->model, "scene file, or a folder with a scene.toml", false);
    declare_session(options, *arguments, "scene", "the scene's");
    return [arguments](Context& context) { return simulate(context, *arguments); };
  };
  return command;
}

}  // namespace supple::cli
