#pragma once
// Progress of long work on stderr: a bar with the time left on a terminal, else a line at each 10 %. Nothing for work
// that is over within a second.

#include <chrono>
#include <string>

#include "kernels/base/progress.hpp"

namespace supple::cli {

class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  // Wipes the bar, so that an error message starts on a clean line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // A stage begins with the first call that names it; its rate is measured from there.
  void update(const std::string& stage, double done, double total, const std::string& detail = {});
  void finish();
  // Reports here, stops on Ctrl-C (InterruptGuard). The bar must outlive it.
  Progress progress();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double done, double total, const std::string& detail, double elapsed);

  bool quiet_, terminal_;
  bool drawn_ = false;
  std::string stage_;
  double first_done_ = 0;
  int tenths_ = 0;
  Clock::time_point start_, last_draw_;
};

// "1.5 s", "2 min 05 s", "3 h 20 min".
std::string format_duration(double seconds);

}  // namespace supple::cli
