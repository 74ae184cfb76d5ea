#pragma once
// What must be settled before any library is initialised. Only for files with a main that then calls
// receive_terminations().
//
// SIGTERM is blocked: OpenBLAS starts threads while it is loaded, and a thread begins with the mask of the one that
// starts it. OpenMP's threads are told to sleep soon when they wait (docs/decisions/0037-waiting-threads.md): its
// library reads that from the environment while it is loaded, so the program starts itself again with it.

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace supple::cli {

// Turns of its loop that a thread waits awake: some microseconds.
inline constexpr char waiting_turns[] = "GOMP_SPINCOUNT=1000";

[[gnu::no_sanitize_address]] inline bool is_set(const char* entry, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// Runs before the sanitizers' own initialisation.
[[gnu::no_sanitize_address]] inline void settle_early(int, char** arguments, char** environment) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
#ifndef __SANITIZE_ADDRESS__  // which is not ready for this so early
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count)
    if (is_set(environment[count], "GOMP_SPINCOUNT") || is_set(environment[count], "OMP_WAIT_POLICY")) return;
  constexpr std::size_t most = 4096;
  static const char* extended[most + 2];
  static char program[most];
  if (count > most || readlink("/proc/self/exe", program, most - 1) <= 0) return;
  std::memcpy(extended, environment, count * sizeof *environment);
  extended[count] = waiting_turns;
  execve(program, arguments, const_cast<char**>(extended));  // where it fails all goes on as it is
#else
  (void)arguments, (void)environment;
#endif
}

[[gnu::section(".preinit_array"), gnu::used]] static void (*const before_libraries)(int, char**, char**) = settle_early;

}  // namespace supple::cli
