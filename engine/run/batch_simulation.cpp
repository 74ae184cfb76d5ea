#include "engine/run/batch_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/model/parameters.hpp"
#include "engine/run/device_steps.hpp"
#include "engine/run/effector_errors.hpp"
#include "engine/run/settle.hpp"
#include "engine/run/steps_on_cpu.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// name(i): of the i-th of one robot's numbers.
template <class Name>
void require_finite(std::span<const double> values, int robots, const char* what, const Name& name) {
  const auto wrong = std::ranges::find_if(values, [](double value) { return !std::isfinite(value); });
  if (wrong == values.end()) return;
  const auto at = static_cast<std::size_t>(wrong - values.begin());
  const std::size_t own = values.size() / extent(robots);
  throw InputError(fmt::format("the {} of '{}' of robot {} is {}", what, std::string(name(at % own)), at / own, *wrong),
                   "finite numbers in SI units");
}

}  // namespace

// What the program has set.
class BatchSimulation::Sources final : public CommandSource, public GoalSource {
 public:
  Sources(const Robot& robot, int robots) : robot_(robot), robots_(robots) {
    const std::size_t n = robot.actuators.size(), e = robot.effectors.size();
    commands.resize(extent(robots) * n);
    motions.resize(extent(robots) * robot.motions.size());
    goals_now.resize(extent(robots) * 3 * e);
    known.assign(extent(robots) * n, std::numeric_limits<double>::quiet_NaN());
    steered.assign(e, 1);
    for (const ActuatorRow& actuator : robot.actuators)
      limits.insert(limits.end(), {own_force_limits(actuator).lower, own_force_limits(actuator).upper});
  }

  void check(bool inverse) const {
    if (!inverse) {
      require_finite(commands, robots_, "command", [this](std::size_t i) { return robot_.actuators[i].name; });
      require_finite(motions, robots_, "motion", [this](std::size_t i) { return robot_.motions[i].name; });
      return;
    }
    require_finite(goals_now, robots_, "goal", [this](std::size_t i) { return robot_.effectors[i / 3].name; });
    if (std::ranges::any_of(known, [](double command) { return std::isinf(command); }))
      throw InputError("a known command is infinite", "a number, or NaN for a command that is to be found");
    if (std::ranges::any_of(limits, [](double limit) { return std::isnan(limit); }))
      throw InputError("a limit of a force is not a number", "numbers, of which the largest may be infinite");
    for (std::size_t j = 0; j < robot_.actuators.size(); ++j)
      (void)limited_force(robot_.actuators[j], {limits[2 * j], limits[2 * j + 1]});
  }

  int evaluate(double, int, Control& control) const override {
    std::ranges::copy(commands, control.commands.begin());
    int cut = 0;
    for (std::size_t i = 0; i < motions.size(); ++i) {
      const Interval& range = robot_.motions[i % robot_.motions.size()].range;
      control.motions[i] = std::clamp(motions[i], range.lower, range.upper);
      cut += control.motions[i] != motions[i] ? 1 : 0;
    }
    return cut;
  }
  bool for_each_robot() const override { return robots_ > 1; }

  void prepare(InverseLaw& law) const override {
    for (std::size_t e = 0; e < steered.size(); ++e) law.steer(static_cast<int>(e), steered[e] != 0);
  }
  void goals(double, std::span<double> goals, int robot) const override {
    std::copy_n(goals_now.begin() + static_cast<std::ptrdiff_t>(extent(robot) * goals.size()), goals.size(),
                goals.begin());
  }
  void know(double, InverseLaw& law, int robot, int of_law) const override {
    prepare(law);
    const std::size_t n = robot_.actuators.size();
    for (std::size_t j = 0; j < n; ++j) law.know(of_law, static_cast<int>(j), known[extent(robot) * n + j]);
  }
  void limit(double, InverseLaw& law, int) const override {
    for (std::size_t j = 0; j < robot_.actuators.size(); ++j)
      law.limit_force(static_cast<int>(j), limited_force(robot_.actuators[j], {limits[2 * j], limits[2 * j + 1]}));
  }
  bool limits_each_robot() const override { return false; }

