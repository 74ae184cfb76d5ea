#include "engine/measure/inverse_rate.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Goals [B x 3 x effectors] where the effectors of robots with these mapped points are.
std::vector<double> goals_at(const Robot& robot, int robots, std::span<const double> outputs) {
  const int ny = robot.outputs(), effectors = static_cast<int>(robot.effectors.size());
  std::vector<double> goals(extent(robots, 3, effectors));
  for (int b = 0; b < robots; ++b)
    for (int e = 0; e < effectors; ++e)
      effector_state(robot, e, outputs.subspan(extent(b, ny), extent(ny)),
                     std::span(goals).subspan(extent(b, 3, effectors) + extent(3, e), 3));
  return goals;
}

// What laws did in each step.
class Answers {
 public:
  void add(const InverseLaw& law, int robots, InverseRate& rate) {
    for (int b = 0; b < robots; ++b) {
      const InverseReport& found = law.report(b);
      rate.held += found.held ? 1 : 0;
      rate.saturated += found.saturated > 0 ? 1 : 0;
      if (!found.held) errors_.push_back(found.predicted_error);
    }
  }
  void add_seconds(double qp_seconds) { programs_.push_back(qp_seconds); }
  void finish(InverseRate& rate) {
    rate.median_error = median(errors_);
    rate.qp_seconds = median(programs_);
  }

 private:
  std::vector<double> errors_, programs_;
};

}  // namespace

InverseRate measure_inverse_rate(Mechanics& mechanics, int steps, double seconds, std::uint64_t seed) {
  const Robot& robot = mechanics.robot();
  const int robots = mechanics.robots();
  Stepper forward(mechanics, {.time_step = robot.time_step}), inverse(mechanics, {.time_step = robot.time_step});
  InverseLaw law(robot, robots, {});
  PathCommands path(mechanics, seed);
  State leader = rest_state(mechanics), state = leader;
  Answers answers;
  InverseRate rate;
  static_cast<Rate&>(rate) = measure_steps(robots, robot.time_step, steps, seconds, [&](int k, double& wall) {
    const StepReport led = forward.step(path.at(k), leader);
    if (led.status != StepStatus::ok) return led;
    const std::vector<double> goals = goals_at(robot, robots, forward.outputs());
    const auto begin = std::chrono::steady_clock::now();
    law.set_goals(goals);
    const StepReport report = inverse.step(law, state.motions, state);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    answers.add(law, robots, rate);
    answers.add_seconds(law.qp_seconds());
    return report;
  });
  answers.finish(rate);
  rate.state_hash = hash(state);
  return rate;
}

InverseRate measure_batch_inverse_rate(const ReducedModel& model, const Device& device, int robots,
                                       const BatchStepSettings& settings, int steps, double seconds,
                                       std::uint64_t seed) {
  const Robot& robot = model.robot;
  const double h = robot.time_step;
  BatchStepSettings own = settings;
  own.time_step = h;
  BatchStepper forward(model, device, robots, own);
  own.laws = true;
  BatchStepper inverse(model, device, robots, own);
  std::vector<std::unique_ptr<InverseLaw>> laws;
  std::vector<ConstraintLaw*> given;
  for (int k = 0; k < inverse.parts(); ++k) {
    laws.push_back(std::make_unique<InverseLaw>(robot, inverse.part(k).count, InverseSettings{}));
    given.push_back(laws.back().get());
  }
  PathCommands path(robot, robots, seed);
  Answers answers;
  InverseRate rate;
  static_cast<Rate&>(rate) = measure_steps(robots, h, steps, seconds, [&](int k, double& wall) {
    const Control& control = path.at(k);
    const StepReport led = forward.step(control.commands, control.motions);
    if (led.status != StepStatus::ok) return led;
    const std::vector<double> goals = goals_at(robot, robots, forward.outputs());
    const std::size_t numbers = goals.size() / extent(robots);
    const auto begin = std::chrono::steady_clock::now();
    for (int p = 0; p < inverse.parts(); ++p) {
      const auto [first, count] = inverse.part(p);
      laws[extent(p)]->set_goals(std::span(goals).subspan(extent(first) * numbers, extent(count) * numbers));
    }
    const StepReport report = inverse.step(given, control.motions);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double programs = 0;
    for (int p = 0; p < inverse.parts(); ++p) {
      answers.add(*laws[extent(p)], inverse.part(p).count, rate);
      programs += laws[extent(p)]->qp_seconds();
    }
    answers.add_seconds(programs);
    return report;
  });
  answers.finish(rate);
  rate.state_hash = hash(inverse.state());
  return rate;
}

}  // namespace supple
