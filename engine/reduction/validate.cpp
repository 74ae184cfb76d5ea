#include "engine/reduction/validate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/parameters.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/model/stretch.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/branches.hpp"
#include "engine/reduction/deviations.hpp"
#include "engine/reduction/snapshots/pushes.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

namespace {

std::vector<Deviations*> all_deviations(Deviations& goal, Deviations& shape, std::vector<Deviations>& sets) {
  std::vector<Deviations*> all{&goal, &shape};
  for (Deviations& set : sets) all.push_back(&set);
  return all;
}

// Distance between two sets of mapped points.
double distance(const std::vector<int>& points, const double* a, const double* b) {
  double sum = 0;
  for (int p : points)
    for (int k = 0; k < 3; ++k) sum += (a[3 * p + k] - b[3 * p + k]) * (a[3 * p + k] - b[3 * p + k]);
  return std::sqrt(sum);
}

std::vector<double> rest_outputs(const Robot& robot) {
  std::vector<double> y;
  for (const Vec3d& x : robot.rest_points) y.insert(y.end(), x.v, x.v + 3);
  return y;
}

std::vector<int> effector_points(const Robot& robot) {
  std::vector<int> points;
  for (const Effector& effector : robot.effectors) points.push_back(effector.point);
  return points;
}

}  // namespace

std::vector<double> carried_rest(const Robot& robot, std::span<const double> output_inputs, std::span<const double> c) {
  std::vector<double> y = rest_outputs(robot);
  const std::size_t m = robot.motions.size();
  for (std::size_t k = 0; k < m; ++k)
    if (robot.motions[k].rigid)
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += output_inputs[i * m + k] * c[k];
  return y;
}

ReferenceStates reference_states(const FullModel& model, const SnapshotSet& set) {
  const Lifting lifting = lifting_of(model);
  ReferenceStates reference;
  reference.count = set.count;
  reference.failed = set.failed;
  reference.nv = model.coordinates.nv;
  reference.commands = set.commands;
  reference.q = set.q;
  for (const SnapshotSet::Source& source : set.source) {
    reference.friction.push_back(source.friction);
    if (shaken_in_time(model.robot)) reference.path.push_back(source.path);
  }
  const std::vector<double> along = stretch_of_points(model);
  reference.ny = model.robot.outputs();
  if (model.robot.floating) reference.fit.emplace(model);
  for (int s = 0; s < set.count; ++s) {
    const RestShape shape(model.robot, parameters_of(model.robot, set.commands[static_cast<std::size_t>(s)]));
    std::vector<double> y = rest_outputs(model.robot);
    for (std::size_t p = 0; p < model.interpolation.size() && shape.stretches() > 0; ++p) {
      const Vec3d shift = shape.shift(along.data() + p * extent(shape.stretches()));
      for (std::size_t k = 0; k < 3; ++k) y[3 * p + k] += shift[static_cast<int>(k)];
    }
    const std::span<double> q = std::span(reference.q).subspan(extent(s, reference.nv), extent(reference.nv));
    const Control control = control_of(model.robot, set.commands[static_cast<std::size_t>(s)]);
    if (reference.fit) reference.to_rest.push_back(reference.fit->remove(q));
    for (std::size_t p = 0; p < model.interpolation.size(); ++p)
      for (std::size_t n = 0; n < model.interpolation[p].node.size(); ++n) {
        const auto node = static_cast<std::size_t>(model.interpolation[p].node[n]);
        const int unknown = model.node_unknown[node], motion = model.node_motion[node];
        const auto m = static_cast<std::size_t>(motion);
        for (int k = 0; k < 3; ++k) {
          const double u = unknown >= 0  ? q[static_cast<std::size_t>(3 * unknown + k)]
                           : motion >= 0 ? control.motions[m] * model.robot.motions[m].direction[k]
                                         : 0.0;
          y[3 * p + static_cast<std::size_t>(k)] += model.interpolation[p].weight[n] * u;
        }
      }
    reference.outputs.insert(reference.outputs.end(), y.begin(), y.end());
    double displacement = 0;
    if (model.robot.straining_motions() > 0)
      for (const double x : q) displacement += x * x;
    remove_lifting(lifting, control.motions, q);
    if (model.robot.straining_motions() == 0)
      for (const double x : q) displacement += x * x;
    reference.displacement.push_back(std::sqrt(displacement));
  }
  return reference;
}

