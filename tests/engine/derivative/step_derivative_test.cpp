// Derivatives of a step against central differences of the step itself.

#include "engine/derivative/step_derivative.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"
#include "tests/engine/bodies/strain_bodies.hpp"

namespace supple {
namespace {

constexpr double time_step = 0.01;

// What a step depends on.
struct Given {
  State state;
  std::vector<double> commands, load;
  Variations variations;
};

std::vector<double> random_list(std::size_t n, double size) {
  std::vector<double> list = boxes::random_vector(static_cast<int>(n), 1);
  for (double& x : list) x *= size;
  return list;
}

// A model that owns its steps.
class Robots {
 public:
  Robots(ReducedModel model, int robots) : model_(std::move(model)), mechanics_(model_, robots) {}
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
  ReducedModel model_;
  ReducedMechanics mechanics_;
};

// In motion, in the middle of commands; after so many more steps under the last ones.
Given somewhere(const ReducedModel& model, int robots, int held = 0) {
  Robots all(model, robots);
  Given given;
  given.state = rest_state(all.mechanics());
  for (int b = 0; b < robots; ++b) {
    for (int g = 0; g < model.regions(); ++g) given.variations.material_scale.push_back(1 + 0.2 * b + 0.1);
    for (const double g : {0.4, -0.3, -9.0}) given.variations.gravity.push_back(g + b);
    for (const PlacedObstacle& placed : model.robot.obstacles)
      given.variations.friction.push_back(placed.friction * (1 + 0.1 * b));
    // Contacts that are near to slipping are so by the model's own.
    const double differs = model.robot.touches() ? 0 : 1 + b;
    given.variations.density.push_back(1 + 0.2 * differs);
    given.variations.rayleigh_mass.push_back(model.robot.rayleigh_mass + 0.2 * differs);
    given.variations.rayleigh_stiffness.push_back(model.robot.rayleigh_stiffness + 0.001 * differs);
  }
  given.load = random_list(given.state.q.size(), 0.01);
  for (int step = 1; step <= 6; ++step) {
    given.commands = batch_bodies::commands_at(step + 3, model.robot, robots);
    given.state = all.step(given);
  }
  for (int step = 0; step < held; ++step) given.state = all.step(given);
  given.commands = batch_bodies::commands_at(held > 0 ? 10 : 12, model.robot, robots);
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
  gradient.contact_forces = like(after.contact_forces);
  return gradient;
}

double value(const StateGradient& gradient, const State& state) {
  return boxes::dot(gradient.q, state.q) + boxes::dot(gradient.v, state.v) +
         boxes::dot(gradient.multipliers, state.multipliers) + boxes::dot(gradient.commands, state.commands) +
         boxes::dot(gradient.contact_forces, state.contact_forces);
}

// Of the step that these robots took last.
std::pair<StateGradient, InputGradient> pulled_back(Robots& robots, const Given& given, const State& after,
                                                    const StateGradient& of_after) {
  StepDerivative derivative(robots.mechanics(), {.time_step = time_step});
  derivative.linearise(given.commands, given.state, after);
  std::pair<StateGradient, InputGradient> found;
  EXPECT_TRUE(derivative.pull_back(of_after, found.first, found.second));
  return found;
}

int slack_cables = 0;

// Its matrices have the same derivatives of a scalar by coordinates and velocities.
void expect_matrices(Robots& robots, const Given& given, const State& after, StateGradient of_after) {
  for (auto* values : {&of_after.multipliers, &of_after.commands, &of_after.contact_forces})
    std::ranges::fill(*values, 0.0);
  StepDerivative derivative(robots.mechanics(), {.time_step = time_step});
  derivative.linearise(given.commands, given.state, after);
  StateGradient before;
  InputGradient inputs;
  ASSERT_TRUE(derivative.pull_back(of_after, before, inputs));
  const int nv = robots.mechanics().coordinates().nv,
            actuators = static_cast<int>(robots.mechanics().robot().actuators.size());
  for (int b = 0; b < robots.mechanics().robots(); ++b) {
    StepMatrices matrices;
    ASSERT_TRUE(derivative.matrices(b, matrices));
    std::vector<double> by_u;
    for (int i = 0; i < nv; ++i)
      by_u.push_back(of_after.q[extent(b, nv) + extent(i)] + of_after.v[extent(b, nv) + extent(i)] / time_step);
    const auto expect = [&](const char* name, const std::vector<double>& matrix, int columns,
                            const std::vector<double>& gradient, const double* add) {
      std::vector<double> product, own;
      for (int j = 0; j < columns; ++j) {
        double sum = add != nullptr ? add[j] : 0;
        for (int i = 0; i < nv; ++i) sum += by_u[extent(i)] * matrix[extent(i, columns) + extent(j)];
        own.push_back(gradient[extent(b, columns) + extent(j)]);
        product.push_back(sum);
      }
      // Rounding of factors of systems with condition numbers of 1e5.
      EXPECT_LT(boxes::difference(product, own), 1e-10) << name;
    };
    expect("q", matrices.q, nv, before.q, of_after.q.data() + extent(b, nv));
    expect("v", matrices.v, nv, before.v, nullptr);
    expect("load", matrices.load, nv, inputs.load, nullptr);
    // The pull of a slack cable is compared with a step that pulls it from where it is slack to.
    std::vector<double> applied = matrices.applied;
    for (int k = 0; k < actuators; ++k) {
      if (matrices.slack[extent(k)] == 0) continue;
      const std::size_t own = extent(b, actuators) + extent(k);
      const double pull = 1e-6 * robots.mechanics().robot().actuators[extent(k)].range.upper;
      Given pulled = given;
      pulled.commands[own] = matrices.reached[extent(k)] + pull;
      Robots again(robots.mechanics().model(), robots.mechanics().robots());
      const State there = again.step(pulled);
      std::vector<double> column, moved;
      for (int i = 0; i < nv; ++i) {
        column.push_back(applied[extent(i, actuators) + extent(k)]);
        moved.push_back((there.q[extent(b, nv) + extent(i)] - after.q[extent(b, nv) + extent(i)]) / pull);
        applied[extent(i, actuators) + extent(k)] = 0;
      }
      EXPECT_LT(boxes::difference(moved, column), 1e-6) << "slack";
      ++slack_cables;
    }
    expect("commands", applied, actuators, boxes::plus(inputs.commands, 1, before.commands), nullptr);
  }
}

// Of f at 0, of fourth order; `size`: a step at which f is nearly linear.
double slope(const std::function<double(double)>& f, double size) {
  return (8 * (f(size) - f(-size)) - (f(2 * size) - f(-2 * size))) / (12 * size);
}

// `tolerance` relative to the norms of gradient and direction (an angle between them makes their product smaller).
void expect_derivatives(const ReducedModel& model, int robots = 2, double tolerance = 1e-7, int held = 0) {
  const Given given = somewhere(model, robots, held);
  Robots all(model, robots);
  const State after = all.step(given);
  const StateGradient of_after = random_gradient(after);
  const auto [before, inputs] = pulled_back(all, given, after, of_after);
  expect_matrices(all, given, after, of_after);

  Robots again(model, robots);
  const auto along = [&](const std::string& name, const std::vector<double>& gradient,
                         const std::vector<double>& direction, double step,
                         const std::function<void(Given&, const std::vector<double>&, double)>& move) {
    const double found = slope(
        [&](double s) {
          Given moved = given;
          move(moved, direction, s);
          return value(of_after, again.step(moved));
        },
        model.robot.touches() ? 10 * step : step);
    // Forces of contacts are solved to 1e-8 (tight_residual) at worst, which is divided by the step.
    const double solved = model.robot.touches() ? 2e-9 / step : 0;
    EXPECT_NEAR(boxes::dot(gradient, direction), found,
                tolerance * boxes::norm(gradient) * boxes::norm(direction) + solved)
        << name;
    EXPECT_GT(boxes::norm(gradient), 0) << name;
  };
  const auto add = [](std::vector<double>& to, const std::vector<double>& direction, double s) {
    to = boxes::plus(to, s, direction);
  };
  double q = 0, v = 1e-3;
  for (const double x : given.state.q) q = std::max(q, std::abs(x));
  for (const double x : given.state.v) v = std::max(v, std::abs(x));
  // Coordinates by little: eigenvalues of a safe tangent that begin or cease to be clamped are kinks.
  along("q", before.q, random_list(before.q.size(), 0.1 * q), 1e-4,
        [&](Given& g, const auto& d, double s) { add(g.state.q, d, s); });
  along("v", before.v, random_list(before.v.size(), 0.1 * v), 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.state.v, d, s); });
  along("load", inputs.load, random_list(inputs.load.size(), 0.1), 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.load, d, s); });
  along("gravity", inputs.gravity, random_list(inputs.gravity.size(), 1), 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.variations.gravity, d, s); });
  // Membranes that are strain modes have one factor.
  std::vector<double> moduli = random_list(inputs.material_scale.size(), 0.1);
  for (const ReducedField& field : model.fields)
    for (std::size_t g = 0; field.strains.count > 0 && g < moduli.size(); ++g)
      if (g % extent(model.regions()) > extent(model.materials())) moduli[g] = moduli[g - 1];
  along("material", inputs.material_scale, moduli, 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.variations.material_scale, d, s); });
  // Commands have units far apart.
  std::vector<double> by_size = inputs.commands, sizes;
  for (std::size_t k = 0; k < by_size.size(); ++k) {
    sizes.push_back(0.01 * model.robot.actuators[k % model.robot.actuators.size()].range.upper);
    by_size[k] *= sizes[k];
  }
  along("commands", by_size, random_list(sizes.size(), 1), 1e-2, [&](Given& g, const auto& d, double s) {
    for (std::size_t k = 0; k < sizes.size(); ++k) g.commands[k] += s * sizes[k] * d[k];
  });
  if (boxes::norm(inputs.friction) > 0)
    along("friction", inputs.friction, random_list(inputs.friction.size(), 0.1), 1e-4,
          [&](Given& g, const auto& d, double s) { add(g.variations.friction, d, s); });
  along("density", inputs.density, random_list(inputs.density.size(), 0.1), 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.variations.density, d, s); });
  along("rayleigh_mass", inputs.rayleigh_mass, random_list(inputs.rayleigh_mass.size(), 1), 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.variations.rayleigh_mass, d, s); });
  along("rayleigh_stiffness", inputs.rayleigh_stiffness, random_list(inputs.rayleigh_stiffness.size(), 1e-3), 1e-2,
        [&](Given& g, const auto& d, double s) { add(g.variations.rayleigh_stiffness, d, s); });
}

