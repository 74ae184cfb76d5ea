#pragma once
// Ctrl-C and SIGTERM as a flag that long work looks at between two units of work.

#include <signal.h>

namespace supple::cli {

// While one exists, the first SIGINT or SIGTERM only sets the flag; a second one ends the program at once.
class InterruptGuard {
 public:
  // restart: system calls go on after the signal; false: a blocking read ends.
  explicit InterruptGuard(bool restart = true);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

bool interrupted();

}  // namespace supple::cli
