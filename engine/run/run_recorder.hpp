#pragma once
// The recording of a run: a frame for each step of one of its robots (engine/io/recording.hpp).

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/io/recording.hpp"
#include "engine/run/live_robot.hpp"

namespace supple {

/// Prints a note on a problem that does not end the run.
using Note = std::function<void(const std::string&)>;

/// A recording that cannot be written does not end the run: a note is printed at once, the run continues without a
/// recording, and the error is thrown at its end.
class RunRecorder {
 public:
  /// "": records nothing. robot: of the mechanics, which must outlive this object; of_batch: index of the recorded
  /// robot. Throws InputError.
  RunRecorder(const std::string& file, const Robot& robot, RecordingFacts facts, Note note, int of_batch = 0);
  ~RunRecorder() { finish(); }
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;
  /// Whether add() records.
  bool records() const { return writer_ != nullptr; }
  int robot() const { return of_batch_; }
  /// A step under given commands, and one under commands that were found for goals [3 x effectors] of the effectors
  /// that are steered [effectors]. state, y (mapped points) and sensors (readings): of all robots; goals and report: of
  /// the recorded one.
  void add(long step, const State& state, std::span<const double> y, std::span<const double> sensors);
  void add(long step, const State& state, std::span<const double> y, std::span<const double> sensors,
           std::span<const double> goals, std::span<const char> steered, const InverseReport& report,
           double qp_seconds);
  void add(const LiveFrame& frame);
  void add(const RecordedFrame& frame);
  /// After the last step, whether it succeeded or not.
  void finish();
  long frames() const { return frames_; }
  /// Why the recording is not whole, as the command line prints it; "": it is.
  const std::string& report() const { return report_; }
  /// Throws RunError if the recording is not whole; `rest` states what became of the run.
  void require_whole(const std::string& rest) const;

 private:
  // With goals where the effectors are.
  RecordedFrame frame_of(long step, const State& state, std::span<const double> y, std::span<const double> sensors);
  void give_up(const Error& error);

  const Robot& robot_;
  int of_batch_;
  Note note_;
  std::unique_ptr<RecordingWriter> writer_;
  long frames_ = 0;
  std::string failure_, remedy_, report_;
};

/// A frame as it is recorded, and what a recorded frame holds of one; what follows from the rest is LiveRobot::measure.
RecordedFrame recorded(const LiveFrame& frame);
void take_recorded(const RecordedFrame& recorded, LiveFrame& frame);

}  // namespace supple