TEST(StepDerivative, LawsOfSolids) {
  for (const boxes::Law& law : boxes::all_laws()) {
    SCOPED_TRACE(law.name);
    expect_derivatives(batch_bodies::reduced(reduced_bodies::bar_scene(law), reduced_bodies::bar(false)));
  }
}

TEST(StepDerivative, Hexahedra) {
  for (const boxes::Law& law : boxes::exact_laws()) {
    SCOPED_TRACE(law.name);
    expect_derivatives(batch_bodies::reduced(reduced_bodies::bar_scene(law), reduced_bodies::bar(true)));
  }
}

// Eigenvalues that the safe tangent clamps: a bar that is pressed hard.
TEST(StepDerivative, ClampedTangents) {
  for (const boxes::Law& law : boxes::exact_laws()) {
    SCOPED_TRACE(law.name);
    Scene scene = reduced_bodies::bar_scene(law);
    scene.actuators[0].range.upper *= 4;
    const ReducedModel model = batch_bodies::reduced(scene, reduced_bodies::bar(false));
    const Given given = somewhere(model, 1);
    ReducedMechanics mechanics(model);
    std::vector<double> f(given.state.q.size());
    (void)mechanics.evaluate_forces(given.state.q, {}, TangentKind::safe, f);
    const std::vector<double> safe(mechanics.stiffness(0).begin(), mechanics.stiffness(0).end());
    (void)mechanics.evaluate_forces(given.state.q, {}, TangentKind::exact, f);
    const std::vector<double> exact(mechanics.stiffness(0).begin(), mechanics.stiffness(0).end());
    EXPECT_GT(boxes::difference(safe, exact), 1e-4);
    expect_derivatives(model);
  }
}

