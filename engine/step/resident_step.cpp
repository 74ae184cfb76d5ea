#include "engine/step/resident_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/step/resident_batch.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

std::optional<std::string> feature_that_cannot_stay(const ReducedModel& model, bool effectors) {
  const Robot& robot = model.robot;
  if (robot.pairs() > 0 && effectors) return "inverse control among obstacles is found on the host";
  if (robot.pairs() > 0)
    for (const PlacedObstacle& placed : robot.obstacles)
      if (placed.obstacle.shape() == Obstacle::Shape::mesh)
        return fmt::format("the obstacle '{}' is a mesh, whose distances are found on the host", placed.name);
  if (!robot.motions.empty()) return "driven regions are not known there";
  if (!robot.springs.empty()) return "springs between points are not known there";
  if (robot.implicit_velocity != 1 || robot.implicit_position != 1)
    return "steps there are implicit Euler, implicit_velocity and implicit_position 1";
  for (const ConstraintRow& row : robot.constraints)
    if (row.damping_time > 0) return fmt::format("the constraint '{}' has damping", row.name);
  for (const ActuatorRow& actuator : robot.actuators)
    if (actuator.kind == ActuatorKind::cavity && actuator.volume.empty())
      return fmt::format("the volume of '{}' is no polynomial", actuator.name);
  for (const Effector& effector : robot.effectors) {
    if (!effectors) break;
    if (effector.kind == EffectorKind::orientation)
      return fmt::format("the effector '{}' is an orientation", effector.name);
    if (effector.kind == EffectorKind::volume && effector.volume.empty())
      return fmt::format("the volume of '{}' is no polynomial", effector.name);
  }
  return std::nullopt;
}

std::optional<InputError> cannot_stay(const ReducedModel& model, bool effectors) {
  const std::optional<std::string> feature = feature_that_cannot_stay(model, effectors);
  if (!feature) return std::nullopt;
  return InputError("the states of a batch cannot stay on its device (" + *feature + ")",
                    "a Stepper with ReducedBatchMechanics or ReducedMechanics");
}

ResidentStepper::ResidentStepper(const ReducedModel& model, const Device& device, int robots,
                                 const ResidentSettings& settings)
    : model_(model), settings_(settings), robots_(robots) {
  if (const auto why = cannot_stay(model, settings.effectors)) throw InputError(*why);
  SUPPLE_EXPECT(robots > 0 && settings.time_step > 0 && settings.parts >= 0 && settings.most_contacts >= 0);
  if (settings.algebra == SystemAlgebra::fused &&
      std::ranges::any_of(model.fields, [](const ReducedField& field) { return field.strains.count > 0; }))
    throw InputError(
        "fused algebra cannot step robots with membranes by strain modes (a system that is not positive is "
        "not factored again)",
        "the algebra of libraries: without --fused");
  if (model.robot.pairs() > 0 && settings.algebra == SystemAlgebra::fused)
    throw InputError("fused algebra cannot step robots among obstacles (it keeps no factor for the rows of contacts)",
                     "the algebra of libraries: without --fused");
  const int wanted = settings.parts > 0 ? settings.parts : device.kind == Device::Kind::cpu ? 1 : 2;
  const int parts = std::min(wanted, robots);
  for (int k = 0; k < parts; ++k) {
    const int count = robots / parts + (k < robots % parts ? 1 : 0);
    parts_.push_back(std::make_unique<Batch>(model, device, count, settings));
  }
}

ResidentStepper::~ResidentStepper() = default;

ResidentStepper::Part ResidentStepper::part(int number) const {
  int first = 0;
  for (int k = 0; k < number; ++k) first += parts_[extent(k)]->robots();
  return {first, parts_[extent(number)]->robots()};
}

ResidentReport ResidentStepper::step(std::span<const double> commands) {
  const std::size_t actuators = model_.robot.actuators.size();
  SUPPLE_EXPECT(commands.size() == extent(robots_) * actuators && !settings_.effectors);
  std::vector<ConstraintLaw*> laws;
  for (const auto& batch : parts_) {
    const std::size_t own = extent(batch->robots()) * actuators;
    batch->forward().command(commands.first(own));
    commands = commands.subspan(own);
    laws.push_back(&batch->forward());
  }
  return step_under(laws, {});
}

ResidentReport ResidentStepper::step(std::span<ConstraintLaw* const> laws, std::span<const double> goals) {
  if (model_.robot.pairs() > 0)
    throw InputError("robots among obstacles whose states stay on a device are led by commands (not by a law)",
                     "step(commands), or a Stepper with ReducedBatchMechanics");
  return step_under(laws, goals);
}

