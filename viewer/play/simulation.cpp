#include "viewer/play/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/scene/units.hpp"
#include "engine/step/equilibrium.hpp"
#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

constexpr std::size_t recent_steps = 1000;  // of which quantiles of the step's time are taken

std::size_t bytes(const State& state) {
  std::size_t contacts = 0;
  for (const std::vector<SurfaceForce>& own : state.surface_forces) contacts += own.size();
  std::size_t numbers = 0;
  for (const auto list : state_lists) numbers += (state.*list).size();
  return sizeof(SurfaceForce) * contacts + sizeof(double) * numbers;
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

// The equilibria under zero commands that a simulation starts from.
Frame settled_start(const OpenedRobot& robot, const OpenedRobot* beside) {
  Frame start;
  const auto settle = [&](Mechanics& mechanics) {
    try {
      return settled_state(mechanics);
    } catch (const RunError& error) {
      start.failure = fmt::format("{}; it starts from rest", error.what());
      return rest_state(mechanics);
    }
  };
  start.state = settle(*robot.mechanics);
  if (beside) start.other = settle(*beside->mechanics);
  return start;
}

// The states of the first frame.
Frame recorded_start(RecordingReader& recording, const OpenedRobot& robot, const OpenedRobot* beside) {
  const RecordedFrame& first = recording.frame(0);
  const std::size_t effectors = robot.robot().effectors.size();
  if (!same_sizes(first.state, rest_state(*robot.mechanics)) ||
      !same_sizes(first.other, beside ? rest_state(*beside->mechanics) : State{}) ||
      first.goals.size() != 3 * effectors || (!first.steered.empty() && first.steered.size() != effectors))
    throw InputError("the recording does not fit its robot", "record it again", {recording.path(), 0, 0, ""});
  Frame start;
  start.state = first.state;
  start.other = first.other;
  return start;
}

LiveSettings live_settings(const OpenedRobot& robot, Integrator integrator, double time_step) {
  LiveSettings settings{integrator, time_step};
  if (!cannot_lead(robot.robot())) settings.inverse = InverseSettings{};
  return settings;
}

}  // namespace

Simulation::Simulation(std::shared_ptr<OpenedRobot> robot, std::shared_ptr<OpenedRobot> beside, Integrator integrator,
                       double time_step, const SimulationSettings& settings, Frame start)
    : robot_(std::move(robot)),
      beside_(std::move(beside)),
      integrator_(integrator),
      time_step_(time_step),
      start_(std::move(start)),
      live_(*robot_->mechanics, live_settings(*robot_, integrator, time_step), start_.state,
            robot_->reduced ? &*robot_->reduced : nullptr) {
  if (beside_) other_.emplace(*beside_->mechanics, LiveSettings{integrator, time_step}, start_.other);
  same_skin_ = beside_ && beside_->shape->triangles() == robot_->shape->triangles();
  history_limit_ = std::max<std::size_t>(3, settings.history_bytes / (bytes(start_.state) + bytes(start_.other) + 512));
  recent_seconds_.reserve(recent_steps);
  sorted_seconds_.reserve(recent_steps);
  static_cast<LiveFrame&>(start_) = live_.frame();
  frame_ = start_;
}

Simulation::Simulation(const std::shared_ptr<OpenedRobot>& robot, const std::shared_ptr<OpenedRobot>& beside,
                       const SimulationSettings& settings)
    : Simulation(robot, beside, settings.integrator.value_or(robot->robot().integrator),
                 settings.time_step.value_or(robot->robot().time_step), settings, settled_start(*robot, beside.get())) {
  map_beside();
  begin();
}

