#pragma once
// A simulation on a thread of its own, kept in time with the clock. The thread that draws never waits for it, nor it
// for the other; the file is read on it too.

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "viewer/play/simulation.hpp"
#include "viewer/play/triple_buffer.hpp"

namespace supple::view {

class SimulationThread {
 public:
  // Calls `make` on the new thread (it may throw Error); then waits for intents. threads: see SimulationSettings.
  using Make = std::function<std::unique_ptr<Simulation>()>;
  explicit SimulationThread(Make make, int threads = 0);
  // After the step under way; a recording is finished.
  ~SimulationThread();
  SimulationThread(const SimulationThread&) = delete;
  SimulationThread& operator=(const SimulationThread&) = delete;

  enum class Status { opening, open, failed };
  Status status() const { return status_.load(std::memory_order_acquire); }
  // What went wrong in opening: for status failed.
  const std::exception_ptr& error() const { return error_; }
  // What does not change once open: robot, time step, rest_intent of the start.
  const Simulation& simulation() const { return *simulation_; }

  // What is wanted from now on. Never waits.
  void want(const Intent& intent);
  // Takes the newest frame if there is one since the last call. Never waits.
  bool update() { return frames_.update(); }
  const Frame& frame() const { return frames_.value(); }
  // Whether no step is under way and all that was wanted is done: after an intent that does not run.
  bool idle() const;
  // Until then: for a thread that may wait.
  void wait_until_idle() const;

 private:
  void run(const std::stop_token& stop);
  void play(const std::stop_token& stop);

  Make make_;
  int threads_;
  std::unique_ptr<Simulation> simulation_;
  std::exception_ptr error_;
  TripleBuffer<Intent> intents_;
  TripleBuffer<Frame> frames_;
  std::atomic<unsigned> wanted_{0};   // how often something was wanted
  std::atomic<unsigned> idle_at_{0};  // that count when it last went idle, plus one; 0: it is busy
  std::atomic<bool> ended_{false};    // no step will follow
  std::atomic<Status> status_{Status::opening};
  std::jthread thread_;
};

}  // namespace supple::view
