// Volumes as what is steered: their rows, goals that are reached, exact and weighted, with and without an actuator on
// the cavity, in full and reduced models.

#include <gtest/gtest.h>

#include <fstream>

#include "engine/inverse/inverse_step.hpp"
#include "engine/io/model_file.hpp"
#include "engine/model/effectors.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"

namespace supple {
namespace {

EffectorScene volume_effector(const std::string& name, const Region& walls) {
  EffectorScene effector;
  effector.name = name;
  effector.kind = EffectorKind::volume;
  effector.region = walls;
  return effector;
}

// Few free nodes: the polynomial of all of them has n^3/6 coefficients. Steered: the volume of the cavity.
FullModel hollow_bar(ActuatorControl control, bool exact = false, bool tip = false, bool with_cavity = true) {
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, control,
                                         control == ActuatorControl::force ? 4e4 : 1e-4);
  FixScene fix = boxes::clamp_at_origin();
  fix.region.upper[0] = 0.13;
  scene.bodies[0].fixes = {fix};
  if (!with_cavity) scene.actuators.erase(scene.actuators.begin());
  if (!tip) scene.effectors.clear();
  scene.effectors.push_back(volume_effector("chamber", hollow_bodies::walls_of_bar()));
  scene.effectors.back().exact = exact;
  return build_full_model(scene, hollow_bodies::bar(true));
}

ReducedModel with_all_modes(const FullModel& model) {
  const int n = model.coordinates.nv;
  return project(model, reduced_bodies::full_basis(n), n, all_elements(model));
}

std::vector<double> outputs(Mechanics& mechanics, const State& state) {
  std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  return y;
}

// Of all effectors: what their goals would have to be [3 x effectors].
std::vector<double> reached(Mechanics& mechanics, const State& state) {
  const std::vector<double> y = outputs(mechanics, state);
  std::vector<double> goals(3 * mechanics.robot().effectors.size());
  for (std::size_t e = 0; e < mechanics.robot().effectors.size(); ++e)
    effector_state(mechanics.robot(), static_cast<int>(e), y, std::span(goals).subspan(3 * e, 3));
  return goals;
}

State settled(Mechanics& mechanics, const std::vector<double>& commands) {
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  control.commands = commands;
  EXPECT_EQ(Equilibrium(mechanics, {}).solve(control, state).status, StepStatus::ok);
  return state;
}

// From equilibrium without commands, converged steps towards goals.
State led(Mechanics& mechanics, const std::vector<double>& goals, const InverseSettings& settings = {}) {
  InverseStep inverse(mechanics, settings, Integrator::quasi_static, 0.01);
  State state = settled(mechanics, std::vector<double>(mechanics.robot().actuators.size(), 0.0));
  for (int k = 0; k < 6; ++k) {
    const StepReport report = inverse.step(goals, state);
    EXPECT_EQ(report.status, StepStatus::ok) << describe(report.status);
    EXPECT_FALSE(inverse.law().report(0).held) << inverse.law().conflict(0);
  }
  return state;
}

// Of walls and of a polynomial, against differences of the row.
TEST(VolumeEffector, RowsAgreeWithDifferences) {
  const FullModel full = hollow_bar(ActuatorControl::force);
  const ReducedModel reduced =
      project(full, reduced_bodies::random_basis(full.coordinates.nv, 5), 5, all_elements(full));
  for (const Robot* robot : {&full.robot, &reduced.robot}) {
    const Effector& effector = robot->effectors[0];
    const RowLayout layout = effector_layout(*robot);
    ASSERT_EQ(layout.rows(), 1);
    std::vector<double> y(static_cast<std::size_t>(robot->outputs())), gradient(y.size()), other(y.size());
    boxes::Random random;
    for (std::size_t p = 0; p < robot->rest_points.size(); ++p)
      for (std::size_t k = 0; k < 3; ++k) y[3 * p + k] = robot->rest_points[p][static_cast<int>(k)] + 0.01 * random();
    const std::vector<double> goal{2e-4, 7, 7};  // the others mean nothing
    const auto row = [&](const std::vector<double>& at) {
      std::vector<double> phi(1);
      evaluate_effectors(*robot, layout, at, goal, phi, other);
      return phi[0];
    };
    std::vector<double> phi(1), state(3);
    evaluate_effectors(*robot, layout, y, goal, phi, gradient);
    effector_state(*robot, 0, y, state);
    EXPECT_NEAR(phi[0], (state[0] - 2e-4) / effector.rest_area, 1e-15);
    EXPECT_GT(std::abs(state[0] / effector.rest_volume - 1), 1e-3);
    double largest = 0;
    for (int k = 0; k < layout.count[0]; ++k) {
      const double h = 1e-5;
      std::vector<double> up = y, down = y;
      up[static_cast<std::size_t>(layout.first[0] + k)] += h;
      down[static_cast<std::size_t>(layout.first[0] + k)] -= h;
      const double g = gradient[static_cast<std::size_t>(k)];
      // Cubic at most, third derivatives below 10 / m^2: 1e-9; rounding of 1e-2 over 2e-5.
      EXPECT_NEAR(g, (row(up) - row(down)) / (2 * h), 1e-8) << k;
      largest = std::max(largest, std::abs(g));
    }
    EXPECT_GT(largest, 1e-3);
  }
}

TEST(VolumeEffector, IsTheCavitysVolume) {
  const FullModel model = hollow_bar(ActuatorControl::force, false, true);
  const Robot& robot = model.robot;
  const Effector& chamber = robot.effectors[1];
  EXPECT_EQ(chamber.rest_volume, robot.actuators[0].rest_volume);
  EXPECT_EQ(chamber.rest_area, robot.actuators[0].rest_area);
  // Where its errors are measured: the middle of the walls.
  const Vec3d middle = robot.rest_points[static_cast<std::size_t>(chamber.point)];
  EXPECT_NEAR(norm(middle - Vec3d{{0.15, 0.05, 0.05}}), 0, 0.005);
  FullMechanics mechanics(model);
  const State blown = settled(mechanics, {2e4, 0.003});
  std::vector<double> phi(2), gradients(static_cast<std::size_t>(mechanics.rows().gradients()));
  evaluate_rows(robot, mechanics.rows(), outputs(mechanics, blown), phi, gradients);
  EXPECT_NEAR(reached(mechanics, blown)[3] - chamber.rest_volume, phi[0], 1e-18);
  EXPECT_GT(phi[0], 0.02 * chamber.rest_volume);
}

class SteeredVolume : public testing::TestWithParam<bool> {
 protected:
  // Full, or reduced with all modes.
  Mechanics& mechanics_of(const FullModel& model) {
    model_ = model;
    if (GetParam()) {
      reduced_ = with_all_modes(*model_);
      mechanics_ = std::make_unique<ReducedMechanics>(*reduced_);
    } else {
      mechanics_ = std::make_unique<FullMechanics>(*model_);
    }
    return *mechanics_;
  }
  std::optional<FullModel> model_;
  std::optional<ReducedModel> reduced_;
  std::unique_ptr<Mechanics> mechanics_;
};

INSTANTIATE_TEST_SUITE_P(Models, SteeredVolume, testing::Bool(),
                         [](const auto& info) { return info.param ? "reduced" : "full"; });

// The volume to which others have blown it is reached, with the same pressure: the cable keeps its length.
TEST_P(SteeredVolume, ThatWasFoundForwardIsReached) {
  for (const ActuatorControl control : {ActuatorControl::force, ActuatorControl::displacement}) {
    FullModel model = hollow_bar(control);
    model.robot.actuators[1].range = {0.002, 0.002};
    Mechanics& mechanics = mechanics_of(model);
    const bool pressure = control == ActuatorControl::force;
    const State there = settled(mechanics, {pressure ? 2e4 : 1.5e-5, 0.002});
    const std::vector<double> goal = reached(mechanics, there);
    const State state = led(mechanics, goal);
    // Converged to 1e-9 m of the walls.
    EXPECT_NEAR(reached(mechanics, state)[0], goal[0], 1e-9 * mechanics.robot().effectors[0].rest_area);
    EXPECT_NEAR(state.commands[0], there.commands[0], 1e-5 * there.commands[0]);
    EXPECT_NEAR(state.multipliers[0], there.multipliers[0], 1e-5 * there.multipliers[0]);
  }
}

// An exact volume is kept while the tip does what is left; a weighted one gives way.
TEST_P(SteeredVolume, ExactIsKeptAndWeightedGivesWay) {
  for (const bool exact : {true, false}) {
    Mechanics& mechanics = mechanics_of(hollow_bar(ActuatorControl::force, exact, true));
    std::vector<double> goal = reached(mechanics, settled(mechanics, {1e4, 0.002}));
    goal[2] += 2e-3;  // two commands, and the volume takes one of them
    const State state = led(mechanics, goal);
    const std::vector<double> now = reached(mechanics, state);
    const double off = std::abs(now[3] - goal[3]) / mechanics.robot().effectors[1].rest_area;
    if (exact)
      EXPECT_LT(off, 1e-9);
    else
      EXPECT_GT(off, 1e-6);
    EXPECT_GT(std::hypot(now[0] - goal[0], now[1] - goal[1], now[2] - goal[2]), 1e-5);
  }
}

// The weight trades the wall's distance against the tip's.
TEST_P(SteeredVolume, WeightBringsItNearer) {
  double off[2];
  for (const bool heavy : {false, true}) {
    FullModel model = hollow_bar(ActuatorControl::force, false, true);
    model.robot.effectors[1].weight = heavy ? 10 : 1;
    Mechanics& mechanics = mechanics_of(model);
    std::vector<double> goal = reached(mechanics, settled(mechanics, {1e4, 0.002}));
    goal[2] += 2e-3;
    off[heavy] = std::abs(reached(mechanics, led(mechanics, goal))[3] - goal[3]);
  }
  EXPECT_LT(off[1], 0.1 * off[0]);
}

// No actuator on it: the cable squeezes the cavity by bending the bar.
TEST_P(SteeredVolume, NeedsNoActuatorOfItsOwn) {
  Mechanics& mechanics = mechanics_of(hollow_bar(ActuatorControl::force, false, false, false));
  ASSERT_EQ(mechanics.robot().actuators.size(), 1u);
  const double rest = reached(mechanics, settled(mechanics, {0.0}))[0];
  const State there = settled(mechanics, {0.004});
  const std::vector<double> goal = reached(mechanics, there);
  ASSERT_GT(std::abs(goal[0] - rest), 1e-4 * rest);
  const State state = led(mechanics, goal);
  EXPECT_NEAR(reached(mechanics, state)[0], goal[0], 1e-9 * mechanics.robot().effectors[0].rest_area);
  EXPECT_NEAR(state.commands[0], 0.004, 1e-4 * 0.004);
}

TEST_P(SteeredVolume, LimitsOfThePressureAreKept) {
  FullModel model = hollow_bar(ActuatorControl::displacement);
  model.robot.actuators[0].force = {0, 8e3};
  Mechanics& mechanics = mechanics_of(model);
  std::vector<double> goal = reached(mechanics, settled(mechanics, {1.5e-5, 0.0}));
  InverseStep inverse(mechanics, {}, Integrator::quasi_static, 0.01);
  State state = settled(mechanics, {0, 0});
  for (int k = 0; k < 4; ++k) ASSERT_EQ(inverse.step(goal, state).status, StepStatus::ok);
  EXPECT_NEAR(state.multipliers[0], 8e3, 1e-6 * 8e3);
  EXPECT_GT(inverse.law().report(0).saturated, 0);
  EXPECT_LT(reached(mechanics, state)[0], goal[0]);
}

// Full and reduced with all modes, step by step.
TEST(VolumeEffector, ReducedWithAllModesIsTheFullOne) {
  const FullModel model = hollow_bar(ActuatorControl::force, false, true);
  const ReducedModel reduced = with_all_modes(model);
  EXPECT_TRUE(reduced.robot.effectors[1].triangles.empty());
  EXPECT_EQ(reduced.robot.effectors[1].first_point, reduced.robot.actuators[0].first_point);
  FullMechanics full(model);
  ReducedMechanics small(reduced);
  InverseStep a(full, {}, Integrator::implicit_euler, 0.01), b(small, {}, Integrator::implicit_euler, 0.01);
  State left = rest_state(full), right = rest_state(small);
  std::vector<double> goal = reached(full, left);
  for (int k = 0; k < 6; ++k) {
    goal[3] *= 1.005;
    goal[2] += 2e-4;
    ASSERT_EQ(a.step(goal, left).status, StepStatus::ok);
    ASSERT_EQ(b.step(goal, right).status, StepStatus::ok);
    // Sums in another order: 1e-12 of displacements; commands lie in the soft direction of the program.
    for (std::size_t i = 0; i < left.q.size(); ++i) ASSERT_NEAR(left.q[i], right.q[i], 1e-10);
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_NEAR(left.commands[j], right.commands[j], 1e-6 * std::max(std::abs(left.commands[j]), 1e-4));
  }
  EXPECT_GT(left.commands[0], 1e3);
}

TEST(VolumeEffector, ModelFilesKeepIt) {
  const FullModel model = hollow_bar(ActuatorControl::force, true, true);
  const ReducedModel reduced =
      project(model, reduced_bodies::random_basis(model.coordinates.nv, 4), 4, all_elements(model));
  const reduced_bodies::TemporaryFolder folder;
  const std::string file = folder / "hollow.rom.h5";
  write_model(reduced, file);
  const ReducedModel read = read_model(file);
  const Effector &before = reduced.robot.effectors[1], &after = read.robot.effectors[1];
  EXPECT_EQ(after.kind, EffectorKind::volume);
  EXPECT_TRUE(after.exact);
  EXPECT_EQ(after.volume.linear, before.volume.linear);
  EXPECT_EQ(after.volume.quadratic, before.volume.quadratic);
  EXPECT_EQ(after.volume.cubic, before.volume.cubic);
  EXPECT_EQ(after.rest_volume, before.rest_volume);
  EXPECT_EQ(after.rest_area, before.rest_area);
  const auto refused = [&](const char* what, const auto& change) {
    ReducedModel damaged = reduced;
    change(damaged.robot.effectors[1]);
    write_model(damaged, file);
    EXPECT_THROW(read_model(file), InputError) << what;
  };
  refused("no area", [](Effector& e) { e.rest_area = 0; });
  refused("another number of modes", [](Effector& e) {
    e.volume.unknowns = 3;
    e.volume.linear.resize(3);
    e.volume.quadratic.resize(6);
    e.volume.cubic.resize(10);
  });
  refused("coordinates elsewhere", [](Effector& e) { e.first_point = 0; });
}

// Walls from a surface file that lie where the mesh has them.
TEST(VolumeEffector, WallsMayComeFromAFile) {
  const FullModel own = hollow_bar(ActuatorControl::force);
  const Effector& walls = own.robot.effectors[0];
  const reduced_bodies::TemporaryFolder folder;
  {
    std::ofstream file(folder / "walls.obj");
    file.precision(17);
    for (int p = 0; p < walls.point_count; ++p) {
      const Vec3d x = own.robot.rest_points[static_cast<std::size_t>(walls.first_point + p)];
      file << "v " << 1e3 * x[0] << " " << 1e3 * x[1] << " " << 1e3 * x[2] << "\n";
    }
    for (const auto& t : walls.triangles) file << "f " << t[0] + 1 << " " << t[1] + 1 << " " << t[2] + 1 << "\n";
  }
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 4e4);
  FixScene fix = boxes::clamp_at_origin();
  fix.region.upper[0] = 0.13;
  scene.bodies[0].fixes = {fix};
  EffectorScene chamber;
  chamber.name = "chamber";
  chamber.kind = EffectorKind::volume;
  chamber.surface = SurfaceScene{folder / "walls.obj", 1e-3, {}};
  scene.effectors = {chamber};
  const FullModel read = build_full_model(scene, hollow_bodies::bar(true));
  FullMechanics a(own), b(read);
  const std::vector<double> at_rest = reached(a, settled(a, {0, 0})), there = reached(a, settled(a, {2e4, 0}));
  EXPECT_GT(there[0], 1.02 * at_rest[0]);
  // Coordinates of 0.3 m in text of 17 digits, volumes of their products.
  EXPECT_NEAR(reached(b, settled(b, {2e4, 0}))[0], there[0], 1e-9 * there[0]);
  const auto middle = [](const FullModel& model) {
    return model.robot.rest_points[static_cast<std::size_t>(model.robot.effectors[0].point)];
  };
  EXPECT_LT(norm(middle(own) - middle(read)), 1e-12);
}

TEST(VolumeEffector, WallsThatAreHeldAreRefused) {
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 4e4);
  scene.actuators.erase(scene.actuators.begin());
  scene.effectors = {volume_effector("chamber", hollow_bodies::walls_of_bar())};
  FixScene walls;
  walls.region = hollow_bodies::walls_of_bar();
  scene.bodies[0].fixes.push_back(walls);
  try {
    (void)build_full_model(scene, hollow_bodies::bar(true));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(error.report().find("the walls of effector 'chamber' are held everywhere"), std::string::npos)
        << error.report();
  }
}

}  // namespace
}  // namespace supple
