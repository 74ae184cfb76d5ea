#include "engine/cli/shell/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <thread>

namespace supple::cli {

namespace {

volatile sig_atomic_t flag = 0;

constexpr int signals[] = {SIGINT, SIGHUP};

extern "C" void set_flag(int signal) {
  flag = 1;
  // The next one is not ours any more.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

sigset_t termination() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  return set;
}

[[noreturn]] void end_by_termination() {
  const sigset_t set = termination();
  std::signal(SIGTERM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(SIGTERM);
  _exit(128 + SIGTERM);
}

void pass_on_terminations() {
  const sigset_t set = termination();
  int signal = 0;
  while (sigwait(&set, &signal) == 0) {
    struct sigaction now {};
    sigaction(SIGINT, nullptr, &now);
    if (now.sa_handler != set_flag) end_by_termination();
    kill(getpid(), SIGINT);
  }
}

}  // namespace

InterruptGuard::InterruptGuard(bool restart) {
  flag = 0;
  struct sigaction action {};
  action.sa_handler = set_flag;
  sigemptyset(&action.sa_mask);
  action.sa_flags = restart ? SA_RESTART : 0;  // half-written output is completed
  for (int k = 0; k < 2; ++k) {
    sigaction(signals[k], nullptr, &before_[k]);
    if (signals[k] != SIGHUP || before_[k].sa_handler != SIG_IGN) sigaction(signals[k], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (int k = 0; k < 2; ++k) sigaction(signals[k], &before_[k], nullptr);
}

bool interrupted() {
  return flag != 0;
}

void receive_terminations() {
  // The thread takes no other signal: one that is passed on must break into a blocking read of another.
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  std::thread(pass_on_terminations).detach();
  sigaddset(&mask, SIGTERM);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace supple::cli
