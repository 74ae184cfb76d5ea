#include "viewer/play/opened_robot.hpp"

#include <algorithm>

#include "engine/io/model_file.hpp"
#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/scene/fingerprint.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"

namespace supple::view {

std::unique_ptr<OpenedRobot> open_robot(const std::string& file, const ModelChanges& changes) {
  auto robot = std::make_unique<OpenedRobot>();
  robot->file = file;
  // A damaged model does not call itself one; its name does.
  if (is_model_file(file) || file.ends_with(".h5")) {
    robot->reduced = read_model(file);
    take_changes(changes, *robot->reduced);
    robot->fingerprint = with_changes(hash_file(file), robot->reduced->robot);
    robot->mechanics = reduced_mechanics(*robot->reduced);
    robot->shape = std::make_unique<RobotShape>(*robot->reduced);
  } else if (is_assembly(file)) {
    refuse_changes(changes, file);
    robot->assembly = std::make_shared<AssemblyRobot>(read_assembly(file));
    robot->file = robot->assembly->scene().file;
    robot->fingerprint = robot->assembly->fingerprint();
    robot->mechanics = {robot->assembly, &robot->assembly->mechanics()};
    robot->shape = std::make_unique<RobotShape>(*robot->assembly);
  } else {
    const Scene scene = read_scene(file);
    robot->file = scene.file;
    robot->full = build_full_model(scene);
    take_changes(changes, *robot->full);
    robot->fingerprint = with_changes(scene_fingerprint(scene), robot->full->robot);
    robot->mechanics = std::make_unique<FullMechanics>(*robot->full);
    robot->shape = std::make_unique<RobotShape>(*robot->full);
  }
  return robot;
}

void require_same_controls(const OpenedRobot& robot, const OpenedRobot& beside) {
  const auto same = [](const auto& left, const auto& right) {
    return std::ranges::equal(left, right, [](const auto& x, const auto& y) { return x.name == y.name; });
  };
  const Robot &a = robot.robot(), &b = beside.robot();
  if (!same(a.actuators, b.actuators) || !same(a.effectors, b.effectors) || !same(a.motions, b.motions))
    throw InputError("the two robots have other actuators or effectors", "the scene that the model was made from",
                     {beside.file, 0, 0, ""});
}

}  // namespace supple::view
