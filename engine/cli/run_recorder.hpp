#pragma once
// --record FILE of the verbs that simulate one robot: a frame for each step (engine/io/recording.hpp).

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/dynamics/mechanics.hpp"
#include "engine/inverse/inverse_law.hpp"
#include "engine/io/recording.hpp"

namespace supple::cli {

class Options;
struct Context;

void declare_record(Options& options, std::string& file);
// Throws InputError where the file could not be written, or is there already (unless --force). "": nothing is recorded.
void check_record(const Context& context, const std::string& file, const std::string& robot);

// A recording that cannot be written does not take the run with it: that is said at once on stderr, the run goes
// on unrecorded, and its end throws it.
class RunRecorder {
 public:
  // "": records nothing. `mechanics` must outlive this object.
  RunRecorder(const std::string& file, Mechanics& mechanics, const RecordedRobot& robot, Integrator integrator,
              double time_step);
  ~RunRecorder() { finish(); }
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;
  // A step under given commands, and one under commands that were found for goals [3 x effectors] of the effectors that
  // are steered [effectors].
  void add(long step, const State& state);
  void add(long step, const State& state, std::span<const double> goals, std::span<const char> steered,
           const InverseReport& report, double qp_seconds);
  // After the last step, whether it succeeded or not.
  void finish();
  // Throws RunError if the recording is not whole; `rest` says what became of the run.
  void require_whole(const std::string& rest) const;

 private:
  // With goals where the effectors are.
  RecordedFrame frame_of(long step, const State& state);
  void write(const RecordedFrame& frame);
  void give_up(const Error& error);

  Mechanics& mechanics_;
  std::unique_ptr<RecordingWriter> writer_;
  std::vector<double> y_;
  std::string failure_, remedy_;
};

}  // namespace supple::cli
