// What units are called, without the library that reads them.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "engine/scene/units.hpp"

namespace supple {
namespace {

struct DimensionEntry {
  Dimension dimension;
  std::string_view name;     // with article
  std::string_view si;       // unit of the values in memory
  std::string_view samples;  // units to suggest
};

// In the order of the enumeration.
constexpr std::array dimensions{
    DimensionEntry{Dimension::number, "a plain number", "", "no unit, or %"},
    DimensionEntry{Dimension::length, "a length", "m", "mm, cm, m"},
    DimensionEntry{Dimension::mass, "a mass", "kg", "g, kg"},
    DimensionEntry{Dimension::time, "a time", "s", "us, ms, s"},
    DimensionEntry{Dimension::angle, "an angle", "rad", "deg, rad, rev"},
    DimensionEntry{Dimension::acceleration, "an acceleration", "m/s^2", "m/s^2, mm/s^2"},
    DimensionEntry{Dimension::stress, "a stress", "Pa", "Pa, kPa, MPa, GPa"},
    DimensionEntry{Dimension::density, "a density", "kg/m^3", "kg/m^3, g/cm^3"},
    DimensionEntry{Dimension::force, "a force", "N", "mN, N, kN"},
    DimensionEntry{Dimension::stiffness, "a stiffness", "N/m", "N/m, N/mm"},
    DimensionEntry{Dimension::frequency, "a frequency", "1/s", "1/s, Hz"},
    DimensionEntry{Dimension::speed, "a speed", "m/s", "m/s, mm/s"},
    DimensionEntry{Dimension::force_rate, "a rate of force", "N/s", "N/s, mN/s"},
    DimensionEntry{Dimension::stress_rate, "a rate of pressure", "Pa/s", "kPa/s, Pa/s"},
    DimensionEntry{Dimension::volume, "a volume", "m^3", "mL, cm^3, mm^3"},
    DimensionEntry{Dimension::volume_rate, "a flow", "m^3/s", "mL/s, cm^3/s"},
    DimensionEntry{Dimension::compliance, "a compliance", "m/N", "mm/N, m/N"},
    DimensionEntry{Dimension::torque, "a torque", "N m", "N m, N mm"},
    DimensionEntry{Dimension::torque_rate, "a rate of torque", "N m/s", "N m/s, N mm/s"},
    DimensionEntry{Dimension::turn_rate, "a speed of rotation", "rad/s", "deg/s, rad/s, rev/min"},
    DimensionEntry{Dimension::turn_stiffness, "a stiffness against rotation", "N m/rad", "N m/rad, N mm/deg"},
    DimensionEntry{Dimension::damping, "a damping", "N s/m", "N s/m"},
    DimensionEntry{Dimension::turn_damping, "a damping of rotation", "N m s/rad", "N m s/rad"},
    DimensionEntry{Dimension::flow_resistance, "a resistance to flow", "Pa s/m^3", "kPa s/mL, Pa s/m^3"},
};

const DimensionEntry& entry(Dimension dimension) {
  return dimensions[static_cast<std::size_t>(dimension)];
}

static_assert(dimensions.size() == dimension_count);

}  // namespace

std::string_view dimension_name(Dimension dimension) {
  return entry(dimension).name;
}

std::string_view si_unit(Dimension dimension) {
  return entry(dimension).si;
}

std::string_view sample_units(Dimension dimension) {
  return entry(dimension).samples;
}

std::string format_quantity(double value, Dimension dimension) {
  struct Step {
    double size;
    std::string_view unit;
  };
  constexpr std::array lengths{Step{1, "m"}, Step{1e-3, "mm"}, Step{1e-6, "um"}};
  constexpr std::array times{Step{1, "s"}, Step{1e-3, "ms"}, Step{1e-6, "us"}};
  constexpr std::array masses{Step{1, "kg"}, Step{1e-3, "g"}, Step{1e-6, "mg"}};
  constexpr std::array stresses{Step{1e9, "GPa"}, Step{1e6, "MPa"}, Step{1e3, "kPa"}, Step{1, "Pa"}};
  constexpr std::array forces{Step{1e3, "kN"}, Step{1, "N"}, Step{1e-3, "mN"}};
  constexpr std::array volumes{Step{1, "m^3"}, Step{1e-6, "mL"}};
  constexpr std::array resistances{Step{1e9, "kPa s/mL"}, Step{1e6, "Pa s/mL"}, Step{1, "Pa s/m^3"}};
  constexpr std::array speeds{Step{1, "m/s"}, Step{1e-3, "mm/s"}};
  constexpr std::array torques{Step{1, "N m"}, Step{1e-3, "N mm"}};

  if (std::isinf(value)) return value > 0 ? "unlimited" : "-unlimited";
  const auto write = [value](const auto& steps, std::size_t of_zero = 1) {
    if (value == 0) return fmt::format("0 {}", steps[of_zero].unit);
    for (const Step& step : steps)
      if (std::abs(value) >= 0.9999995 * step.size || step.size == steps.back().size)
        return fmt::format("{:.4g} {}", value / step.size, step.unit);
    return std::string();
  };
  switch (dimension) {
    case Dimension::number:
      return fmt::format("{:.4g}", value);
    case Dimension::length:
      return write(lengths);
    case Dimension::time:
      return write(times);
    case Dimension::mass:
      return write(masses);
    case Dimension::stress:
      return write(stresses, 2);
    case Dimension::force:
      return write(forces);
    case Dimension::speed:
      return write(speeds);
    case Dimension::volume:
      return write(volumes);
    case Dimension::torque:
      return write(torques);
    case Dimension::flow_resistance:
      return write(resistances);
    case Dimension::angle:
      return fmt::format("{:.4g} deg", value * 180 / std::numbers::pi);
    case Dimension::turn_rate:
      return fmt::format("{:.4g} deg/s", value * 180 / std::numbers::pi);
    default:
      return fmt::format("{:.4g} {}", value, si_unit(dimension));
  }
}

}  // namespace supple