  std::vector<double> commands, motions, goals_now, known, limits;
  std::vector<unsigned char> steered;

 private:
  const Robot& robot_;
  int robots_;
};

BatchSimulation::BatchSimulation(std::unique_ptr<SimulatedBody> body, const BatchSimulationSettings& settings)
    : body_(std::move(body)), robots_(settings.robots), device_(settings.device), inverse_(settings.inverse) {
  check(settings);
  team_ = body_->make_team(robots_,
                           drive_.keep_tangent > 0 ? MechanicsTeam::Members::robots : MechanicsTeam::Members::threads);
  rest_ = rest_state(team_->member(0));
  sources_ = std::make_unique<Sources>(robot(), robots_);
  effectors_.resize(sources_->goals_now.size());
  make_steps(repeated(rest_, robots_));
  if (inverse_) aim_where_they_are();
  sensors_ = std::make_unique<SensorReadings>(robot(), robots_, drive_.time_step, settings.sensor_seed);
  restart_sensors();
}

BatchSimulation::~BatchSimulation() = default;

void BatchSimulation::check(const BatchSimulationSettings& settings) {
  const Robot& robot = body_->robot();
  if (robots_ < 1 || robots_ > most_robots)
    throw InputError(fmt::format("a batch of {} robots", robots_), fmt::format("1 to {}", most_robots));
  drive_.integrator = settings.integrator.value_or(robot.integrator);
  drive_.time_step = settings.time_step.value_or(robot.time_step);
  drive_.keep_tangent = settings.keep_tangent;
  if (!(drive_.time_step > 0) || !std::isfinite(drive_.time_step))
    throw InputError(fmt::format("a time step of {} s", drive_.time_step), "above 0, such as 0.01");
  if (!(drive_.keep_tangent >= 0 && drive_.keep_tangent < 1))
    throw InputError(fmt::format("keep_tangent is {}", drive_.keep_tangent), "a fraction, such as 0.05");
  if (drive_.keep_tangent > 0) {
    if (inverse_ || drive_.integrator != Integrator::implicit_euler)
      throw InputError("keep_tangent is for steps under commands of one linearisation",
                       "without it, or the integrator implicit-euler");
    if (kind() == SimulatedBody::Kind::several)
      throw InputError("robots of several bodies do not keep tangents yet", "without keep_tangent");
    if (const auto why = cannot_keep_tangent(robot)) throw InputError(*why);
  }
  if (drive_.integrator != Integrator::implicit_euler && !body_->exact_tangent())
    throw InputError("this integrator needs the exact tangent, which rotations from element edges do not have",
                     "rotation = \"polar\" in the material, or the integrator implicit-euler");
  if (inverse_)
    if (const auto why = cannot_lead(robot)) throw InputError(*why);
  if (device_.kind == Device::Kind::cpu) return;
  if (reduced() == nullptr)
    throw CapabilityError(kind() == SimulatedBody::Kind::full ? "full models are simulated on the CPU only"
                                                              : "several bodies are simulated on the CPU only",
                          "a reduced model of one body, or the device \"cpu\"");
  if (const auto why = cannot_run_on_device(*reduced(), drive_, inverse_.has_value())) throw InputError(*why);
}

void BatchSimulation::make_steps(State from) {
  answers_ = nullptr;
  if (device_.kind != Device::Kind::cpu) {
    steps_ = inverse_ ? inverse_on_device(*reduced(), device_, drive_, *inverse_, *sources_, from, answers_)
                      : forward_on_device(*reduced(), device_, drive_, *sources_, from);
  } else if (inverse_) {
    auto steps = std::make_unique<InverseOnCpu>(*team_, drive_, *inverse_, *sources_, std::move(from));
    answers_ = steps.get();
    on_cpu_ = steps.get();
    steps_ = std::move(steps);
  } else {
    auto steps = std::make_unique<ForwardOnCpu>(*team_, drive_, *sources_, std::move(from));
    on_cpu_ = steps.get();
    steps_ = std::move(steps);
  }
}

