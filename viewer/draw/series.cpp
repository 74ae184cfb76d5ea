#include "viewer/draw/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "kernels/base/contract.hpp"

namespace supple::view {

namespace {

// A field of a CSV file: in quotes where it holds what ends a field.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

Series::Series(std::vector<Channel> channels, std::size_t capacity)
    : channels_(std::move(channels)), capacity_(std::max<std::size_t>(capacity, 1)) {}

void Series::add(double time, const std::vector<double>& values) {
  SUPPLE_EXPECT(values.size() == channels_.size());
  while (size() > 0 && !(times_.back() < time)) times_.pop_back();
  values_.resize(times_.size() * channels_.size());
  times_.push_back(time);
  values_.insert(values_.end(), values.begin(), values.end());
  if (size() > capacity_) ++first_;
  // What went out of the window is thrown away a whole window at a time.
  if (first_ < capacity_) return;
  times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(first_));
  values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(first_ * channels_.size()));
  first_ = 0;
}

double Series::value(std::size_t i, std::size_t channel) const {
  return values_[(first_ + i) * channels_.size() + channel] / channels_[channel].scale;
}

Series::Extent Series::extent(std::size_t first, std::size_t last, double since) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Extent extent{infinity, -infinity};
  const auto window = times_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto begin = std::lower_bound(window, times_.end(), since);
  for (auto i = static_cast<std::size_t>(begin - window); i < size(); ++i)
    for (std::size_t channel = first; channel < last; ++channel) {
      const double number = value(i, channel);
      if (!std::isfinite(number)) continue;
      extent.low = std::min(extent.low, number);
      extent.high = std::max(extent.high, number);
    }
  if (extent.low > extent.high) return {};
  if (extent.low == extent.high) {
    const double room = extent.low == 0 ? 1 : 0.1 * std::abs(extent.low);
    return {extent.low - room, extent.high + room};
  }
  return extent;
}

std::string Series::csv() const {
  std::string text = "time [s]";
  for (const Channel& channel : channels_)
    text += ',' + field(channel.unit.empty() ? channel.name : channel.name + " [" + channel.unit + ']');
  text += '\n';
  for (std::size_t i = 0; i < size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}", time(i));
    for (std::size_t channel = 0; channel < channels_.size(); ++channel)
      fmt::format_to(std::back_inserter(text), ",{}", value(i, channel));
    text += '\n';
  }
  return text;
}

}  // namespace supple::view
