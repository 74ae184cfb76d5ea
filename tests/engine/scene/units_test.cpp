#include "engine/scene/units.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <thread>
#include <vector>

namespace supple {
namespace {

std::string problem(std::string_view text, Dimension dimension) {
  try {
    parse_quantity(text, dimension);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Units, QuantitiesBecomeSi) {
  EXPECT_DOUBLE_EQ(parse_quantity("2 mm/N", Dimension::compliance), 2e-3);
  EXPECT_DOUBLE_EQ(parse_quantity("450 kPa", Dimension::stress), 450e3);
  EXPECT_DOUBLE_EQ(parse_quantity("450kPa", Dimension::stress), 450e3);
  EXPECT_DOUBLE_EQ(parse_quantity("40 mm", Dimension::length), 0.04);
  EXPECT_DOUBLE_EQ(parse_quantity("0 mm", Dimension::length), 0);
  EXPECT_DOUBLE_EQ(parse_quantity(" -40 mm ", Dimension::length), -0.04);
  EXPECT_DOUBLE_EQ(parse_quantity("10 ms", Dimension::time), 0.01);
  EXPECT_DOUBLE_EQ(parse_quantity("10 µs", Dimension::time), 1e-5);
  EXPECT_DOUBLE_EQ(parse_quantity("-9.81 m/s^2", Dimension::acceleration), -9.81);
  EXPECT_DOUBLE_EQ(parse_quantity("-9.81 m/s²", Dimension::acceleration), -9.81);
  EXPECT_DOUBLE_EQ(parse_quantity("500 g", Dimension::mass), 0.5);
  EXPECT_DOUBLE_EQ(parse_quantity("1.07 g/cm^3", Dimension::density), 1070);
  EXPECT_DOUBLE_EQ(parse_quantity("90 deg", Dimension::angle), std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(parse_quantity("90 degree", Dimension::angle), std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(parse_quantity("0.5 rev", Dimension::angle), std::numbers::pi);
  EXPECT_DOUBLE_EQ(parse_quantity("2 1/s", Dimension::frequency), 2);
  EXPECT_DOUBLE_EQ(parse_quantity("2 Hz", Dimension::frequency), 2);
  EXPECT_DOUBLE_EQ(parse_quantity("3 N/mm", Dimension::stiffness), 3000);
  EXPECT_DOUBLE_EQ(parse_quantity("0.45", Dimension::number), 0.45);
  EXPECT_DOUBLE_EQ(parse_quantity("45 %", Dimension::number), 0.45);
  EXPECT_DOUBLE_EQ(parse_quantity("+1e-2", Dimension::length), 0.01);
}

TEST(Units, WrongDimensionNamesBoth) {
  EXPECT_EQ(problem("3 kg", Dimension::length), "'3 kg' is a mass, a length is expected");
  EXPECT_EQ(problem("3 mm", Dimension::stress), "'3 mm' is a length, a stress is expected");
  EXPECT_EQ(problem("3 deg", Dimension::number), "'3 deg' is an angle, a plain number is expected");
  EXPECT_EQ(problem("3 m^2", Dimension::length), "'3 m^2' is an area, a length is expected");
  EXPECT_EQ(problem("3 kPa", Dimension::force), "'3 kPa' is a stress, a force is expected");
  // Reciprocals are no conversions.
  EXPECT_EQ(problem("3 N/mm", Dimension::compliance), "'3 N/mm' is a stiffness, a compliance is expected");
  EXPECT_EQ(problem("3 mm/N", Dimension::stiffness), "'3 mm/N' is a compliance, a stiffness is expected");
  EXPECT_EQ(problem("3 Hz", Dimension::time), "'3 Hz' is a frequency, a time is expected");
}

TEST(Units, NonsenseIsRefused) {
  EXPECT_EQ(problem("3 kpa", Dimension::stress), "'kpa' is no unit, a stress is expected");
  EXPECT_EQ(problem("mm", Dimension::length), "'mm' does not start with a number, a length is expected");
  EXPECT_EQ(problem("", Dimension::length), "'' does not start with a number, a length is expected");
  EXPECT_EQ(problem("1 200 mm", Dimension::length), "'1 200 mm' has two numbers");
  EXPECT_EQ(problem("1e999 mm", Dimension::length), "'1e999 mm' is out of range");
  EXPECT_EQ(problem("1e308 km", Dimension::length), "'1e308 km' is out of range");
  for (const char* text : {"1,5 mm", "nan", "inf mm", "--1 mm", "+-1 mm", "1 mm;", "3 m since 2000-01-01", "3 mm \xff",
                           "1 lg(re 1 m)", "3 m^99999999999999999999999", "3 ((((((((((((((((((((((((m", "0x10 m"})
    EXPECT_NE(problem(text, Dimension::length), "none") << text;
}

TEST(Units, UnitsAlone) {
  EXPECT_DOUBLE_EQ(parse_unit("mm", Dimension::length), 1e-3);
  EXPECT_DOUBLE_EQ(parse_unit("0.001 m", Dimension::length), 1e-3);
  EXPECT_THROW(parse_unit("kg", Dimension::length), InputError);
  EXPECT_THROW(parse_unit("", Dimension::length), InputError);
}

TEST(Units, ForPeople) {
  EXPECT_EQ(format_quantity(0.04, Dimension::length), "40 mm");
  EXPECT_EQ(format_quantity(0, Dimension::length), "0 mm");
  EXPECT_EQ(format_quantity(450e3, Dimension::stress), "450 kPa");
  EXPECT_EQ(format_quantity(0.01, Dimension::time), "10 ms");
  EXPECT_EQ(format_quantity(7.51281, Dimension::force), "7.513 N");
  EXPECT_EQ(format_quantity(std::numbers::pi / 2, Dimension::angle), "90 deg");
  EXPECT_EQ(format_quantity(std::numeric_limits<double>::infinity(), Dimension::length), "unlimited");
}

TEST(Units, SeveralThreads) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) EXPECT_DOUBLE_EQ(parse_quantity("450 kPa", Dimension::stress), 450e3);
    });
}

}  // namespace
}  // namespace supple
