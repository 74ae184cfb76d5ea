#include "viewer/play/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

constexpr std::size_t recent_steps = 1000;  // of which quantiles of the step's time are taken

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::size_t bytes(const State& state) {
  return 8 * (state.q.size() + state.v.size() + state.multipliers.size() + state.contact_forces.size() +
              state.commands.size() + state.motions.size() + state.motion_velocities.size());
}

// A pull as it is recorded (RecordedFrame::pull), and back; none where it does not fit the skin.
std::vector<double> numbers_of(const Pull& pull) {
  std::vector<double> numbers{static_cast<double>(pull.triangle)};
  numbers.insert(numbers.end(), pull.weights.begin(), pull.weights.end());
  for (int i = 0; i < 3; ++i) numbers.push_back(pull.to[i]);
  numbers.push_back(pull.stiffness);
  return numbers;
}
Pull pull_of(const std::vector<double>& numbers, std::size_t triangles) {
  if (numbers.size() != 8 || !(numbers[0] >= 0 && numbers[0] < static_cast<double>(triangles))) return {};
  return {static_cast<int>(numbers[0]),
          {numbers[1], numbers[2], numbers[3]},
          {{numbers[4], numbers[5], numbers[6]}},
          numbers[7]};
}

// Commands then motions of an intent, within their ranges; all zero where it names none.
void take_commands(const Intent& intent, const Robot& robot, Control& control) {
  const std::size_t n = control.commands.size();
  for (std::size_t i = 0; i < n + control.motions.size(); ++i) {
    const double value = i < intent.commands.size() && std::isfinite(intent.commands[i]) ? intent.commands[i] : 0;
    if (i < n)
      control.commands[i] = value;  // the step cuts it to range and rate
    else
      control.motions[i - n] = std::clamp(value, robot.motions[i - n].range.lower, robot.motions[i - n].range.upper);
  }
}

}  // namespace

Simulation::Simulation(std::shared_ptr<OpenedRobot> robot, std::shared_ptr<OpenedRobot> beside,
                       const SimulationSettings& settings)
    : robot_(std::move(robot)),
      beside_(std::move(beside)),
      integrator_(settings.integrator.value_or(robot_->robot().integrator)),
      time_step_(settings.time_step.value_or(robot_->robot().time_step)),
      forward_(*robot_->mechanics, integrator_, time_step_),
      beside_forward_(beside_ ? *beside_->mechanics : *robot_->mechanics, integrator_, time_step_),
      effector_rows_(effector_layout(robot_->robot())),
      control_(zero_control(*robot_->mechanics)) {
  const auto settle = [&](Mechanics& mechanics) {
    try {
      return settled_state(mechanics);
    } catch (const RunError& error) {
      start_.failure = fmt::format("{}; it starts from rest", error.what());
      return rest_state(mechanics);
    }
  };
  start_.state = settle(*robot_->mechanics);
  if (beside_) start_.other = settle(*beside_->mechanics);
  prepare(settings);
  frame_ = start_;
  map_points();
  measure_contact({});
  frame_.goals = frame_.reached;
  begin();
}

Simulation::Simulation(std::shared_ptr<OpenedRobot> robot, std::shared_ptr<OpenedRobot> beside,
                       std::unique_ptr<RecordingReader> recording, const SimulationSettings& settings)
    : robot_(std::move(robot)),
      beside_(std::move(beside)),
      integrator_(recording->facts().integrator),
      time_step_(recording->facts().time_step),
      forward_(*robot_->mechanics, integrator_, time_step_),
      beside_forward_(beside_ ? *beside_->mechanics : *robot_->mechanics, integrator_, time_step_),
      effector_rows_(effector_layout(robot_->robot())),
      played_(std::move(recording)),
      control_(zero_control(*robot_->mechanics)) {
  const RecordedFrame& first = played_->frame(0);
  const State none;
  if (!same_sizes(first.state, rest_state(*robot_->mechanics)) ||
      !same_sizes(first.other, beside_ ? rest_state(*beside_->mechanics) : none) ||
      first.goals.size() != 3 * robot_->robot().effectors.size() ||
      (!first.steered.empty() && first.steered.size() != robot_->robot().effectors.size()))
    throw InputError("the recording does not fit its robot", "record it again", {played_->path(), 0, 0, ""});
  start_.state = first.state;
  start_.other = first.other;
  prepare(settings);
  frame_ = start_;
  play(0);
  start_ = frame_;
}

