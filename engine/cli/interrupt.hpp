#pragma once
// Ctrl-C, SIGTERM and the loss of the terminal as a flag that long work looks at between two units of work.

#include <signal.h>

namespace supple::cli {

// While one exists, the first SIGINT, SIGTERM or SIGHUP only sets the flag; a second one ends the program at once.
// SIGHUP stays ignored where it was (nohup).
class InterruptGuard {
 public:
  // restart: system calls go on after the signal; false: a blocking read ends.
  explicit InterruptGuard(bool restart = true);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_[3]{};
};

bool interrupted();

}  // namespace supple::cli