ResidentReport ResidentStepper::step_under(std::span<ConstraintLaw* const> laws, std::span<const double> goals) {
  SUPPLE_EXPECT(laws.size() == parts_.size());
  const std::size_t numbers = settings_.effectors ? 3 * model_.robot.effectors.size() : 0;
  if (goals.size() != extent(robots_) * numbers)
    throw InputError(fmt::format("{} numbers are no goals of {} robots ({} each)", goals.size(), robots_, numbers),
                     "the goals with the step: those that a law was given count for Stepper alone");
  ResidentReport report;
  for (const auto& batch : parts_) batch->linearise();
  int first = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Batch& batch = *parts_[k];
    const std::size_t own = extent(batch.robots()) * numbers;
    batch.advance(*laws[k], goals.first(own), first, report);
    if (settings_.ahead) batch.linearise();
    goals = goals.subspan(own);
    first += batch.robots();
  }
  std::ranges::stable_sort(report.failures, {}, &RobotFailure::robot);
  if (!report.failures.empty()) report.status = report.failures.front().status;
  time_ += settings_.time_step;
  return report;
}

namespace {

// Robots [first, first + count) of a list of all `robots`.
std::vector<double> rows_of(const std::vector<double>& values, int robots, int first, int count) {
  const auto size = static_cast<std::ptrdiff_t>(values.size()) / robots;
  return {values.begin() + first * size, values.begin() + (first + count) * size};
}

// Every list of a state.
constexpr auto state_lists = {&State::q,        &State::v,       &State::multipliers,      &State::contact_forces,
                              &State::commands, &State::motions, &State::motion_velocities};

State robots_of(const State& state, int first, int count) {
  State part;
  part.robots = count;
  part.time = state.time;
  for (const auto list : state_lists) part.*list = rows_of(state.*list, state.robots, first, count);
  return part;
}

}  // namespace

void ResidentStepper::set_state(const State& state) {
  SUPPLE_EXPECT(state.robots == robots_ && state.q.size() == extent(robots_, model_.modes) &&
                state.v.size() == state.q.size());
  SUPPLE_EXPECT(state.multipliers.size() == extent(robots_, model_.robot.rows()) &&
                state.commands.size() == extent(robots_) * model_.robot.actuators.size() &&
                state.contact_forces.size() == extent(robots_, model_.robot.pairs(), 3));
  for (int k = 0; k < parts(); ++k) parts_[extent(k)]->set_state(robots_of(state, part(k).first, part(k).count));
  time_ = state.time;
}

State ResidentStepper::state() const {
  State state;
  state.robots = robots_;
  state.time = time_;
  state.q.resize(extent(robots_, model_.modes));
  state.v.resize(state.q.size());
  std::span<double> q(state.q), v(state.v);
  for (const auto& batch : parts_) {
    const std::size_t own = extent(batch->robots(), model_.modes);
    batch->read_state(q.first(own), v.first(own));
    q = q.subspan(own);
    v = v.subspan(own);
    const State& known = batch->known();
    state.multipliers.insert(state.multipliers.end(), known.multipliers.begin(), known.multipliers.end());
    state.commands.insert(state.commands.end(), known.commands.begin(), known.commands.end());
    batch->add_contact_forces(state.contact_forces);
  }
  return state;
}

void ResidentStepper::reset(std::span<const int> robots, const State& start) {
  SUPPLE_EXPECT(start.robots == 1 || start.robots == robots_);
  SUPPLE_EXPECT(std::ranges::all_of(robots, [&](int b) { return b >= 0 && b < robots_; }));
  for (int k = 0; k < parts(); ++k) {
    const auto [first, count] = part(k);
    std::vector<int> own;
    for (const int b : robots)
      if (b >= first && b < first + count) own.push_back(b - first);
    parts_[extent(k)]->reset(own, start.robots == 1 ? start : robots_of(start, first, count));
  }
}

void ResidentStepper::set_variations(const Variations& variations) {
  check_variations(model_, robots_, variations);
  for (int k = 0; k < parts(); ++k) {
    const auto [first, count] = part(k);
    parts_[extent(k)]->set_variations({.gravity = rows_of(variations.gravity, robots_, first, count),
                                       .material_scale = rows_of(variations.material_scale, robots_, first, count),
                                       .friction = rows_of(variations.friction, robots_, first, count)});
  }
}

std::vector<double> ResidentStepper::outputs() {
  std::vector<double> y(extent(robots_, model_.robot.outputs()));
  std::span<double> left(y);
  for (const auto& batch : parts_) {
    const std::size_t own = extent(batch->robots(), model_.robot.outputs());
    batch->read_outputs(left.first(own));
    left = left.subspan(own);
  }
  return y;
}

}  // namespace supple
