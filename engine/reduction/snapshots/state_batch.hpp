#pragma once
// Full-order states of several robots at a time, their matrices factored together (solvers/sparse/lockstep.hpp) and, on
// a GPU, their elements evaluated together (engine/mechanics/full/shared_elements.hpp).

#include <optional>
#include <string>
#include <vector>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "kernels/array/device.hpp"
#include "solvers/sparse/batch_plan.hpp"

namespace supple {

struct StateBatch {
  // No number: one state after another. 0: as many as pay and memory holds.
  std::optional<int> robots;
  Device device;
  // Elements of all robots together also on the CPU, where otherwise each robot's thread has its own in its cache. Same
  // bits.
  bool share_elements = false;
  std::string solver = "auto";  // of states one after another: make_sparse_direct
  bool shares_elements() const { return share_elements || device.kind == Device::Kind::cuda; }
};

// "auto" or a number from 1. Throws InputError.
int parse_batch(const std::string& text);

// The options of `supple snapshots` that ask for batch and solver.
std::vector<std::string> words_of(const StateBatch& batch);

// How many robots of `most` at once. By itself: a group of lanes for each thread on the CPU; on a GPU as many as half
// of what is free there and in main memory holds. Throws CapabilityError where a number that was asked for, or one
// robot, has no room.
int batch_size(const StateBatch& batch, const BatchPlan& plan, const FullMechanics& mechanics, int most);

}  // namespace supple
