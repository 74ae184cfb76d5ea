#pragma once
// Random numbers as a function of a counter and a key: any of them, in any order, on any thread, with the same bits.
// Philox 4x32 of ten rounds. Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as
// easy as 1, 2, 3, SC11 (2011).

#include <array>
#include <cmath>
#include <cstdint>

namespace supple {

inline constexpr double two_pi = 6.283185307179586;

using RandomCounter = std::array<std::uint32_t, 4>;

inline RandomCounter philox(RandomCounter counter, std::uint64_t key) {
  auto first = static_cast<std::uint32_t>(key), second = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ first, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ second, static_cast<std::uint32_t>(a)};
    first += 0x9E3779B9;
    second += 0xBB67AE85;
  }
  return counter;
}

/// Of mean 0 and standard deviation 1: sqrt(-2 log u) cos(2 pi w), u in (0, 1], w in [0, 1) (Box and Muller, 1958).
inline double standard_normal(const RandomCounter& counter, std::uint64_t key) {
  const RandomCounter bits = philox(counter, key);
  const auto unit = [](std::uint32_t high, std::uint32_t low) {  // 53 bits in [0, 1)
    return static_cast<double>((std::uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
  };
  const double u = 1 - unit(bits[0], bits[1]), w = unit(bits[2], bits[3]);
  return std::sqrt(-2 * std::log(u)) * std::cos(two_pi * w);
}

}  // namespace supple