TEST(StepDerivative, ConstraintsAndCables) {
  expect_derivatives(batch_bodies::cables());
  Scene scene = batch_bodies::cable_scene();
  for (ConstraintScene& constraint : scene.constraints) constraint.damping_time = 0.01;
  expect_derivatives(batch_bodies::reduced(scene, reduced_bodies::bar(false)));
  expect_derivatives(batch_bodies::reduced(reduced_bodies::bar_with_forces({"", MaterialModel::corotational}),
                                           reduced_bodies::bar(false)));
}

TEST(StepDerivative, Cavities) {
  expect_derivatives(batch_bodies::cavity());
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::displacement, 2e-5);
  expect_derivatives(batch_bodies::reduced(scene, hollow_bodies::bar(false)));
  EXPECT_GT(slack_cables, 0);
}

TEST(StepDerivative, MembranesAndTheirStrainModes) {
  const FullModel full = build_full_model(strain_bodies::covered(), reduced_bodies::bar(false));
  const std::vector<double> basis = reduced_bodies::random_basis(full.coordinates.nv, batch_bodies::modes);
  expect_derivatives(project(full, basis, batch_bodies::modes, all_elements(full)));
  expect_derivatives(
      strain_bodies::with_strains(full, basis, batch_bodies::modes, strain_bodies::random_strains(full, 5)));
}

