#include "engine/step/step_rate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/reduction/validate.hpp"

namespace supple {
namespace {

TEST(StepRate, IsOneOverTheMedianForEveryRobot) {
  // One slow step in five does not count.
  const StepRate rate = step_rate({2e-3, 1e-3, 2e-3, 1, 3e-3}, 10, 0.01);
  EXPECT_DOUBLE_EQ(rate.p50_us, 2000);
  EXPECT_DOUBLE_EQ(rate.steps_per_s, 10 / 2e-3);
  EXPECT_DOUBLE_EQ(rate.realtime_factor, 0.01 / 2e-3);
  EXPECT_DOUBLE_EQ(rate.p99_us, 1e6);
}

TEST(StepRate, QuantilesAreTimesOfTheList) {
  std::vector<double> seconds;
  for (int k = 1000; k > 0; --k) seconds.push_back(1e-6 * k);
  const StepRate rate = step_rate(seconds, 1, 0.01);
  EXPECT_DOUBLE_EQ(rate.p50_us, 500);
  EXPECT_DOUBLE_EQ(rate.p99_us, 990);
  EXPECT_DOUBLE_EQ(rate.p999_us, 999);
}

TEST(StepRate, NoStepsHaveNoRate) {
  const StepRate rate = step_rate({}, 1, 0.01);
  EXPECT_EQ(rate.steps_per_s, 0);
  EXPECT_EQ(rate.p999_us, 0);
}

TEST(SmoothPath, GoesThroughEveryRangeInTheTimeItPromises) {
  Robot robot;
  for (const Interval range : {Interval{0, 0.04}, Interval{-2, 5}}) {
    robot.actuators.emplace_back();
    robot.actuators.back().range = range;
  }
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const SmoothPath path(robot, smooth_path_period_steps, seed);
    EXPECT_EQ(path.at(0), (Sample{0, 0}));  // from released actuators
    Sample least = path.at(0), largest = least;
    for (long k = 1; k <= smooth_path_covering_steps; ++k) {
      const Sample sample = path.at(static_cast<double>(k));
      for (std::size_t i = 0; i < sample.size(); ++i) {
        least[i] = std::min(least[i], sample[i]);
        largest[i] = std::max(largest[i], sample[i]);
      }
    }
    for (std::size_t i = 0; i < robot.actuators.size(); ++i) {
      const Interval range = robot.actuators[i].range;
      EXPECT_NEAR(least[i], range.lower, 1e-3 * (range.upper - range.lower));
      EXPECT_NEAR(largest[i], range.upper, 1e-3 * (range.upper - range.lower));
    }
  }
}

TEST(SmoothPath, MovesDrivenRegionsFromRestThroughTheirRange) {
  Robot robot;
  robot.actuators.resize(1);
  robot.actuators[0].range = {1, 2};
  const Sample before = SmoothPath(robot, smooth_path_period_steps, 3).at(100);
  robot.motions = {{"slide", {{0, 0, 1}}, {-0.03, 0.02}, true}};
  const SmoothPath path(robot, smooth_path_period_steps, 3);
  EXPECT_EQ(path.at(0), (Sample{1, 0}));
  EXPECT_EQ(path.at(100)[0], before[0]);  // actuators go as they did
  double least = 0, largest = 0;
  for (long k = 1; k <= smooth_path_covering_steps; ++k) {
    const double value = path.at(static_cast<double>(k))[1];
    // One period in 400 / 1.4 steps at most; fading in adds as much.
    EXPECT_LT(std::abs(value - path.at(static_cast<double>(k - 1))[1]),
              0.05 * 2 * M_PI * 1.4 / smooth_path_period_steps);
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  EXPECT_NEAR(least, -0.03, 1e-3 * 0.05);
  EXPECT_NEAR(largest, 0.02, 1e-3 * 0.05);
}

}  // namespace
}  // namespace supple
