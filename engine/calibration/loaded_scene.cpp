#include "engine/calibration/loaded_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/commands/actuation.hpp"
#include "engine/run/mechanics_team.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

namespace {

// Newton's method keeps a factor that has brought the residual below this share. Higher, and bodies that bend far take
// longer than with tangents of their own: the tentacle of 0043 with 0.3 and 0.6 three times as long.
constexpr double keep_factor_below = 0.1;

// From which load each is found when nothing is known: the nearest one that is nearer to rest, or rest (-1); and the loads
// in generations, whose parents are in the ones before.
struct LoadTree {
  std::vector<int> parent;
  std::vector<std::vector<int>> generations;
};

LoadTree tree_of(const Measurements& measurements, const Robot& robot) {
  const std::vector<Input> inputs = inputs_of(robot);
  const auto way = [&](const Control& a, const Control* b) {
    double sum = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t n = a.commands.size();
      const auto value = [&](const Control& c) { return i < n ? c.commands[i] : c.motions[i - n]; };
      const double width = inputs[i].range.upper - inputs[i].range.lower;
      const double unit = std::isfinite(width) && width > 0 ? width : display_scale(inputs[i].dimension);
      const double part = (value(a) - (b != nullptr ? value(*b) : 0)) / unit;
      sum += part * part;
    }
    return sum;
  };
  const int loads = static_cast<int>(measurements.loads.size());
  std::vector<int> order(extent(loads));
  for (int l = 0; l < loads; ++l) order[extent(l)] = l;
  const auto& controls = measurements.controls;
  std::ranges::stable_sort(order, {}, [&](int l) { return way(controls[extent(l)], nullptr); });
  LoadTree tree;
  tree.parent.assign(extent(loads), -1);
  std::vector<std::size_t> depth(extent(loads), 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const int load = order[k];
    double nearest = way(controls[extent(load)], nullptr);
    for (std::size_t j = 0; j < k; ++j)
      if (const double distance = way(controls[extent(load)], &controls[extent(order[j])]); distance < nearest) {
        nearest = distance;
        tree.parent[extent(load)] = order[j];
        depth[extent(load)] = depth[extent(order[j])] + 1;
      }
    if (tree.generations.size() <= depth[extent(load)]) tree.generations.resize(depth[extent(load)] + 1);
    tree.generations[depth[extent(load)]].push_back(load);
  }
  return tree;
}