// A command beyond its range has no effect, and one that its rate cuts follows the last one.
TEST(StepDerivative, CommandsThatAreCut) {
  ReducedModel model =
      batch_bodies::reduced(reduced_bodies::bar_scene({"", MaterialModel::corotational}), reduced_bodies::bar(false));
  model.robot.actuators[0].rate = 0.05;
  model.robot.actuators[1].rate = 50;
  Given given = somewhere(model, 1);
  given.commands[0] += 0.01;
  given.commands[1] = model.robot.actuators[1].range.upper + 1;
  given.state.commands[1] = model.robot.actuators[1].range.upper - 0.1;
  Robots all(model, 1);
  const State after = all.step(given);
  ASSERT_LT(after.commands[0], given.commands[0]);
  ASSERT_EQ(after.commands[1], model.robot.actuators[1].range.upper);
  const StateGradient of_after = random_gradient(after);
  const auto [before, inputs] = pulled_back(all, given, after, of_after);
  EXPECT_EQ(inputs.commands[0], 0);
  EXPECT_EQ(inputs.commands[1], 0);
  EXPECT_EQ(before.commands[1], 0);
  const double found = slope(
      [&](double s) {
        Given moved = given;
        moved.state.commands[0] += s;
        return value(of_after, all.step(moved));
      },
      1e-5);
  EXPECT_NEAR(before.commands[0], found, 1e-6 * std::abs(found));
}

// A bar that lies on a floor and is held down by a solid above its free end; obstacles 0 and 1. The solid reaches `depth`
// below where the top of the bar is in the middle of a motion without it.
ReducedModel among_obstacles(double friction, const std::optional<Obstacle>& above, double distance = 0) {
  constexpr double depth = 2e-4;
  Scene scene = reduced_bodies::bar_scene({"", MaterialModel::corotational});
  FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  std::vector<PlacedObstacle> obstacles = {
      {.name = "floor", .obstacle = Obstacle::plane(), .pose = {.position = {{0, 0, 3e-4 - distance}}}}};
  obstacles[0].friction = friction;
  if (above) {
    const ReducedModel alone = among_obstacles(friction, {}, distance);
    const Given given = somewhere(alone, 1);
    ReducedMechanics mechanics(alone);
    std::vector<double> y(extent(alone.robot.outputs()));
    mechanics.evaluate_outputs(given.state.q, {}, y);
    Vec3d top{{0, 0, -1}};
    for (int p = 0; p < alone.robot.collision_points; ++p) {
      const double* x = y.data() + 3 * (alone.robot.first_collision_point + p);
      if (x[0] > 0.15 && x[2] > top[2]) top = {{x[0], x[1], x[2]}};
    }
    // Turned a little, so that no axis is special.
    ObstaclePose pose{.rotation = boxes::rotation({{0.3, 0.9, 0.2}}, 0.2), .position = top};
    pose.position[2] += 1;
    // Down until it is so deep: from above the gap is never less than the way left.
    for (int k = 0; k < 200; ++k) pose.position[2] -= above->at(pose, top).gap - distance + depth;
    obstacles.push_back({.name = "solid", .obstacle = *above, .pose = pose, .friction = 0.7 * friction});
  }
  contact_bodies::place_among(full, obstacles, distance);
  return project(full, reduced_bodies::random_basis(full.coordinates.nv, batch_bodies::modes), batch_bodies::modes,
                 reduced_bodies::some_elements(full));
}

