// Estimates of a reduced robot's error while it runs (engine/error/error_estimator.hpp) beside its error against the
// full model, along paths that nobody trained on.
//   estimated_errors MODEL FINER SCENE [options]
//     steps N        of each path (400)
//     paths N        (3)
//     share X        of the model's time that estimates may take (0.15; 0: after every step)
//     load N         on the first effector, downwards [N], which no model was trained with (0)
// For each path: how many estimates, mean error and mean estimate [mm], their ratio (5, 50 and 95 %), and how many of
// them are within a half and twice the error. Then what a step and an estimate take [us], and the share of the time of
// steps that estimates take, of runs of the model without the full model, with and without estimates in turns.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "bench/measure.hpp"
#include "engine/error/error_estimator.hpp"
#include "engine/io/model_file.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/reduction/snapshots/smooth_path.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

std::vector<double> goal_of(const Robot& robot, const std::vector<double>& y) {
  std::vector<double> goal;
  for (const Effector& effector : robot.effectors)
    for (int k = 0; k < 3; ++k) goal.push_back(y[extent(3 * effector.point + k)]);
  return goal;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

// A force downwards on a mapped point as a load of the coordinates.
std::vector<double> load_at(const Mechanics& mechanics, int point, double newton) {
  std::vector<double> load(extent(mechanics.coordinates().nv), 0.0);
  const Vec3d force{{0, 0, -newton}};
  mechanics.add_row_forces({{point}, {Mat3d::identity()}}, std::span<const double>(force.v, 3), load);
  return load;
}

// Seconds of `steps` steps of one linearisation along a path; estimator: or null. estimates: how many.
double time_of(ReducedMechanics& mechanics, ErrorEstimator* estimator, int steps, int& estimates) {
  const Robot& robot = mechanics.robot();
  const double h = robot.time_step;
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = h});
  const SmoothPath commands(robot, smooth_path_period_steps * h, 1);
  State state = rest_state(mechanics);
  if (estimator != nullptr) estimator->reset();
  estimates = 0;
  const double begun = now();
  for (int k = 0; k < steps; ++k) {
    if (stepper.step(control_of(robot, commands.at((k + 1) * h)), state).status != StepStatus::ok)
      throw RunError("a step of the model failed", "another model");
    if (estimator != nullptr && estimator->after_step(state)) ++estimates;
  }
  return now() - begun;
}

void print_times(ReducedMechanics& mechanics, ErrorEstimator& estimator) {
  constexpr int turns = 9, steps = 4000;
  std::vector<double> alone, shares;
  int estimates = 0;
  for (int turn = 0; turn < turns; ++turn) {
    alone.push_back(time_of(mechanics, nullptr, steps, estimates));
    shares.push_back(time_of(mechanics, &estimator, steps, estimates) / alone.back() - 1);
  }
  const double step = quantile(alone, 0.5) / steps, share = quantile(shares, 0.5);
  fmt::print(
      "a step with its commands {:.2f} us, an estimate {:.0f} us with {:.2f} iterations, one in {:.0f} steps: {:.1f} % "
      "of the steps' time\n",
      1e6 * step, 1e6 * share * step * steps / estimates, static_cast<double>(estimator.steps_of_finer()) / estimates,
      static_cast<double>(steps) / estimates, 100 * share);
}

