#include "engine/run/run_recorder.hpp"

#include "engine/model/effectors.hpp"
#include "engine/model/state.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

RunRecorder::RunRecorder(const std::string& file, const Robot& robot, const RecordedRobot& recorded,
                         Integrator integrator, double time_step, Note note, int of_batch)
    : robot_(robot), of_batch_(of_batch), note_(std::move(note)) {
  if (!file.empty())
    writer_ = std::make_unique<RecordingWriter>(file, RecordingFacts{recorded, std::nullopt, integrator, time_step});
}

RecordedFrame RunRecorder::frame_of(long step, const State& state, std::span<const double> y) {
  RecordedFrame frame;
  frame.step = static_cast<double>(step);
  frame.state = state.robots == 1 ? state : one_robot(state, of_batch_);
  frame.goals.resize(3 * robot_.effectors.size());
  const std::span<const double> own = y.subspan(extent(of_batch_, robot_.outputs()), extent(robot_.outputs()));
  for (std::size_t e = 0; e < robot_.effectors.size(); ++e)
    effector_state(robot_, static_cast<int>(e), own, std::span(frame.goals).subspan(3 * e, 3));
  return frame;
}

void RunRecorder::add(long step, const State& state, std::span<const double> y) {
  if (writer_) write(frame_of(step, state, y));
}

void RunRecorder::add(long step, const State& state, std::span<const double> y, std::span<const double> goals,
                      std::span<const char> steered, const InverseReport& report, double qp_seconds) {
  if (!writer_) return;
  RecordedFrame frame = frame_of(step, state, y);
  frame.inverse = true;
  frame.held = report.held;
  frame.saturated = report.saturated;
  frame.qp_seconds = qp_seconds;
  frame.steered.assign(steered.begin(), steered.end());
  for (std::size_t i = 0; i < goals.size(); ++i)
    if (steered[i / 3] != 0) frame.goals[i] = goals[i];
  write(frame);
}

void RunRecorder::write(const RecordedFrame& frame) {
  try {
    writer_->add(frame);
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
  if (note_) note_("nothing more is recorded: " + failure_);
}

void RunRecorder::require_whole(const std::string& rest) const {
  if (!failure_.empty()) throw RunError(failure_ + "; " + rest, remedy_);
}

}  // namespace supple
