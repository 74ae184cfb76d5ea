#pragma once
// Blocks SIGTERM before any library is initialised: OpenBLAS starts threads while it is loaded, and a thread begins
// with the mask of the one that starts it. Only for files with a main that then calls receive_terminations().

#include <signal.h>

namespace supple::cli {

// Runs before the sanitizers' own initialisation.
[[gnu::no_sanitize_address]] inline void block_terminations() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

[[gnu::section(".preinit_array"), gnu::used]] static void (*const before_libraries)() = block_terminations;

}  // namespace supple::cli
