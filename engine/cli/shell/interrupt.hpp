#pragma once
// Ctrl-C, SIGTERM and the loss of the terminal as a flag that long work looks at between two units of work.

#include <signal.h>

namespace supple::cli {

// While one exists, the first SIGINT or SIGHUP only sets the flag; a second one ends the program at once. SIGHUP stays
// ignored where it was (nohup).
class InterruptGuard {
 public:
  // restart: system calls continue after the signal; false: a blocking read ends.
  explicit InterruptGuard(bool restart = true);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction before_[2]{};
};

bool interrupted();

// From now on a thread of its own receives SIGTERM, for this thread and all started later, and passes it on as SIGINT
// where an InterruptGuard holds that; elsewhere it ends the program. METIS uses SIGTERM for errors of its own while it
// orders a matrix; its handler may run in a thread that is not its own. Call this before any thread is started.
void receive_terminations();

}  // namespace supple::cli
