// Derivatives of equilibria against central differences of equilibria.

#include "engine/derivative/statics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/bodies/batch_bodies.hpp"

namespace supple {
namespace {

constexpr int robots = 2;

struct Given {
  std::vector<double> commands, loads;
  Variations variations;
};

Given given_to(const ReducedModel& model) {
  Given given;
  given.commands = batch_bodies::commands_at(9, model.robot, robots);
  given.loads = boxes::random_vector(robots * model.modes, 1e-2);
  for (int k = 0; k < robots * model.regions(); ++k) given.variations.material_scale.push_back(1 + 0.1 * k);
  for (int k = 0; k < 3 * robots; ++k) given.variations.gravity.push_back(k - 2.0);
  given.variations.density = {0.8, 1.5};
  return given;
}

class OfBodies : public testing::TestWithParam<bool> {
 protected:
  const std::shared_ptr<const ReducedModel> model_ =
      std::make_shared<const ReducedModel>(GetParam() ? batch_bodies::cavity() : batch_bodies::cables());
  Statics statics_{model_, robots};
  const Statics::Rest& solve(const Given& given) {
    statics_.set_variations(given.variations);
    return statics_.solve(given.commands, given.loads);
  }
};

TEST_P(OfBodies, AreThoseOfDifferences) {
  const Given given = given_to(*model_);
  const Statics::Rest rest = solve(given);
  const double of_q = boxes::dot(rest.q, rest.q), of_forces = boxes::dot(rest.forces, rest.forces);
  const auto cost = [&](const Statics::Rest& at) {
    return 0.5 * (boxes::dot(at.q, at.q) / of_q + boxes::dot(at.forces, at.forces) / of_forces);
  };
  std::vector<double> by_q = rest.q, by_forces = rest.forces;
  for (double& x : by_q) x /= of_q;
  for (double& x : by_forces) x /= of_forces;
  const InputGradient found = statics_.pull_back(by_q, by_forces);
  const auto expect = [&](const char* name, const std::vector<double>& gradient, const std::vector<double>& direction,
                          const auto& list) {
    const auto value = [&](double s) {
      Given moved = given;
      list(moved) = boxes::plus(list(moved), s, direction);
      return cost(solve(moved));
    };
    // A stencil of fourth order; equilibria are found to 1e-9 of the forces at work.
    const double slope = (8 * (value(0.5) - value(-0.5)) - (value(1) - value(-1))) / 6;
    EXPECT_GT(std::abs(slope), 0) << name;
    EXPECT_NEAR(boxes::dot(gradient, direction), slope, 1e-5 * boxes::norm(gradient) * boxes::norm(direction)) << name;
  };
  const auto random = [](const std::vector<double>& like, double size) {
    return boxes::random_vector(static_cast<int>(like.size()), size);
  };
  expect(
      "loads", found.load, random(given.loads, 1e-2), [](Given & g) -> auto& { return g.loads; });
  expect(
      "gravity", found.gravity, random(given.variations.gravity, 0.3),
      [](Given & g) -> auto& { return g.variations.gravity; });
  expect(
      "materials", found.material_scale, random(given.variations.material_scale, 0.02),
      [](Given & g) -> auto& { return g.variations.material_scale; });
  // One after another: they have different units.
  for (std::size_t k = 0; k < given.commands.size(); ++k) {
    const Interval range = model_->robot.actuators[k % model_->robot.actuators.size()].range;
    std::vector<double> direction(given.commands.size(), 0.0);
    direction[k] = 0.01 * (range.upper - range.lower);
    if (given.commands[k] - direction[k] < range.lower) continue;  // a kink: cut to the range
    expect(
        "commands", found.commands, direction, [](Given & g) -> auto& { return g.commands; });
  }
  for (int b = 0; b < robots; ++b) {
    double by_weight = 0;
    for (int i = 0; i < 3; ++i)
      by_weight += found.gravity[extent(b, 3) + extent(i)] * given.variations.gravity[extent(b, 3) + extent(i)];
    // At rest masses have their weight alone: what is left is that of one step of 1e4 s.
    EXPECT_NEAR(found.density[extent(b)] * given.variations.density[extent(b)], by_weight, 1e-6 * std::abs(by_weight));
  }
}

TEST_P(OfBodies, MatricesAreThoseOfGradients) {
  solve(given_to(*model_));
  const Statics::Matrices found = statics_.matrices();
  const auto n = extent(model_->modes), actuators = model_->robot.actuators.size();
  ASSERT_EQ(found.commands.size(), robots * n * actuators);
  ASSERT_EQ(found.loads.size(), robots * n * n);
  double largest = 0;
  for (const double x : found.loads) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> by_q(robots * n, 0.0);
    for (std::size_t b = 0; b < robots; ++b) by_q[b * n + i] = 1;
    const InputGradient gradient = statics_.pull_back(by_q, {});
    for (std::size_t b = 0; b < robots; ++b)
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_NEAR(found.loads[(b * n + i) * n + j], gradient.load[b * n + j], 1e-9 * largest);
        // The energy has no order of loads.
        EXPECT_NEAR(found.loads[(b * n + i) * n + j], found.loads[(b * n + j) * n + i], 1e-6 * largest);
      }
  }
}

TEST_P(OfBodies, FromRestWhateverWasFoundBefore) {
  const Given given = given_to(*model_);
  const Statics::Rest first = solve(given);
  Given other = given;
  for (double& command : other.commands) command *= 0.5;
  (void)solve(other);
  const Statics::Rest again = solve(given);
  EXPECT_EQ(again.q, first.q);
  EXPECT_EQ(again.forces, first.forces);
}

INSTANTIATE_TEST_SUITE_P(Equilibria, OfBodies, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) { return info.param ? "cavity" : "cables"; });

TEST(Statics, InputThatDoesNotFit) {
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::cables());
  Statics statics(model, 1);
  EXPECT_THROW((void)statics.pull_back({}, {}), InputError);
  EXPECT_THROW((void)statics.matrices(), InputError);
  std::vector<double> commands(model->robot.actuators.size(), 0.0);
  EXPECT_THROW((void)statics.solve(std::span(commands).first(1)), InputError);
  EXPECT_THROW((void)statics.solve(commands, {}, [] { return true; }), Interrupted);
  (void)statics.solve(commands);
  EXPECT_EQ(statics.pull_back({}, {}).commands, commands);  // zeros
  const std::vector<double> wrong(1, 0.0);
  EXPECT_THROW((void)statics.pull_back(wrong, {}), InputError);
  statics.set_variations({.gravity = {0, 0, -1}});
  EXPECT_THROW((void)statics.matrices(), InputError);
}

}  // namespace
}  // namespace supple
