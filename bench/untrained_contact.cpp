// Obstacles that no model was trained with: a reduced model pressed against balls at random places, beside the full one.
//   untrained_contact MODEL SCENE [options]
//     obstacles N    (100)
//     radius X       of the balls, of the body's size (0.15)
//     depth X        by how much the unobstructed body would be inside one at most, of the mean displacement of its
//                    effectors (0.2)
//     seed N         (1)
// For each ball commands are drawn, and a point of the skin that would be the deepest within it; the ball is clear of the
// body at rest. Both models are brought to equilibrium under the commands, without friction. Errors of the sum of the
// ball's forces and of the effectors, these of their mean displacement; what a time step in contact takes [us].

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include "bench/measure.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

Vec3d point_of(std::span<const double> y, int point) {
  return {{y[extent(3 * point)], y[extent(3 * point + 1)], y[extent(3 * point + 2)]}};
}

Vec3d direction(std::mt19937_64& generator) {
  for (;;) {
    Vec3d d;
    for (int k = 0; k < 3; ++k) d[k] = 2 * uniform(generator) - 1;
    if (const double length = norm(d); length > 0.1 && length < 1) return (1 / length) * d;
  }
}

double effector_distance(const Robot& robot, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (const Effector& effector : robot.effectors) {
    const Vec3d d = point_of(a, effector.point) - point_of(b, effector.point);
    sum += dot(d, d);
  }
  return std::sqrt(sum);
}

struct Pressed {
  bool ok = false;
  Vec3d force{{0, 0, 0}};
  int touching = 0;
  double step = 0;  // s
  std::vector<double> y;
};

// Equilibrium in contact from rest, and the median time of 200 steps that stay there.
Pressed press(Mechanics& mechanics, const Control& control, bool steps) {
  Pressed pressed;
  State state = rest_state(mechanics);
  Equilibrium equilibrium(mechanics, {.first_increment = 0.1});
  if (equilibrium.solve(control, state).status != StepStatus::ok) return pressed;
  pressed.ok = true;
  pressed.y = equilibrium.outputs();
  for (std::size_t k = 0; k + 2 < state.contact_forces.size(); k += 3) {
    const Vec3d one{{state.contact_forces[k], state.contact_forces[k + 1], state.contact_forces[k + 2]}};
    pressed.force = pressed.force + one;
    if (norm(one) > 0) ++pressed.touching;
  }
  if (!steps) return pressed;
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = mechanics.robot().time_step});
  std::vector<double> times;
  Control moving = control;
  for (int k = 0; k < 200; ++k) {
    for (std::size_t i = 0; i < moving.commands.size(); ++i)
      moving.commands[i] = control.commands[i] * (1 - 1e-3 * (1 - std::cos(0.05 * k)));
    const double start = now();
    if (stepper.step(moving, state).status != StepStatus::ok) break;
    times.push_back(now() - start);
  }
  pressed.step = quantile(times, 0.5);
  return pressed;
}