// How many contacts stick and slide, on the floor and on the solid: [obstacle][slides].
using ContactCount = std::array<std::array<int, 2>, 2>;
void count_contacts(const Given& given, const ReducedModel& model, const State& after, ContactCount& count) {
  const std::size_t pairs = extent(model.robot.pairs()), obstacles = model.robot.obstacles.size();
  std::vector<double> y(extent(after.robots, model.robot.outputs()));
  ReducedMechanics mechanics(model, after.robots);
  mechanics.evaluate_outputs(given.state.q, {}, y);
  for (std::size_t k = 0; k < after.contact_forces.size() / 3; ++k) {
    const double* f = after.contact_forces.data() + 3 * k;
    const Vec3d force{{f[0], f[1], f[2]}};
    if (force == Vec3d{{0, 0, 0}}) continue;
    const std::size_t robot = k / pairs, of = k % obstacles;
    const PlacedObstacle& obstacle = model.robot.obstacles[of];
    const double* x = y.data() + robot * extent(model.robot.outputs()) +
                      extent(3, model.robot.first_collision_point + static_cast<int>(k % pairs / obstacles));
    const Vec3d normal = obstacle.obstacle.at(obstacle.pose, {{x[0], x[1], x[2]}}).normal;
    const double pressed = dot(normal, force), grip = given.variations.friction[obstacles * robot + of] * pressed;
    EXPECT_GT(pressed, 0);
    ++count[of][norm(force - pressed * normal) < 0.9999 * grip ? 0 : 1];
  }
}

TEST(StepDerivative, Contacts) {
  ContactCount count{};
  struct Case {
    double friction;
    bool ball;
    int held;
  };
  for (const Case& of :
       {Case{0, true, 0}, {0.05, true, 0}, {0.15, true, 0}, {0.25, false, 0}, {0.25, false, 60}, {0.4, false, 60}}) {
    SCOPED_TRACE(of.friction);
    const ReducedModel model =
        among_obstacles(of.friction, of.ball ? std::optional(Obstacle::sphere(0.03)) : std::nullopt);
    const Given given = somewhere(model, 2, of.held);
    Robots all(model, 2);
    count_contacts(given, model, all.step(given), count);
    expect_derivatives(model, 2, 1e-5, of.held);
  }
  for (const auto& of_obstacle : count) EXPECT_GT(of_obstacle[1], 0);
  EXPECT_GT(count[0][0] + count[1][0], 0);
}

TEST(StepDerivative, ContactsWithEveryConvexSolid) {
  const Obstacle solids[] = {Obstacle::capsule(0.02, 0.1), Obstacle::box({{0.2, 0.06, 0.04}}),
                             Obstacle::cylinder(0.03, 0.1)};
  for (const Obstacle& solid : solids) {
    SCOPED_TRACE(static_cast<int>(solid.shape()));
    const ReducedModel model = among_obstacles(0.1, solid, 1e-3);
    const Given given = somewhere(model, 2);
    Robots all(model, 2);
    ContactCount count{};
    count_contacts(given, model, all.step(given), count);
    EXPECT_GT(count[1][0] + count[1][1], 0);
    expect_derivatives(model, 2, 1e-5);
  }
}

