#pragma once
// Numbers over time for the plots: the last so many samples of several named channels, and their CSV.

#include <string>
#include <vector>

namespace supple::view {

struct Channel {
  std::string name, unit;  // of the numbers shown
  double scale = 1;        // SI per unit shown
};

class Series {
 public:
  // `capacity` samples are kept; the oldest go first.
  Series(std::vector<Channel> channels, std::size_t capacity);
  // values [channels] in SI at `time` [s]. Time that does not advance (a step back, a reset) drops what is later.
  void add(double time, const std::vector<double>& values);

  const std::vector<Channel>& channels() const { return channels_; }
  std::size_t size() const { return times_.size() - first_; }
  double time(std::size_t i) const { return times_[first_ + i]; }
  // In the channel's unit.
  double value(std::size_t i, std::size_t channel) const;
  // Least and largest value of the channels [first, last) in samples no older than `since`; {0, 1} where there are
  // none, widened where all are equal.
  struct Extent {
    double low = 0, high = 1;
  };
  Extent extent(std::size_t first, std::size_t last, double since) const;
  // `time [s],tip error [mm],...`, a line a sample, digits enough to read the same number back; names
  // with commas in quotes.
  std::string csv() const;

 private:
  std::vector<Channel> channels_;
  std::size_t capacity_, first_ = 0;
  std::vector<double> times_, values_;
};

}  // namespace supple::view
