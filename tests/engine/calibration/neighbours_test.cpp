// Slopes of equilibria by a parameter of the scene beside central differences of equilibria.

#include "engine/calibration/neighbours.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/mesh/generate.hpp"
#include "engine/mesh/write.hpp"
#include "engine/scene/scene_numbers.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple {
namespace {

struct Case {
  std::string name, tables, parameter;
  double command = 0;
  bool forces_are_given = false;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name;
}

class Slopes : public testing::TestWithParam<Case> {};

// A beam along x that sags under its weight, held at one end.
std::string beam(const std::string& tables) {
  return R"(name = "beam"
[body]
order = 1
mesh = {file = "beam.msh", unit = "m"}
density = "1000 kg/m^3"
[[body.material]]
model = "stable-neo-hookean"
young = "300 kPa"
poisson = 0.3
[[fix]]
group = "x-"
[[effector]]
name = "tip"
point = ["200 mm", "20 mm", "20 mm"]
)" + tables;
}

State equilibrium(const FullModel& model, double command) {
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands.front() = command;
  EquilibriumSettings settings = from_rest(model.robot);
  settings.tolerance = 1e-11;
  EXPECT_EQ(Equilibrium(mechanics, settings).solve(control, state).status, StepStatus::ok);
  return state;
}

TEST_P(Slopes, AreThoseOfEquilibria) {
  const test::TemporaryFolder folder;
  write_msh(folder.file("beam.msh"), box_hexahedra({{0, 0, 0}}, {{0.2, 0.04, 0.04}}, 8, 2, 2));
  std::ofstream(folder.file("scene.toml")) << beam(GetParam().tables);
  SceneNumbers scene(folder.file("scene.toml"));
  scene.add(GetParam().parameter);
  const double value = scene.numbers().front().value;
  const auto model_at = [&](double there) { return build_full_model(scene.scene(std::vector<double>{there})); };
  const FullModel model = model_at(value);
  const double step = relative_step(model.robot) * std::abs(value);
  std::vector<Neighbour> neighbours;
  neighbours.push_back({model_at(value + step), step});
  LentFactor factor;
  Neighbourhood worker(model, neighbours, factor);
  State state = rest_state(worker.own());
  Control control = zero_control(worker.own());
  control.commands.front() = GetParam().command;
  // To 1e-6: what is left of the imbalance is the neighbour's too.
  EquilibriumSettings settings = from_rest(model.robot);
  if (!compares_equilibria(model.robot)) settings.tolerance = 1e-6;
  ASSERT_EQ(Equilibrium(worker.own(), settings).solve(control, state).status, StepStatus::ok);
  const std::vector<std::optional<State>> found = worker.equilibria(control, state);
  ASSERT_TRUE(found.front().has_value());
  // Where forces are given, without Newton's method.
  ASSERT_TRUE(factor.factored());
  if (!compares_equilibria(model.robot)) {
    EXPECT_EQ(worker.beside(0).factorisations() == 0, GetParam().forces_are_given);
  }

  const double wide = 1e-3 * std::abs(value);
  const State up = equilibrium(model_at(value + wide), GetParam().command),
              down = equilibrium(model_at(value - wide), GetParam().command);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < state.q.size(); ++i) {
    const double slope = (found.front()->q[i] - state.q[i]) / step, other = (up.q[i] - down.q[i]) / (2 * wide);
    error += (slope - other) * (slope - other);
    size += other * other;
  }
  EXPECT_GT(size, 0);
  // Accurate to 1e-4 of the way, as search directions; differences of 1e-5 and 1e-3 cut off less.
  EXPECT_LT(std::sqrt(error / size), 1e-3);
}

const std::string force = R"([[actuator]]
name = "pull"
type = "force"
point = ["200 mm", "20 mm", "20 mm"]
direction = [0, 1, 1]
range = ["0 N", "1 N"]
)",
                  cable = R"([[actuator]]
name = "tendon"
type = "cable"
points = [["190 mm", "20 mm", "35 mm"], ["100 mm", "20 mm", "35 mm"]]
pull_point = ["0 mm", "20 mm", "35 mm"]
range = ["0 mm", "15 mm"]
)",
                  tension = R"([[actuator]]
name = "tendon"
type = "cable"
points = [["190 mm", "20 mm", "35 mm"], ["100 mm", "20 mm", "35 mm"]]
pull_point = ["0 mm", "20 mm", "35 mm"]
control = "force"
range = ["0 N", "2 N"]
)",
                  floor = R"([[actuator]]
name = "push"
type = "force"
point = ["200 mm", "20 mm", "20 mm"]
direction = [0, 0, -1]
range = ["0 N", "1 N"]
[[obstacle]]
name = "floor"
type = "plane"
position = [0, 0, "-10 mm"]
[contact]
spacing = "20 mm"
)";

INSTANTIATE_TEST_SUITE_P(
    OfABeam, Slopes,
    testing::Values(Case{"modulus_under_a_force", force, "body.material.young", 0.2, true},
                    Case{"density_under_a_force", force, "body.density", 0.2, true},
                    Case{"modulus_by_a_cable_of_given_length", cable, "body.material.young", 0.008},
                    Case{"place_of_a_cable_of_given_length", cable, "actuator.tendon.points.1.z", 0.008},
                    Case{"place_of_a_cable_of_given_tension", tension, "actuator.tendon.points.1.z", 0.5, true},
                    Case{"friction_of_a_cable", cable + "friction = 0.2\n", "actuator.tendon.friction", 0.008},
                    Case{"modulus_on_a_floor", floor, "body.material.young", 0.4},
                    Case{"height_of_the_floor", floor, "obstacle.floor.position.z", 0.4}),
    [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

}  // namespace
}  // namespace supple
