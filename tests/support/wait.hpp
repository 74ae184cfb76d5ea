#pragma once
// Waiting for what another process does.

#include <signal.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace supple::test {

// Looks every millisecond whether holds() is true, and gives its last answer: false after a minute, which is far beyond
// what a slow, busy machine needs for a start under sanitizers.
inline bool wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A mask of signals of proc(5): "SigCgt" of those the process has a handler for, "SigBlk" of those it blocks.
inline bool in_signal_mask(pid_t process, const std::string& mask, int signal) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(mask + ":"))
      return (std::stoull(line.substr(mask.size() + 1), nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

inline bool handles(pid_t process, int signal) {
  return in_signal_mask(process, "SigCgt", signal);
}

}  // namespace supple::test
