#pragma once
// Contracts: a violated one is a bug of this program, never of its input. Checked in debug and sanitizer builds
// (SUPPLE_CONTRACTS=1), compiled away otherwise.

#include <cstdio>
#include <cstdlib>

namespace supple::detail {
[[noreturn]] inline void contract_failed(const char* kind, const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: %s violated: %s\n", file, line, kind, condition);
  std::abort();
}
}  // namespace supple::detail

#if defined(SUPPLE_CONTRACTS) && !defined(__CUDA_ARCH__)
#define SUPPLE_CONTRACT_(kind, condition) \
  ((condition) ? (void)0 : ::supple::detail::contract_failed(kind, #condition, __FILE__, __LINE__))
#else
#define SUPPLE_CONTRACT_(kind, condition) ((void)0)
#endif
#define SUPPLE_EXPECT(condition) SUPPLE_CONTRACT_("precondition", condition)
#define SUPPLE_ENSURE(condition) SUPPLE_CONTRACT_("postcondition", condition)
