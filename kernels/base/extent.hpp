#pragma once
// Products of int extents as std::size_t, for sizes and offsets of arrays: no overflow where int would.

#include <cstddef>

namespace supple {

constexpr std::size_t extent(int a, int b = 1, int c = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
}

}  // namespace supple
