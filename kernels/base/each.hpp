#pragma once
// Loops whose items do not know of each other, on as many threads as pay. Below `worth` items there is no parallel
// region at all, not even one of a single thread, which costs a third of a microsecond.

#include <cstddef>

namespace supple {

// From so many robots, or numbers, other threads are worth waking for what takes a robot a microsecond, or a number a
// nanosecond.
inline constexpr int many_robots = 64;
inline constexpr std::ptrdiff_t many_numbers = 1 << 15;

// f(0) ... f(n - 1), each writing only what is its own.
template <class Function>
void for_each_index(std::ptrdiff_t n, std::ptrdiff_t worth, const Function& f) {
  if (n < worth) {
    for (std::ptrdiff_t i = 0; i < n; ++i) f(i);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < n; ++i) f(i);
}

template <class Function>
void for_each_robot(int robots, const Function& f) {
  for_each_index(robots, many_robots, [&](std::ptrdiff_t b) { f(static_cast<int>(b)); });
}

// f(i) for the indices of a vector.
template <class Function>
void for_each_number(std::size_t n, const Function& f) {
  for_each_index(static_cast<std::ptrdiff_t>(n), many_numbers,
                 [&](std::ptrdiff_t i) { f(static_cast<std::size_t>(i)); });
}

}  // namespace supple
