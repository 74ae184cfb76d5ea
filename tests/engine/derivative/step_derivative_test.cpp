// Derivatives of a step against central differences of the step itself.

#include "engine/derivative/step_derivative.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"
#include "tests/engine/bodies/strain_bodies.hpp"

namespace supple {
namespace {

constexpr double time_step = 0.01;

// What a step depends on.
struct Given {
  State state;
  std::vector<double> commands, load;
  Variations variations;
  double density = 1;
};

std::vector<double> random_list(std::size_t n, double size) {
  std::vector<double> list = boxes::random_vector(static_cast<int>(n), 1);
  for (double& x : list) x *= size;
  return list;
}

// A model that owns its steps, with another density on demand.
class Robots {
 public:
  Robots(ReducedModel model, int robots, double density = 1)
      : model_(std::move(model)), mechanics_(scaled(density), robots) {}
  ReducedMechanics& mechanics() { return mechanics_; }
  State step(const Given& given) {
    mechanics_.set_variations(given.variations);
    Stepper stepper(mechanics_, {.time_step = time_step});
    stepper.set_load(given.load);
    State state = given.state;
    Control control = zero_control(mechanics_);
    control.commands = given.commands;
    EXPECT_EQ(stepper.step(control, state).status, StepStatus::ok);
    return state;
  }

 private:
  const ReducedModel& scaled(double density) {
    for (double& m : model_.mass) m *= density;
    for (double& g : model_.gravity) g *= density;
    return model_;
  }
  ReducedModel model_;
  ReducedMechanics mechanics_;
};

// In motion, in the middle of commands.
Given somewhere(const ReducedModel& model, int robots) {
  Robots all(model, robots);
  Given given;
  given.state = rest_state(all.mechanics());
  for (int b = 0; b < robots; ++b) {
    for (int g = 0; g < model.regions(); ++g) given.variations.material_scale.push_back(1 + 0.2 * b + 0.1);
    for (const double g : {0.4, -0.3, -9.0}) given.variations.gravity.push_back(g + b);
  }
  given.load = random_list(given.state.q.size(), 0.01);
  for (int step = 1; step <= 6; ++step) {
    given.commands = batch_bodies::commands_at(step + 3, model.robot, robots);
    given.state = all.step(given);
  }
  given.commands = batch_bodies::commands_at(12, model.robot, robots);
  return given;
}

// a . q' + b . v' + c . lambda' + d . commands', with terms of like size.
StateGradient random_gradient(const State& after) {
  StateGradient gradient;
  const auto like = [](const std::vector<double>& values) {
    double size = 0;
    for (const double x : values) size = std::max(size, std::abs(x));
    return random_list(values.size(), size > 0 ? 1 / size : 0);
  };
  gradient.q = like(after.q);
  gradient.v = like(after.v);
  gradient.multipliers = like(after.multipliers);
  gradient.commands = like(after.commands);
  return gradient;
}

double value(const StateGradient& gradient, const State& state) {
  return boxes::dot(gradient.q, state.q) + boxes::dot(gradient.v, state.v) +
         boxes::dot(gradient.multipliers, state.multipliers) + boxes::dot(gradient.commands, state.commands);
}

// Of f at 0, of fourth order; `size`: a step at which f is nearly linear.
double slope(const std::function<double(double)>& f, double size) {
  return (8 * (f(size) - f(-size)) - (f(2 * size) - f(-2 * size))) / (12 * size);
}

// `tolerance` relative to the norms of gradient and direction (an angle between them makes their product smaller).
void expect_derivatives(const ReducedModel& model, int robots = 2, double tolerance = 1e-7) {
  const Given given = somewhere(model, robots);
  Robots all(model, robots);
  const State after = all.step(given);
  const StateGradient of_after = random_gradient(after);
  StepDerivative derivative(all.mechanics(), {.time_step = time_step});
  derivative.linearise(given.commands, given.state, after);
  StateGradient before;
  InputGradient inputs;
  ASSERT_TRUE(derivative.pull_back(of_after, before, inputs));

  Robots again(model, robots);
  const auto along = [&](const std::string& name, const std::vector<double>& gradient, double size,
                         const std::function<void(Given&, const std::vector<double>&, double)>& move) {
    ASSERT_FALSE(gradient.empty()) << name;
    std::vector<double> direction = random_list(gradient.size(), size);
    const double found = slope(
        [&](double s) {
          Given moved = given;
          move(moved, direction, s);
          return value(of_after, again.step(moved));
        },
        1e-2);
    EXPECT_NEAR(boxes::dot(gradient, direction), found, tolerance * boxes::norm(gradient) * boxes::norm(direction))
        << name;
    EXPECT_GT(boxes::norm(gradient), 0) << name;
  };
  const auto add = [](std::vector<double>& to, const std::vector<double>& direction, double s) {
    to = boxes::plus(to, s, direction);
  };
  double q = 0, v = 0;
  for (const double x : given.state.q) q = std::max(q, std::abs(x));
  for (const double x : given.state.v) v = std::max(v, std::abs(x));
  along("q", before.q, 0.1 * q, [&](Given& g, const auto& d, double s) { add(g.state.q, d, s); });
  along("v", before.v, 0.1 * v, [&](Given& g, const auto& d, double s) { add(g.state.v, d, s); });
  along("load", inputs.load, 0.1, [&](Given& g, const auto& d, double s) { add(g.load, d, s); });
  along("gravity", inputs.gravity, 1, [&](Given& g, const auto& d, double s) { add(g.variations.gravity, d, s); });
  along("material", inputs.material_scale, 0.1,
        [&](Given& g, const auto& d, double s) { add(g.variations.material_scale, d, s); });
  std::vector<double> sizes;
  for (int b = 0; b < robots; ++b)
    for (const ActuatorRow& actuator : model.robot.actuators) sizes.push_back(0.01 * actuator.range.upper);
  along("commands", inputs.commands, 1, [&](Given& g, const auto& d, double s) {
    for (std::size_t k = 0; k < sizes.size(); ++k) g.commands[k] += s * sizes[k] * d[k] / boxes::norm(sizes);
  });
}

TEST(StepDerivative, LawsOfSolids) {
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    expect_derivatives(batch_bodies::reduced(reduced_bodies::bar_scene(law), reduced_bodies::bar(false)));
  }
}

}  // namespace
}  // namespace supple