ErrorSummary evaluate_errors(const ReducedModel& model, std::span<const double> basis,
                             const ReferenceStates& reference) {
  ErrorSummary summary;
  summary.states = reference.count;
  const int r = model.modes, nv = reference.nv;
  // The modes of a shape on a frame stand after the rigid ones.
  if (model.on_frame) basis = basis.subspan(extent(rigid_mode_count, nv));
  std::map<std::string, std::vector<int>> sets;
  for (const NamedPoint& probe : model.robot.probes)
    if (!probe.set.empty()) sets[probe.set].push_back(probe.point);
  const std::vector<int> goal_points = effector_points(model.robot);
  Deviations goal, shape;
  std::vector<double> turned, strayed;  // [rad], [m]
  std::vector<Deviations> of_set(sets.size());

  const bool in_time = !reference.path.empty();
  // Equilibria do not depend on where the frame is.
  const std::shared_ptr<const ReducedModel> held = model.on_frame && !in_time ? shape_model(model) : nullptr;
  ChangingModel<ReducedModel> changing(held ? *held : model);
  const std::unique_ptr<Mechanics> own = reduced_mechanics(changing.model());
  Mechanics& mechanics = *own;
  // In several increments: where a model of few modes has more than one equilibrium, a jump may land on another one.
  Equilibrium equilibrium(mechanics, {.first_increment = careful_increment});
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = model.robot.time_step});
  State state;
  double worst = -1;
  std::vector<int> failed_states;
  std::vector<double> u(static_cast<std::size_t>(nv));
  std::optional<bool> friction;
  for (int s = 0; s < reference.count; ++s) {
    if (const bool now = !reference.friction.empty() && reference.friction[extent(s)] != 0; friction != now) {
      friction = now;
      Variations variations;
      if (!now) variations.friction.assign(model.robot.obstacles.size(), 0.0);
      mechanics.set_variations(std::move(variations));
    }
    if (changing.set(parameters_of(model.robot, reference.commands[extent(s)]))) mechanics.model_changed();
    if (!in_time || s == 0 || reference.path[extent(s)] != reference.path[extent(s - 1)]) state = rest_state(mechanics);
    const Control control = control_of(model.robot, reference.commands[static_cast<std::size_t>(s)]);
    const std::vector<double> rest = carried_rest(changing.model().robot, model.output_inputs, control.motions);
    if (!in_time) equilibrium.set_load(load_of(mechanics, reference.commands[extent(s)]));
    const StepStatus status = in_time ? stepper.step(control, state).status : equilibrium.solve(control, state).status;
    const bool solved = status == StepStatus::ok;
    if (!solved) {
      ++summary.failed;
      failed_states.push_back(s);
    }
    std::fill(u.begin(), u.end(), 0.0);
    if (solved)
      for (int m = 0; m < r; ++m)
        for (int i = 0; i < nv; ++i)
          u[static_cast<std::size_t>(i)] +=
              basis[extent(m, nv) + static_cast<std::size_t>(i)] * state.q[static_cast<std::size_t>(m)];
    if (model.on_frame && in_time && solved) {
      const Pose pose = body_pose(model, state.q);
      reference.fit->move({pose.rotation, pose.position}, u);
    }
    const ReferenceStates* truths = &reference;
    int truth_state = s;
    if (reference.branches && solved && !in_time && !reference.fit)
      if (const ReferenceStates* other =
              reference.branches->next_to(s, reference, u, state, basis.first(extent(r, nv)))) {
        truths = other;
        truth_state = 0;
        ++summary.elsewhere;
      }
    const std::span<const double> full = std::span(truths->q).subspan(extent(truth_state, nv), extent(nv));
    std::vector<double> outputs = !solved ? rest : in_time ? stepper.outputs() : equilibrium.outputs();
    if (reference.fit && solved) {
      const RigidMotion motion = reference.fit->between(u, full);
      if (in_time) {
        // The full body went by the inverse of what brought it to rest.
        const RigidMotion& to_rest = reference.to_rest[extent(s)];
        const Mat3d back = transpose(to_rest.rotation);
        const Vec3d centre = reference.fit->centre(u), where = back * (motion(centre) - to_rest.translation);
        turned.push_back(RigidMotion{back * motion.rotation, {}}.angle());
        strayed.push_back(norm(where - centre));
      }
      reference.fit->move(motion, u);
      motion.apply(outputs);
    }
    const double* truth = truths->outputs.data() + extent(truth_state, reference.ny);
    const double* y = outputs.data();
    goal.error.push_back(distance(goal_points, y, truth));
    // Displacements are those of the reference, whatever a model is compared with.
    const double* own = reference.outputs.data() + extent(s, reference.ny);
    goal.displacement.push_back(distance(goal_points, own, rest.data()));
    std::size_t k = 0;
    for (const auto& [name, points] : sets) {
      of_set[k].error.push_back(distance(points, y, truth));
      of_set[k++].displacement.push_back(distance(points, own, rest.data()));
    }
    double difference = 0;
    for (int i = 0; i < nv; ++i) {
      const double d = u[static_cast<std::size_t>(i)] - full[static_cast<std::size_t>(i)];
      difference += d * d;
    }
    shape.error.push_back(std::sqrt(difference));
    shape.displacement.push_back(reference.displacement[extent(s)]);
    if (goal.error.back() > worst) {
      worst = goal.error.back();
      summary.worst_state = s;
      summary.worst_commands = without_push(model.robot, reference.commands[static_cast<std::size_t>(s)]);
    }
  }
  // A failed solve counts as 100 %: the mean displacement.
  for (Deviations* deviations : all_deviations(goal, shape, of_set))
    for (int state : failed_states)
      deviations->error[static_cast<std::size_t>(state)] = deviations->mean_displacement();
  const auto mean_of = [](const std::vector<double>& values) {
    return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const auto largest_of = [](const std::vector<double>& values) {
    return values.empty() ? 0 : *std::ranges::max_element(values);
  };
  summary.turned_mean = mean_of(turned);
  summary.turned_max = largest_of(turned);
  summary.strayed_mean = mean_of(strayed);
  summary.strayed_max = largest_of(strayed);
  goal.summarise(summary.goal_mean, summary.goal_median, summary.goal_max);
  shape.summarise(summary.shape_mean, summary.shape_median, summary.shape_max);
  std::size_t k = 0;
  for (const auto& [name, points] : sets) {
    ErrorSummary::Set set{name, 0, 0, 0};
    of_set[k++].summarise(set.mean, set.median, set.max);
    summary.sets.push_back(set);
  }
  return summary;
}