// What both kinds have: frames with room for the robot, inverse control where it can lead.
void Simulation::prepare(const SimulationSettings& settings) {
  const Robot& r = robot_->robot();
  if (!cannot_lead(*robot_)) inverse_.emplace(*robot_->mechanics, InverseSettings{}, integrator_, time_step_);
  phi_.resize(static_cast<std::size_t>(effector_rows_.rows()));
  gradients_.resize(static_cast<std::size_t>(effector_rows_.gradients()));
  same_skin_ = beside_ && beside_->shape->triangles() == robot_->shape->triangles();
  start_.goals.resize(3 * r.effectors.size());
  start_.reached.resize(3 * r.effectors.size());
  start_.errors.resize(r.effectors.size());
  start_.steered.assign(r.effectors.size(), 1);
  history_limit_ = std::max<std::size_t>(3, settings.history_bytes / (bytes(start_.state) + bytes(start_.other) + 512));
  recent_seconds_.reserve(recent_steps);
  sorted_seconds_.reserve(recent_steps);
}

// The frame that is shown is the start of the simulation.
void Simulation::begin() {
  frame_.playing = false;
  frame_.position = frame_.oldest = frame_.newest = frame_.step;
  start_ = frame_;
  reset();
}

Intent Simulation::rest_intent() const {
  Intent intent;
  intent.mode = can_lead() ? Mode::inverse : Mode::forward;
  intent.goals = start_.goals;
  intent.steered = start_.steered;
  intent.commands = start_.state.commands;
  intent.commands.insert(intent.commands.end(), start_.state.motions.begin(), start_.state.motions.end());
  return intent;
}

bool Simulation::pulls(const Intent& intent) const {
  return intent.pull.triangle >= 0 && intent.pull.triangle < static_cast<int>(robot_->shape->triangles().size());
}

Vec3d Simulation::pulled_point(const Pull& pull, const State& state) {
  robot_->shape->positions(state, places_);
  return robot_->shape->point(places_, pull.triangle, pull.weights);
}

// Force of a spring at the end of the step, so that a stiff one holds a soft body and does not throw it about. Trial
// steps say where the point would be without it, x_0, and how far it goes per newton along each axis, the columns of W;
// then x = x_0 + W f and f = k (to - x) give (1/k + W) f = to - x_0.
Vec3d Simulation::pull_force(const Intent& intent, const State& state) {
  const Pull& pull = intent.pull;
  const auto end = [&](const Vec3d& force, Vec3d& x) {
    trial_ = state;
    const StepReport report = advance(intent, robot_->shape->load(state, pull.triangle, pull.weights, force), trial_);
    x = pulled_point(pull, trial_);
    return report.status == StepStatus::ok;
  };
  Vec3d x, y;
  const Vec3d none{{0, 0, 0}};
  if (!(pull.stiffness > 0) || !end(none, x)) return none;
  const Vec3d way = pull.to - x;
  const double probe = 0.01 * pull.stiffness * norm(way);
  if (!(probe > 0)) return none;
  Mat3d system = (1 / pull.stiffness) * Mat3d::identity();
  for (int axis = 0; axis < 3; ++axis) {
    Vec3d force = none;
    force[axis] = probe;
    if (!end(force, y)) return none;
    for (int i = 0; i < 3; ++i) system(i, axis) += (y[i] - x[i]) / probe;
  }
  return inverse(system) * way;
}

StepReport Simulation::advance(const Intent& intent, std::span<const double> load, State& state) {
  const Robot& r = robot_->robot();
  if (intent.mode == Mode::inverse) {
    for (int e = 0; e < static_cast<int>(r.effectors.size()); ++e)
      inverse_->law().steer(
          e, static_cast<std::size_t>(e) >= intent.steered.size() || intent.steered[static_cast<std::size_t>(e)] != 0);
    inverse_->set_load(load);
    return inverse_->step(intent.goals, state);
  }
  take_commands(intent, r, control_);
  forward_.set_load(load);
  return forward_.step(control_, state);
}

// The robot beside: under the commands that the first one has now.
void Simulation::follow(const Intent& intent, const Vec3d& force) {
  frame_.note.clear();
  if (!beside_) return;
  const Control same{frame_.state.commands, frame_.state.motions};
  std::vector<double> load;
  // The same force, where both have the same skin.
  if (pulls(intent) && same_skin_)
    load = beside_->shape->load(frame_.other, intent.pull.triangle, intent.pull.weights, force);
  if (pulls(intent) && !same_skin_) frame_.note = "the robot beside has another skin: it is not pulled";
  beside_forward_.set_load(load);
  const auto start = std::chrono::steady_clock::now();
  const StepReport report = beside_forward_.step(same, frame_.other);
  frame_.other_seconds = seconds_since(start);
  if (report.status != StepStatus::ok)
    frame_.failure = fmt::format("the step of the robot beside failed: {}", describe(report.status));
}