void BatchSimulation::aim_where_they_are() {
  std::ranges::copy(effectors(), sources_->goals_now.begin());
}

std::span<double> BatchSimulation::commands() {
  return sources_->commands;
}
std::span<double> BatchSimulation::motions() {
  return sources_->motions;
}
std::span<double> BatchSimulation::goals() {
  return sources_->goals_now;
}
std::span<double> BatchSimulation::known() {
  return sources_->known;
}
std::span<unsigned char> BatchSimulation::steered() {
  return sources_->steered;
}
std::span<double> BatchSimulation::limits() {
  return sources_->limits;
}

const StepReport& BatchSimulation::step(long count, const std::function<bool()>& stopped) {
  sources_->check(inverse());
  // One that is alone is tried again: its state is as it was.
  if (robots_ == 1 && failed(0)) {
    const State same = state();
    steps_->set_state(same);
  }
  for (long k = 0; k < count && !all_failed(); ++k) {
    if (robot().pairs() > 0 && k + 1 == count) before_ = outputs();
    const double time = static_cast<double>(number_ + 1) * drive_.time_step;
    TakenStep taken = steps_->step(number_ + 1, time);
    report_ = std::move(taken.report);
    limited_ = taken.limited + report_.limited_commands;
    if (report_.status != StepStatus::ok) break;
    ++number_;
    sensors_seen_ = false;
    if (sensors_->remembers()) see_sensors();
    if (stopped && stopped()) break;
  }
  return report_;
}

bool BatchSimulation::all_failed() const {
  return failures().size() == extent(robots_);
}

void BatchSimulation::settle() {
  sources_->check(inverse());
  if (!body_->exact_tangent())
    throw InputError("equilibria need the exact tangent, which rotations from element edges do not have",
                     "rotation = \"polar\" in the material");
  if (inverse()) {
    std::ranges::copy(state().commands, sources_->commands.begin());
    std::ranges::copy(state().motions, sources_->motions.begin());
  }
  State settled = state();
  const bool varied = on_cpu_ == nullptr && !(variations_.gravity.empty() && variations_.material_scale.empty() &&
                                              variations_.density.empty());
  std::unique_ptr<MechanicsTeam> own;  // the team of robots on a device has no variations
  if (varied) {
    own = body_->make_team(robots_, MechanicsTeam::Members::robots);
    own->set_variations(variations_);
  }
  supple::settle(varied ? *own : *team_, *sources_, settled);
  steps_->set_state(settled);
  before_.clear();
  restart_sensors();
  if (inverse()) aim_where_they_are();
}

void BatchSimulation::restart_sensors() {
  if (!sensors_->none()) sensors_->restart(state(), outputs());
  sensors_seen_ = true;
}

void BatchSimulation::see_sensors() {
  if (!sensors_seen_ && !sensors_->none()) sensors_->advance(state(), outputs());
  sensors_seen_ = true;
}

std::span<const double> BatchSimulation::sensors() {
  see_sensors();
  return sensors_->values(number_);
}

std::span<const double> BatchSimulation::sensor_memory() {
  see_sensors();
  return sensors_->memory();
}

void BatchSimulation::set_sensor_memory(std::span<const double> memory) {
  if (memory.size() != sensors_->memory().size())
    throw InputError(fmt::format("the readings of sensors are {} numbers, those of this batch {}", memory.size(),
                                 sensors_->memory().size()),
                     "a state of this simulation");
  if (!std::ranges::all_of(memory, [](double value) { return std::isfinite(value); }))
    throw InputError("a reading of a sensor is not finite", "finite numbers in SI units");
  sensors_->recall(memory);
  sensors_seen_ = true;
}

