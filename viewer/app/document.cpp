#include "viewer/app/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

constexpr std::size_t kept_samples = 20000;

std::filesystem::file_time_type time_of(const std::string& file) {
  std::error_code error;
  std::filesystem::path path = file;
  if (std::filesystem::is_directory(path, error)) path /= "scene.toml";
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? std::filesystem::file_time_type{} : time;
}

std::unique_ptr<Series> make_series(std::vector<Channel> channels) {
  return std::make_unique<Series>(std::move(channels), kept_samples);
}

// Whether somebody writes it beside its place (kernels/base/atomic_file.hpp).
bool being_written(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).parent_path();
  const std::string beginning = fs::path(file).filename().string() + ".part-";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(beginning)) return true;
  return false;
}

}  // namespace

std::string free_name(const std::string& stem, const char* ending) {
  for (int k = 1;; ++k) {
    const std::string file = fmt::format("{}-{:03}{}", stem, k, ending);
    if (!std::filesystem::exists(file) && !being_written(file)) return file;
  }
}

Document::Document(OpenRequest request, SimulationThread* before)
    : request_(std::move(request)),
      written_(time_of(request_.file)),
      thread_(
          [this, before] {
            if (before) before->wait_until_idle();
            return open_simulation(request_);
          },
          request_.settings.threads) {}

