#include "engine/cli/run_recorder.hpp"

#include <filesystem>

#include "engine/cli/command.hpp"
#include "engine/cli/json_report.hpp"
#include "engine/cli/options.hpp"
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

void RunRecorder::add(long step, const State& state) {
  if (!writer_) return;
  const Robot& robot = mechanics_.robot();
  RecordedFrame frame;
  frame.step = static_cast<double>(step);
  frame.state = state;
  // Nothing is asked of the effectors: their goals are where they are.
  frame.goals.resize(3 * robot.effectors.size());
  mechanics_.evaluate_outputs(state.q, state.motions, y_);
  for (std::size_t e = 0; e < robot.effectors.size(); ++e)
    effector_state(robot, static_cast<int>(e), y_, std::span(frame.goals).subspan(3 * e, 3));
  writer_->add(frame);
}

void RunRecorder::add(long step, const State& state, std::span<const double> goals, const InverseReport& report,
                      double qp_seconds) {
  if (!writer_) return;
  RecordedFrame frame;
  frame.step = static_cast<double>(step);
  frame.inverse = true;
  frame.held = report.held;
  frame.saturated = report.saturated;
  frame.qp_seconds = qp_seconds;
  frame.state = state;
  frame.goals.assign(goals.begin(), goals.end());
  writer_->add(frame);
}

void RunRecorder::finish() {
  if (writer_) writer_->finish();
  writer_.reset();
}

}  // namespace supple::cli
