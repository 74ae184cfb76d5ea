#pragma once
// One robot led by intents, step after step, with a way back: what the simulation thread runs. Or a recording of that,
// frame after frame, until it is simulated on from one of them. No threads and no clock in here, so a test can drive
// it.

#include <deque>
#include <memory>

#include "engine/run/run_recorder.hpp"
#include "viewer/play/frame.hpp"
#include "viewer/play/opened_robot.hpp"

namespace supple::view {

struct SimulationSettings {
  std::optional<Integrator> integrator;    // none: the robot's own
  std::optional<double> time_step;         // s
  std::size_t history_bytes = 256u << 20;  // states kept to step back to
  int threads = 0;                         // of the thread that simulates; 0: all processors but one
};

class Simulation {
 public:
  // Starts from the equilibrium under zero commands (from rest where there is none, stated in the first frame).
  // `beside` (may be null) follows the commands of the first; it must have the same controls.
  Simulation(const std::shared_ptr<OpenedRobot>& robot, const std::shared_ptr<OpenedRobot>& beside,
             const SimulationSettings& settings = {});
  // Plays a recording of these robots; nothing is solved for that. Throws InputError if its states are not theirs.
  Simulation(const std::shared_ptr<OpenedRobot>& robot, const std::shared_ptr<OpenedRobot>& beside,
             std::unique_ptr<RecordingReader> recording, const SimulationSettings& settings = {});

  const OpenedRobot& opened() const { return *robot_; }
  const OpenedRobot* beside() const { return beside_.get(); }
  const Robot& robot() const { return robot_->robot(); }
  double time_step() const { return time_step_; }
  Integrator integrator() const { return integrator_; }

  // One step under the intent. False: it failed, the state is as before and frame().failure states why. Of a recording:
  // the next frame; false after the last one.
  bool step(const Intent& intent);
  // To the state before the last step, while there is one; to a place on the timeline, as near as states are kept.
  // A step from there forgets what came after.
  bool back();
  void seek(long position);
  // To the start, bit by bit.
  void reset();
  // Simulates from here on: the frame of a recording becomes the start.
  void go_on();
  // From here on every step goes to this file, the frame shown first; "": no longer, the file is finished. Steps back
  // are not in it. What becomes of it is in recording().
  void record(const std::string& file);
  const RecordingStatus& recording() const { return recording_; }
  const Frame& frame() const { return frame_; }
  // Whether there are goals to lead the robot to and a way to lead it (cannot_lead).
  bool can_lead() const { return live_.leads(); }
  // An intent that leaves the robot where it is: goals where its effectors are, commands as they are; inverse where
  // there is something to steer with.
  Intent rest_intent() const;

 private:
  Simulation(std::shared_ptr<OpenedRobot> robot, std::shared_ptr<OpenedRobot> beside, Integrator integrator,
             double time_step, const SimulationSettings& settings, Frame start);
  bool pulls(const Intent& intent) const;
  Vec3d pulled_point(const Pull& pull, const State& state);
  Vec3d pull_force(const Intent& intent, const State& state);
  void follow(const Intent& intent, const Vec3d& force);
  void note_pull(double force);
  void begin();
  void remember();
  void show();
  void play(long position);
  void write_frame();
  void end_recording();
  void map_beside();
  void keep_time();

  std::shared_ptr<OpenedRobot> robot_, beside_;
  Integrator integrator_;
  double time_step_;
  Frame start_, frame_;
  LiveRobot live_;
  std::optional<LiveRobot> other_;  // the robot beside; its states are in the frames
  std::unique_ptr<RecordingReader> played_;
  std::unique_ptr<RunRecorder> recorder_;
  RecordingStatus recording_;
  std::deque<Frame> history_;  // of consecutive steps, oldest first; the one shown is at_
  std::size_t at_ = 0;
  std::size_t history_limit_ = 3;
  State trial_;
  bool same_skin_ = false;
  std::vector<Vec3d> places_;
  std::vector<double> recent_seconds_, sorted_seconds_;
  std::size_t recent_next_ = 0;
};

}  // namespace supple::view
