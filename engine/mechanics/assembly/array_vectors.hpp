#pragma once
// Vectors within arrays of numbers.

#include <span>

#include "kernels/math/small.hpp"

namespace supple {

inline Vec3d vector_at(std::span<const double> x, std::size_t i) {
  return {{x[i], x[i + 1], x[i + 2]}};
}

inline void add(std::span<double> x, std::size_t i, const Vec3d& v) {
  for (std::size_t k = 0; k < 3; ++k) x[i + k] += v[static_cast<int>(k)];
}

}  // namespace supple
