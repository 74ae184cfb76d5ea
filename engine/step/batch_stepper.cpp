#include "engine/step/batch_stepper.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

bool contact_on_device(const Robot& robot, const BatchStepSettings& settings) {
  return robot.pairs() > 0 && !settings.laws && settings.scheme == StepScheme::one_linearisation &&
         !needs_contact_on_host(robot);
}

Stepper stepper_of(ReducedBatchMechanics& mechanics, const BatchStepSettings& settings) {
  if (settings.scheme == StepScheme::newton) mechanics.reserve_newton();
  const StepSettings step{.scheme = settings.scheme,
                          .time_step = settings.time_step,
                          .implicit_velocity = settings.implicit_velocity,
                          .implicit_position = settings.implicit_position};
  if (contact_on_device(mechanics.robot(), settings)) return Stepper(mechanics, step, settings.contact);
  return Stepper(mechanics, step);
}

}  // namespace

// A part of the batch.
struct BatchStepper::Robots {
  ReducedBatchMechanics mechanics;
  Stepper stepper;
  ForwardLaw forward;
  DeviceState state;

  Robots(const ReducedModel& model, const Device& device, int count, const BatchStepSettings& settings)
      : mechanics(model, device, count, {settings.precision, settings.algebra}),
        stepper(stepper_of(mechanics, settings)),
        forward(model.robot, count),
        state(device, rest_state(mechanics), stepper.finds_contact_on_device()) {}
};

BatchStepper::BatchStepper(const ReducedModel& model, const Device& device, int robots,
                           const BatchStepSettings& settings)
    : model_(model), settings_(settings), robots_(robots) {
  SUPPLE_EXPECT(settings.scheme != StepScheme::quasi_static);
  SUPPLE_EXPECT(robots > 0 && settings.time_step > 0 && settings.parts >= 0 && settings.contact.most_contacts >= 0);
  const int wanted = settings.parts > 0 ? settings.parts : device.kind == Device::Kind::cpu ? 1 : 2;
  const int parts = std::min(wanted, robots);
  for (int k = 0; k < parts; ++k)
    parts_.push_back(std::make_unique<Robots>(model, device, robots / parts + (k < robots % parts ? 1 : 0), settings));
}

BatchStepper::~BatchStepper() = default;

BatchStepper::Part BatchStepper::part(int number) const {
  int first = 0;
  for (int k = 0; k < number; ++k) first += parts_[extent(k)]->mechanics.robots();
  return {first, parts_[extent(number)]->mechanics.robots()};
}

StepReport BatchStepper::step(std::span<const double> commands, std::span<const double> motions) {
  SUPPLE_EXPECT(commands.size() == extent(robots_) * model_.robot.actuators.size() && !settings_.laws);
  std::vector<ConstraintLaw*> laws;
  for (const auto& part : parts_) {
    const std::size_t own = extent(part->mechanics.robots()) * model_.robot.actuators.size();
    part->forward.command(commands.first(own));
    commands = commands.subspan(own);
    laws.push_back(&part->forward);
  }
  return step(std::span<ConstraintLaw* const>(laws), motions);
}

StepReport BatchStepper::step(std::span<ConstraintLaw* const> laws, std::span<const double> motions) {
  const std::size_t inputs = model_.robot.motions.size();
  SUPPLE_EXPECT(laws.size() == parts_.size() &&
                (laws.front()->moves_inputs() || motions.size() == extent(robots_) * inputs));
  StepReport all;
  for (std::size_t k = 0; k < parts_.size(); ++k) parts_[k]->stepper.prepare(*laws[k], parts_[k]->state.view());
  int first = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Robots& robots = *parts_[k];
    const int count = robots.mechanics.robots();
    const std::span<const double> own =
        motions.empty() ? motions : motions.subspan(extent(first) * inputs, extent(count) * inputs);
    const StepReport report = robots.stepper.step(*laws[k], own, robots.state.view());
    if (settings_.ahead) robots.stepper.prepare(*laws[k], robots.state.view());
    all.add(report, first);
    first += count;
  }
  time_ += settings_.time_step;
  return all;
}

namespace {

// Robots [first, first + count) of a list of all `robots`.
std::vector<double> rows_of(const std::vector<double>& values, int robots, int first, int count) {
  const auto size = static_cast<std::ptrdiff_t>(values.size()) / robots;
  return {values.begin() + first * size, values.begin() + (first + count) * size};
}

State robots_of(const State& state, int first, int count) {
  State part;
  part.robots = count;
  part.time = state.time;
  for (const auto list : state_lists) part.*list = rows_of(state.*list, state.robots, first, count);
  return part;
}

}  // namespace

void BatchStepper::set_state(const State& state) {
  SUPPLE_EXPECT(state.robots == robots_ && state.multipliers.size() == extent(robots_, model_.robot.rows()) &&
                state.commands.size() == extent(robots_) * model_.robot.actuators.size() &&
                state.contact_forces.size() == extent(robots_, model_.robot.pairs(), 3) &&
                state.motions.size() == extent(robots_) * model_.robot.motions.size() &&
                state.history.size() == extent(robots_, model_.robot.history()));
  time_ = state.time;
  for (int k = 0; k < parts(); ++k) {
    Robots& robots = *parts_[extent(k)];
    robots.state.set(robots_of(state, part(k).first, part(k).count));
    robots.stepper.forget();
  }
}

State BatchStepper::state() const {
  State state;
  state.robots = robots_;
  state.time = time_;
  for (const auto& part : parts_) {
    const State own = part->state.get();
    for (const auto list : state_lists)
      (state.*list).insert((state.*list).end(), (own.*list).begin(), (own.*list).end());
  }
  return state;
}

void BatchStepper::reset(std::span<const int> robots, const State& start) {
  SUPPLE_EXPECT(start.robots == 1 || start.robots == robots_);
  SUPPLE_EXPECT(std::ranges::all_of(robots, [&](int b) { return b >= 0 && b < robots_; }));
  for (int k = 0; k < parts(); ++k) {
    const auto [first, count] = part(k);
    std::vector<int> own;
    for (const int b : robots)
      if (b >= first && b < first + count) own.push_back(b - first);
    if (own.empty()) continue;
    parts_[extent(k)]->state.reset(own, start.robots == 1 ? start : robots_of(start, first, count));
    parts_[extent(k)]->stepper.forget();
  }
}

void BatchStepper::set_variations(const Variations& variations) {
  check_variations(model_, robots_, variations);
  for (int k = 0; k < parts(); ++k) {
    const auto [first, count] = part(k);
    parts_[extent(k)]->mechanics.set_variations(variations_of(variations, robots_, first, count));
    parts_[extent(k)]->stepper.forget();
  }
}

std::vector<double> BatchStepper::outputs() {
  std::vector<double> all;
  for (const auto& part : parts_) {
    const StateView state = part->state.view();
    Mirrored<double> y(part->mechanics.device(), extent(part->mechanics.robots(), model_.robot.outputs())),
        c(part->mechanics.device(), state.host.motions.size());
    std::ranges::copy(state.host.motions, c.host().begin());
    c.send();
    part->mechanics.evaluate_outputs({state.q, extent(part->mechanics.robots(), model_.modes)}, c.span(), y.span());
    y.fetch();
    synchronize(part->mechanics.device());
    const std::span<double> own = y.host();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace supple
