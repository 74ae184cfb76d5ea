#pragma once
// An open file: the robot (and one beside it), its simulation, what is wanted of it, and what it did of late.

#include <filesystem>
#include <memory>
#include <string>

#include "engine/commands/actuation.hpp"
#include "viewer/draw/series.hpp"
#include "viewer/play/open_simulation.hpp"
#include "viewer/play/simulation_thread.hpp"

namespace supple::view {

// "diamond-forces-001.csv": the first of these that is not there, nor being written.
std::string free_name(const std::string& stem, const char* ending);

class Document {
 public:
  // Begins to open. `before`: whose simulation has to stand still first (two full models may not be factored at once),
  // or null; it must outlive the opening.
  Document(OpenRequest request, SimulationThread* before);

  const OpenRequest& request() const { return request_; }
  SimulationThread::Status status() const { return thread_.status(); }
  // For status failed: the error as the command line prints it.
  std::string error() const;

  // From here on for status open only.
  const OpenedRobot& robot() const { return simulation().opened(); }
  const OpenedRobot* beside() const { return simulation().beside(); }
  const Simulation& simulation() const { return thread_.simulation(); }
  const Frame& frame() const { return thread_.frame(); }
  const std::vector<Input>& inputs() const { return inputs_; }
  SimulationThread& thread() { return thread_; }

  // Takes the newest frame; true if there is one.
  bool update();
  // What is wanted; send() hands it to the simulation.
  Intent& intent() { return intent_; }
  const Intent& intent() const { return intent_; }
  void send() { thread_.want(intent_); }
  void set_mode(Mode mode);
  // Whether the frame is out of a recording; and to simulate on from it, under its goals and commands.
  bool playing() const { return frame().playing; }
  void go_on();
  // Runs or pauses; a recording that is at its end plays from its beginning.
  void run_or_pause();
  // To the start; goals and commands too.
  void reset();
  // What was wanted of another reading of the same file, as far as it fits: mode, goals that were moved, commands,
  // speed.
  void adopt(const Document& before);
  // Asks for the end of a recording that is being made, when the step under way is done. True: there is none any more,
  // and the frame tells of it; false: ask again. Never waits.
  bool end_recording();
  // Goal of an effector [3].
  Vec3d goal(int effector) const;
  void set_goal(int effector, const Vec3d& goal);
  // Whether input j is at the end of its range, or its force at its limit.
  bool at_limit(std::size_t input) const;

  // Whether a file has changed on disk since it was read.
  bool changed_on_disk() const;
  // What another reading of the same file has seen of it counts as read.
  void seen_like(const Document& other);

  const Series& errors() const { return *errors_; }
  const Series& commands() const { return *commands_; }
  const Series& forces() const { return *forces_; }
  const Series& times() const { return *times_; }

 private:
  void prepare();
  void follow_recording();

  OpenRequest request_;
  std::filesystem::file_time_type written_;
  bool prepared_ = false, ending_ = false;  // ending_: a recording
  Intent intent_, start_;                   // start_: at the start
  std::vector<Input> inputs_;
  std::unique_ptr<Series> errors_, commands_, forces_, times_;
  SimulationThread thread_;  // last: it works on what stands above
};

}  // namespace supple::view
