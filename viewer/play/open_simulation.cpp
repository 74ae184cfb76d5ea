#include "viewer/play/open_simulation.hpp"

#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

std::shared_ptr<OpenedRobot> open_recorded(const RecordedRobot& recorded, const std::string& recording) {
  std::shared_ptr<OpenedRobot> robot = open_robot(recorded.file);
  if (robot->fingerprint != recorded.fingerprint)
    throw InputError("'" + recorded.file + "' has changed since this was recorded",
                     "put back the robot as it was, or record it again", {recording, 0, 0, ""});
  return robot;
}

std::unique_ptr<Simulation> open_recording(const OpenRequest& request) {
  if (!request.compare.empty() || request.settings.integrator || request.settings.time_step)
    throw InputError("--compare, --integrator and --time-step do not go with a recording (it says them itself)",
                     "leave them out", {request.file, 0, 0, ""});
  auto recording = std::make_unique<RecordingReader>(request.file);
  const RecordingFacts facts = recording->facts();
  std::shared_ptr<OpenedRobot> robot = open_recorded(facts.robot, request.file), beside;
  if (facts.beside) beside = open_recorded(*facts.beside, request.file);
  return std::make_unique<Simulation>(robot, beside, std::move(recording), request.settings);
}

}  // namespace

std::unique_ptr<Simulation> open_simulation(const OpenRequest& request) {
  // A damaged recording does not call itself one; its name does.
  if (is_recording_file(request.file) || request.file.ends_with(".rec.h5")) return open_recording(request);
  std::shared_ptr<OpenedRobot> robot = open_robot(request.file), beside;
  if (!request.compare.empty()) {
    beside = open_robot(request.compare);
    require_same_controls(*robot, *beside);
  }
  return std::make_unique<Simulation>(robot, beside, request.settings);
}

}  // namespace supple::view
