#include "engine/cli/verbs/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/cli/shell/progress_bar.hpp"
#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/boundary.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/deviations.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/extent.hpp"

namespace supple::cli {

namespace {

double square(double x) {
  return x * x;
}

// For each effector of `full`, the mapped point of `reduced` with its name; fewer if names differ.
std::vector<std::size_t> matching_points(const Robot& full, const Robot& reduced) {
  std::vector<std::size_t> points;
  for (const Effector& effector : full.effectors)
    for (const Effector& other : reduced.effectors)
      if (other.name == effector.name) {
        points.push_back(static_cast<std::size_t>(other.point));
        break;
      }
  return points;
}

// By how much a rigid motion carries the body along, component k [m].
double carried(const Robot& robot, const std::vector<double>& motions, std::size_t k) {
  double sum = 0;
  for (std::size_t m = 0; m < motions.size(); ++m)
    if (robot.motions[m].rigid) sum += motions[m] * robot.motions[m].direction[static_cast<int>(k)];
  return sum;
}

}  // namespace

Comparison compare_with_full(const FullModel& full, const ReducedModel& model, const SessionResult& result,
                             const Trajectory& reduced, bool settle, bool quiet) {
  const BoundarySurface skin = boundary_surface(full.mesh);
  const std::vector<std::size_t> points = matching_points(full.robot, model.robot);
  if (full.robot.effectors.size() != model.robot.effectors.size() || points.size() != full.robot.effectors.size())
    throw InputError("the effectors of the scene's robot have other names than the model's",
                     "the scene the model was made from");
  if (skin.mesh_node.size() != model.skin.rest.size())
    throw InputError("the scene's robot and the model's cannot be compared (another mesh)",
                     "the scene the model was made from");
  if (full.robot.motions.size() != model.robot.motions.size())
    throw InputError("the scene's robot has other prescribed motions than the model's",
                     "the scene the model was made from");
  FullMechanics mechanics(full);
  State state = rest_state(mechanics);
  const Actuation actuation = session_actuation(result, full.robot);
  if (settle) {
    Control control = zero_control(mechanics);
    actuation.evaluate(0, 1, control);
    const EquilibriumReport report = Equilibrium(mechanics, from_rest(full.robot)).solve(control, state);
    if (report.status != StepStatus::ok)
      throw RunError(fmt::format("the full model does not settle: {}", describe(report.status)), "leave --settle out");
  }
  Deviations goal, shape;
  std::vector<double> u(3 * full.mesh.nodes.size()), v(3 * model.skin.rest.size()), truth(v.size());
  Comparison comparison;
  if (full.robot.floating) comparison.where.emplace();
  const RigidFit fit(model.skin.rest, std::vector<double>(model.skin.rest.size(), 1.0));
  const std::unique_ptr<Mechanics> own = reduced_mechanics(model);
  std::vector<double> z(extent(model.robot.outputs()));
  const MechanicsTeam team(mechanics);
  ForwardOnCpu robots(team, result.settings, actuation, state);
  const auto after = [&](long step, const TakenStep&) {
    const State& now = robots.state();
    std::vector<double> y = robots.outputs();  // bring_to_rest moves it
    const TrajectoryPoint& point = reduced.at(static_cast<std::size_t>(step - 1));
    own->evaluate_outputs(point.q, point.motions, z);
    const std::vector<double> rest = carried_rest(model.robot, model.output_inputs, point.motions);
    node_displacements(mechanics.model(), now.q, now.motions, u);
    for (std::size_t i = 0; i < v.size(); ++i) truth[i] = u[3 * extent(skin.mesh_node[i / 3]) + i % 3];
    displacements(model, model.skin, point.q, point.motions, v);
    if (comparison.where) comparison.where->include(bring_to_rest(fit, truth, y, v, z));
    double error = 0, displacement = 0;
    for (std::size_t e = 0; e < full.robot.effectors.size(); ++e) {
      const auto p = static_cast<std::size_t>(full.robot.effectors[e].point), r = points[e];
      for (std::size_t k = 0; k < 3; ++k) {
        // Displacements are compared, should the two robots have the point at different places.
        const double apart =
            full.robot.rest_points[p][static_cast<int>(k)] - model.robot.rest_points[r][static_cast<int>(k)];
        error += square(z[3 * r + k] + apart - y[3 * p + k]);
        displacement += square(y[3 * p + k] - apart - rest[3 * r + k]);
      }
    }
    goal.error.push_back(std::sqrt(error));
    goal.displacement.push_back(std::sqrt(displacement));
    error = displacement = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      error += square(v[i] - truth[i]);
      displacement += square(truth[i] - carried(model.robot, point.motions, i % 3));
    }
    shape.error.push_back(std::sqrt(error));
    shape.displacement.push_back(std::sqrt(displacement));
  };
  const InterruptGuard guard;
  ProgressBar bar(quiet);
  DriveReport report;
  report.step = result.settings.first;
  Keeping keeping;
  keeping.record = after;
  drive(robots, result.settings, "simulating", bar.progress(), keeping, report);
  bar.finish();
  if (report.failed()) throw_step_failure(report, result.settings, "");
  if (report.stopped)
    throw Interrupted("interrupted while the full model ran for comparison", "the same command again");
  comparison.states = static_cast<int>(goal.error.size());
  goal.summarise(comparison.goal_mean, comparison.goal_median, comparison.goal_max);
  shape.summarise(comparison.shape_mean, comparison.shape_median, comparison.shape_max);
  comparison.full_steps_per_s = step_rate(report.seconds, 1, result.settings.time_step).steps_per_s;
  const double reduced_steps_per_s = step_rate(result.report.seconds, 1, result.settings.time_step).steps_per_s;
  comparison.speedup = comparison.full_steps_per_s > 0 ? reduced_steps_per_s / comparison.full_steps_per_s : 0;
  return comparison;
}

