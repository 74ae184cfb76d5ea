#pragma once
// A plot of channels over time, as wide as its panel: axes with round numbers, a line a channel, a legend, and the
// values under the pointer.

#include "viewer/draw/series.hpp"

namespace supple::view {

// The last `seconds` of channels [first, last), which share a unit. height in pixels.
void plot(const char* name, const Series& series, std::size_t first, std::size_t last, double seconds, float height);
// All channels, a plot for each unit.
void plots_by_unit(const char* name, const Series& series, double seconds, float height);

}  // namespace supple::view
