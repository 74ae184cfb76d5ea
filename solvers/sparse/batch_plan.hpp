#pragma once
// Symbolic half of a batched factorisation (batched_cholesky.hpp): where everything of one robot lies, what is done in
// which order, and how much memory a number of robots takes, known before any of it is allocated.

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/array/device.hpp"
#include "solvers/sparse/assembly_tree.hpp"
#include "solvers/sparse/front_schedule.hpp"

namespace supple {

/// Layout and order of work of a batch.
struct BatchForm {
  FrontOrder order = FrontOrder::by_fronts;
  int lanes = 1;           // robots of a group
  bool registers = false;  // a group is one register of a CPU thread
};
BatchForm batch_form(const Device& device);

/// Right-hand sides that a pass over the factor takes, at most.
inline constexpr int batch_right_sides = 6;

class BatchPlan {
 public:
  /// The pattern's blocks are nodes of three unknowns.
  BatchPlan(std::shared_ptr<const AssemblyTree> tree, const BatchForm& form);

  const AssemblyTree& tree() const { return *tree_; }
  const BatchForm& form() const { return form_; }
  int unknowns() const { return tree_->pattern.n; }
  int nodes() const { return unknowns() / 3; }
  int groups(int robots) const { return (robots + form_.lanes - 1) / form_.lanes; }
  /// Bytes that a BatchedCholesky of `robots` robots allocates on its device. The matrices and right-hand sides are the
  /// caller's: 8 bytes a number.
  std::size_t bytes(int robots) const {
    return shared_bytes_ + static_cast<std::size_t>(groups(robots)) * group_bytes_;
  }
  /// The largest batch within `bytes` bytes, in whole groups; 0 where not even one group fits.
  int robots_within(std::size_t bytes) const;

  std::vector<BatchFront> fronts;
  std::vector<int> contribution_start;
  std::vector<FrontContribution> contributions;
  std::vector<int> node_of_row;
  std::vector<int> source;
  std::vector<MatrixBlock> blocks;
  std::vector<int> node, diagonal_at;
  FrontSchedule schedule;
  std::ptrdiff_t factor_tiles = 0, update_tiles = 0, remaining_rows = 0;  // of one robot

 private:
  void place_fronts();
  void place_rows();
  void place_blocks();

  std::shared_ptr<const AssemblyTree> tree_;
  BatchForm form_;
  std::size_t shared_bytes_ = 0, group_bytes_ = 0;
};

}  // namespace supple
