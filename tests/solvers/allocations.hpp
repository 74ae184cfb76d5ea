#pragma once
// Counts allocations of the test program; operators new in box_complementarity_test.cpp. The address sanitizer has its
// own operators.

#ifndef __SANITIZE_ADDRESS__
#define SUPPLE_COUNT_ALLOCATIONS 1

#include <atomic>

namespace supple::test {
extern std::atomic<long> allocations;
}
#endif
