// The elimination order is the same whoever asks for it.

#include "solvers/sparse/ordering.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace supple {
namespace {

// A grid of n^3 nodes, each joined to its six neighbours.
BlockGraph grid(int n) {
  BlockGraph graph;
  graph.n = n * n * n;
  graph.start = {0};
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const auto add = [&](int a, int b, int c) {
          if (a >= 0 && b >= 0 && c >= 0 && a < n && b < n && c < n) graph.neighbour.push_back(a + n * (b + n * c));
        };
        add(i, j, k - 1), add(i, j - 1, k), add(i - 1, j, k), add(i + 1, j, k), add(i, j + 1, k), add(i, j, k + 1);
        graph.start.push_back(static_cast<int>(graph.neighbour.size()));
      }
  return graph;
}

// METIS draws random numbers that all threads of a program share.
TEST(Ordering, IsTheSameInThreadsAtOnce) {
  const BlockGraph graph = grid(12);
  const std::vector<int> alone = nested_dissection(graph);
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::vector<std::vector<int>> orders(4);
    std::vector<std::thread> threads;
    for (auto& order : orders) threads.emplace_back([&] { order = nested_dissection(graph); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& order : orders) ASSERT_EQ(order, alone);
  }
}

}  // namespace
}  // namespace supple
