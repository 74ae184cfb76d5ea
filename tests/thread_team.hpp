#pragma once
// A team of CPU threads behaves as a thread block does: a missing barrier shows in its numbers (and under a thread
// sanitizer).

#include <barrier>
#include <thread>
#include <vector>

namespace supple::test {

struct ThreadTeam {
  int index, members;
  std::barrier<>* barrier;
  int rank() const { return index; }
  int size() const { return members; }
  void sync() const { barrier->arrive_and_wait(); }
};

// f(team) by every member.
template <class F>
void by_team(int members, F f) {
  std::barrier<> barrier(members);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < members; ++rank)
    threads.emplace_back([&, rank] { f(ThreadTeam{rank, members, &barrier}); });
}

}  // namespace supple::test