double goal_distance(const Robot& robot, const ReferenceStates& a, int of_a, const ReferenceStates& b, int of_b) {
  return distance(effector_points(robot), a.outputs.data() + extent(of_a, a.ny), b.outputs.data() + extent(of_b, b.ny));
}

double projection_error(std::span<const double> basis, int modes, const ReferenceStates& reference) {
  Deviations shape;
  shape.displacement = reference.displacement;
  std::vector<double> left = reference.q;
  remove_modes(basis.first(extent(modes, reference.nv)), reference.nv, left);
  for (int s = 0; s < reference.count; ++s) {
    const std::span<const double> state = std::span(left).subspan(extent(s, reference.nv), extent(reference.nv));
    shape.error.push_back(std::sqrt(inner_product(state.data(), state.data(), reference.nv)));
  }
  double mean = 0, median = 0, largest = 0;
  shape.summarise(mean, median, largest);
  return mean;
}

Rate measure_steps(int robots, double time_step, int steps, double seconds,
                   const std::function<StepReport(int, double&)>& step) {
  Rate rate;
  std::vector<double> times;
  std::vector<StageTimes> stages;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < steps; ++k) {
    double wall = 0;
    const StepReport report = step(k, wall);
    if (report.status != StepStatus::ok) {
      rate.status = report.status;
      break;
    }
    times.push_back(wall);
    stages.push_back(report.times);
    rate.contact.include(report.contact);
    ++rate.steps;
    if (k >= 20 && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
  }
  times.erase(times.begin(), times.begin() + static_cast<long>(times.size() / 10));
  if (times.empty()) return rate;
  stages.erase(stages.begin(), stages.end() - static_cast<long>(times.size()));
  for (const auto stage :
       {&StageTimes::outputs, &StageTimes::forces, &StageTimes::factor, &StageTimes::solve, &StageTimes::rows}) {
    const auto middle = stages.begin() + static_cast<long>(stages.size() / 2);
    std::ranges::nth_element(stages, middle, {}, stage);
    rate.median.*stage = (*middle).*stage;
  }
  static_cast<StepRate&>(rate) = step_rate(std::move(times), robots, time_step);
  return rate;
}

