// Gradients through many steps against central differences of runs.

#include "engine/derivative/rollout.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/engine/bodies/batch_bodies.hpp"

namespace supple {
namespace {

constexpr int robots = 2, steps = 25;

std::vector<double> commands_of_run(const Robot& robot) {
  std::vector<double> commands;
  for (int step = 1; step <= steps; ++step) {
    const std::vector<double> now = batch_bodies::commands_at(step + 3, robot, robots);
    commands.insert(commands.end(), now.begin(), now.end());
  }
  return commands;
}

struct Given {
  std::vector<double> commands, q, v, loads;
  Variations variations;
};

// Sum of squares of what is recorded, each over its size.
struct Cost {
  double q, v, forces;
  double value(const RolloutRecord& r) const {
    return 0.5 * (boxes::dot(r.q, r.q) / (q * q) + boxes::dot(r.v, r.v) / (v * v) +
                  boxes::dot(r.forces, r.forces) / (forces * forces));
  }
};

TEST(Rollout, GradientsOfRuns) {
  for (const bool hollow : {false, true}) {
    SCOPED_TRACE(hollow);
    const auto model = std::make_shared<const ReducedModel>(hollow ? batch_bodies::cavity() : batch_bodies::cables());
    Rollout rollout(model, robots);
    Given given;
    given.commands = commands_of_run(model->robot);
    const std::size_t n = extent(robots, model->modes);
    for (auto* values : {&given.q, &given.v}) *values = boxes::random_vector(static_cast<int>(n), 1e-4);
    given.loads = boxes::random_vector(static_cast<int>(steps * n), 1e-3);
    for (int k = 0; k < robots * model->regions(); ++k) given.variations.material_scale.push_back(1 + 0.1 * k);
    for (int k = 0; k < 3 * robots; ++k) given.variations.gravity.push_back(k - 2.0);
    given.variations.density = {0.9, 1.3};
    given.variations.rayleigh_mass = {20, 30};
    given.variations.rayleigh_stiffness = {0.004, 0.001};
    const auto run = [&](const Given& of) -> const RolloutRecord& {
      rollout.set_variations(of.variations);
      return rollout.run(of.commands, {.q = of.q, .v = of.v}, of.loads);
    };
    const RolloutRecord record = run(given);
    const Cost cost{boxes::norm(record.q), boxes::norm(record.v), boxes::norm(record.forces)};
    const auto over = [](std::vector<double> values, double size) {
      for (double& x : values) x /= size * size;
      return values;
    };
    const std::vector<double> dq = over(record.q, cost.q), dv = over(record.v, cost.v),
                              df = over(record.forces, cost.forces);
    const RolloutGradient found = rollout.pull_back({dq, dv, df});
    const auto expect = [&](const char* name, const std::vector<double>& gradient, const std::vector<double>& direction,
                            const auto& list) {
      const auto value = [&](double s) {
        Given moved = given;
        list(moved) = boxes::plus(list(moved), s, direction);
        return cost.value(run(moved));
      };
      // With a stencil of fourth order. Coordinates by little, since clamped tangents have kinks; by others little changes.
      const double s = std::string(name) == "q" ? 1e-3 : 0.1;
      const double slope = (8 * (value(s) - value(-s)) - (value(2 * s) - value(-2 * s))) / (12 * s);
      EXPECT_NEAR(boxes::dot(gradient, direction), slope, 1e-7 * boxes::norm(gradient) * boxes::norm(direction))
          << name;
      EXPECT_GT(boxes::norm(gradient), 0) << name;
    };
    const auto random = [](const std::vector<double>& like, double size) {
      return boxes::random_vector(static_cast<int>(like.size()), size);
    };
    expect(
        "q", found.q, random(given.q, 1e-4), [](Given & g) -> auto& { return g.q; });
    expect(
        "v", found.v, random(given.v, 0.1), [](Given & g) -> auto& { return g.v; });
    expect(
        "loads", found.loads, random(given.loads, 0.1), [](Given & g) -> auto& { return g.loads; });
    expect(
        "gravity", found.gravity, random(found.gravity, 1), [](Given & g) -> auto& { return g.variations.gravity; });
    expect(
        "materials", found.material_scale, random(found.material_scale, 0.05),
        [](Given & g) -> auto& { return g.variations.material_scale; });
    expect(
        "density", found.density, random(found.density, 0.05), [](Given & g) -> auto& { return g.variations.density; });
    expect(
        "rayleigh_mass", found.rayleigh_mass, random(found.rayleigh_mass, 5),
        [](Given & g) -> auto& { return g.variations.rayleigh_mass; });
    expect(
        "rayleigh_stiffness", found.rayleigh_stiffness, random(found.rayleigh_stiffness, 1e-4),
        [](Given & g) -> auto& { return g.variations.rayleigh_stiffness; });
    std::vector<double> direction = random(given.commands, 0.01);
    for (std::size_t k = 0; k < direction.size(); ++k)
      direction[k] *= model->robot.actuators[k % model->robot.actuators.size()].range.upper;
    std::vector<double> scaled = found.commands;
    for (std::size_t k = 0; k < scaled.size(); ++k) {
      const double size = model->robot.actuators[k % model->robot.actuators.size()].range.upper;
      scaled[k] *= size;
    }
    const auto value = [&](double s) {
      Given moved = given;
      moved.commands = boxes::plus(moved.commands, s, direction);
      return cost.value(run(moved));
    };
    const double slope = (8 * (value(0.01) - value(-0.01)) - (value(0.02) - value(-0.02))) / 0.12;
    // Of commands that are cut to 0 at the beginning of their range there is none in the run.
    EXPECT_NEAR(boxes::dot(found.commands, direction), slope,
                1e-7 * boxes::norm(scaled) * 0.01 * std::sqrt(static_cast<double>(scaled.size())));
  }
}

// Whether the factors of all steps, of some or of none are kept.
TEST(Rollout, MemoryChangesNoBits) {
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::cables());
  const std::vector<double> commands = commands_of_run(model->robot);
  const std::size_t factor = ReducedMechanics(*model, robots).factor_size() * sizeof(double);
  std::vector<RolloutGradient> found;
  for (const std::size_t memory : {Rollout::default_memory, 7 * factor, factor, std::size_t{0}}) {
    Rollout rollout(model, robots, {}, memory);
    const RolloutRecord record = rollout.run(commands, {}, {});
    found.push_back(rollout.pull_back({.q = record.q, .v = record.v, .forces = record.forces}));
    const RolloutGradient again = rollout.pull_back({.q = record.q, .v = record.v, .forces = record.forces});
    EXPECT_EQ(again.commands, found.back().commands);
  }
  for (const RolloutGradient& other : found)
    for (const auto list : {&RolloutGradient::q, &RolloutGradient::v, &RolloutGradient::commands,
                            &RolloutGradient::gravity, &RolloutGradient::material_scale, &RolloutGradient::density})
      EXPECT_EQ(other.*list, found.front().*list);
}

TEST(Rollout, InputThatDoesNotFit) {
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::cables());
  Rollout rollout(model, 1);
  EXPECT_THROW((void)rollout.pull_back({}), InputError);  // no run yet
  const std::vector<double> commands(2 * model->robot.actuators.size(), 0.0);
  EXPECT_THROW(rollout.run(std::span(commands).first(1), {}, {}), InputError);
  std::vector<double> q(extent(model->modes), 0.0);
  EXPECT_THROW(rollout.run(commands, {.q = std::span(q).first(1)}, {}), InputError);
  q[0] = NAN;
  EXPECT_THROW(rollout.run(commands, {.q = q}, {}), InputError);
  EXPECT_THROW(rollout.run(commands, {}, {}, [] { return true; }), Interrupted);
  EXPECT_THROW((void)rollout.pull_back({}), InputError);
  EXPECT_EQ(rollout.run(commands, {}, {}).steps, 2);
  EXPECT_THROW((void)rollout.pull_back({.q = q}), InputError);
  // Of other moduli there is no run.
  rollout.set_variations({.material_scale = std::vector(extent(model->regions()), 2.0)});
  EXPECT_THROW((void)rollout.pull_back({}), InputError);
  EXPECT_THROW(Rollout(model, 1, -1.0), InputError);
  ReducedModel newton = *model;
  newton.robot.integrator = Integrator::implicit_euler_newton;
  EXPECT_THROW(Rollout(std::make_shared<const ReducedModel>(newton), 1), InputError);
}

