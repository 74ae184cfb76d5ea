#pragma once
// Processes that do one job together, on one machine or several; by default there is one. engine/mpi has those of MPI.

#include <functional>
#include <span>
#include <vector>

#include "kernels/base/error.hpp"

namespace supple {

struct Ranks {
  int rank = 0, size = 1;
  std::function<void(int to, std::span<const double> values)> send;
  std::function<std::vector<double>(int from)> receive;
  // Waits until all have come here; the lowest rank that states it has failed, or -1.
  std::function<int(bool failed)> agree;
};

// What a rank throws where only another one has failed, which has an error of its own.
class RankFailed final : public Error {
 public:
  explicit RankFailed(int rank) : Error("rank " + std::to_string(rank) + " failed", "its own message") {}
  int exit_code() const override { return 1; }
};

// Runs `work` on this rank and waits for the others: all get on, or all throw.
void together(const Ranks& ranks, const std::function<void()>& work);

// The values of rank 0 on all ranks.
void broadcast(const Ranks& ranks, std::vector<double>& values);

}  // namespace supple
