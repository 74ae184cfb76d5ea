#pragma once
// The steered bar of the engine's tests, opened as the viewer opens a file: a cable by length and one by force, one
// point steered; full, or reduced with a full basis and all elements, so that both move alike.

#include "tests/engine/bodies/reduced_bodies.hpp"
#include "viewer/play/opened_robot.hpp"

namespace supple::view {

inline FullModel bar_model() {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.actuators.pop_back();
  scene.effectors.pop_back();
  scene.actuators[0].range = {0, 0.03};
  return build_full_model(scene, reduced_bodies::bar(false));
}

inline std::shared_ptr<OpenedRobot> full_bar() {
  auto robot = std::make_shared<OpenedRobot>();
  robot->file = "bar";
  robot->full = bar_model();
  robot->mechanics = std::make_unique<FullMechanics>(*robot->full);
  robot->shape = std::make_unique<RobotShape>(*robot->full);
  return robot;
}

inline std::shared_ptr<OpenedRobot> reduced_bar() {
  auto robot = std::make_shared<OpenedRobot>();
  robot->file = "bar.rom.h5";
  const FullModel model = bar_model();
  const int n = model.coordinates.nv;
  robot->reduced = project(model, reduced_bodies::full_basis(n), n, all_elements(model));
  robot->mechanics = std::make_unique<ReducedMechanics>(*robot->reduced);
  robot->shape = std::make_unique<RobotShape>(*robot->reduced);
  return robot;
}

}  // namespace supple::view