nlohmann::ordered_json comparison_json(const Comparison& comparison) {
  nlohmann::ordered_json json{{"states", comparison.states},
                              {"goal_error_mean", comparison.goal_mean},
                              {"goal_error_median", comparison.goal_median},
                              {"goal_error_max", comparison.goal_max},
                              {"shape_error_mean", comparison.shape_mean},
                              {"shape_error_median", comparison.shape_median},
                              {"shape_error_max", comparison.shape_max},
                              {"full_steps_per_s", comparison.full_steps_per_s},
                              {"speedup", comparison.speedup}};
  if (comparison.where) {
    json["centre_travelled_m"] = comparison.where->travelled;
    json["centre_strayed_m"] = comparison.where->strayed;
    json["turned_rad"] = comparison.where->turned;
  }
  return json;
}

void print_comparison(const Comparison& comparison, int threads) {
  const auto line = [](double mean, double median, double largest) {
    return fmt::format("{:.3g} % on average, {:.3g} % median, {:.3g} % at most", 100 * mean, 100 * median,
                       100 * largest);
  };
  print_facts({{"goal error", line(comparison.goal_mean, comparison.goal_median, comparison.goal_max)},
               {"shape error of the skin", line(comparison.shape_mean, comparison.shape_median, comparison.shape_max)},
               {"full model",
                fmt::format("{:.4g} steps/s, {:.4g} times slower than the reduced one (full: {} thread{}, reduced: 1)",
                            comparison.full_steps_per_s, comparison.speedup, threads, threads > 1 ? "s" : "")}});
  if (const std::optional<Whereabouts>& where = comparison.where)
    print_facts({{"centre",
                  fmt::format("the full model's goes {:.3g} mm away, the reduced one's is at most {:.3g} mm "
                              "beside it, and the body {:.2g} degrees",
                              1e3 * where->travelled, 1e3 * where->strayed, where->turned * 180 / std::numbers::pi)}});
}

}  // namespace supple::cli
