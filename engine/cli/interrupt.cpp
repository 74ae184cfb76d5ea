#include "engine/cli/interrupt.hpp"

namespace supple::cli {

namespace {

volatile sig_atomic_t flag = 0;

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void set_flag(int signal) {
  flag = 1;
  // The next one is not ours any more.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard(bool restart) {
  flag = 0;
  struct sigaction action {};
  action.sa_handler = set_flag;
  sigemptyset(&action.sa_mask);
  action.sa_flags = restart ? SA_RESTART : 0;  // half-written output goes on
  for (int k = 0; k < 3; ++k) {
    sigaction(signals[k], nullptr, &before_[k]);
    if (signals[k] != SIGHUP || before_[k].sa_handler != SIG_IGN) sigaction(signals[k], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (int k = 0; k < 3; ++k) sigaction(signals[k], &before_[k], nullptr);
}

bool interrupted() {
  return flag != 0;
}

}  // namespace supple::cli
