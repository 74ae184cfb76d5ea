#pragma once
// In which order the ops of a batched factorisation run (kernels/fronts/front_batch.hpp): a list of steps, each a range
// of tasks that do not know of each other. Front after front (by_fronts), what a front needs is still in the cache of
// the one thread that works on a group of robots; level after level of the tree (by_levels), each step holds the work
// of many fronts and keeps a GPU busy. Bits are the same.

#include <vector>

#include "kernels/fronts/front_batch.hpp"

namespace supple {

enum class FrontOrder { by_fronts, by_levels };

enum class FrontPhase { update, diagonal, rows, status, forward_gather, backward_column };

struct FrontStep {
  FrontPhase phase;  // of a substitution, `diagonal` and `rows` are those of its direction
  int first, count;  // of the tasks
};

struct FrontSchedule {
  std::vector<FrontTask> tasks;
  std::vector<FrontStep> factor, forward, backward;
};

/// level [fronts]: depth below the root.
FrontSchedule schedule_fronts(const std::vector<BatchFront>& fronts, const std::vector<int>& level, FrontOrder order);

}  // namespace supple