int run(const std::vector<std::string>& arguments) {
  std::map<std::string, double> options{{"obstacles", 100}, {"radius", 0.15}, {"depth", 0.2}, {"seed", 1}};
  if (arguments.size() < 2)
    throw InputError("two files are needed",
                     "untrained_contact MODEL SCENE [obstacles N] [radius X] [depth X] [seed N]");
  for (std::size_t k = 2; k + 1 < arguments.size(); k += 2) options.at(arguments[k]) = std::stod(arguments[k + 1]);
  ReducedModel model = read_model(arguments[0]);
  FullModel full = build_full_model(read_scene(arguments[1]));
  if (model.robot.collision_points == 0 || model.robot.collision_points != full.robot.collision_points)
    throw InputError("model and scene need the same collision points", "[reduce] pushes, and the scene of the model");
  model.robot.obstacles.clear();
  full.robot.obstacles.clear();
  const Robot robot = full.robot;
  std::vector<double> rest;
  for (const Vec3d& x : robot.rest_points) rest.insert(rest.end(), x.v, x.v + 3);
  Vec3d lower = robot.rest_points.front(), upper = lower;
  const int first = robot.first_collision_point, points = robot.collision_points;
  for (int p = first; p < first + points; ++p)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], point_of(rest, p)[k]);
      upper[k] = std::max(upper[k], point_of(rest, p)[k]);
    }
  const double size = norm(upper - lower), radius = options["radius"] * size;
  std::mt19937_64 generator(static_cast<std::uint64_t>(options["seed"]));
  const auto draw = [&] { return control_of(robot, uniform_draws(robot, 1, generator()).front()); };
  double way = 0;
  constexpr int draws = 20;
  FullMechanics free(full);
  Equilibrium unobstructed(free, from_rest(full.robot));
  for (int k = 0; k < draws; ++k) {
    State state = rest_state(free);
    if (unobstructed.solve(draw(), state).status == StepStatus::ok)
      way += effector_distance(robot, unobstructed.outputs(), rest) / draws;
  }
  fmt::print("{}: {} modes, {} collision points, {:.0f} mm across, effectors move by {:.1f} mm on average\n",
             robot.name, model.modes, points, 1e3 * size, 1e3 * way);
  std::vector<double> force_errors, goal_errors, free_errors, forces, steps;
  int failed = 0, tried = 0, missed = 0;
  while (static_cast<int>(force_errors.size()) + failed < static_cast<int>(options["obstacles"]) && tried < 100'000) {
    const Control control = draw();
    State state = rest_state(free);
    if (unobstructed.solve(control, state).status != StepStatus::ok) continue;
    const std::vector<double> y = unobstructed.outputs();
    // A ball for these commands; most places are within the body, or where the body is at rest.
    PlacedObstacle ball{.name = "ball", .obstacle = Obstacle::sphere(radius), .pose = {}};
    bool placed = false;
    for (int trial = 0; trial < 200 && !placed; ++trial, ++tried) {
      const int p = first + static_cast<int>(uniform(generator) * points);
      const double depth = options["depth"] * way * (0.1 + 0.9 * uniform(generator));
      ball.pose.position = point_of(y, p) + (radius - depth) * direction(generator);
      placed = true;
      for (int other = first; other < first + points && placed; ++other)
        placed = norm(point_of(y, other) - ball.pose.position) >= radius - depth * (1 + 1e-9) &&
                 norm(point_of(rest, other) - ball.pose.position) >= radius;
    }
    if (!placed) continue;
    full.robot.obstacles = model.robot.obstacles = {ball};
    FullMechanics body(full);
    ReducedMechanics reduced(model);
    const Pressed truth = press(body, control, false);
    full.robot.obstacles.clear();
    if (!truth.ok || truth.touching == 0) {
      ++missed;  // no equilibrium of the full model, or it has slid off
      continue;
    }
    const Pressed found = press(reduced, control, true);
    if (!found.ok) {
      ++failed;
      continue;
    }
    force_errors.push_back(norm(found.force - truth.force) / norm(truth.force));
    forces.push_back(norm(truth.force));
    double goal = 0;
    for (const Effector& effector : robot.effectors) {
      const Vec3d d = point_of(truth.y, effector.point) -
                      point_of(found.y, model.robot.effectors[extent(&effector - robot.effectors.data())].point);
      goal += dot(d, d);
    }
    goal_errors.push_back(std::sqrt(goal) / way);
    steps.push_back(found.step);
    free_errors.push_back(effector_distance(robot, truth.y, y) / way);
  }
  const auto row = [](const char* what, const std::vector<double>& values, double unit, const char* name) {
    fmt::print("{:<34} median {:.3g} {}, 90 % {:.3g}, largest {:.3g}\n", what, unit * quantile(values, 0.5), name,
               unit * quantile(values, 0.9), unit * quantile(values, 1));
  };
  fmt::print("{} balls of {:.1f} mm; {} more left out: no equilibrium, or the body slides off; {} failed\n",
             force_errors.size(), 1e3 * radius, missed, failed);
  row("force of the ball", forces, 1, "N");
  row("the ball moves the effectors by", free_errors, 100, "%");
  row("error of the force", force_errors, 100, "%");
  row("error of the effectors", goal_errors, 100, "%");
  row("a step in contact", steps, 1e6, "us");
  return 0;
}

}  // namespace
}  // namespace supple

int main(int argc, char** argv) {
  return supple::exit_code(supple::run, argc, argv);
}
