// Robots that a program steps: the bits of runs, arrays that stay in place, resets, and errors of what it sets.

#include "engine/run/batch_simulation.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "engine/run/goals.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/contact_models.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const FullModel> bar() {
  return std::make_shared<const FullModel>(build_full_model(
      reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}), reduced_bodies::bar(false)));
}

std::shared_ptr<const ReducedModel> reduced_bar() {
  const auto full = bar();
  const int n = full->coordinates.nv;
  return std::make_shared<const ReducedModel>(
      project(*full, reduced_bodies::full_basis(n), n, reduced_bodies::some_elements(*full)));
}

// A bar with three cables that sinks onto a floor with friction.
std::shared_ptr<const ReducedModel> bar_on_floor() {
  FullModel full = build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                                    reduced_bodies::bar(false));
  contact_bodies::place_among(full, {contact_models::floor_at(-0.0005, 0.5)});
  return std::make_shared<const ReducedModel>(contact_models::reduced(full));
}

// Where every list that a program reads or sets lies.
std::vector<const void*> places(BatchSimulation& sim) {
  const State& state = sim.state();
  return {state.q.data(),        state.v.data(),        state.multipliers.data(),       state.contact_forces.data(),
          state.commands.data(), state.motions.data(),  state.motion_velocities.data(), sim.outputs().data(),
          sim.commands().data(), sim.effectors().data()};
}

struct Case {
  bool reduced = false;
  int robots = 1;
  Integrator integrator = Integrator::implicit_euler;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.reduced ? "reduced" : "full") + std::to_string(info.param.robots) +
         (info.param.integrator == Integrator::quasi_static            ? "_quasi_static"
          : info.param.integrator == Integrator::implicit_euler_newton ? "_newton"
                                                                       : "");
}

class Simulations : public testing::TestWithParam<Case> {
 protected:
  BatchSimulationSettings settings() const {
    BatchSimulationSettings settings{.robots = GetParam().robots};
    settings.integrator = GetParam().integrator;
    return settings;
  }
  std::unique_ptr<BatchSimulation> simulation(const BatchSimulationSettings& settings) const {
    return GetParam().reduced ? std::make_unique<BatchSimulation>(body_of(reduced_bar()), settings)
                              : std::make_unique<BatchSimulation>(body_of(bar()), settings);
  }
  // Of robot b after `time`: the second goes beyond its range, the third faster than its rate.
  static std::vector<double> commands_at(double time, int b) {
    return {0.01 * time / 0.05, b == 0 ? 3.0 : 0.2 * b, -0.002 * time / 0.05};
  }
};

TEST_P(Simulations, TakeTheStepsOfARunInPlace) {
  const auto sim = simulation(settings());
  const int robots = GetParam().robots;
  // The same commands as tables, held between two instants.
  const double h = sim->time_step();
  std::vector<double> times, values;
  std::vector<int> rows;
  for (int b = 0; b < robots; ++b) {
    for (int k = 1; k <= 5; ++k) {
      times.push_back(k * h);
      const std::vector<double> commands = commands_at(k * h, b);
      values.insert(values.end(), commands.begin(), commands.end());
    }
    rows.push_back(5);
  }
  const std::vector<Input> inputs = inputs_of(sim->robot());
  const Actuation actuation(inputs, names_of(inputs), times, values, rows);
  const auto model = reduced_bar();
  const auto full = bar();
  std::unique_ptr<Mechanics> mechanics;
  std::unique_ptr<MechanicsTeam> team;
  DriveSettings drive;
  drive.integrator = GetParam().integrator;
  drive.time_step = h;
  if (GetParam().reduced) {
    team = std::make_unique<MechanicsTeam>(*model, robots);
  } else {
    mechanics = std::make_unique<FullMechanics>(*full);
    team = std::make_unique<MechanicsTeam>(*mechanics, robots);
  }
  ForwardOnCpu run(*team, drive, actuation, repeated(rest_state(team->member(0)), robots));
  const std::vector<const void*> before = places(*sim);
  for (int k = 1; k <= 5; ++k) {
    for (int b = 0; b < robots; ++b)
      std::ranges::copy(commands_at(k * h, b), sim->commands().begin() + std::ptrdiff_t{3} * b);
    EXPECT_EQ(sim->step().status, StepStatus::ok);
    const TakenStep taken = run.step(k, k * h);
    EXPECT_EQ(hash(sim->state()), hash(run.state())) << k;
    EXPECT_EQ(sim->outputs(), run.outputs());
    EXPECT_EQ(sim->limited(), taken.limited + taken.report.limited_commands);
    EXPECT_GT(sim->limited(), 0);
    EXPECT_EQ(sim->steps(), k);
  }
  EXPECT_EQ(places(*sim), before);
  // And again.
  const std::uint64_t first = hash(sim->state());
  sim->reset();
  EXPECT_EQ(sim->steps(), 0);
  EXPECT_EQ(sim->state().time, 0);
  for (int k = 1; k <= 5; ++k) {
    for (int b = 0; b < robots; ++b)
      std::ranges::copy(commands_at(k * h, b), sim->commands().begin() + std::ptrdiff_t{3} * b);
    (void)sim->step();
  }
  EXPECT_EQ(hash(sim->state()), first);
  EXPECT_EQ(places(*sim), before);
}