int run(const std::vector<std::string>& arguments) {
  std::map<std::string, double> options{{"steps", 400}, {"paths", 3}, {"share", 0.15}, {"load", 0}};
  if (arguments.size() < 3)
    throw InputError("three files are needed",
                     "estimated_errors MODEL FINER SCENE [steps N] [paths N] [share X] [load N]");
  for (std::size_t k = 3; k + 1 < arguments.size(); k += 2) options.at(arguments[k]) = std::stod(arguments[k + 1]);
  const ReducedModel model = read_model(arguments[0]), finer = read_model(arguments[1]);
  const FullModel full = build_full_model(read_scene(arguments[2]));
  const Robot& robot = model.robot;
  const double h = robot.time_step, newton = options["load"];
  ReducedMechanics mechanics(model);
  FullMechanics reference(full);
  ErrorEstimator estimator(model, finer, {.share = options["share"]});
  fmt::print("{}: {} modes, estimated by {}; every {} steps\n", robot.name, model.modes, finer.modes,
             estimator.steps_between());
  const int point = robot.effectors.front().point;
  const std::vector<double> own = load_at(mechanics, point, newton), beside = load_at(reference, point, newton);
  std::vector<double> all;
  for (int path = 0; path < static_cast<int>(options["paths"]); ++path) {
    const SmoothPath commands(robot, smooth_path_period_steps * h, 1000 + static_cast<std::uint64_t>(path));
    Stepper stepper(mechanics, {.scheme = StepScheme::newton, .time_step = h}),
        full_stepper(reference, {.scheme = StepScheme::newton, .time_step = h});
    State z = rest_state(mechanics), x = rest_state(reference);
    Equilibrium start(mechanics, {.first_increment = careful_increment}), full_start(reference, from_rest(full.robot));
    if (newton != 0) {
      start.set_load(own);
      full_start.set_load(beside);
      stepper.set_load(own);
      full_stepper.set_load(beside);
      estimator.set_point_forces({{point, {{0, 0, -newton}}}});
    }
    const Control first = control_of(robot, commands.at(0));
    if (start.solve(first, z).status != StepStatus::ok || full_start.solve(first, x).status != StepStatus::ok)
      throw RunError("no equilibrium to begin with", "a smaller load");
    estimator.reset();
    std::vector<double> ratios;
    double error = 0, estimated = 0, moved = 0;
    int failed = 0;
    for (int k = 0; k < static_cast<int>(options["steps"]); ++k) {
      const Control control = control_of(robot, commands.at((k + 1) * h));
      if (stepper.step(control, z).status != StepStatus::ok || full_stepper.step(control, x).status != StepStatus::ok) {
        ++failed;
        break;
      }
      if (!estimator.after_step(z)) continue;
      const std::vector<double> there = goal_of(full.robot, full_stepper.outputs());
      const double truth = distance(there, goal_of(robot, stepper.outputs()));
      const std::vector<double>& e = estimator.newest()->error;
      const double size = distance(e, std::vector<double>(e.size(), 0.0));
      error += truth;
      estimated += size;
      std::vector<double> rest;
      for (const Vec3d& p : full.robot.rest_points) rest.insert(rest.end(), p.v, p.v + 3);
      moved += distance(there, goal_of(full.robot, rest));
      ratios.push_back(size / truth);
    }
    const double n = static_cast<double>(ratios.size());
    const auto good = std::ranges::count_if(ratios, [](double r) { return r >= 0.5 && r <= 2; });
    fmt::print(
        "path {}: {} estimates ({} not found{}), error {:.4f} mm ({:.3f} %), estimate {:.4f} mm, ratio {:.2f} {:.2f} "
        "{:.2f}, "
        "{:.0f} % within [0.5, 2]; {:.2f} iterations an estimate\n",
        path, ratios.size(), estimator.failed(), failed > 0 ? ", stopped" : "", 1e3 * error / n, 100 * error / moved,
        1e3 * estimated / n, quantile(ratios, 0.05), quantile(ratios, 0.5), quantile(ratios, 0.95),
        100.0 * static_cast<double>(good) / n, static_cast<double>(estimator.steps_of_finer()) / n);
    all.insert(all.end(), ratios.begin(), ratios.end());
  }
  const auto good = std::ranges::count_if(all, [](double r) { return r >= 0.5 && r <= 2; });
  fmt::print("all: {:.1f} % of {} within [0.5, 2], median {:.2f}\n",
             100.0 * static_cast<double>(good) / static_cast<double>(all.size()), all.size(), quantile(all, 0.5));
  estimator.set_point_forces({});
  print_times(mechanics, estimator);
  return 0;
}

}  // namespace
}  // namespace supple

int main(int argc, char** argv) {
  return supple::exit_code(supple::run, argc, argv);
}
