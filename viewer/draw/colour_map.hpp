#pragma once
// Colours for numbers, and the round numbers beside a scale.

#include <string>
#include <vector>

#include "viewer/draw/draw_list.hpp"

namespace supple::view {

// Dark blue over green to yellow for magnitudes, equal steps of lightness (after viridis); blue over white to red for
// values about zero. t is cut to [0, 1]; NaN: grey.
Colour sequential(double t);
Colour diverging(double t);
// Of a value on a bar's scale; white of a diverging one is zero, and both its halves are as long as the longer.
Colour colour_of(const ColourBar& bar, double value);

// Multiples of a round step, 1, 2 or 5 x 10^k, within [low, high]; about `count` of them, none unless low < high.
std::vector<double> ticks(double low, double high, int count);
// A power of 1000 that makes the largest of the numbers lie in [1, 1000), with its prefix: 0.004 m -> {1e-3, "mm"}.
// From nano to giga. Units that take no prefix ("1", "%", "kg", "m^3") keep their scale; of a product or quotient the
// first takes it ("mm/s").
struct UnitScale {
  double size = 1;
  std::string unit;
};
UnitScale unit_scale(double largest, const std::string& unit);

}  // namespace supple::view
