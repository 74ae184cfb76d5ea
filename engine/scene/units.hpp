#pragma once
// Quantities with units, "450 kPa" <-> 450000 Pa, through UDUNITS-2 (its unit names, plus `deg` and `rev`).
// All functions may be called from several threads. Errors: InputError at `place` for text that is no quantity, an
// unknown unit or a wrong dimension; CapabilityError if the unit database of UDUNITS cannot be found.

#include <string>
#include <string_view>

#include "kernels/base/error.hpp"

namespace supple {

enum class Dimension {
  number,           // 1; only "%" as unit
  length,           // m
  mass,             // kg
  time,             // s
  angle,            // rad
  acceleration,     // m/s^2
  stress,           // Pa
  density,          // kg/m^3
  force,            // N
  stiffness,        // N/m
  frequency,        // 1/s
  speed,            // m/s
  force_rate,       // N/s
  stress_rate,      // Pa/s
  volume,           // m^3
  volume_rate,      // m^3/s
  compliance,       // m/N
  torque,           // N m
  torque_rate,      // N m/s
  turn_rate,        // rad/s
  turn_stiffness,   // N m/rad
  damping,          // N s/m
  turn_damping,     // N m s/rad
  flow_resistance,  // Pa s/m^3
};
inline constexpr int dimension_count = 24;

// "length", "stress", ... with its article for messages: "a length".
std::string_view dimension_name(Dimension dimension);
// "m", "Pa", ...; "" for a plain number.
std::string_view si_unit(Dimension dimension);
// Units to suggest.
std::string_view sample_units(Dimension dimension);

// "40 mm" as a length is 0.04. A number without a unit is SI. The result is finite.
double parse_quantity(std::string_view text, Dimension dimension, const Place& place = {});

// Size of a unit that stands alone, in SI: "mm" as a length is 0.001.
double parse_unit(std::string_view text, Dimension dimension, const Place& place = {});

// For people: four digits and a handy unit, "40 mm", "450 kPa", "10 ms"; infinite values are "unlimited".
std::string format_quantity(double value, Dimension dimension);

}  // namespace supple
