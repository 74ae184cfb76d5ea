#pragma once
// Assemblies made in memory for their tests.

#include "engine/mechanics/assembly/assembly.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/point_masses.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple::assemblies {

using Hold = Assembly::Hold;

// Not symmetric, centre of mass off the origin.
inline RigidInertia irregular() {
  return {0.7, {{0.01, -0.02, 0.03}}, {{2e-3, 1e-4, -2e-4, 1e-4, 3e-3, 3e-4, -2e-4, 3e-4, 4e-3}}};
}

inline Assembly::Frame frame(const std::string& name, Hold hold, const Pose& pose = {},
                             const RigidInertia& inertia = irregular()) {
  return {name, pose, hold, inertia, {}};
}

inline Assembly::Point on_frame(int frame, const Vec3d& position) {
  return {.frame = frame, .body = -1, .output = 0, .position = position, .vector = false};
}

inline Assembly::Point on_body(int body, int output) {
  return {.frame = -1, .body = body, .output = output, .position = {}, .vector = false};
}

inline Assembly::Body body(const std::string& name, Mechanics& mechanics, const BodyInertia& inertia, int frame,
                           const Pose& place = {}) {
  return {name, &mechanics, inertia, frame, place};
}

// Two points together, in all directions.
inline void join(Assembly& assembly, const Assembly::Point& a, const Assembly::Point& b, double compliance = 0,
                 bool as_force = false) {
  for (int k = 0; k < 3; ++k) {
    Assembly::Link link;
    link.row.name = "joint";
    link.row.direction[k] = 1;
    link.row.compliance = compliance;
    link.points = {a, b};
    link.as_force = as_force;
    assembly.links.push_back(link);
  }
}

// A path through points, of this length.
inline Assembly::Link path(const std::vector<Assembly::Point>& points, double length, double compliance,
                           bool as_force) {
  Assembly::Link link;
  link.row.name = "path";
  link.row.value = ConstraintRow::Value::length;
  link.row.rest_length = length;
  link.row.compliance = compliance;
  link.points = points;
  link.as_force = as_force;
  return link;
}

inline Pose turned(const Vec3d& position, const Vec3d& rotation) {
  return {position, rotation_exp(rotation)};
}

inline Vec3d point_at(const std::vector<double>& y, int point) {
  return {{y[extent(3, point)], y[extent(3, point) + 1], y[extent(3, point) + 2]}};
}

inline void run(Stepper& stepper, const Control& control, int steps, State& state) {
  for (int step = 0; step < steps; ++step) {
    const StepReport report = stepper.step(control, state);
    if (report.status != StepStatus::ok) throw std::runtime_error(describe(report.status));
  }
}

inline const boxes::Law corotational{"corotational", MaterialModel::corotational};

// A bar with cables, held at x = 0; its outputs are those of reduced_bodies::bar_scene.
inline Scene bar_scene(const Vec3d& gravity = {{0, 0, 0}}) {
  Scene scene = reduced_bodies::bar_scene(corotational);
  scene.gravity = gravity;
  scene.bodies[0].fixes.pop_back();
  return scene;
}

struct Bar {
  FullModel model;
  FullMechanics mechanics;
  BodyInertia inertia;
  explicit Bar(const Vec3d& gravity = {{0, 0, 0}})
      : model(build_full_model(bar_scene(gravity), reduced_bodies::bar(false))),
        mechanics(model),
        inertia(body_inertia(model)) {}
};

struct ReducedBar {
  ReducedModel model;
  ReducedMechanics mechanics;
  BodyInertia inertia;
  ReducedBar(const FullModel& full, const std::vector<double>& basis, int modes)
      : model(project(full, basis, modes, all_elements(full))), mechanics(model), inertia(body_inertia(model)) {}
};

inline int effector_point(const Robot& robot, const std::string& name) {
  for (const Effector& effector : robot.effectors)
    if (effector.name == name) return effector.point;
  throw std::runtime_error(name);
}

inline Control commands(const Mechanics& mechanics, double fraction) {
  Control control = zero_control(mechanics);
  for (std::size_t k = 0; k < control.commands.size(); ++k)
    control.commands[k] = fraction * mechanics.robot().actuators[k].range.upper;
  return control;
}

inline std::vector<double> part(const std::vector<double>& x, int first, std::size_t count) {
  return {x.begin() + first, x.begin() + first + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace supple::assemblies
