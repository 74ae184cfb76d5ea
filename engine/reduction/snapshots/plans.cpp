#include "engine/reduction/snapshots/plans.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/model/on_frame.hpp"
#include "engine/reduction/snapshots/varied_commands.hpp"
#include "kernels/base/error.hpp"

namespace supple {

namespace {

namespace fs = std::filesystem;

SamplingPlan draws(const Robot& robot, int count, const ReductionScene& recipe, std::uint64_t seed) {
  SamplingPlan plan;
  plan.kind = "uniform";
  std::vector<Sample> samples = uniform_draws(robot, count, seed);
  if (shaken_in_time(robot)) {
    plan.converged = false;
    plan.paths = paths_through(robot, samples, recipe.sweep_steps);
    for (SamplePath& path : plan.paths) path.friction = slides_with_friction(robot);
    return plan;
  }
  // Independent states: every path is one state from rest.
  for (Sample& sample : samples) plan.paths.push_back({{std::move(sample)}});
  return plan;
}

// Runs along commands, each a path: first those of the training set.
SamplingPlans plans_along(const Robot& robot, const ReductionScene& recipe) {
  if (!shaken_in_time(robot))
    throw InputError(
        "[reduce] actuation is for robots that are free-floating in contact with obstacles: others are trained on "
        "equilibria",
        "without this key", recipe.along.place);
  const Actuation table = training_table(recipe.along, robot);
  int run = 0;
  const auto plan_of = [&](int runs) {
    SamplingPlan plan{.kind = "commands", .note = {}, .converged = false, .paths = {}, .predictions = {}};
    for (const int end = run + runs; run < end; ++run)
      plan.paths.push_back(path_along(VariedCommands(table, recipe.along.variation, run, recipe.seed), robot.time_step,
                                      slides_with_friction(robot)));
    return plan;
  };
  SamplingPlans plans;
  plans.training = plan_of(training_runs);
  for (const std::string& note : table.notes()) plans.training.note += (plans.training.note.empty() ? "" : "; ") + note;
  plans.test = plan_of(test_runs);
  plans.selection = plan_of(selection_runs);
  return plans;
}

// What samples of equilibria alone have: parameters and pushes.
void check_equilibria(const Robot& robot, const ReductionScene& recipe) {
  const bool pushes = robot.pushes > 0;
  const std::string what = pushes ? "pushes" : "parameters",
                    without = pushes ? "without this key" : "without [[parameter]]";
  if (shaken_in_time(robot) || !recipe.along.file.empty())
    throw InputError(what +
                         " are for robots that are trained on equilibria, and a free-floating robot in contact with "
                         "obstacles is not",
                     without, recipe.place);
  if (pushes && robot.floating)
    throw InputError("the robot is free-floating (it has no equilibrium under pushes)",
                     "a [[fix]] region, or without this key", recipe.place);
  if (!recipe.converged)
    throw InputError(what + " are for converged equilibria, and [reduce] asks for one linearised step a sample",
                     "converged = true", recipe.place);
  if (recipe.sampling == SamplingKind::greedy)
    throw InputError(what + " are not for greedy sampling (it compares models by their commands)",
                     "sampling = \"latin-hypercube\" or \"random-paths\"", recipe.place);
  if (pushes && recipe.sampling == SamplingKind::grid)
    throw InputError("pushes are not for a grid (which has the ends of every range)",
                     "sampling = \"latin-hypercube\" or \"random-paths\"", recipe.place);
}

}  // namespace

std::vector<SetPlan> sets_of(const SamplingPlans& plans, const std::string& folder, bool with_validation) {
  std::vector<SetPlan> sets{{(fs::path(folder) / "training").string(), &plans.training}};
  if (with_validation) {
    sets.push_back({(fs::path(folder) / "selection").string(), &plans.selection});
    sets.push_back({(fs::path(folder) / "test").string(), &plans.test});
  }
  return sets;
}

const FullModel& without_friction(const FullModel& model, std::optional<FullModel>& copy) {
  if (model.robot.obstacles.empty()) return model;
  copy = model;
  for (PlacedObstacle& obstacle : copy->robot.obstacles) obstacle.friction = 0;
  return *copy;
}

void check_floating(const Scene& scene, const Robot& robot) {
  if (!robot.floating) return;
  const Place& place = scene.bodies.front().place;
  for (const auto* rows : {&robot.constraints, &robot.springs})
    for (const ConstraintRow& row : *rows)
      if (row.in_space())
        throw InputError("only constraints hold the body, '" + row.name +
                             "' among them (its equilibria depend on where the body is)",
                         "a [[fix]] region beside them", place);
  if (shaken_in_time(robot)) return;
  if (norm(robot.gravity) > 0)
    throw InputError(
        "the body is free-floating (under gravity it has no equilibrium, and a reduction is made of those)",
        "gravity = [0, 0, 0], or a [[fix]] region", place);
  for (const ActuatorRow& actuator : robot.actuators)
    if (pulls_from_space(actuator))
      throw InputError("the body is free-floating, and '" + actuator.name +
                           "' pulls at it from outside (its equilibria depend on where the body is)",
                       "a cable that ends in the body, or a [[fix]] region", place);
}

SamplingPlans make_plans(const Robot& robot, const ReductionScene& recipe) {
  if (still_inputs(robot) > 0) check_equilibria(robot, recipe);
  if (!recipe.along.file.empty()) return plans_along(robot, recipe);
  // Seeds of the validation sets are derived from the scene's by fixed odd offsets, used nowhere else.
  return {make_plan(robot, recipe),
          draws(robot, std::max(10, recipe.validation_states / 2), recipe, recipe.seed + 0x9e3779b97f4a7c15ULL),
          draws(robot, recipe.validation_states, recipe, recipe.seed + 0xd1b54a32d192ed03ULL)};
}

}  // namespace supple
