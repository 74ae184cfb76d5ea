#include "engine/cli/run_recorder.hpp"

#include <filesystem>

#include "engine/cli/command.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
#include "engine/cli/terminal.hpp"
#include "engine/constraints/effectors.hpp"

namespace supple::cli {

void declare_record(Options& options, std::string& file) {
  options.text("--record", file, "FILE", "record every step in a .rec.h5, for `supple view` and `supple render`");
}

void check_record(const Context& context, const std::string& file, const std::string& robot) {
  if (file.empty()) return;
  std::error_code error;
  if (std::filesystem::equivalent(file, robot, error))
    throw InputError("--record would replace the robot that is to be recorded", "another name, such as run.rec.h5");
  check_target("--record", file);
  refuse_existing(file, context.common.force);
}

RunRecorder::RunRecorder(const std::string& file, Mechanics& mechanics, const RecordedRobot& robot,
                         Integrator integrator, double time_step)
    : mechanics_(mechanics), y_(static_cast<std::size_t>(mechanics.robot().outputs())) {
  if (!file.empty())
    writer_ = std::make_unique<RecordingWriter>(file, RecordingFacts{robot, std::nullopt, integrator, time_step});
}

RecordedFrame RunRecorder::frame_of(long step, const State& state) {
  const Robot& robot = mechanics_.robot();
  RecordedFrame frame;
  frame.step = static_cast<double>(step);
  frame.state = state;
  frame.goals.resize(3 * robot.effectors.size());
  mechanics_.evaluate_outputs(state.q, state.motions, y_);
  for (std::size_t e = 0; e < robot.effectors.size(); ++e)
    effector_state(robot, static_cast<int>(e), y_, std::span(frame.goals).subspan(3 * e, 3));
  return frame;
}

void RunRecorder::add(long step, const State& state) {
  if (writer_) write(frame_of(step, state));
}

void RunRecorder::add(long step, const State& state, std::span<const double> goals, std::span<const char> steered,
                      const InverseReport& report, double qp_seconds) {
  if (!writer_) return;
  RecordedFrame frame = frame_of(step, state);
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
  print_note("nothing more is recorded: " + failure_);
}

void RunRecorder::require_whole(const std::string& rest) const {
  if (!failure_.empty()) throw RunError(failure_ + "; " + rest, remedy_);
}

}  // namespace supple::cli