std::vector<double> outputs_of(Mechanics& mechanics, const State& state) {
  std::vector<double> y(extent(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  return y;
}

// To where the slopes lead, as a step of Newton's method that turns what it bends.
void move(const Equilibria& from, int load, const std::vector<double>& changes, FullMechanics& mechanics,
          State& state) {
  std::vector<double> way(state.q.size(), 0.0);
  for (std::size_t k = 0; k < changes.size(); ++k)
    for (std::size_t i = 0; i < way.size(); ++i) way[i] += from.slopes[k].q[extent(load)][i] * changes[k];
  const std::vector<double> still(state.motions.size(), 0.0);
  if (!mechanics.robot().touches()) (void)mechanics.turn_step(0, state.q, state.motions, still, way);
  mechanics.coordinates().integrate(state.q.data(), way.data());
}

}  // namespace

LoadedScene::LoadedScene(const Measurements& measurements, const Progress& progress)
    : measurements_(measurements),
      progress_(progress),
      factors_(extent(std::min(static_cast<int>(measurements.loads.size()), most_threads()))) {}

// near: where to begin without a known equilibrium of this load.
StepStatus LoadedScene::find(int load, const Start& start, double tolerance, const State& near, FullMechanics& own,
                             State& state) {
  const Control& control = measurements_.controls[extent(load)];
  EquilibriumSettings settings = from_rest(own.robot());
  settings.tolerance = tolerance;
  // Not from a load's parent: with a kept factor the last step is remembered for a tangent, and which load a thread has
  // solved before must not matter.
  if (start.from != nullptr) settings.keep_factor_below = keep_factor_below;
  state = near;
  if (start.from != nullptr) {
    state = start.from->states[extent(load)];
    State there = state;
    move(*start.from, load, start.changes, own, there);
    // One increment: what does not converge from there is followed from the known equilibrium.
    EquilibriumSettings direct = settings;
    direct.first_increment = direct.smallest_increment = 1;
    direct.patient_iterations = 0;
    if (Equilibrium(own, direct).solve(control, there).status == StepStatus::ok) {
      state = std::move(there);
      return StepStatus::ok;
    }
  }
  return Equilibrium(own, settings).solve(control, state).status;
}

std::optional<Equilibria> LoadedScene::solve(const FullModel& model, const std::vector<Neighbour>& neighbours,
                                             const Start& start, double tolerance, const std::string& stage) {
  const int loads = static_cast<int>(measurements_.loads.size());
  const std::size_t columns = measurements_.columns.size();
  std::vector<std::unique_ptr<Neighbourhood>> workers;
  std::vector<Mechanics*> members;
  for (LentFactor& factor : factors_) {
    workers.push_back(std::make_unique<Neighbourhood>(model, neighbours, factor));
    members.push_back(&workers.back()->own());
  }
  Equilibria found{std::vector<State>(extent(loads)), std::vector<double>(extent(loads) * columns), {}};
  found.slopes.assign(neighbours.size(), {std::vector<std::vector<double>>(extent(loads)), found.shown});
  std::vector<std::vector<char>> has_slope(extent(loads), std::vector<char>(neighbours.size(), 0));
  std::vector<StepStatus> status(extent(loads), StepStatus::ok);
  LoadTree tree;
  if (start.from == nullptr) {
    tree = tree_of(measurements_, model.robot);
  } else {
    tree.generations.emplace_back();
    for (int load = 0; load < loads; ++load) tree.generations.front().push_back(load);
  }
  const auto shown_in = [&](FullMechanics& mechanics, const State& state) {
    return shown(mechanics.robot(), measurements_.columns, outputs_of(mechanics, state), state);
  };
  int done = 0;
  const auto solve = [&](int load, Neighbourhood& worker) {
    if (progress_.stopped()) throw Interrupted("interrupted", "nothing was written");
    const std::size_t l = extent(load);
    const int parent = start.from == nullptr ? tree.parent[l] : -1;
    State& state = found.states[l];
    worker.forget();
    status[l] = find(load, start, tolerance, parent >= 0 ? found.states[extent(parent)] : rest_state(worker.own()),
                     worker.own(), state);
    if (status[l] == StepStatus::ok) {
      const std::vector<double> own = shown_in(worker.own(), state);
      std::ranges::copy(own, found.shown.begin() + static_cast<std::ptrdiff_t>(l * columns));
      const std::vector<std::optional<State>> beside = worker.equilibria(measurements_.controls[l], state);
      for (std::size_t k = 0; k < neighbours.size(); ++k) {
        if (!beside[k]) continue;
        const double step = neighbours[k].step;
        const std::vector<double> other = shown_in(worker.beside(k), *beside[k]);
        for (std::size_t c = 0; c < columns; ++c) found.slopes[k].shown[l * columns + c] = (other[c] - own[c]) / step;
        std::vector<double>& slope = found.slopes[k].q[l];
        slope = beside[k]->q;
        for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = (slope[i] - state.q[i]) / step;
        has_slope[l][k] = 1;
      }
    }
#pragma omp critical(calibration_progress)
    progress_(stage, ++done, loads);
  };
  for (const std::vector<int>& generation : tree.generations) {
    const MechanicsTeam team(members, static_cast<int>(generation.size()));
    team.each_robot([&](int k, int member) { solve(generation[extent(k)], *workers[extent(member)]); });
  }
  count_ += loads * (1 + static_cast<int>(neighbours.size()));
  for (int load = 0; load < loads; ++load) {
    if (status[extent(load)] == StepStatus::ok) continue;
    failure_ = fmt::format("load {}: {}", measurements_.loads[extent(load)], describe(status[extent(load)]));
    return {};
  }
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    const auto without = std::ranges::find_if(has_slope, [k](const std::vector<char>& of) { return of[k] == 0; });
    if (without == has_slope.end()) continue;
    failure_ = fmt::format("load {}", measurements_.loads[static_cast<std::size_t>(without - has_slope.begin())]);
    found.slopes[k] = {};
  }
  return found;
}

}  // namespace supple
