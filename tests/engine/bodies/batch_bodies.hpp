#pragma once
// Reduced robots for the tests of BatchStepper: their models, commands, and how their states are compared.

#include <cmath>
#include <string>
#include <vector>

#include "engine/model/state.hpp"
#include "tests/engine/bodies/constrained_bodies.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"

namespace supple::batch_bodies {

inline constexpr int modes = 10;
inline constexpr double time_step = 0.01;
inline const boxes::Law corotational{"corotational", MaterialModel::corotational};

inline ReducedModel reduced(const Scene& scene, const Mesh& mesh) {
  const FullModel full = build_full_model(scene, mesh);
  return project(full, reduced_bodies::random_basis(full.coordinates.nv, modes), modes,
                 reduced_bodies::some_elements(full));
}

// Three cables, held by their forces and lengths, and constraints of every kind without damping.
inline Scene cable_scene() {
  Scene scene = constrained_bodies::constrained_bar(reduced_bodies::bar_scene(corotational));
  std::erase_if(scene.constraints, [](const ConstraintScene& c) { return c.form == ConstraintForm::force; });
  for (ConstraintScene& constraint : scene.constraints) constraint.damping_time = 0;
  return scene;
}
inline ReducedModel cables() {
  return reduced(cable_scene(), reduced_bodies::bar(false));
}
// A pressure, a cable and forces: hyperelastic.
inline ReducedModel cavity() {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  return reduced(scene, hollow_bodies::bar(false));
}

// Each robot through its ranges in its own rhythm.
inline std::vector<double> commands_at(int step, const Robot& robot, int robots, int first = 0) {
  std::vector<double> commands;
  for (int b = first; b < first + robots; ++b)
    for (std::size_t j = 0; j < robot.actuators.size(); ++j) {
      const Interval range = robot.actuators[j].range;
      const double share = 0.5 - 0.5 * std::cos(0.15 * step * (1 + 0.1 * (b % 7)) + 0.3 * static_cast<double>(j * j));
      commands.push_back(range.lower + 0.6 * share * (range.upper - range.lower));
    }
  return commands;
}

inline std::vector<double> of_robot(const std::vector<double>& values, int robots, int b) {
  const auto size = static_cast<std::ptrdiff_t>(values.size()) / robots;
  return {values.begin() + b * size, values.begin() + (b + 1) * size};
}

// Bit by bit, on every device.
inline void expect_same_robot(const State& a, int robot, const State& b, int other) {
  for (const auto list : {&State::q, &State::v, &State::multipliers, &State::commands})
    EXPECT_EQ(of_robot(a.*list, a.robots, robot), of_robot(b.*list, b.robots, other)) << robot;
}

}  // namespace supple::batch_bodies
