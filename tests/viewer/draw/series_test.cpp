// Numbers over time: the oldest go first, time that goes back drops what was later, and the CSV reads back.

#include "viewer/draw/series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace supple::view {
namespace {

Series two(std::size_t capacity) {
  return {{{"tip error", "mm", 1e-3}, {"force, north", "N", 1}}, capacity};
}

TEST(Series, KeepsTheLastSamples) {
  Series series = two(5);
  EXPECT_EQ(series.size(), 0u);
  for (int i = 0; i < 23; ++i) {
    series.add(0.01 * i, {0.001 * i, -2.0 * i});
    const int kept = std::min(i + 1, 5);
    ASSERT_EQ(series.size(), static_cast<std::size_t>(kept));
    for (int k = 0; k < kept; ++k) {
      const int sample = i - kept + 1 + k;
      EXPECT_EQ(series.time(static_cast<std::size_t>(k)), 0.01 * sample);
      EXPECT_EQ(series.value(static_cast<std::size_t>(k), 0), 0.001 * sample / 1e-3);
      EXPECT_EQ(series.value(static_cast<std::size_t>(k), 1), -2.0 * sample);
    }
  }
  series.add(0, {1, 2});  // time begins anew
  EXPECT_EQ(series.size(), 1u);
  EXPECT_EQ(series.value(0, 1), 2);
  EXPECT_EQ(series.channels()[1].name, "force, north");
}

TEST(Series, AStepBackDropsWhatWasLater) {
  Series series = two(100);
  for (int i = 0; i < 10; ++i) series.add(i, {0, 1.0 * i});
  series.add(6, {0, 60});
  ASSERT_EQ(series.size(), 7u);
  EXPECT_EQ(series.time(6), 6);
  EXPECT_EQ(series.value(6, 1), 60);
  EXPECT_EQ(series.value(5, 1), 5);
  series.add(6, {0, 61});  // the same time again
  EXPECT_EQ(series.size(), 7u);
  EXPECT_EQ(series.value(6, 1), 61);
  series.add(0, {0, 7});  // a reset
  EXPECT_EQ(series.size(), 1u);
  EXPECT_EQ(series.value(0, 1), 7);
  // Beyond what is kept too.
  Series ring = two(3);
  for (int i = 0; i < 5; ++i) ring.add(i, {0, 1.0 * i});
  ring.add(0.5, {0, 9});
  ASSERT_EQ(ring.size(), 1u);
  EXPECT_EQ(ring.value(0, 1), 9);
}

TEST(Series, Extent) {
  Series series = two(100);
  const auto expect = [&](std::size_t first, std::size_t last, double since, double low, double high) {
    const Series::Extent extent = series.extent(first, last, since);
    EXPECT_DOUBLE_EQ(extent.low, low);
    EXPECT_DOUBLE_EQ(extent.high, high);
  };
  expect(0, 2, 0, 0, 1);
  series.add(0, {0.002, 8});
  expect(1, 2, 0, 7.2, 8.8);  // a tenth on both sides
  series.add(1, {0.004, -1});
  series.add(2, {0.003, std::numeric_limits<double>::quiet_NaN()});
  expect(0, 1, 0, 2, 4);
  expect(0, 2, 0, -1, 8);
  expect(0, 2, 0.5, -1, 4);
  expect(0, 2, 1, -1, 4);
  expect(1, 2, 1.5, 0, 1);  // no number
  expect(0, 2, 9, 0, 1);
  Series zero = two(2);
  zero.add(0, {0, 0});
  EXPECT_LT(zero.extent(0, 2, 0).low, zero.extent(0, 2, 0).high);
}

TEST(Series, CsvReadsBack) {
  Series series({{"tip error", "mm", 1e-3}, {"force, \"north\"", "N", 1}, {"iterations", "", 1}}, 3);
  for (int i = 0; i < 4; ++i) series.add(i / 3.0, {1e-3 / (i + 7), std::sqrt(i) * 1e17, 1.0 * i});
  std::istringstream text(series.csv());
  std::string line;
  ASSERT_TRUE(std::getline(text, line));
  EXPECT_EQ(line, "time [s],tip error [mm],\"force, \"\"north\"\" [N]\",iterations");
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(std::getline(text, line));
    std::istringstream fields(line);
    std::string number;
    ASSERT_TRUE(std::getline(fields, number, ','));
    EXPECT_EQ(std::stod(number), series.time(i));
    for (std::size_t channel = 0; channel < 3; ++channel) {
      ASSERT_TRUE(std::getline(fields, number, ','));
      EXPECT_EQ(std::stod(number), series.value(i, channel));
    }
    EXPECT_FALSE(std::getline(fields, number, ','));
  }
  EXPECT_FALSE(std::getline(text, line));
}

}  // namespace
}  // namespace supple::view