Simulation::Simulation(const std::shared_ptr<OpenedRobot>& robot, const std::shared_ptr<OpenedRobot>& beside,
                       std::unique_ptr<RecordingReader> recording, const SimulationSettings& settings)
    : Simulation(robot, beside, recording->facts().integrator, recording->facts().time_step, settings,
                 recorded_start(*recording, *robot, beside.get())) {
  played_ = std::move(recording);
  play(0);
  start_ = frame_;
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
    const std::vector<double> load = robot_->shape->load(state, pull.triangle, pull.weights, force);
    const StepReport report = live_.advance(intent, load, trial_);
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

// The robot beside: under the commands that the first one has now.
void Simulation::follow(const Intent& intent, const Vec3d& force) {
  frame_.note.clear();
  if (!beside_) return;
  LiveRequest same;
  same.commands = frame_.state.commands;
  same.commands.insert(same.commands.end(), frame_.state.motions.begin(), frame_.state.motions.end());
  std::vector<double> load;
  // The same force, where both have the same skin.
  if (pulls(intent) && same_skin_)
    load = beside_->shape->load(frame_.other, intent.pull.triangle, intent.pull.weights, force);
  if (pulls(intent) && !same_skin_) frame_.note = "the robot beside has another skin: it is not pulled";
  const auto start = std::chrono::steady_clock::now();
  const StepReport report = other_->advance(same, load, frame_.other);
  frame_.other_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (report.status != StepStatus::ok)
    frame_.failure = fmt::format("the step of the robot beside failed: {}", describe(report.status));
  map_beside();
}

// What the model has not seen: a hand that pulls harder than what pushed its training states.
void Simulation::note_pull(double force) {
  const double pushes = robot_->robot().pushes;
  if (robot_->shape->reduced() == nullptr || !(force > pushes)) return;
  if (!frame_.note.empty()) frame_.note += '\n';
  frame_.note +=
      fmt::format("a hand pulls with {}, and the model was trained {}: its shape may be far off",
                  format_quantity(force, Dimension::force),
                  pushes > 0 ? fmt::format("under pushes of up to {}", format_quantity(pushes, Dimension::force))
                             : "without pushes (`pushes` in [reduce])");
}

bool Simulation::step(const Intent& intent) {
  if (played_) {
    if (frame_.position == frame_.newest) return false;
    play(frame_.position + 1);
    return frame_.failure.empty();
  }
  if (intent.mode == Mode::inverse && !can_lead()) {
    frame_.failure = cannot_lead(robot_->robot())->what();
    return false;
  }
  Vec3d force{{0, 0, 0}};
  StepStatus status;
  try {
    std::vector<double> load;
    if (pulls(intent)) {
      force = pull_force(intent, frame_.state);
      load = robot_->shape->load(frame_.state, intent.pull.triangle, intent.pull.weights, force);
    }
    status = live_.step(intent, load);
  } catch (const InputError& error) {
    frame_.failure = error.what();
    return false;
  }
  if (status != StepStatus::ok) {
    frame_.failure = fmt::format("the step failed: {}; the state is as before", describe(status));
    return false;
  }
  static_cast<LiveFrame&>(frame_) = live_.frame();
  frame_.failure.clear();
  frame_.pull = pulls(intent) ? intent.pull : Pull{};
  follow(intent, force);
  note_pull(norm(force));
  keep_time();
  remember();
  write_frame();
  return frame_.failure.empty();
}

void Simulation::map_beside() {
  if (!beside_) return;
  frame_.other_y.resize(static_cast<std::size_t>(beside_->robot().outputs()));
  beside_->mechanics->evaluate_outputs(frame_.other.q, frame_.other.motions, frame_.other_y);
}

void Simulation::keep_time() {
  if (recent_seconds_.size() < recent_steps)
    recent_seconds_.push_back(frame_.step_seconds);
  else
    recent_seconds_[recent_next_++ % recent_steps] = frame_.step_seconds;
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
    if (frame.step != step_before + 1) before.clear();  // after a way back
    take_recorded(frame, frame_);
    frame_.other = frame.other;
    frame_.pull = pull_of(frame.pull, robot_->shape->triangles().size());
    frame_.median_seconds = frame_.p99_seconds = frame.step_seconds;
    frame_.other_seconds = frame.other_seconds;
    frame_.failure.clear();
  } catch (const InputError& error) {
    frame_.failure = fmt::format("{} ({})", error.what(), played_->path());
  }
  frame_.playing = true;
  frame_.position = position;
  frame_.oldest = 0;
  frame_.newest = played_->frames() - 1;
  live_.measure(frame_, before);
  map_beside();
}

void Simulation::seek(long position) {
  if (played_) return play(std::clamp(position, frame_.oldest, frame_.newest));
  const long oldest = history_.front().step;
  at_ = static_cast<std::size_t>(std::clamp(position, oldest, history_.back().step) - oldest);
  show();
  live_.set(frame_);
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
  frame_ = start_;
  live_.set(frame_);
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
    recorder_ = std::make_unique<RunRecorder>(file, robot(), facts, Note{});
    recording_.file = file;
    write_frame();
  } catch (const Error& error) {
    recording_ = {"", 0, recording_.ended + 1, "", error.report()};
  }
}

void Simulation::write_frame() {
  if (!recorder_) return;
  RecordedFrame frame = recorded(frame_);
  frame.other_seconds = frame_.other_seconds;
  frame.other = frame_.other;
  frame.pull = numbers_of(frame_.pull);
  recorder_->add(frame);
  recording_.frames = recorder_->frames();
  if (!recorder_->records()) end_recording();
}

void Simulation::end_recording() {
  recorder_->finish();
  const std::string failure = recorder_->report();
  const std::string written =
      failure.empty() ? fmt::format("{} ({} frames)", recording_.file, recorder_->frames()) : "";
  recorder_.reset();
  recording_ = {"", 0, recording_.ended + 1, written, failure};
}

}  // namespace supple::view
