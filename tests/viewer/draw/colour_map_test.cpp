// Colours: lightness says the value, ends and numbers that are none; round ticks; prefixes.

#include "viewer/draw/colour_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace supple::view {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// L* of CIELAB, 0 to 100, of an sRGB colour (IEC 61966-2-1).
double lightness(const Colour& colour) {
  const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  const double Y = 0.2126 * linear(static_cast<double>(colour.r)) + 0.7152 * linear(static_cast<double>(colour.g)) +
                   0.0722 * linear(static_cast<double>(colour.b));
  return Y > 0.008856 ? 116 * std::cbrt(Y) - 16 : 903.3 * Y;
}

TEST(ColourMap, SequentialGrowsLighterInEqualSteps) {
  double last = lightness(sequential(0));
  EXPECT_LT(last, 20);
  EXPECT_GT(lightness(sequential(1)), 90);
  const double step = (lightness(sequential(1)) - last) / 100;
  for (int i = 1; i <= 100; ++i) {
    const double next = lightness(sequential(i * 0.01));
    EXPECT_NEAR(next - last, step, 0.05 * step) << i;  // straight in sRGB between nine colours, which is not so in L*
    last = next;
  }
}

TEST(ColourMap, DivergingIsLightestInTheMiddleAndEquallyDarkOnBothSides) {
  for (int i = 0; i < 50; ++i) {
    const double t = i * 0.01;
    EXPECT_LT(lightness(diverging(t)), lightness(diverging(t + 0.01)));
    EXPECT_NEAR(lightness(diverging(t)), lightness(diverging(1 - t)), 1);  // of 57: the two hues bend differently
    EXPECT_GT(diverging(t).b, diverging(t).r);
    EXPECT_GT(diverging(1 - t).r, diverging(1 - t).b);
  }
  const Colour middle = diverging(0.5);
  EXPECT_EQ(middle.r, middle.g);
  EXPECT_EQ(middle.g, middle.b);
  EXPECT_GT(middle.r, 0.9f);
}

TEST(ColourMap, IsCutAtItsEndsAndGreyForNoNumber) {
  for (const auto map : {sequential, diverging}) {
    EXPECT_EQ(map(-3), map(0));
    EXPECT_EQ(map(1.001), map(1));
    EXPECT_EQ(map(std::numeric_limits<double>::infinity()), map(1));
    EXPECT_EQ(map(-std::numeric_limits<double>::infinity()), map(0));
    const Colour grey = map(nan);
    EXPECT_EQ(grey.r, grey.g);
    EXPECT_EQ(grey.g, grey.b);
    for (int i = 0; i <= 100; ++i) {
      const Colour colour = map(i * 0.01);
      for (const float c : {colour.r, colour.g, colour.b}) EXPECT_TRUE(c >= 0 && c <= 1);
      EXPECT_EQ(colour.a, 1);
      EXPECT_FALSE(colour == grey);
    }
  }
}

TEST(ColourMap, OfABar) {
  const ColourBar bar{"displacement", "m", 0.01, 0.03, false};
  EXPECT_EQ(colour_of(bar, 0.01), sequential(0));
  EXPECT_EQ(colour_of(bar, 0.03), sequential(1));
  EXPECT_EQ(colour_of(bar, nan), sequential(nan));
  EXPECT_NEAR(lightness(colour_of(bar, 0.02)), lightness(sequential(0.5)), 1e-3);  // colours are floats
  EXPECT_EQ(colour_of({"", "", 0, 0, false}, 0), sequential(0));
  EXPECT_EQ(colour_of({"", "", 0, 0, true}, 0), diverging(0.5));
  // White is zero though the bar's middle is not.
  const ColourBar askew{"mode", "1", -1, 3, true};
  EXPECT_EQ(colour_of(askew, 0), diverging(0.5));
  EXPECT_EQ(colour_of(askew, 3), diverging(1));
  EXPECT_EQ(colour_of(askew, -1.5), diverging(0.25));
  EXPECT_EQ(colour_of(askew, nan), diverging(nan));
}

