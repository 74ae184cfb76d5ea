#include "engine/cli/interrupt.hpp"

namespace supple::cli {

namespace {

volatile sig_atomic_t flag = 0;

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
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
}

bool interrupted() {
  return flag != 0;
}

}  // namespace supple::cli
