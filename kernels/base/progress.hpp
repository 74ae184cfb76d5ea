#pragma once
// Progress of long work: callbacks for the fraction done, and a flag that asks it to stop. The command line draws bars
// from it and sets `stop` on Ctrl-C; tests and libraries leave it empty.

#include <functional>
#include <string>

namespace supple {

struct Progress {
  // Called often (the receiver limits the rate): stage in words, work done and in all, and a detail like "residual
  // 0.03".
  std::function<void(const std::string& stage, double done, double total, const std::string& detail)> report;
  // True: finish the unit of work in flight, save, and throw Interrupted.
  std::function<bool()> stop;

  void operator()(const std::string& stage, double done, double total, const std::string& detail = {}) const {
    if (report) report(stage, done, total, detail);
  }
  bool stopped() const { return stop && stop(); }
};

}  // namespace supple