TEST_P(Simulations, LeadToGoalsLikeARun) {
  BatchSimulationSettings inverse = settings();
  inverse.inverse = InverseSettings{};
  const auto sim = simulation(inverse);
  ASSERT_TRUE(sim->inverse());
  // They begin where they are.
  const std::vector<double> at_rest(sim->goals().begin(), sim->goals().end());
  EXPECT_EQ(at_rest, std::vector<double>(sim->effectors().begin(), sim->effectors().end()));
  sim->steered()[1] = 0;
  const std::size_t own = 3 * sim->robot().effectors.size(), n = sim->robot().actuators.size();
  for (int b = 0; b < sim->robots(); ++b) {
    sim->goals()[static_cast<std::size_t>(b) * own + 2] += 1e-3 * (b + 1);
    sim->known()[static_cast<std::size_t>(b) * n + 2] = 1e-4 * b;
  }
  const std::vector<const void*> before = places(*sim);
  for (int k = 0; k < 4; ++k) ASSERT_EQ(sim->step().status, StepStatus::ok);
  EXPECT_EQ(places(*sim), before);
  for (int b = 0; b < sim->robots(); ++b)
    EXPECT_DOUBLE_EQ(sim->state().commands[static_cast<std::size_t>(b) * n + 2], 1e-4 * b);
  // Each robot of a batch has the bits that it has alone.
  for (int b = 0; b < sim->robots(); ++b) {
    inverse.robots = 1;
    const auto alone = simulation(inverse);
    alone->steered()[1] = 0;
    alone->goals()[2] += 1e-3 * (b + 1);
    alone->known()[2] = 1e-4 * b;
    for (int k = 0; k < 4; ++k) ASSERT_EQ(alone->step().status, StepStatus::ok);
    EXPECT_EQ(hash(one_robot(sim->state(), b)), hash(alone->state())) << b;
  }
  // Robots that are reset start cold, as new ones.
  const std::uint64_t first = hash(sim->state());
  sim->reset();
  for (int k = 0; k < 4; ++k) ASSERT_EQ(sim->step().status, StepStatus::ok);
  EXPECT_EQ(hash(sim->state()), first);
}

INSTANTIATE_TEST_SUITE_P(
    Robots, Simulations,
    testing::Values(Case{false, 1, Integrator::implicit_euler}, Case{true, 1, Integrator::implicit_euler},
                    Case{true, 3, Integrator::implicit_euler}, Case{false, 2, Integrator::implicit_euler},
                    Case{true, 1, Integrator::quasi_static}, Case{true, 2, Integrator::quasi_static},
                    Case{true, 2, Integrator::implicit_euler_newton}),
    case_name);

class SimulationOnDevice : public test::OnDevice {};

// On a CPU a robot has the same bits wherever it stands in a batch. On a GPU the library's products may round columns
// differently; eight steps of this bar amplify that little, and a wrong robot would be off by far more than 1e-11.
void expect_same(const std::vector<double>& a, const std::vector<double>& b, const Device& device) {
  if (device.kind == Device::Kind::cpu) {
    EXPECT_EQ(a, b);
    return;
  }
  ASSERT_EQ(a.size(), b.size());
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  EXPECT_LE(difference, 1e-11 * largest);
}

