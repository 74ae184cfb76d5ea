// Recordings of runs as arrays.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "engine/io/recording.hpp"
#include "engine/scene/integrator.hpp"
#include "python/src/bindings.hpp"

namespace supple::python {

namespace {

Table read_recording(const std::filesystem::path& path) {
  RecordingReader reader(path.string(), RecordingReader::Check::whole);
  const std::size_t frames = static_cast<std::size_t>(reader.frames());
  struct Column {
    const char* name;
    const std::vector<double>& (*of)(const RecordedFrame&);
  };
  const Column columns[] = {
      {"q", [](const RecordedFrame& f) -> const std::vector<double>& { return f.state.q; }},
      {"v", [](const RecordedFrame& f) -> const std::vector<double>& { return f.state.v; }},
      {"forces", [](const RecordedFrame& f) -> const std::vector<double>& { return f.state.multipliers; }},
      {"contact_forces", [](const RecordedFrame& f) -> const std::vector<double>& { return f.state.contact_forces; }},
      {"commands", [](const RecordedFrame& f) -> const std::vector<double>& { return f.state.commands; }},
      {"motions", [](const RecordedFrame& f) -> const std::vector<double>& { return f.state.motions; }},
      {"goals", [](const RecordedFrame& f) -> const std::vector<double>& { return f.goals; }}};
  std::vector<std::vector<double>> values(std::size(columns));
  std::vector<double> time, step, surface_forces;
  for (long k = 0; k < reader.frames(); ++k) {
    const RecordedFrame& frame = reader.frame(k);
    time.push_back(frame.state.time);
    step.push_back(frame.step);
    // Of one robot; its place is that of the frame here.
    std::vector<double> rows = surface_force_rows(frame.state);
    for (std::size_t row = 0; row < rows.size(); row += surface_force_columns) rows[row] = static_cast<double>(k);
    surface_forces.insert(surface_forces.end(), rows.begin(), rows.end());
    for (std::size_t c = 0; c < values.size(); ++c) {
      const std::vector<double>& list = columns[c].of(frame);
      values[c].insert(values[c].end(), list.begin(), list.end());
    }
  }
  Table recording;
  recording["robot"] = reader.facts().robot.file;
  recording["integrator"] = integrator_name(reader.facts().integrator);
  recording["time_step"] = reader.facts().time_step;
  recording["time"] = array(std::move(time), {frames});
  recording["step"] = array(std::move(step), {frames});
  for (std::size_t c = 0; c < values.size(); ++c) {
    const std::size_t width = frames == 0 ? 0 : values[c].size() / frames;
    recording[columns[c].name] = array(std::move(values[c]), {frames, width});
  }
  const std::size_t contacts = surface_forces.size() / surface_force_columns;
  recording["surface_forces"] = array(std::move(surface_forces), {contacts, surface_force_columns});
  return recording;
}

}  // namespace

void bind_recording(nb::module_& module) {
  module.def(
      "read_recording", &read_recording, nb::arg("path"),
      nb::sig("def read_recording(path: str | os.PathLike[str]) -> dict[str, typing.Any]"),
      "A recording of `--record` as arrays.\n\n"
      "Keys: robot (file), integrator, time_step [s], time [frames, s], step [frames], q [frames, coordinates, m],\n"
      "v [m/s], forces [frames, rows, N or Pa], contact_forces [N], commands [frames, actuators], motions [m],\n"
      "goals [frames, 3 x effectors], surface_forces [contacts, 6]: between bodies, frame, two features, force [N]. "
      "Raises InputError for a file that is not a recording.");
}

}  // namespace supple::python