PathCommands::PathCommands(const Mechanics& mechanics, std::uint64_t seed)
    : PathCommands(mechanics.robot(), mechanics.robots(), seed) {}

PathCommands::PathCommands(const Robot& robot, int robots, std::uint64_t seed) : robot_(robot) {
  control_.commands.assign(extent(robots) * robot.actuators.size(), 0.0);
  control_.motions.assign(extent(robots) * robot.motions.size(), 0.0);
  for (int b = 0; b < robots; ++b)
    paths_.emplace_back(robot_, smooth_path_period_steps * robot_.time_step, seed + static_cast<std::uint64_t>(b));
}

const Control& PathCommands::at(int step) {
  auto command = control_.commands.begin(), motion = control_.motions.begin();
  for (const SmoothPath& path : paths_) {
    const Control robot = control_of(robot_, path.at((step + 1) * robot_.time_step));
    command = std::ranges::copy(robot.commands, command).out;
    motion = std::ranges::copy(robot.motions, motion).out;
  }
  return control_;
}

Rate measure_rate(Mechanics& mechanics, int steps, double seconds, std::uint64_t seed) {
  const double h = mechanics.robot().time_step;
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = h});
  PathCommands path(mechanics, seed);
  State state = rest_state(mechanics);
  Rate rate = measure_steps(mechanics.robots(), h, steps, seconds, [&](int k, double& wall) {
    const Control& control = path.at(k);
    const auto begin = std::chrono::steady_clock::now();
    const StepReport report = stepper.step(control, state);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
  });
  rate.state_hash = hash(state);
  return rate;
}

Rate measure_batch_rate(const ReducedModel& model, const Device& device, int robots, const BatchStepSettings& settings,
                        int steps, double seconds, std::uint64_t seed) {
  BatchStepSettings own = settings;
  own.time_step = model.robot.time_step;
  BatchStepper stepper(model, device, robots, own);
  PathCommands path(model.robot, robots, seed);
  Rate rate = measure_steps(robots, own.time_step, steps, seconds, [&](int k, double& wall) {
    const Control& control = path.at(k);
    const auto begin = std::chrono::steady_clock::now();
    const StepReport report = stepper.step(control.commands, control.motions);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
  });
  rate.state_hash = hash(stepper.state());
  return rate;
}

UnseenPath::UnseenPath(const FullModel& full, int steps, std::uint64_t seed, const Progress& progress,
                       StepScheme scheme)
    : UnseenPath(
          full, steps,
          [path = SmoothPath(full.robot, smooth_path_period_steps * full.robot.time_step, seed)](double time) {
            return path.at(time);
          },
          progress, scheme) {}

