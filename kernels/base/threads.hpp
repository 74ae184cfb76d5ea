#pragma once
// Threads of OpenMP; code that is compiled without it has one (engine/runtime).

#ifdef _OPENMP
#include <omp.h>
#endif

namespace supple {

// How many threads a parallel region may have.
inline int most_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

// Number of this thread in its parallel region.
inline int this_thread() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

}  // namespace supple
