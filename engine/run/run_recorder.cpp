#include "engine/run/run_recorder.hpp"

#include <fmt/format.h>

#include "engine/model/robot.hpp"
#include "engine/model/sensors.hpp"
#include "engine/model/state.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

RunRecorder::RunRecorder(const std::string& file, const Robot& robot, RecordingFacts facts, Note note, int of_batch)
    : robot_(robot), of_batch_(of_batch), note_(std::move(note)) {
  for (const SensorNumber& number : sensor_numbers(robot)) {
    const std::string_view unit = si_unit(number.dimension);
    facts.sensors.push_back(unit.empty() ? number.name : fmt::format("{} [{}]", number.name, unit));
  }
  // A recording does not say at which values its robot was, nor among what.
  if (!file.empty() && !robot.parameters.empty() && !has_open_parameters(robot))
    throw InputError("a recording is of a robot as its scene stands, and parameters were set",
                     "without --parameter, or without a recording");
  if (!file.empty() && robot.other_obstacles != 0)
    throw InputError("a recording is of a robot with the obstacles of its scene, and it has others",
                     "without --obstacles, or without a recording");
  if (!file.empty()) writer_ = std::make_unique<RecordingWriter>(file, facts);
}

RecordedFrame RunRecorder::frame_of(long step, const State& state, std::span<const double> y,
                                    std::span<const double> sensors) {
  RecordedFrame frame;
  frame.step = static_cast<double>(step);
  frame.state = state.robots == 1 ? state : one_robot(state, of_batch_);
  const std::size_t numbers = sensors.size() / extent(state.robots);
  const std::span<const double> readings = sensors.subspan(extent(of_batch_) * numbers, numbers);
  frame.sensors.assign(readings.begin(), readings.end());
  frame.goals.resize(3 * robot_.effectors.size());
  effector_states(robot_, y.subspan(extent(of_batch_, robot_.outputs()), extent(robot_.outputs())), frame.goals);
  return frame;
}

void RunRecorder::add(long step, const State& state, std::span<const double> y, std::span<const double> sensors) {
  if (writer_) add(frame_of(step, state, y, sensors));
}

void RunRecorder::add(long step, const State& state, std::span<const double> y, std::span<const double> sensors,
                      std::span<const double> goals, std::span<const char> steered, const InverseReport& report,
                      double qp_seconds) {
  if (!writer_) return;
  RecordedFrame frame = frame_of(step, state, y, sensors);
  frame.inverse = true;
  frame.held = report.held;
  frame.saturated = report.saturated;
  frame.qp_seconds = qp_seconds;
  frame.steered.assign(steered.begin(), steered.end());
  for (std::size_t i = 0; i < goals.size(); ++i)
    if (steered[i / 3] != 0) frame.goals[i] = goals[i];
  add(frame);
}

void RunRecorder::add(const LiveFrame& frame) {
  RecordedFrame shown = recorded(frame);
  for (std::size_t i = 0; i < shown.goals.size(); ++i)
    if (frame.steered[i / 3] == 0) shown.goals[i] = frame.reached[i];
  add(shown);
}

void RunRecorder::add(const RecordedFrame& frame) {
  if (!writer_) return;
  try {
    writer_->add(frame);
    ++frames_;
  } catch (const Error& error) {
    give_up(error);
  }
}

void RunRecorder::finish() {
  if (!writer_) return;
  try {
    writer_->finish();
    writer_.reset();
  } catch (const Error& error) {
    give_up(error);
  }
}

void RunRecorder::give_up(const Error& error) {
  writer_.reset();  // what it holds of the disk is free for the rest of the run
  failure_ = error.what();
  remedy_ = error.suggestion();
  report_ = error.report();
  if (note_) note_("nothing more is recorded: " + failure_);
}

void RunRecorder::require_whole(const std::string& rest) const {
  if (!failure_.empty()) throw RunError(failure_ + "; " + rest, remedy_);
}

RecordedFrame recorded(const LiveFrame& frame) {
  RecordedFrame recorded;
  recorded.step = static_cast<double>(frame.step);
  recorded.inverse = frame.mode == LiveMode::inverse;
  recorded.held = !frame.held.empty();
  recorded.saturated = frame.saturated;
  recorded.step_seconds = frame.step_seconds;
  recorded.qp_seconds = frame.qp_seconds;
  recorded.state = frame.state;
  recorded.sensors = frame.sensors;
  recorded.goals = frame.goals;
  recorded.steered.assign(frame.steered.begin(), frame.steered.end());
  return recorded;
}

void take_recorded(const RecordedFrame& recorded, LiveFrame& frame) {
  frame.step = static_cast<long>(recorded.step);
  frame.mode = recorded.inverse ? LiveMode::inverse : LiveMode::forward;
  frame.held = recorded.held ? "there was no answer when this was recorded" : "";
  frame.held_steps = 0;
  frame.saturated = static_cast<int>(recorded.saturated);
  frame.step_seconds = recorded.step_seconds;
  frame.qp_seconds = recorded.qp_seconds;
  frame.state = recorded.state;
  frame.sensors = recorded.sensors;
  frame.sensor_memory.clear();
  frame.goals = recorded.goals;
  if (!recorded.steered.empty()) frame.steered.assign(recorded.steered.begin(), recorded.steered.end());
}

}  // namespace supple
