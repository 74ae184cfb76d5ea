#pragma once
// What programs that measure share: the time, quantiles, and errors as the command line reports them.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"

namespace supple {

// s
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// Of a program that is `run` with its arguments.
template <class Run>
int exit_code(const Run& run, int argc, char** argv) {
  try {
    return run(std::vector<std::string>{argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.report());
    return 2;
  }
}

}  // namespace supple