TEST_P(SimulationOnDevice, ARobotThatIsResetMovesAsOneThatBegins) {
  const auto model = reduced_bar();
  BatchSimulation sim(body_of(model), {.robots = 3, .device = GetParam()});
  const auto command = [](BatchSimulation& robots) { std::ranges::fill(robots.commands(), 0.002); };
  command(sim);
  (void)sim.step(4);
  const State four = sim.state();
  const int one[] = {1};
  sim.reset(one);
  (void)sim.step(4);
  const State eight = sim.state();
  expect_same(one_robot(eight, 0).q, one_robot(eight, 2).q, GetParam());
  expect_same(one_robot(eight, 0).v, one_robot(eight, 2).v, GetParam());
  EXPECT_EQ(one_robot(eight, 1).q, one_robot(four, 1).q);
  EXPECT_NE(one_robot(eight, 0).q, one_robot(four, 0).q);
  EXPECT_DOUBLE_EQ(eight.time, 8 * sim.time_step());
  // From a state as well.
  sim.set_state(four);
  EXPECT_EQ(sim.steps(), 4);
  (void)sim.step(4);
  EXPECT_EQ(one_robot(sim.state(), 0).q, one_robot(eight, 0).q);
  EXPECT_EQ(sim.state().time, eight.time);
}

TEST_P(SimulationOnDevice, AFailedRobotWaitsForItsReset) {
  const auto model = reduced_bar();
  BatchSimulation sim(body_of(model), {.robots = 3, .device = GetParam()});
  State bad = sim.state();
  // So far away that no law has a stress there.
  const std::size_t n = bad.q.size() / 3;
  for (std::size_t i = n; i < 2 * n; ++i) bad.v[i] = 1e200;
  sim.set_state(bad);
  EXPECT_EQ(sim.step(3).status, StepStatus::ok);
  ASSERT_EQ(sim.failures().size(), 1U);
  EXPECT_TRUE(sim.failed(1));
  EXPECT_EQ(one_robot(sim.state(), 1).q, one_robot(bad, 1).q);
  const int one[] = {1};
  sim.reset(one);
  EXPECT_TRUE(sim.failures().empty());
  EXPECT_EQ(sim.step(2).status, StepStatus::ok);
  EXPECT_TRUE(sim.failures().empty());
  BatchSimulation fresh(body_of(model), {.robots = 1, .device = GetParam()});
  (void)fresh.step(2);
  expect_same(one_robot(sim.state(), 1).q, fresh.state().q, GetParam());
}

TEST_P(SimulationOnDevice, RobotsVary) {
  const auto model = bar_on_floor();
  BatchSimulation sim(body_of(model), {.robots = 3, .device = GetParam()});
  Variations vary;
  vary.gravity = {0, 0, -9.81, 1, 0, -3, 0, 2, -20};
  vary.friction = {0.5, 0, 1};
  vary.density = {1, 0.6, 2};
  vary.rayleigh_stiffness = {0, 0.01, 0.003};
  sim.set_variations(vary);
  (void)sim.step(5);
  for (std::size_t b = 0; b < 3; ++b) {
    BatchSimulation alone(body_of(model), {.robots = 1, .device = GetParam()});
    Variations one;
    one.gravity = {vary.gravity[3 * b], vary.gravity[3 * b + 1], vary.gravity[3 * b + 2]};
    one.friction = {vary.friction[b]};
    one.density = {vary.density[b]};
    one.rayleigh_stiffness = {vary.rayleigh_stiffness[b]};
    alone.set_variations(one);
    (void)alone.step(5);
    const State own = one_robot(sim.state(), static_cast<int>(b));
    for (std::size_t i = 0; i < own.q.size(); ++i)
      // cuBLAS may sum a batch of another size in another order.
      EXPECT_NEAR(own.q[i], alone.state().q[i], GetParam().kind == Device::Kind::cpu ? 0 : 1e-12) << b;
  }
  EXPECT_NE(one_robot(sim.state(), 0).q, one_robot(sim.state(), 2).q);
}

INSTANTIATE_TEST_SUITE_P(Devices, SimulationOnDevice, test::every_device(), test::device_name);

TEST(BatchSimulation, OneRobotThatFailsIsTriedAgain) {
  BatchSimulation sim(body_of(reduced_bar()), {});
  const State good = sim.state();
  State bad = good;
  for (double& v : bad.v) v = 1e200;
  sim.set_state(bad);
  EXPECT_NE(sim.step().status, StepStatus::ok);
  EXPECT_TRUE(sim.all_failed());
  EXPECT_NE(sim.step().status, StepStatus::ok);
  EXPECT_EQ(sim.failures().size(), 1U);
  sim.set_state(good);
  EXPECT_EQ(sim.step().status, StepStatus::ok);
  EXPECT_FALSE(sim.all_failed());
}

