// The simulation on its own thread: it opens there, follows intents, stands still when told to, keeps time.

#include "viewer/play/simulation_thread.hpp"

#include <chrono>
#include <thread>

#include "kernels/base/error.hpp"
#include "tests/viewer/draw/viewed_bar.hpp"
#include "viewer/play/pace.hpp"

namespace supple::view {
namespace {

using namespace std::chrono_literals;

template <class Condition>
bool soon(const Condition& condition) {
  for (int k = 0; k < 20000; ++k) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

std::unique_ptr<SimulationThread> play_bar() {
  auto thread = std::make_unique<SimulationThread>([] { return std::make_unique<Simulation>(reduced_bar(), nullptr); });
  EXPECT_TRUE(soon([&] { return thread->status() == SimulationThread::Status::open; }));
  return thread;
}

TEST(SimulationThreads, StepsOnRequestAndNotOtherwise) {
  const auto thread = play_bar();
  Intent intent = thread->simulation().rest_intent();
  intent.running = false;
  intent.step_forward = 3;
  thread->want(intent);
  ASSERT_TRUE(soon([&] { return thread->update() && thread->frame().step == 3; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(thread->update());
  intent.step_back = 2;
  thread->want(intent);
  ASSERT_TRUE(soon([&] { return thread->update() && thread->frame().step == 1; }));
  intent.reset = 1;
  thread->want(intent);
  ASSERT_TRUE(soon([&] { return thread->update() && thread->frame().step == 0; }));
}

TEST(SimulationThreads, FollowsTheNewestIntent) {
  const auto thread = play_bar();
  Intent intent = thread->simulation().rest_intent();
  intent.speed = unlimited;
  for (int k = 0; k < 100; ++k) {
    intent.goals[1] += 1e-5;
    thread->want(intent);
  }
  ASSERT_TRUE(soon([&] { return thread->update() && thread->frame().goals == intent.goals; }));
}

// Asked again before the thread has heard that nobody wants it any more.
TEST(SimulationThreads, ARecordingThatFailedIsTriedAgain) {
  const auto thread = play_bar();
  Intent intent = thread->simulation().rest_intent();
  intent.running = false;
  intent.record = "/dev/null/recording.rec.h5";
  for (int k = 1; k <= 2; ++k) {
    ++intent.recording;
    thread->want(intent);
    ASSERT_TRUE(soon([&] { return thread->update() && thread->frame().recording.ended == k; }));
    EXPECT_NE(thread->frame().recording.failure, "");
  }
}

TEST(SimulationThreads, AnErrorInOpeningIsKept) {
  SimulationThread thread([]() -> std::unique_ptr<Simulation> { throw InputError("no such robot", "another"); });
  ASSERT_TRUE(soon([&] { return thread.status() == SimulationThread::Status::failed; }));
  EXPECT_THROW(std::rethrow_exception(thread.error()), InputError);
  thread.wait_until_idle();
}

TEST(SimulationThreads, EndWhileRunning) {
  const auto thread = play_bar();
  Intent intent = thread->simulation().rest_intent();
  intent.speed = unlimited;
  thread->want(intent);
  ASSERT_TRUE(soon([&] { return thread->update() && thread->frame().step > 10; }));
}

TEST(TripleBuffers, TheReaderSeesTheNewestAndNeverAMixture) {
  struct Pair {
    long a = 0, b = 0;
  };
  TripleBuffer<Pair> buffer;
  EXPECT_FALSE(buffer.update());
  constexpr long last = 200000;
  std::jthread writer([&] {
    for (long k = 1; k <= last; ++k) buffer.write({k, -k});
  });
  long seen = 0;
  while (seen < last) {
    if (!buffer.update()) continue;
    ASSERT_EQ(buffer.value().a, -buffer.value().b);
    ASSERT_GT(buffer.value().a, seen);
    seen = buffer.value().a;
  }
}

TEST(Paces, AStepIsDueATimeStepAfterTheOther) {
  Pace pace;
  const auto start = Pace::Clock::time_point{} + 10s;
  EXPECT_EQ(pace.after_step(start, 0.01, 1), start + 10ms);
  EXPECT_EQ(pace.after_step(start + 10ms, 0.01, 1), start + 20ms);
  EXPECT_EQ(pace.after_step(start + 25ms, 0.01, 1), start + 30ms);      // late, and it catches up
  EXPECT_EQ(pace.after_step(start + 500ms, 0.01, 1), start + 500ms);    // too late: lost time is given up
  EXPECT_EQ(pace.after_step(start + 510ms, 0.01, 0.5), start + 530ms);  // another speed begins anew
  EXPECT_EQ(pace.after_step(start + 520ms, 0.01, unlimited), start + 520ms);
}

TEST(Paces, MeasureSimulatedSecondsPerSecond) {
  Pace pace;
  auto now = Pace::Clock::time_point{} + 10s;
  for (int k = 0; k < 200; ++k) {
    (void)pace.after_step(now, 0.01, 1);
    now += 20ms;  // half as fast as real time
  }
  EXPECT_NEAR(pace.speed(), 0.5, 0.03);  // a window of half a second has 25 steps, give or take one
}

}  // namespace
}  // namespace supple::view
