#include "viewer/draw/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace supple::view {

namespace {

using Table = std::array<std::array<float, 3>, 9>;

// L* of CIELAB from 16 to 92 in equal steps, the hue from 298 to 104 degrees.
constexpr Table blue_to_yellow = {{{0.081f, 0.125f, 0.392f},
                                   {0.078f, 0.230f, 0.468f},
                                   {0.053f, 0.339f, 0.521f},
                                   {0.070f, 0.449f, 0.549f},
                                   {0.160f, 0.559f, 0.563f},
                                   {0.298f, 0.668f, 0.528f},
                                   {0.489f, 0.770f, 0.444f},
                                   {0.715f, 0.858f, 0.349f},
                                   {0.936f, 0.939f, 0.265f}}};
// L* 38, 52, 67, 81, 95 and back by the same steps.
constexpr Table blue_to_red = {{{0.089f, 0.344f, 0.673f},
                                {0.284f, 0.491f, 0.792f},
                                {0.504f, 0.641f, 0.851f},
                                {0.716f, 0.793f, 0.902f},
                                {0.943f, 0.943f, 0.943f},
                                {0.912f, 0.752f, 0.697f},
                                {0.854f, 0.561f, 0.485f},
                                {0.779f, 0.363f, 0.304f},
                                {0.688f, 0.106f, 0.156f}}};

Colour between(const Table& table, double t) {
  if (std::isnan(t)) return {0.5f, 0.5f, 0.5f, 1};
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(table.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(place), table.size() - 2);
  const auto part = static_cast<float>(place - static_cast<double>(i));
  const auto mix = [&](std::size_t k) { return (1 - part) * table[i][k] + part * table[i + 1][k]; };
  return {mix(0), mix(1), mix(2), 1};
}

bool takes_prefix(std::string_view unit) {
  const std::string_view first = unit.substr(0, unit.find_first_of(" /"));
  for (const std::string_view known : {"m", "s", "N", "Pa", "J", "W", "rad", "Hz"})
    if (first == known) return true;
  return false;
}

}  // namespace

Colour sequential(double t) {
  return between(blue_to_yellow, t);
}

Colour diverging(double t) {
  return between(blue_to_red, t);
}

Colour colour_of(const ColourBar& bar, double value) {
  // A scale of no width: its one value has the colour of its beginning.
  constexpr double least = std::numeric_limits<double>::min();
  if (!bar.diverging) return sequential((value - bar.low) / std::max(bar.high - bar.low, least));
  return diverging(0.5 + 0.5 * value / std::max({std::abs(bar.low), std::abs(bar.high), least}));
}

std::vector<double> ticks(double low, double high, int count) {
  if (!(low < high) || !std::isfinite(high - low)) return {};
  // The step 1, 2, 5 or 10 x 10^k that is nearest, by ratio, to the one asked for.
  const double wanted = (high - low) / std::max(count, 1);
  const double power = std::floor(std::log10(wanted));
  double digit = 1;
  for (const double candidate : {2.0, 5.0, 10.0})
    if (std::abs(std::log(candidate * std::pow(10, power) / wanted)) <
        std::abs(std::log(digit * std::pow(10, power) / wanted)))
      digit = candidate;
  // n digit 10^k, where k < 0 as a quotient: that is the double nearest to the decimal number.
  const double scale = std::pow(10, std::abs(power));
  const auto tick = [&](double n) { return power < 0 ? n * digit / scale : n * digit * scale; };
  constexpr double rounding = 1e-9;  // of a step: an end that is a tick itself is one
  const double first = std::ceil(low / tick(1) - rounding), steps = std::floor(high / tick(1) + rounding) - first;
  std::vector<double> places;
  for (int i = 0; i <= steps && i <= 10 * std::max(count, 1); ++i)
    places.push_back(tick(first + i) + 0.0);  // no minus before zero
  return places;
}

UnitScale unit_scale(double largest, const std::string& unit) {
  struct Prefix {
    double size;
    const char* text;
  };
  constexpr Prefix prefixes[] = {{1e9, "G"},  {1e6, "M"},         {1e3, "k"}, {1, ""},
                                 {1e-3, "m"}, {1e-6, "\xC2\xB5"}, {1e-9, "n"}};
  const double size = std::abs(largest);
  if (!takes_prefix(unit) || !(size > 0) || !std::isfinite(size)) return {1, unit};
  for (const Prefix& prefix : prefixes)
    if (size >= prefix.size) return {prefix.size, prefix.text + unit};
  return {1e-9, "n" + unit};
}

}  // namespace supple::view
