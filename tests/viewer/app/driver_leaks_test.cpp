// Mesa keeps a few bytes of every context. Sanitizers are told so; what a program that a test starts leaks is not
// looked at, for there its driver is unloaded when leaks are sought.

#include <cstdlib>

namespace {

[[maybe_unused]] const int children = setenv("ASAN_OPTIONS", "detect_leaks=0", 0);

}  // namespace

#ifdef __SANITIZE_ADDRESS__
extern "C" const char* __lsan_default_suppressions() {
  return "leak:_dri.so\nleak:libgallium\nleak:libEGL\nleak:libLLVM\n";
}
#endif