// Strain modes in compression: the step has a share of their geometric stiffness.
TEST(StepDerivative, WeakenedStrainModes) {
  const FullModel full = build_full_model(strain_bodies::covered(), reduced_bodies::bar(false));
  constexpr int modes = batch_bodies::modes;
  ReducedModel model = strain_bodies::with_strains(full, reduced_bodies::random_basis(full.coordinates.nv, modes),
                                                   modes, strain_bodies::random_strains(full, 1));
  StrainModes& strains = model.fields[1].strains;
  strains.linear.assign(modes, 0.0);
  strains.linear[0] = 1e3;
  std::ranges::fill(strains.quadratic, 0.0);
  for (int i = 1; i < modes; ++i) strains.quadratic[extent(i, i + 1) / 2 + extent(i)] = 1e5;
  Robots all(model, 1);
  Given given;
  given.state = rest_state(all.mechanics());
  given.state.q = random_list(extent(modes), 1e-5);
  given.state.q[0] = -1e-3;
  given.state.v = random_list(extent(modes), 1e-2);
  given.commands.assign(model.robot.actuators.size(), 0.0);
  given.load.assign(extent(modes), 0.0);
  ReducedMechanics& mechanics = all.mechanics();
  Stepper stepper(mechanics, {.time_step = time_step});
  State after = given.state;
  Control control = zero_control(mechanics);
  control.commands = given.commands;
  const StepReport report = stepper.step(control, after);
  ASSERT_EQ(report.status, StepStatus::ok);
  ASSERT_EQ(report.weakened, 1);
  const StateGradient of_after = random_gradient(after);
  const StateGradient before = pulled_back(all, given, after, of_after).first;
  const std::vector<double> direction = random_list(extent(modes), 1e-6);
  Robots again(model, 1);
  const double found = slope(
      [&](double s) {
        Given moved = given;
        moved.state.q = boxes::plus(moved.state.q, s, direction);
        return value(of_after, again.step(moved));
      },
      1e-2);
  EXPECT_NEAR(boxes::dot(before.q, direction), found, 1e-7 * boxes::norm(before.q) * boxes::norm(direction));
}

// A cable at the limit of its force is one that pulls with it, also where contacts are solved with it.
TEST(StepDerivative, ForcesAtTheirLimit) {
  ReducedModel model = among_obstacles(0.1, Obstacle::sphere(0.03));
  model.robot.actuators[0].force.upper = 0.37;
  const Given given = somewhere(model, 2);
  Robots all(model, 2);
  const State after = all.step(given);
  ASSERT_NEAR(after.multipliers[0], 0.37, 1e-12);
  const StateGradient of_after = random_gradient(after);
  const auto [before, inputs] = pulled_back(all, given, after, of_after);
  EXPECT_EQ(inputs.commands[0], of_after.commands[0]);  // by State::commands alone
}

TEST(StepDerivative, IsNotSupportedForAllRobots) {
  ReducedModel model = batch_bodies::cables();
  const StepSettings settings{.time_step = time_step};
  EXPECT_FALSE(no_derivative(model.robot, settings));
  EXPECT_TRUE(no_derivative(model.robot, {.scheme = StepScheme::newton}));
  EXPECT_TRUE(no_derivative(model.robot, {.implicit_velocity = 0.5}));
  EXPECT_TRUE(no_derivative(model.robot, {.keep_tangent = 0.1}));
  const auto none = [&](const std::function<void(Robot&)>& change) {
    Robot robot = model.robot;
    change(robot);
    return no_derivative(robot, settings).has_value();
  };
  EXPECT_TRUE(none([](Robot& robot) { robot.actuators.clear(); }));
  EXPECT_TRUE(none([](Robot& robot) { robot.actuators[0].control = ActuatorControl::gas; }));
  EXPECT_TRUE(none([](Robot& robot) { robot.actuators[0].kind = ActuatorKind::motor; }));
  EXPECT_TRUE(none([](Robot& robot) { robot.motions.emplace_back(); }));
  EXPECT_TRUE(none([](Robot& robot) { robot.viscous = 6; }));
  EXPECT_TRUE(none([](Robot& robot) { robot.floating = true; }));
  EXPECT_TRUE(none([](Robot& robot) { robot.springs = robot.constraints; }));
  for (const Obstacle& obstacle : {Obstacle::sphere(1, Obstacle::Side::inside), Obstacle::tube(1, 0.1, 1)})
    EXPECT_TRUE(none([&](Robot& robot) { robot.obstacles = {{.name = "", .obstacle = obstacle, .pose = {}}}; }));
  model.robot.actuators[0].friction = 0.1;
  ReducedMechanics mechanics(model);
  EXPECT_THROW(StepDerivative(mechanics, settings), InputError);
}

}  // namespace
}  // namespace supple
