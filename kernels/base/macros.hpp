#pragma once
// Code that runs on host and device is marked SUPPLE_HD; without nvcc the mark is empty.
#ifdef __CUDACC__
#define SUPPLE_HD __host__ __device__
#else
#define SUPPLE_HD
#endif
#define SUPPLE_INLINE SUPPLE_HD inline __attribute__((always_inline))
// A function with all that it calls inlined: the same instructions, and so the same bits, in whatever file a copy of it is
// compiled. How much is inlined otherwise depends on the rest of a file, and with it which products are fused with sums.
// Not with sanitizers, nor by clang: minutes for a file.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define SUPPLE_WHOLE __attribute__((flatten))
#else
#define SUPPLE_WHOLE
#endif
// Asks for the line of cache that holds an address which is read soon.
#ifdef __CUDACC__
#define SUPPLE_PREFETCH(address) ((void)(address))
#else
#define SUPPLE_PREFETCH(address) __builtin_prefetch(address)
#endif
// Bytes of the widest SIMD register of the host build.
#ifdef __AVX512F__
#define SUPPLE_SIMD_BYTES 64
#else
#define SUPPLE_SIMD_BYTES 32
#endif
// Before a loop of few, constant turns over arrays that are to live in registers.
#if defined(__CUDA_ARCH__) || defined(__clang__)
#define SUPPLE_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define SUPPLE_UNROLL  // the host pass of nvcc: nothing of it is run
#else
#define SUPPLE_UNROLL _Pragma("GCC unroll 16")
#endif
// Before a loop for the vector units of a host compiler; with SUPPLE_SIMD_SUM(s) it may sum s in their order.
#ifdef __CUDACC__
#define SUPPLE_SIMD
#define SUPPLE_SIMD_SUM(...)
#else
#define SUPPLE_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define SUPPLE_SIMD SUPPLE_PRAGMA(omp simd)
#define SUPPLE_SIMD_SUM(...) SUPPLE_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#endif
