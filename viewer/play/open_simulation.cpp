#include "viewer/play/open_simulation.hpp"

#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

std::unique_ptr<Simulation> open_recording(const OpenRequest& request) {
  if (!request.compare.empty() || request.settings.integrator || request.settings.time_step || !request.changes.none())
    throw InputError(
        "--compare, --parameter, --obstacles, --integrator and --time-step do not go with a recording (it has its own)",
        "leave them out", {request.file, 0, 0, ""});
  auto recording = std::make_unique<RecordingReader>(request.file, request.check);
  const RecordingFacts facts = recording->facts();
  std::shared_ptr<OpenedRobot> robot = open_robot(find_robot(facts.robot, request.file)), beside;
  if (facts.beside) beside = open_robot(find_robot(*facts.beside, request.file));
  return std::make_unique<Simulation>(robot, beside, std::move(recording), request.settings);
}

}  // namespace

std::unique_ptr<Simulation> open_simulation(const OpenRequest& request) {
  // A damaged recording does not call itself one; its name does.
  if (is_recording_file(request.file) || request.file.ends_with(".rec.h5")) return open_recording(request);
  std::shared_ptr<OpenedRobot> robot = open_robot(request.file, request.changes), beside;
  if (!request.compare.empty()) {
    beside = open_robot(request.compare, request.changes);
    require_same_controls(*robot, *beside);
  }
  return std::make_unique<Simulation>(robot, beside, request.settings);
}

}  // namespace supple::view
