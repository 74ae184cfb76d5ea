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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define SUPPLE_STARTS_AGAIN 0  // sanitizers are not ready so early; clang has another OpenMP
#else
#define SUPPLE_STARTS_AGAIN 1
#endif

namespace supple::cli {

// How often a thread that waits polls before it sleeps: some tens of microseconds.
inline constexpr char polls[] = "GOMP_SPINCOUNT=10000";

inline bool is_set(const char* entry, const char* name) {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// The file of this process in `path`, if it is one of our programs: not the loader or a tool that runs them.
inline bool find_program(char* path, std::size_t size) {
  const ssize_t length = readlink("/proc/self/exe", path, size - 1);
  if (length <= 0) return false;
  path[length] = 0;
  const char* name = std::strrchr(path, '/');
  return name != nullptr && std::strncmp(name + 1, "supple", 6) == 0;
}

inline void start_again(char** arguments, char** environment) {
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count)
    if (is_set(environment[count], "GOMP_SPINCOUNT") || is_set(environment[count], "OMP_WAIT_POLICY")) return;
  constexpr std::size_t most = 4096;
  static const char* extended[most + 2];
  static char program[most];
  if (count > most || !find_program(program, most)) return;
  std::memcpy(extended, environment, count * sizeof *environment);
  extended[count] = polls;
  execve(program, arguments, const_cast<char**>(extended));  // where it fails the program continues as it is
}

// Runs before the sanitizers' own initialisation.
[[gnu::no_sanitize_address]] inline void settle_early(int, [[maybe_unused]] char** arguments,
                                                      [[maybe_unused]] char** environment) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
#if SUPPLE_STARTS_AGAIN
  start_again(arguments, environment);
#endif
}

[[gnu::section(".preinit_array"), gnu::used]] static void (*const before_libraries)(int, char**, char**) = settle_early;

}  // namespace supple::cli
