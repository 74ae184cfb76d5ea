// supple view, supple render: declared here, done by supple-view.
#include "engine/cli/verbs/view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "engine/cli/shell/options.hpp"
#include "engine/cli/verbs/change_options.hpp"
#include "engine/run/drive.hpp"
#include "kernels/base/error.hpp"

namespace supple::cli {

namespace {

constexpr const char* remedy =
    "scripts/setup.sh --viewer, then build again; -o DIR of the other verbs writes for ParaView";

// Becomes supple-view, with the same arguments. Returns only by an exception.
int start_viewer(const Context& context) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "supple-view").string();
  if (error || access(program.c_str(), X_OK) != 0)
    throw CapabilityError(fmt::format("`supple {}` needs the program supple-view beside this one, and it is not there",
                                      context.arguments[0]),
                          remedy);
  std::vector<std::string> words{program};
  words.insert(words.end(), context.arguments.begin(), context.arguments.end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  execv(program.c_str(), raw.data());
  throw CapabilityError(fmt::format("'{}' cannot be started ({})", program, std::strerror(errno)), remedy);
}

void declare_common(Options& options, ViewArguments& arguments, bool required) {
  options.positional("FILE", arguments.file, "scene, folder with a scene.toml, reduced model, or recording", required);
  options.text("--compare", arguments.compare, "FILE",
               "a second robot under the same commands: the scene that the model was made from, or another model");
  declare_changes(options, arguments.changes);
  options.choice("--integrator", arguments.integrator, integrator_names(), "instead of the robot's own");
  options.quantity("--time-step", arguments.time_step, Dimension::time, "TIME", "instead of the robot's own");
}

}  // namespace

Command view_command(std::function<int(Context&, const ViewArguments&)> run) {
  Command command;
  command.name = "view";
  command.description = "open a robot in a window: drag its goal or its actuators";
  command.examples =
      "  supple view                                          a robot that comes along\n"
      "  supple view assets/diamond\n"
      "  supple view diamond.rom.h5 --compare assets/diamond  reduced and full, led by the same commands\n"
      "  supple view diamond-001.rec.h5                       what was recorded (F8), and on from any frame of it\n"
      "\n"
      "Files can also be dropped on the window. F1 shows the keys.\n";
  command.declare = [run = std::move(run)](Options& options) -> Run {
    const auto arguments = std::make_shared<ViewArguments>();
    declare_common(options, *arguments, false);
    return [arguments, run](Context& context) { return run ? run(context, *arguments) : start_viewer(context); };
  };
  return command;
}

Command render_command(std::function<int(Context&, const RenderArguments&)> run) {
  Command command;
  command.name = "render";
  command.description = "a picture or a film of a robot, without a display";
  command.examples =
      "  supple render assets/diamond -o diamond.png\n"
      "  supple render assets/diamond --set north=\"20 mm\" --colour stress -o stress.png\n"
      "  supple render diamond.rom.h5 --domain --colour weight -o domain.png\n"
      "  supple render diamond.rom.h5 --circle \"15 mm\" --height \"5 mm\" -o circle.mp4\n"
      "  supple render diamond-001.rec.h5 -o recorded.mp4\n"
      "  supple render diamond.rom.h5 --compare assets/diamond --colour difference --actuation commands.csv -o d.mp4\n"
      "\n"
      "Films are made by ffmpeg (.mp4, .gif); a picture shows the end.\n";
  command.declare = [run = std::move(run)](Options& options) -> Run {
    const auto arguments = std::make_shared<RenderArguments>();
    RenderArguments& a = *arguments;
    declare_common(options, a, true);
    options.text("-o,--output", a.output, "FILE", "picture (.png) or film (.mp4, .gif)");
    options.text("--size", a.size, "WxH", "pixels");
    options.choice("--colour", a.colour,
                   {"plain", "displacement", "stress", "weight", "difference", "mode", "pressure"},
                   "what the body's colour shows");
    options.whole("--mode", a.mode, 1, 1000, "K", "the mode shown with --colour mode, from 1");
    options.flag("--domain", a.domain, "the elements of the reduced integration domain, the body a ghost");
    options.flag("--edges", a.edges, "edges of the mesh");
    options.flag("--side-by-side", a.side_by_side, "the robot of --compare beside the first, not over it");
    options.flag("--no-legend", a.no_legend, "no words and no colour bar");
    options.texts("--set", a.assignments, "NAME=VALUE", "an input held at a value");
    options.text("--actuation", a.actuation, "CSV", "inputs over time, as for `supple simulate`");
    options.text("--goal", a.goal, "CSV", "goals over time, as for `supple inverse`");
    options.quantity("--circle", a.circle, Dimension::length, "RADIUS", "the first effector round a circle");
    options.quantity("--lemniscate", a.lemniscate, Dimension::length, "RADIUS", "the first effector round an eight");
    options.text("--height", a.height, "LENGTH", "of that figure above the effector at rest");
    options.quantity("--duration", a.duration, Dimension::time, "TIME", "simulated");
    options.whole("--frames-per-second", a.frames_per_second, 1, 120, "N", "of a film, in simulated time (30)");
    options.text("--azimuth", a.azimuth, "ANGLE", "of the camera about z");
    options.text("--elevation", a.elevation, "ANGLE", "of the camera above the horizontal");
    options.quantity("--zoom", a.zoom, Dimension::number, "FACTOR", "nearer than where all is seen");
    return [arguments, run](Context& context) { return run ? run(context, *arguments) : start_viewer(context); };
  };
  return command;
}

}  // namespace supple::cli