std::string Document::error() const {
  try {
    if (thread_.error()) std::rethrow_exception(thread_.error());
  } catch (const Error& error) {
    return error.report();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// What can only be known once the file is open.
void Document::prepare() {
  if (prepared_) return;
  prepared_ = true;
  const Robot& r = robot().robot();
  inputs_ = inputs_of(r);
  intent_ = start_ = simulation().rest_intent();
  std::vector<Channel> errors, commands, forces;
  for (const Effector& effector : r.effectors) errors.push_back({effector.name, "mm", 1e-3});
  for (const Input& input : inputs_)
    commands.push_back({input.name, display_unit(input.dimension), display_scale(input.dimension)});
  for (const ActuatorRow& actuator : r.actuators) {
    const Dimension dimension = multiplier_dimension(actuator.kind);
    forces.push_back({actuator.name, display_unit(dimension), display_scale(dimension)});
  }
  std::vector<Channel> times{{"step", "us", 1e-6}};
  if (beside()) times.push_back({"beside", "us", 1e-6});
  errors_ = make_series(std::move(errors));
  commands_ = make_series(std::move(commands));
  forces_ = make_series(std::move(forces));
  times_ = make_series(std::move(times));
}

bool Document::update() {
  if (status() != SimulationThread::Status::open) return false;
  prepare();
  if (!thread_.update()) return false;
  const Frame& now = frame();
  if (now.playing) follow_recording();
  const double time = now.state.time;
  errors_->add(time, now.errors);
  std::vector<double> values = now.state.commands;
  values.insert(values.end(), now.state.motions.begin(), now.state.motions.end());
  commands_->add(time, values);
  const auto forces = now.state.multipliers.begin();  // of the actuators, which come first
  forces_->add(time, {forces, forces + static_cast<std::ptrdiff_t>(now.state.commands.size())});
  times_->add(time, beside() ? std::vector<double>{now.step_seconds, now.other_seconds}
                             : std::vector<double>{now.step_seconds});
  return true;
}

// What is wanted is what was wanted then.
void Document::follow_recording() {
  const Frame& now = frame();
  intent_.mode = now.mode;
  intent_.goals = now.goals;
  intent_.steered = now.steered;
  intent_.commands = now.state.commands;
  intent_.commands.insert(intent_.commands.end(), now.state.motions.begin(), now.state.motions.end());
}

void Document::set_mode(Mode mode) {
  if (playing() || mode == intent_.mode || (mode == Mode::inverse && !simulation().can_lead())) return;
  intent_.mode = mode;
  // From where the robot is now.
  if (mode == Mode::forward) {
    intent_.commands = frame().state.commands;
    intent_.commands.insert(intent_.commands.end(), frame().state.motions.begin(), frame().state.motions.end());
  } else {
    intent_.goals = frame().reached;
  }
}

void Document::go_on() {
  if (!playing()) return;
  follow_recording();
  start_ = intent_;
  ++intent_.seek;  // from the frame that is seen, not from one that has come since
  intent_.seek_to = frame().position;
  ++intent_.go_on;
}

void Document::run_or_pause() {
  intent_.running = !intent_.running;
  if (!intent_.running || !playing() || frame().position < frame().newest) return;
  ++intent_.seek;
  intent_.seek_to = frame().oldest;
}

void Document::reset() {
  intent_.goals = start_.goals;
  intent_.commands = start_.commands;
  intent_.pull = {};
  ++intent_.reset;
}

void Document::adopt(const Document& before) {
  const Intent& old = before.intent_;
  const Intent& start = before.start_;
  intent_.speed = old.speed;
  if (playing() || before.playing()) return;
  if (old.mode == Mode::forward || simulation().can_lead()) intent_.mode = old.mode;
  const std::vector<Effector>&now = robot().robot().effectors, &then = before.robot().robot().effectors;
  for (std::size_t e = 0; e < now.size(); ++e)
    for (std::size_t f = 0; f < then.size(); ++f) {
      if (now[e].name != then[f].name || now[e].kind != then[f].kind) continue;
      intent_.steered[e] = old.steered[f];
      // A goal that has not been moved stays where the effector is at rest.
      if (before.goal(static_cast<int>(f)) !=
          Vec3d{{start.goals[3 * f], start.goals[3 * f + 1], start.goals[3 * f + 2]}})
        set_goal(static_cast<int>(e), before.goal(static_cast<int>(f)));
    }
  for (std::size_t j = 0; j < inputs_.size(); ++j)
    for (std::size_t k = 0; k < before.inputs_.size(); ++k)
      if (inputs_[j].name == before.inputs_[k].name && inputs_[j].dimension == before.inputs_[k].dimension)
        intent_.commands[j] = std::clamp(old.commands[k], inputs_[j].range.lower, inputs_[j].range.upper);
}

bool Document::end_recording() {
  if (!intent_.record.empty()) {
    intent_.record.clear();
    ++intent_.recording;
    intent_.running = false;
    send();
    ending_ = true;
  }
  if (!ending_) return true;
  if (!thread_.idle()) return false;
  ending_ = false;
  update();
  return true;
}

Vec3d Document::goal(int effector) const {
  const auto at = 3 * static_cast<std::size_t>(effector);
  return {{intent_.goals[at], intent_.goals[at + 1], intent_.goals[at + 2]}};
}

void Document::set_goal(int effector, const Vec3d& goal) {
  for (int i = 0; i < 3; ++i)
    if (std::isfinite(goal[i]))
      intent_.goals[3 * static_cast<std::size_t>(effector) + static_cast<std::size_t>(i)] = goal[i];
}

bool Document::at_limit(std::size_t input) const {
  const Robot& r = robot().robot();
  const auto reached = [](double value, const Interval& range) {
    if (range.lower == range.upper) return false;  // a sealed cavity
    // A thousandth of the range: what a slider or a plot cannot tell from its end.
    const double slack = std::isfinite(range.upper - range.lower) ? 1e-3 * (range.upper - range.lower) : 0;
    return value <= range.lower + slack || value >= range.upper - slack;
  };
  const State& state = frame().state;
  if (input >= r.actuators.size())
    return reached(state.motions[input - r.actuators.size()], r.motions[input - r.actuators.size()].range);
  // A slack cable, or a cavity without pressure, is at no active limit.
  const ActuatorRow& actuator = r.actuators[input];
  if (actuator.kind != ActuatorKind::force && !actuator.bilateral && state.multipliers[input] <= 0) return false;
  return reached(state.commands[input], actuator.range) || reached(state.multipliers[input], actuator.force);
}

bool Document::changed_on_disk() const {
  const auto now = time_of(request_.file);
  return now != std::filesystem::file_time_type{} && now != written_;
}

void Document::seen_like(const Document& other) {
  if (other.request_.file == request_.file) written_ = other.written_;
}

}  // namespace supple::view
