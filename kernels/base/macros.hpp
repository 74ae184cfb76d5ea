#pragma once
// Code that runs on host and device is marked SUPPLE_HD; without nvcc the mark is empty.
#ifdef __CUDACC__
#define SUPPLE_HD __host__ __device__
#else
#define SUPPLE_HD
#endif
#define SUPPLE_INLINE SUPPLE_HD inline __attribute__((always_inline))