std::span<const double> BatchSimulation::effectors() {
  const std::vector<double>& y = outputs();
  const std::size_t own = effectors_.size() / extent(robots_);
  for (int b = 0; b < robots_; ++b)
    effector_states(robot_of(b), of(y, b), std::span(effectors_).subspan(extent(b) * own, own));
  return effectors_;
}

std::span<const double> BatchSimulation::goal_errors() {
  const std::size_t count = robot().effectors.size();
  const std::vector<double>& y = outputs();
  const std::vector<char> with_goal(steered().begin(), steered().end());
  goal_errors_.resize(extent(robots_) * count);
  std::optional<EffectorErrors> errors(robot());
  for (int b = 0; b < robots_; ++b) {
    if (!own_teams_.empty()) errors.emplace(robot_of(b));
    (void)errors->evaluate(of(y, b), goals().subspan(3 * extent(b) * count, 3 * count), with_goal,
                           std::span(goal_errors_).subspan(extent(b) * count, count));
  }
  return goal_errors_;
}

void BatchSimulation::reset(std::span<const int> robots) {
  for (const int b : robots)
    if (b < 0 || b >= robots_)
      throw InputError(fmt::format("there is no robot {} in a batch of {} (the first is robot 0)", b, robots_),
                       fmt::format("0 to {}", robots_ - 1));
  see_sensors();
  steps_->reset(robots, rest_);
  if (!sensors_->none()) sensors_->restart(robots, state(), outputs());
}

void BatchSimulation::reset() {
  steps_->set_state(repeated(rest_, robots_));
  number_ = 0;
  before_.clear();
  restart_sensors();
}

void BatchSimulation::set_state(const State& state) {
  if (!std::isfinite(state.time) || std::abs(state.time) > 1e9)
    throw InputError(fmt::format("the time of the state is {} s", state.time), "a finite time");
  if (!same_sizes(state, this->state()))
    throw InputError("the state is of another robot, or of another number of robots", "a state of this simulation");
  for (const auto list : state_lists)
    if (!std::ranges::all_of(state.*list, [](double value) { return std::isfinite(value); }))
      throw InputError("the state has a number that is not finite", "finite numbers in SI units");
  steps_->set_state(state);
  number_ = std::lround(state.time / drive_.time_step);
  before_.clear();
  restart_sensors();
}

void BatchSimulation::set_variations(const Variations& variations) {
  if (reduced() == nullptr)
    throw InputError("robots of a full model or of several bodies do not differ from each other",
                     "a reduced model of one body");
  check_variations(*reduced(), robots_, variations);
  if (drive_.keep_tangent > 0 && std::ranges::any_of(variations.rayleigh_stiffness, [](double b) { return b > 0; }))
    throw InputError("under stiffness damping every step needs its own tangent",
                     "rayleigh_mass alone, or a simulation without keep_tangent");
  if (on_cpu_ != nullptr && team_->size() != robots_)
    step_with(body_->make_team(robots_, MechanicsTeam::Members::robots));
  steps_->set_variations(variations);
  variations_ = variations;
  sensors_->set_gravity(variations.gravity);
  if (number_ == 0) restart_sensors();
}

// Robots continue where they are.
void BatchSimulation::step_with(std::unique_ptr<MechanicsTeam> team) {
  StepsOnCpu* const lists = on_cpu_;
  InverseAnswers* const last_answers = answers_;
  std::unique_ptr<RobotSteps> steps = std::move(steps_);
  std::swap(team_, team);  // now the last one
  try {
    make_steps(lists->state());
  } catch (...) {
    std::swap(team_, team);
    steps_ = std::move(steps);
    on_cpu_ = lists;
    answers_ = last_answers;
    throw;
  }
  on_cpu_->take_over(*lists);
  if (answers_ != nullptr) answers_->recall(last_answers->memory());
  steps.reset();  // before the team that it steps with
  if (!first_team_) first_team_ = std::move(team);
}