UnseenPath::UnseenPath(const FullModel& full, int steps, std::function<Sample(double)> commands,
                       const Progress& progress, StepScheme scheme)
    : full_(full), commands_(std::move(commands)) {
  ChangingModel<FullModel> changing(full);
  (void)changing.set(parameters_of(full.robot, commands_(0)));
  FullMechanics mechanics(changing.model());
  const double h = full.robot.time_step;
  Stepper stepper(mechanics, {.scheme = scheme, .time_step = h});
  State x = rest_state(mechanics);
  Control control = control_of(full.robot, commands_(0));
  if (!shaken_in_time(full.robot) &&
      Equilibrium(mechanics, from_rest(full.robot)).solve(control, x).status != StepStatus::ok) {
    failed_ = true;
    return;
  }
  for (int k = 0; k < steps; ++k) {
    if (progress.stopped())
      throw Interrupted("stopped during the dynamic comparison", "the same command again; snapshots are kept");
    control = control_of(full.robot, commands_((k + 1) * h));
    if (stepper.step(control, x).status != StepStatus::ok) {
      failed_ = true;
      return;
    }
    y_.push_back(stepper.outputs());
    if (full.robot.floating) q_.push_back(x.q);
    progress("dynamic path", k + 1, steps);
  }
}

DynamicError UnseenPath::compare(const ReducedModel& reduced) const {
  DynamicError result;
  const double h = full_.robot.time_step;
  // Errors of a free-floating body that settles are those of its shape.
  ChangingModel<ReducedModel> changing(reduced);
  (void)changing.set(parameters_of(full_.robot, commands_(0)));
  const std::unique_ptr<Mechanics> own = reduced_mechanics(changing.model());
  Mechanics& mechanics = *own;
  Stepper stepper(mechanics, {.scheme = StepScheme::one_linearisation, .time_step = h});
  State z = rest_state(mechanics);
  const std::vector<int> points = effector_points(full_.robot);
  Deviations goal;
  Control control = control_of(full_.robot, commands_(0));
  // Of a free-floating body: the shapes of its skin.
  const ReducedSkin& skin = reduced.skin;
  const RigidFit fit(skin.rest, std::vector<double>(skin.rest.size(), 1.0));
  const std::vector<double> still(3 * skin.rest.size(), 0.0);
  const bool settles = !shaken_in_time(full_.robot);
  result.failed = failed_;
  if (settles &&
      Equilibrium(mechanics, {.first_increment = careful_increment}).solve(control, z).status != StepStatus::ok) {
    result.failed = true;
    return result;
  }
  for (std::size_t k = 0; k < y_.size(); ++k) {
    control = control_of(full_.robot, commands_(static_cast<double>(k + 1) * h));
    const std::vector<double> rest = carried_rest(changing.model().robot, reduced.output_inputs, control.motions);
    if (stepper.step(control, z).status != StepStatus::ok) {
      result.failed = true;
      break;
    }
    std::vector<double> y = y_[k], y_reduced = stepper.outputs();
    if (full_.robot.floating) {
      std::vector<double> u = still, u_reduced = still;
      for (std::size_t i = 0; i < u.size(); ++i) {
        u[i] = q_[k][3 * extent(skin.mesh_node[i / 3]) + i % 3];
      }
      displacements(reduced, skin, z.q, z.motions, u_reduced);
      result.where.include(bring_to_rest(fit, u, y, u_reduced, y_reduced));
    }
    goal.error.push_back(distance(points, y.data(), y_reduced.data()));
    goal.displacement.push_back(distance(points, y.data(), rest.data()));
    ++result.steps;
  }
  double middle;
  if (!goal.error.empty()) goal.summarise(result.goal_mean, middle, result.goal_max);
  return result;
}

}  // namespace supple