bool Simulation::step(const Intent& intent) {
  const Robot& r = robot_->robot();
  if (played_) {
    if (frame_.position == frame_.newest) return false;
    play(frame_.position + 1);
    return frame_.failure.empty();
  }
  if (intent.mode == Mode::inverse && !can_lead()) {
    frame_.failure = cannot_lead(*robot_)->what();
    return false;
  }
  for (double goal : intent.goals)
    if (!std::isfinite(goal)) {
      frame_.failure = "a goal is not a finite number";
      return false;
    }
  if (intent.mode == Mode::inverse && intent.goals.size() != 3 * r.effectors.size()) {
    frame_.failure = "there are no goals for this robot's effectors";
    return false;
  }
  Vec3d force{{0, 0, 0}};
  std::vector<double> load;
  if (pulls(intent)) {
    force = pull_force(intent, frame_.state);
    load = robot_->shape->load(frame_.state, intent.pull.triangle, intent.pull.weights, force);
  }
  const auto start = std::chrono::steady_clock::now();
  const StepReport report = advance(intent, load, frame_.state);
  const double seconds = seconds_since(start);
  if (report.status != StepStatus::ok) {
    frame_.failure = fmt::format("the step failed: {}; the state is as before", describe(report.status));
    return false;
  }
  frame_.failure.clear();
  ++frame_.step;
  frame_.mode = intent.mode;
  for (std::size_t e = 0; e < frame_.steered.size(); ++e)
    frame_.steered[e] = e >= intent.steered.size() || intent.steered[e] != 0;
  frame_.pull = pulls(intent) ? intent.pull : Pull{};
  frame_.step_seconds = seconds;
  frame_.stages = report.times;
  frame_.iterations = report.iterations;
  if (recent_seconds_.size() < recent_steps)
    recent_seconds_.push_back(seconds);
  else
    recent_seconds_[recent_next_++ % recent_steps] = seconds;
  follow(intent, force);
  measure(intent);
  remember();
  write_frame();
  return frame_.failure.empty();
}

// Mapped points of both robots, and where the effectors are.
void Simulation::map_points() {
  const Robot& r = robot_->robot();
  frame_.y.resize(static_cast<std::size_t>(r.outputs()));
  robot_->mechanics->evaluate_outputs(frame_.state.q, frame_.state.motions, frame_.y);
  for (int e = 0; e < static_cast<int>(r.effectors.size()); ++e)
    effector_state(r, e, frame_.y, std::span(frame_.reached).subspan(3 * static_cast<std::size_t>(e), 3));
  if (!beside_) return;
  frame_.other_y.resize(static_cast<std::size_t>(beside_->robot().outputs()));
  beside_->mechanics->evaluate_outputs(frame_.other.q, frame_.other.motions, frame_.other_y);
}

// How far the effectors are from the goals, where there are any.
void Simulation::measure_errors() {
  const Robot& r = robot_->robot();
  std::fill(frame_.errors.begin(), frame_.errors.end(), 0.0);
  if (frame_.mode != Mode::inverse) return;
  evaluate_effectors(r, effector_rows_, frame_.y, frame_.goals, phi_, gradients_);
  std::size_t row = 0;
  for (std::size_t e = 0; e < r.effectors.size(); ++e) {
    double sum = 0;
    for (int i = 0; i < r.effectors[e].rows(); ++i, ++row) sum += phi_[row] * phi_[row];
    frame_.errors[e] = std::sqrt(sum);
  }
}

// before: mapped points at the beginning of the step, or empty.
void Simulation::measure_contact(std::span<const double> before) {
  frame_.touches = touches(robot_->robot(), frame_.state, frame_.y, before);
  frame_.outside = robot_->reduced ? outside_modes(*robot_->reduced, frame_.state) : std::nullopt;
}

void Simulation::measure(const Intent& intent) {
  const std::vector<double> before = frame_.y;
  map_points();
  measure_contact(before);
  const bool inverse = intent.mode == Mode::inverse;
  frame_.goals = inverse ? intent.goals : frame_.reached;
  measure_errors();
  frame_.saturated = 0;
  frame_.held.clear();
  frame_.qp_seconds = 0;
  if (inverse) {
    const InverseReport& report = inverse_->law().report(0);
    frame_.saturated = report.saturated;
    frame_.held = report.held ? inverse_->law().conflict(0) : "";
    if (report.held) ++frame_.held_steps;
    frame_.qp_seconds = inverse_->law().qp_seconds();
  }
  sorted_seconds_ = recent_seconds_;
  const auto quantile = [&](double q) {
    const auto at = sorted_seconds_.begin() + static_cast<long>(q * static_cast<double>(sorted_seconds_.size() - 1));
    std::nth_element(sorted_seconds_.begin(), at, sorted_seconds_.end());
    return *at;
  };
  frame_.median_seconds = quantile(0.5);
  frame_.p99_seconds = quantile(0.99);
}

// The newest frame, after what was done from the one shown.
void Simulation::remember() {
  history_.resize(at_ + 1);
  history_.push_back(frame_);
  if (history_.size() > history_limit_) history_.pop_front();
  at_ = history_.size() - 1;
  show();
}