void BatchSimulation::set_parameters(std::span<const double> values) {
  if (reduced() == nullptr)
    throw InputError("robots of a full model or of several bodies do not differ from each other",
                     "a reduced model of one body");
  if (on_cpu_ == nullptr)
    throw CapabilityError("robots on a device have their shape in common",
                          "set_variations() with material_scale and density, or the device \"cpu\"");
  const ReducedModel& model = *reduced();
  const std::size_t count = model.robot.parameters.size();
  if (!values.empty() && (count == 0 || values.size() != extent(robots_) * count))
    throw InputError(
        fmt::format("there are {} values of the {} parameters of {} robots", values.size(), count, robots_),
        "one of each parameter for each robot");
  std::vector<std::unique_ptr<SimulatedBody>> bodies;
  std::vector<std::unique_ptr<MechanicsTeam>> teams;
  std::vector<Mechanics*> members;
  for (int b = 0; b < robots_ && !values.empty(); ++b) {
    std::vector<NamedValue> own;
    for (std::size_t k = 0; k < count; ++k)
      own.push_back({model.robot.parameters[k].name, values[extent(b) * count + k]});
    bodies.push_back(
        body_of(std::make_shared<const ReducedModel>(at_parameters(model, parameters_by_name(model.robot, own)))));
    teams.push_back(bodies.back()->make_team(1, MechanicsTeam::Members::robots));
    members.push_back(&teams.back()->member(0));
  }
  step_with(values.empty() ? body_->make_team(robots_, MechanicsTeam::Members::robots)
                           : std::make_unique<MechanicsTeam>(std::move(members), robots_));
  std::swap(own_bodies_, bodies);
  std::swap(own_teams_, teams);
  parameters_.assign(values.begin(), values.end());
  steps_->set_variations(variations_);
  before_.clear();
  if (number_ == 0) restart_sensors();
}

std::span<const double> BatchSimulation::of(const std::vector<double>& values, int robot) const {
  SUPPLE_EXPECT(robot >= 0 && robot < robots_);
  const std::size_t own = values.size() / extent(robots_);
  return std::span(values).subspan(extent(robot) * own, own);
}

std::vector<Touch> BatchSimulation::touches(int robot) {
  SUPPLE_EXPECT(robot >= 0 && robot < robots_);
  return supple::touches(this->robot(), state(), outputs(), before_, robot);
}

std::vector<BodyTouch> BatchSimulation::body_touches(int robot) {
  SUPPLE_EXPECT(robot >= 0 && robot < robots_);
  return supple::body_touches(this->robot(), state(), robot);
}

std::vector<NamedPose> BatchSimulation::poses(int robot) {
  return body_->poses(of(state().q, robot), of(state().motions, robot));
}

std::vector<double> BatchSimulation::gaps() {
  const Robot& own = robot();
  const std::vector<double>& y = outputs();
  std::vector<double> gaps;
  gaps.reserve(extent(robots_, own.pairs()));
  for (int b = 0; b < robots_; ++b)
    for (int k = 0; k < own.collision_points; ++k) {
      const double* x = of(y, b).data() + extent(3, own.first_collision_point + k);
      for (const PlacedObstacle& placed : own.obstacles)
        gaps.push_back(placed.obstacle.at(placed.pose, Vec3d{{x[0], x[1], x[2]}}).gap - own.contact_distance);
    }
  return gaps;
}

void BatchSimulation::skin_nodes(int robot, std::span<double> nodes) {
  SimulatedBody& body = body_of_robot(robot);
  const std::vector<Vec3d>& rest = body.skin().nodes;
  SUPPLE_EXPECT(nodes.size() == 3 * rest.size());
  body.skin_displacements(of(state().q, robot), of(state().motions, robot), nodes);
  for (std::size_t k = 0; k < rest.size(); ++k)
    for (int c = 0; c < 3; ++c) nodes[3 * k + extent(c)] += rest[k][c];
}

std::vector<double> BatchSimulation::stress(int robot) {
  return body_of_robot(robot).stress(of(state().q, robot), of(state().motions, robot),
                                     of(variations_.material_scale, robot));
}

}  // namespace supple