// A run in two parts; what its rates begin from has a derivative.
TEST(Rollout, ContinuesFromItsRecord) {
  ReducedModel with_rates = batch_bodies::cables();
  with_rates.robot.actuators[0].rate = 0.02;
  const auto model = std::make_shared<const ReducedModel>(with_rates);
  const std::vector<double> commands = commands_of_run(model->robot);
  Rollout rollout(model, robots);
  const RolloutRecord whole = rollout.run(commands, {}, {});
  const std::size_t n = extent(robots, model->modes), own = extent(robots) * model->robot.actuators.size();
  const auto at = [](const std::vector<double>& list, std::size_t size, int step) {
    return std::span(list).subspan(size * extent(step), size);
  };
  constexpr int cut = 10;
  const RolloutRecord& second =
      rollout.run(std::span(commands).subspan(own * cut),
                  {at(whole.q, n, cut), at(whole.v, n, cut), at(whole.applied, own, cut - 1)}, {});
  for (const auto list : {&RolloutRecord::q, &RolloutRecord::v})
    // Multipliers start from 0 in the second part: the same to the tolerance they are solved to.
    for (std::size_t k = 0; k < (second.*list).size(); ++k)
      ASSERT_NEAR((second.*list)[k], (whole.*list)[n * cut + k], 1e-12);
  std::vector<double> by_q(second.q.size(), 1.0);
  const RolloutGradient found = rollout.pull_back({.q = by_q});
  EXPECT_NE(found.applied[0], 0);
  EXPECT_EQ(found.applied[1], 0);
}

// The bits of steps that are not remembered.
TEST(Rollout, TakesTheStepsOfAStepper) {
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::cables());
  Rollout rollout(model, robots);
  const std::vector<double> commands = commands_of_run(model->robot);
  const RolloutRecord& record = rollout.run(commands, {}, {});
  ReducedMechanics mechanics(*model, robots);
  Stepper stepper(mechanics, {.time_step = model->robot.time_step});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  for (int step = 0; step < steps; ++step) {
    std::copy_n(commands.begin() + step * static_cast<std::ptrdiff_t>(control.commands.size()), control.commands.size(),
                control.commands.begin());
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
  }
  const std::vector<double> last(record.q.end() - static_cast<std::ptrdiff_t>(state.q.size()), record.q.end());
  EXPECT_TRUE(reduced_bodies::same_bits(last, state.q));
}

}  // namespace
}  // namespace supple
