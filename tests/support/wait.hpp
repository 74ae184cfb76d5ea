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

// Whether the process has a handler of its own for the signal: the line "SigCgt:" of proc(5).
inline bool handles(pid_t process, int signal) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

}  // namespace supple::test