void Simulation::show() {
  frame_ = history_[at_];
  frame_.position = frame_.step;
  frame_.oldest = history_.front().step;
  frame_.newest = history_.back().step;
}

// A frame of the recording; what was not recorded is computed from it.
void Simulation::play(long position) {
  std::vector<double> before;
  try {
    double step_before = 0;
    if (position > 0 && robot_->robot().pairs() > 0) {
      const RecordedFrame& former = played_->frame(position - 1);
      step_before = former.step;
      before.resize(static_cast<std::size_t>(robot_->robot().outputs()));
      robot_->mechanics->evaluate_outputs(former.state.q, former.state.motions, before);
    }
    const RecordedFrame& frame = played_->frame(position);
    frame_.step = static_cast<long>(frame.step);
    if (frame.step != step_before + 1) before.clear();  // after a way back
    frame_.state = frame.state;
    frame_.other = frame.other;
    frame_.goals = frame.goals;
    if (!frame.steered.empty()) frame_.steered.assign(frame.steered.begin(), frame.steered.end());
    frame_.pull = pull_of(frame.pull, robot_->shape->triangles().size());
    frame_.mode = frame.inverse ? Mode::inverse : Mode::forward;
    frame_.saturated = static_cast<int>(frame.saturated);
    frame_.held = frame.held ? "there was no answer when this was recorded" : "";
    frame_.held_steps = 0;
    frame_.step_seconds = frame_.median_seconds = frame_.p99_seconds = frame.step_seconds;
    frame_.other_seconds = frame.other_seconds;
    frame_.qp_seconds = frame.qp_seconds;
    frame_.failure.clear();
  } catch (const InputError& error) {
    frame_.failure = fmt::format("{} ({})", error.what(), played_->path());
  }
  frame_.playing = true;
  frame_.position = position;
  frame_.oldest = 0;
  frame_.newest = played_->frames() - 1;
  map_points();
  measure_contact(before);
  measure_errors();
}

void Simulation::seek(long position) {
  if (played_) return play(std::clamp(position, frame_.oldest, frame_.newest));
  const long oldest = history_.front().step;
  at_ = static_cast<std::size_t>(std::clamp(position, oldest, history_.back().step) - oldest);
  if (inverse_) inverse_->law().forget();  // what follows depends on the state alone
  show();
}

bool Simulation::back() {
  if (frame_.position == frame_.oldest) return false;
  seek(frame_.position - 1);
  return true;
}

void Simulation::reset() {
  if (played_) return play(0);
  history_.assign(1, start_);
  at_ = 0;
  recent_seconds_.clear();
  recent_next_ = 0;
  if (inverse_) inverse_->law().forget();
  frame_ = start_;
}

void Simulation::go_on() {
  if (!played_ || !frame_.failure.empty()) return;
  played_.reset();
  begin();
}

void Simulation::record(const std::string& file) {
  if (recorder_) end_recording();
  if (file.empty()) return;
  try {
    RecordingFacts facts{{robot_->file, robot_->fingerprint}, std::nullopt, integrator_, time_step_};
    if (beside_) facts.beside = {beside_->file, beside_->fingerprint};
    recorder_ = std::make_unique<RecordingWriter>(file, facts);
    recording_.file = file;
    write_frame();
  } catch (const Error& error) {
    recording_ = {"", 0, recording_.ended + 1, "", error.report()};
  }
}

void Simulation::write_frame() {
  if (!recorder_) return;
  RecordedFrame frame;
  frame.step = static_cast<double>(frame_.step);
  frame.inverse = frame_.mode == Mode::inverse;
  frame.held = !frame_.held.empty();
  frame.saturated = frame_.saturated;
  frame.step_seconds = frame_.step_seconds;
  frame.other_seconds = frame_.other_seconds;
  frame.qp_seconds = frame_.qp_seconds;
  frame.state = frame_.state;
  frame.other = frame_.other;
  frame.goals = frame_.goals;
  frame.steered.assign(frame_.steered.begin(), frame_.steered.end());
  frame.pull = numbers_of(frame_.pull);
  try {
    recorder_->add(frame);
    recording_.frames = recorder_->frames();
  } catch (const Error& error) {
    recorder_.reset();
    recording_ = {"", 0, recording_.ended + 1, "", error.report()};
  }
}

void Simulation::end_recording() {
  const std::unique_ptr<RecordingWriter> recorder = std::move(recorder_);
  RecordingStatus status{"", 0, recording_.ended + 1, "", ""};
  try {
    recorder->finish();
    status.written = fmt::format("{} ({} frames)", recorder->path(), recorder->frames());
  } catch (const Error& error) {
    status.failure = error.report();
  }
  recording_ = status;
}

}  // namespace supple::view
