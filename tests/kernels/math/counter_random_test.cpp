// Philox gives the numbers of its authors' known answers, and normal numbers have the moments of the distribution.

#include "kernels/math/counter_random.hpp"

#include <gtest/gtest.h>

namespace supple {
namespace {

// From the known answers of Random123, kat_vectors: philox4x32, 10 rounds.
TEST(CounterRandom, GivesKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (RandomCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
            (RandomCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (RandomCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(CounterRandom, NormalNumbersHaveTheirMoments) {
  constexpr int n = 100'000;
  double sum[4] = {};
  for (std::uint32_t i = 0; i < n; ++i) {
    const double x = standard_normal({i, 0, 7, 1}, 42);
    for (int k = 0; k < 4; ++k) sum[k] += std::pow(x, k + 1);
  }
  // Four standard deviations of the estimates: variances of x, x^2, x^3, x^4 are 1, 2, 15, 96.
  EXPECT_NEAR(sum[0] / n, 0, 4 * std::sqrt(1.0 / n));
  EXPECT_NEAR(sum[1] / n, 1, 4 * std::sqrt(2.0 / n));
  EXPECT_NEAR(sum[2] / n, 0, 4 * std::sqrt(15.0 / n));
  EXPECT_NEAR(sum[3] / n, 3, 4 * std::sqrt(96.0 / n));
}

}  // namespace
}  // namespace supple
