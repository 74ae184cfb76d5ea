#pragma once
// A file ready to be simulated and looked at: a scene of one body or of several, or a reduced model.

#include <memory>
#include <optional>
#include <string>

#include "engine/inverse/inverse_law.hpp"
#include "engine/model/changes.hpp"
#include "viewer/draw/robot_shape.hpp"

namespace supple::view {

struct OpenedRobot {
  std::string file;
  std::uint64_t fingerprint = 0;  // of what moves it (recording.hpp)
  std::optional<FullModel> full;
  std::optional<ReducedModel> reduced;
  std::shared_ptr<AssemblyRobot> assembly;  // several bodies: instead of both
  std::shared_ptr<Mechanics> mechanics;     // for one thread at a time
  std::unique_ptr<RobotShape> shape;        // any thread
  const Robot& robot() const { return mechanics->robot(); }
};

// Scene file, folder with a scene.toml, or reduced model. Throws InputError
// with place and remedy.
std::unique_ptr<OpenedRobot> open_robot(const std::string& file, const ModelChanges& changes = {});

// Throws InputError unless both have the same actuators, effectors and motions, so that one can follow the commands of
// the other.
void require_same_controls(const OpenedRobot& robot, const OpenedRobot& beside);

}  // namespace supple::view
