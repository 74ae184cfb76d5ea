#pragma once
// Steps in which inverse control had no answer and held the last commands: how many, and for which reasons.

#include <string>
#include <vector>

namespace supple {

class HeldSteps {
 public:
  struct Reason {
    std::string text;  // InverseLaw::conflict
    long steps = 0;
    double first = 0;  // s: time of the first of them
  };
  void add(const std::string& reason, double time, long steps = 1) {
    steps_ += steps;
    for (Reason& known : reasons_)
      if (known.text == reason) {
        known.steps += steps;
        return;
      }
    reasons_.push_back({reason, steps, time});
  }
  long steps() const { return steps_; }
  /// In the order in which they came.
  const std::vector<Reason>& reasons() const { return reasons_; }
  /// The reason of most steps, the first of equals. Requires that there is one.
  const Reason& most_frequent() const {
    const Reason* most = &reasons_.front();
    for (const Reason& reason : reasons_)
      if (reason.steps > most->steps) most = &reason;
    return *most;
  }

 private:
  long steps_ = 0;
  std::vector<Reason> reasons_;
};

}  // namespace supple
