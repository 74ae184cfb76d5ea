#include "engine/io/saved_run.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <sstream>
#include <string_view>

#include "engine/io/hdf5_file.hpp"
#include "kernels/base/error.hpp"

namespace supple {

namespace {

constexpr const char* format_name = "supple run";
constexpr std::int64_t format_version = 1;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Of some robots only: files from before there were any have none.
bool optional(const std::string& name) {
  return name == "/state/contact_forces" || name == "/state/history" || name == "/state/viscous";
}

constexpr const char* surface_forces = "/state/surface_forces";

// Arrays of the state with one row per robot, in the file and in memory.
template <class SomeState, class Action>
void each_array(SomeState& state, Action action) {
  action("/state/q", state.q);
  action("/state/v", state.v);
  action("/state/multipliers", state.multipliers);
  action("/state/contact_forces", state.contact_forces);
  action("/state/commands", state.commands);
  action("/state/motions", state.motions);
  action("/state/motion_velocities", state.motion_velocities);
  action("/state/history", state.history);
  action("/state/viscous", state.viscous);
}

}  // namespace

void write_robots(Hdf5File& file, const State& state) {
  const auto robots = static_cast<std::size_t>(state.robots);
  each_array(state, [&](const std::string& name, const std::vector<double>& values) {
    if (!optional(name) || !values.empty()) file.write(name, values, {robots, values.size() / robots});
  });
  if (!state.surface_forces.empty()) {
    const std::vector<double> rows = surface_force_rows(state);
    file.write(surface_forces, rows, {rows.size() / surface_force_columns, surface_force_columns});
  }
  file.write("/state/time", state.time);
  file.write("/state/robots", std::int64_t{state.robots});
}

State read_robots(const Hdf5File& file) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(problem, "the run from its beginning", {file.path(), 0, 0, ""});
  };
  State state;
  const std::int64_t robots = file.read_int("/state/robots");
  if (robots < 1 || robots > (std::int64_t{1} << 30)) refuse("the number of robots is impossible");
  state.robots = static_cast<int>(robots);
  each_array(state, [&](const std::string& name, std::vector<double>& values) {
    if (optional(name) && !file.has(name)) return;
    const auto shape = file.shape(name);
    if (shape.size() != 2 || shape[0] != static_cast<std::size_t>(robots)) refuse("'" + name + "' has a wrong shape");
    values = file.read_doubles(name);
  });
  if (file.has(surface_forces)) {
    const auto shape = file.shape(surface_forces);
    if (shape.size() != 2 || shape[1] != surface_force_columns) refuse("'/state/surface_forces' has a wrong shape");
    if (!set_surface_forces(state, file.read_doubles(surface_forces)))
      refuse("its forces between bodies are impossible");
  }
  state.time = file.read_double("/state/time");
  return state;
}

void write_failures(Hdf5File& file, const SavedFailures& failures) {
  const std::size_t count = failures.robot.size();
  if (count == 0) return;
  file.write("/failed/robot", failures.robot, {count});
  file.write("/failed/step", failures.step, {count});
  file.write("/failed/status", failures.status, {count});
  file.write("/failed/element", failures.element, {count});
}

SavedFailures read_failures(const Hdf5File& file, int robots) {
  SavedFailures failures;
  if (!file.has("/failed/robot")) return failures;
  failures.robot = file.read_ints("/failed/robot");
  const std::vector<std::size_t> shape{failures.robot.size()};
  failures.step = file.read_ints("/failed/step", shape);
  failures.status = file.read_ints("/failed/status", shape);
  failures.element = file.read_ints("/failed/element", shape);
  std::vector<char> seen(static_cast<std::size_t>(robots), 0);
  for (const int robot : failures.robot)
    if (robot < 0 || robot >= robots || seen[static_cast<std::size_t>(robot)]++ != 0)
      throw InputError("its failed robots are impossible", "the run from its beginning", {file.path(), 0, 0, ""});
  return failures;
}

void write_state(const std::string& path, const SavedRun& run) {
  write_hdf5_atomically(path, [&](Hdf5File& file) {
    file.write("/format", std::string(format_name));
    file.write("/format_version", format_version);
    write_robots(file, run.state);
    file.write("/run/step", run.step);
    file.write("/run/steps", run.steps);
    file.write("/run/every", run.every);
    file.write("/run/time_step", run.time_step);
    file.write("/run/integrator", run.integrator);
    file.write("/run/model", run.model);
    file.write("/run/fingerprint", std::bit_cast<std::int64_t>(run.fingerprint));
    file.write("/actuation/inputs", joined(run.inputs));
    file.write("/actuation/times", run.times, {run.times.size()});
    file.write("/actuation/values", run.values, {run.times.size(), run.inputs.size()});
    if (!run.rows.empty()) file.write("/actuation/rows", run.rows, {run.rows.size()});
    write_failures(file, run.failures);
    if (run.sensor_memory.empty()) return;
    file.write("/sensors/seed", std::bit_cast<std::int64_t>(run.sensor_seed));
    file.write("/sensors/memory", run.sensor_memory, {run.sensor_memory.size()});
  });
}

SavedRun read_state(const std::string& path) {
  const Hdf5File file(path, Hdf5File::Mode::read);
  const auto refuse = [&](const std::string& problem) {
    throw InputError(problem, "give the state.h5 of a run of this version of supple", {path, 0, 0, ""});
  };
  if (!file.has("/format") || file.read_text("/format") != format_name) refuse("this is not a saved run");
  if (file.read_int("/format_version") != format_version) refuse("this run was saved by another version of supple");
  SavedRun run;
  run.state = read_robots(file);
  run.step = file.read_int("/run/step");
  run.steps = file.read_int("/run/steps");
  run.every = file.read_int("/run/every");
  run.time_step = file.read_double("/run/time_step");
  if (run.step < 0 || run.steps < 0 || run.every < 1 || !(run.time_step > 0)) refuse("its step counts are impossible");
  run.integrator = file.read_text("/run/integrator");
  run.model = file.read_text("/run/model");
  run.fingerprint = std::bit_cast<std::uint64_t>(file.read_int("/run/fingerprint"));
  run.inputs = split(file.read_text("/actuation/inputs"));
  run.times = file.read_doubles("/actuation/times");
  run.values = file.read_doubles("/actuation/values", {run.times.size(), run.inputs.size()});
  if (file.has("/actuation/rows"))
    run.rows = file.read_ints("/actuation/rows", {static_cast<std::size_t>(run.state.robots)});
  run.failures = read_failures(file, run.state.robots);
  if (file.has("/sensors/memory")) {
    run.sensor_seed = std::bit_cast<std::uint64_t>(file.read_int("/sensors/seed"));
    run.sensor_memory = file.read_doubles("/sensors/memory");
  }
  return run;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace supple
