// What the emulated GPU counts of loads and stores, from patterns whose cost on a GPU is known.

#include "kernels/emulation/traffic.hpp"

#include <gtest/gtest.h>

namespace supple::emulation {
namespace {

class EmulatedTraffic : public testing::Test {
 protected:
  // One instruction of every thread of a warp, thread t at address(t).
  template <class Address>
  void warp(const char* place, std::size_t bytes, bool writes, bool shared, const Address& address) {
    for (unsigned t = 0; t < 32; ++t)
      traffic_.access(t, place, reinterpret_cast<const void*>(base + address(t)), bytes, writes, shared);
  }
  template <class Run>
  TrafficRow kernel(const Run& run) {
    traffic_.begin_kernel("kernel", 1);
    run();
    traffic_.end_kernel();
    return traffic_.rows().at("kernel");
  }
  static constexpr std::uintptr_t base = 1 << 20;
  Traffic traffic_{"unused"};
  const char places_[4] = {};
};

TEST_F(EmulatedTraffic, NeighbouringDoublesShareSectors) {
  const TrafficRow row = kernel([&] { warp(places_, 8, false, false, [](unsigned t) { return 8 * t; }); });
  EXPECT_EQ(row.instructions, 1u);
  EXPECT_EQ(row.sectors, 8u);
  EXPECT_EQ(row.read, 256u);
  EXPECT_EQ(row.written, 0u);
}

TEST_F(EmulatedTraffic, DistantDoublesDoNot) {
  const TrafficRow row = kernel([&] { warp(places_, 8, true, false, [](unsigned t) { return 128 * t; }); });
  EXPECT_EQ(row.sectors, 32u);
  EXPECT_EQ(row.written, 32u * 32);
}

// The memory moves a sector once a launch however often it is asked for.
TEST_F(EmulatedTraffic, WhatACacheHoldsIsMovedOnce) {
  const auto twice = [&] {
    for (int k = 0; k < 2; ++k) warp(places_, 4, false, false, [](unsigned t) { return 4 * t; });
    warp(places_ + 1, 4, true, false, [](unsigned t) { return 4 * t; });
  };
  EXPECT_EQ(kernel(twice).read, 128u);
  const TrafficRow row = kernel(twice);
  EXPECT_EQ(row.launches, 2u);
  EXPECT_EQ(row.read, 256u);
  EXPECT_EQ(row.written, 256u);
  EXPECT_EQ(row.instructions, 6u);
  EXPECT_EQ(row.sectors, 24u);
}

// Half a warp of doubles is a turn.
TEST_F(EmulatedTraffic, BanksThatThreadsShareCostTurns) {
  const auto turns = [&](std::size_t bytes, unsigned stride) {
    const TrafficRow before = traffic_.rows().contains("kernel") ? traffic_.rows().at("kernel") : TrafficRow();
    const TrafficRow row = kernel([&] { warp(places_, bytes, false, true, [=](unsigned t) { return stride * t; }); });
    return std::pair(row.shared - before.shared, row.conflicts - before.conflicts);
  };
  EXPECT_EQ(turns(8, 8), std::pair(std::uint64_t{2}, std::uint64_t{0}));
  EXPECT_EQ(turns(8, 128), std::pair(std::uint64_t{32}, std::uint64_t{30}));  // one bank
  EXPECT_EQ(turns(8, 136), std::pair(std::uint64_t{2}, std::uint64_t{0}));    // padded
  EXPECT_EQ(turns(8, 0), std::pair(std::uint64_t{2}, std::uint64_t{0}));      // one double for all
  EXPECT_EQ(turns(4, 8), std::pair(std::uint64_t{2}, std::uint64_t{1}));      // every other bank
  EXPECT_EQ(turns(32, 32), std::pair(std::uint64_t{16}, std::uint64_t{8}));   // two instructions of 16 bytes
}

// Threads that come to a place the k-th time go together, in the order of the warp or not; a barrier begins anew.
TEST_F(EmulatedTraffic, ThreadsOfAWarpGoTogether) {
  const TrafficRow row = kernel([&] {
    for (unsigned t = 0; t < 64; ++t)
      for (unsigned k = 0; k < 3; ++k)
        traffic_.access(t, places_, reinterpret_cast<const void*>(base + 4 * (64 * k + t)), 4, false, false);
    traffic_.end_phase();
    warp(places_, 4, false, false, [](unsigned t) { return 4 * t; });
  });
  EXPECT_EQ(row.instructions, 2u * 3 + 1);
  EXPECT_EQ(row.sectors, 7u * 4);
}

TEST_F(EmulatedTraffic, LibrariesCountTheirOperands) {
  traffic_.operands("gemm", 100, 20);
  traffic_.operands("gemm", 100, 20);
  EXPECT_EQ(traffic_.rows().at("gemm").read, 200u);
  EXPECT_EQ(traffic_.rows().at("gemm").launches, 2u);
}

}  // namespace
}  // namespace supple::emulation
