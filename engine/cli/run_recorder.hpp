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

class RunRecorder {
 public:
  // "": records nothing. `mechanics` must outlive this object.
  RunRecorder(const std::string& file, Mechanics& mechanics, const RecordedRobot& robot, Integrator integrator,
              double time_step);
  // A step under given commands, and one under commands that were found for goals [3 x effectors].
  void add(long step, const State& state);
  void add(long step, const State& state, std::span<const double> goals, const InverseReport& report,
           double qp_seconds);
  // After the last step, whether it succeeded or not.
  void finish();

 private:
  Mechanics& mechanics_;
  std::unique_ptr<RecordingWriter> writer_;
  std::vector<double> y_;
};

}  // namespace supple::cli
