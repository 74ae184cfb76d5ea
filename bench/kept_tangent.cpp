// What do steps with the tangent of an earlier step save, and cost? One robot along a smooth random path by steps of
// one linearisation: a new tangent in each, then an old one while the error it makes is below a share of the motion
// (StepSettings::keep_tangent); beside them Newton's method, which all errors are against. Step by step in turn.
//   kept_tangent MODEL.rom.h5|SCENE.toml [STEPS]     2000 steps of a reduced model, 100 of a full one
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>

#include "engine/io/model_file.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/reduction/validate.hpp"
#include "engine/scene/reader.hpp"
#include "engine/step/step_rate.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

constexpr double shares[] = {0, 0.01, 0.03, 0.1, 0.3};
constexpr std::uint64_t path_seed = 30;

struct Entry {
  std::unique_ptr<Mechanics> mechanics;
  Stepper stepper;
  State state;
  std::vector<double> seconds;
  double distance = 0, largest = 0;
  int factored = 0;
  Entry(std::unique_ptr<Mechanics> m, const StepSettings& settings)
      : mechanics(std::move(m)), stepper(*mechanics, settings), state(rest_state(*mechanics)) {}
};

// Between all mapped points.
double distance(const std::vector<double>& y, const std::vector<double>& z) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += (y[i] - z[i]) * (y[i] - z[i]);
  return std::sqrt(sum);
}

int run(const std::function<std::unique_ptr<Mechanics>()>& make, int steps) {
  std::deque<Entry> entries;
  const double h = make()->robot().time_step;
  for (const double share : shares) entries.emplace_back(make(), StepSettings{.time_step = h, .keep_tangent = share});
  Entry exact(make(), {.scheme = StepScheme::newton, .time_step = h});
  const Robot& robot = exact.mechanics->robot();
  PathCommands path(*exact.mechanics, path_seed);
  std::vector<double> rest(extent(robot.outputs()));
  exact.mechanics->evaluate_outputs(exact.state.q, exact.state.motions, rest);
  double moved = 0;
  for (int step = 0; step < steps; ++step) {
    const Control& control = path.at(step);
    const auto take = [&](Entry& entry) {
      const auto begin = std::chrono::steady_clock::now();
      const StepReport report = entry.stepper.step(control, entry.state);
      entry.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (report.status != StepStatus::ok)
        throw RunError(fmt::format("step {} failed: {}", step, describe(report.status)), "slower commands");
      entry.factored += report.iterations;
    };
    take(exact);
    moved += distance(exact.stepper.outputs(), rest);
    for (Entry& entry : entries) {
      take(entry);
      const double error = distance(entry.stepper.outputs(), exact.stepper.outputs());
      entry.distance += error;
      entry.largest = std::max(entry.largest, error);
    }
  }
  fmt::print(
      "{}, {} steps of {} ms; errors against Newton's method, over the mapped points, of their mean displacement\n",
      robot.name, steps, 1e3 * h);
  fmt::print("share    factors   median step   99 %         times    mean error   largest\n");
  const double fresh = step_rate(entries.front().seconds, 1, h).p50_us;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const StepRate rate = step_rate(entry.seconds, 1, h);
    fmt::print("{:<8} {:5.1f} %  {:9.1f} us  {:9.1f} us  {:5.2f}  {:8.3f} %  {:8.3f} %\n", shares[i],
               100.0 * entry.factored / steps, rate.p50_us, rate.p99_us, fresh / rate.p50_us,
               100 * entry.distance / moved, 100 * entry.largest * steps / moved);
  }
  fmt::print("newton   {:5.1f} %  {:9.1f} us\n", 100.0 * exact.factored / steps, step_rate(exact.seconds, 1, h).p50_us);
  return 0;
}

}  // namespace
}  // namespace supple

int main(int count, char** arguments) {
  using namespace supple;
  const std::string_view file = count > 1 ? arguments[1] : "", number = count > 2 ? arguments[2] : "";
  const bool reduced = file.ends_with(".h5");
  int steps = reduced ? 2000 : 100;
  if (!number.empty()) {
    const auto result = std::from_chars(number.data(), number.data() + number.size(), steps);
    if (result.ec != std::errc() || result.ptr != number.data() + number.size()) steps = 0;
  }
  if (file.empty() || count > 3 || steps < 10) {
    fmt::print(stderr, "usage: kept_tangent MODEL.rom.h5|SCENE.toml [STEPS]\n");
    return 2;
  }
  try {
    if (reduced) {
      const ReducedModel model = read_model(std::string(file));
      return run([&] { return std::make_unique<ReducedMechanics>(model); }, steps);
    }
    const FullModel model = build_full_model(read_scene(std::string(file)));
    return run([&] { return std::make_unique<FullMechanics>(model); }, steps);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "kept_tangent: {}\n", failure.what());
    return 1;
  }
}