TEST(Ticks, KnownOnes) {
  EXPECT_EQ(ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6, 0.8, 1}));
  EXPECT_EQ(ticks(0, 1, 10), (std::vector<double>{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}));
  EXPECT_EQ(ticks(-0.3, 0.3, 6), (std::vector<double>{-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3}));
  EXPECT_EQ(ticks(0.13, 0.58, 4), (std::vector<double>{0.2, 0.3, 0.4, 0.5}));
  EXPECT_EQ(ticks(-7e6, 12e6, 4), (std::vector<double>{-5e6, 0, 5e6, 10e6}));
  EXPECT_FALSE(std::signbit(ticks(-1, 1, 4)[2]));
}

TEST(Ticks, AreRoundAndAboutAsManyAsAskedFor) {
  for (const double width : {1e-9, 0.037, 1.0, 7.3, 4.5e8})
    for (const double low : {0.0, -0.4, 2.7})
      for (const int count : {2, 4, 7, 12}) {
        const double from = low * width, to = from + width;
        const auto places = ticks(from, to, count);
        // The step is within the square root of 2.5, the largest ratio of two round ones, of the step asked for.
        EXPECT_GE(places.size() + 1, count / 1.6);
        EXPECT_LE(places.size(), count * 1.6 + 1);
        ASSERT_GE(places.size(), 1u);
        for (const double place : places) {
          EXPECT_GE(place, from - 1e-9 * width);
          EXPECT_LE(place, to + 1e-9 * width);
        }
        if (places.size() < 2) continue;
        const double step = places[1] - places[0], power = std::pow(10, std::floor(std::log10(step) + 1e-9));
        const double digit = step / power;
        EXPECT_TRUE(std::abs(digit - 1) < 1e-6 || std::abs(digit - 2) < 1e-6 || std::abs(digit - 5) < 1e-6) << digit;
      }
}

TEST(Ticks, NoneWithoutAWidth) {
  EXPECT_TRUE(ticks(1, 1, 5).empty());
  EXPECT_TRUE(ticks(2, 1, 5).empty());
  EXPECT_TRUE(ticks(nan, 1, 5).empty());
  EXPECT_TRUE(ticks(0, std::numeric_limits<double>::infinity(), 5).empty());
  EXPECT_FALSE(ticks(0, 1, 0).empty());
  // Steps finer than the numbers' digits come to an end too.
  EXPECT_LE(ticks(1e20, 1e20 + 16384, 5).size(), 51u);
}

TEST(UnitScale, PrefixOfTheLargest) {
  const auto scale = [](double largest, const char* unit) { return unit_scale(largest, unit); };
  EXPECT_EQ(scale(0.004, "m").size, 1e-3);
  EXPECT_EQ(scale(0.004, "m").unit, "mm");
  EXPECT_EQ(scale(-0.004, "m").unit, "mm");
  EXPECT_EQ(scale(450e3, "Pa").unit, "kPa");
  EXPECT_EQ(scale(1e6, "Pa").unit, "MPa");
  EXPECT_EQ(scale(999.9e3, "Pa").unit, "kPa");
  EXPECT_EQ(scale(3e12, "Pa").unit, "GPa");
  EXPECT_EQ(scale(25e-6, "s").unit, "\xC2\xB5s");
  EXPECT_EQ(scale(2e-13, "s").unit, "ns");
  EXPECT_EQ(scale(0.02, "m/s").unit, "mm/s");
  EXPECT_EQ(scale(0.02, "N m").unit, "mN m");
  EXPECT_EQ(scale(1, "N").unit, "N");
  for (const double largest : {1e-8, 0.3, 1.0, 999.0, 1000.0, 2e7}) {
    const UnitScale found = scale(largest, "N");
    EXPECT_GE(largest / found.size, 1);
    EXPECT_LT(largest / found.size, 1000.001);  // 1e-9 is no binary number
  }
}

TEST(UnitScale, KeptWhereThereIsNoPrefix) {
  for (const char* unit : {"1", "%", "", "kg", "m^3", "deg"}) {
    EXPECT_EQ(unit_scale(0.004, unit).size, 1) << unit;
    EXPECT_EQ(unit_scale(0.004, unit).unit, unit);
  }
  for (const double none : {0.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(unit_scale(none, "m").size, 1);
    EXPECT_EQ(unit_scale(none, "m").unit, "m");
  }
}

}  // namespace
}  // namespace supple::view
