#include "viewer/play/simulation_thread.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>

#include "viewer/play/pace.hpp"

namespace supple::view {

SimulationThread::SimulationThread(Make make, int threads)
    : make_(std::move(make)), threads_(threads), thread_([this](const std::stop_token& stop) { run(stop); }) {}

SimulationThread::~SimulationThread() {
  thread_.request_stop();
  wanted_.fetch_add(1, std::memory_order_release);
  wanted_.notify_one();
}

void SimulationThread::want(const Intent& intent) {
  intents_.write(intent);
  wanted_.fetch_add(1, std::memory_order_release);
  wanted_.notify_one();
}

bool SimulationThread::idle() const {
  // With everything seen that was wanted until now: an intent that wakes it may still be on its way.
  return ended_.load(std::memory_order_acquire) ||
         idle_at_.load(std::memory_order_acquire) == wanted_.load(std::memory_order_acquire) + 1;
}

void SimulationThread::wait_until_idle() const {
  while (!idle()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void SimulationThread::run(const std::stop_token& stop) {
  // A processor is left to the picture; this setting holds for this thread alone.
  const int most = std::max(1, omp_get_num_procs() - 1);
  omp_set_num_threads(threads_ > 0 ? std::min(threads_, most) : most);
  try {
    simulation_ = make_();
  } catch (...) {
    error_ = std::current_exception();
    ended_.store(true, std::memory_order_release);
    status_.store(Status::failed, std::memory_order_release);
    return;
  }
  frames_.write(simulation_->frame());
  status_.store(Status::open, std::memory_order_release);
  play(stop);
  simulation_->record("");
  ended_.store(true, std::memory_order_release);
}

void SimulationThread::play(const std::stop_token& stop) {
  using Clock = Pace::Clock;
  constexpr auto slice = std::chrono::milliseconds(4);  // longest sleep: how late an intent may be seen
  Simulation& simulation = *simulation_;
  Pace pace;
  Frame frame;
  Intent last;
  bool led = false, failed = false;
  Clock::time_point due = Clock::now();
  const auto publish = [&] {
    frame = simulation.frame();
    frame.speed = pace.speed();
    frame.recording = simulation.recording();
    frames_.write(frame);
  };
  for (;;) {
    // Before the look at what is wanted: what comes after it ends the wait below.
    const unsigned seen = wanted_.load(std::memory_order_acquire);
    if (stop.stop_requested()) return;
    if (intents_.update()) {
      const Intent& now = intents_.value();
      led = true;
      failed = false;  // whatever is wanted now is worth a try
      bool changed = false;
      if (now.reset != last.reset) {
        simulation.reset();
        failed = false;
        changed = true;
      }
      if (now.seek != last.seek) {
        simulation.seek(now.seek_to);
        changed = true;
      }
      if (now.go_on != last.go_on) {
        simulation.go_on();
        changed = true;
      }
      if (now.recording != last.recording) {
        simulation.record(now.record);
        changed = true;
      }
      for (long k = last.step_back; k < now.step_back; ++k) changed = simulation.back() || changed;
      for (long k = last.step_forward; k < now.step_forward; ++k) {
        failed = !simulation.step(now);
        changed = true;
      }
      if (!now.running || last.running != now.running || changed) pace.restart();
      last = now;
      if (changed) publish();
    }
    if (!last.running || failed || !led) {
      idle_at_.store(seen + 1, std::memory_order_release);
      wanted_.wait(seen, std::memory_order_acquire);
      idle_at_.store(0, std::memory_order_release);
      due = Clock::now();
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (now < due) {
      std::this_thread::sleep_for(std::min<Clock::duration>(due - now, slice));
      continue;
    }
    failed = !simulation.step(last);
    if (failed) pace.restart();
    due = pace.after_step(Clock::now(), simulation.time_step(), last.speed);
    publish();
  }
}

}  // namespace supple::view