TEST(BatchSimulation, SettlesEachRobotUnderItsCommands) {
  BatchSimulation sim(body_of(reduced_bar()), {.robots = 2});
  sim.commands()[0] = 0.004;
  sim.settle();
  EXPECT_NE(one_robot(sim.state(), 0).q, one_robot(sim.state(), 1).q);
  const State settled = sim.state();
  (void)sim.step(3);
  for (std::size_t i = 0; i < settled.q.size(); ++i)
    EXPECT_NEAR(sim.state().q[i], settled.q[i], 1e-8);  // of 0.1 m: the equilibrium's tolerance
}

TEST(BatchSimulation, RefusesWhatIsNoNumber) {
  BatchSimulation sim(body_of(reduced_bar()), {.robots = 2});
  const std::uint64_t before = hash(sim.state());
  sim.commands()[4] = nan;
  try {
    (void)sim.step();
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the command of 'force' of robot 1 is nan");
  }
  EXPECT_EQ(hash(sim.state()), before);
  State state = sim.state();
  state.q[0] = nan;
  EXPECT_THROW(sim.set_state(state), InputError);
  state.q.pop_back();
  EXPECT_THROW(sim.set_state(state), InputError);
  const int beyond[] = {2};
  EXPECT_THROW(sim.reset(beyond), InputError);
  EXPECT_THROW(BatchSimulation(body_of(reduced_bar()), {.robots = 0}), InputError);
  EXPECT_THROW(BatchSimulation(body_of(reduced_bar()), {.time_step = -1.0}), InputError);
  EXPECT_THROW(BatchSimulation(body_of(bar()), {.device = cuda(0)}), CapabilityError);
  EXPECT_THROW(BatchSimulation(body_of(bar()), {}).set_variations({}), InputError);
}

TEST(BatchSimulation, RefusesGoalsAndLimitsThatCannotBe) {
  BatchSimulation sim(body_of(reduced_bar()), {.inverse = InverseSettings{}});
  sim.limits()[2] = 3;  // of 0 N to 2 N
  EXPECT_THROW((void)sim.step(), InputError);
  sim.limits()[2] = 0;
  sim.goals()[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)sim.step(), InputError);
  sim.goals()[0] = 0.29;
  EXPECT_EQ(sim.step().status, StepStatus::ok);
}

TEST(BatchSimulation, ShowsContacts) {
  BatchSimulation sim(body_of(bar_on_floor()), {.robots = 2});
  const Robot& robot = sim.robot();
  ASSERT_GT(robot.pairs(), 0);
  (void)sim.step(30);
  const std::vector<double> gaps = sim.gaps();
  ASSERT_EQ(gaps.size(), static_cast<std::size_t>(2 * robot.pairs()));
  const std::vector<Touch> touching = sim.touches(1);
  ASSERT_FALSE(touching.empty());
  // Both robots do the same.
  const std::vector<Touch> first_touching = sim.touches(0);
  ASSERT_EQ(first_touching.size(), touching.size());
  for (std::size_t k = 0; k < touching.size(); ++k) {
    EXPECT_EQ(touching[k].point, first_touching[k].point);
    EXPECT_EQ(touching[k].slip, first_touching[k].slip);
    for (int c = 0; c < 3; ++c) EXPECT_EQ(touching[k].at[c], first_touching[k].at[c]);
  }
  for (const Touch& touch : touching) {
    EXPECT_GT(touch.normal_force, 0);
    // A contact that presses is closed: gaps are found to the contact solver's tolerance.
    EXPECT_NEAR(gaps[static_cast<std::size_t>(robot.pairs() + touch.point)], 0, 1e-7);
  }
  std::vector<double> first(3 * sim.skin().nodes.size()), second(first.size());
  sim.skin_nodes(0, first);
  sim.skin_nodes(1, second);
  EXPECT_EQ(first, second);
  for (const double stress : sim.stress(0)) EXPECT_GT(stress, 0);
}

TEST(BatchSimulation, StopsBetweenSteps) {
  BatchSimulation sim(body_of(reduced_bar()), {});
  int asked = 0;
  (void)sim.step(10, [&] { return ++asked == 3; });
  EXPECT_EQ(sim.steps(), 3);
}

}  // namespace
}  // namespace supple
