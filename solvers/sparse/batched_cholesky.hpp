#pragma once
// A_b = L_b S_b L_b^T and A_b X_b = B_b for many robots b with one sparsity pattern and three unknowns at each node, in
// lockstep on a device: multifrontal factorisation without pivoting as in multifrontal.hpp, with one analysis for all
// (batch_plan.hpp). What a robot gets does not depend on the others, their number or threads, to the last bit; against
// MultifrontalCholesky sums have another order. A robot whose matrix gets no factor is named and costs what every other
// costs; what to do with it is the caller's (make_sparse_pivoting).

#include <memory>
#include <span>
#include <vector>

#include "kernels/array/array.hpp"
#include "solvers/sparse/batch_plan.hpp"
#include "solvers/sparse/pivot_status.hpp"

namespace supple {

class BatchedCholesky {
 public:
  /// Allocates plan.bytes(robots) on the device. Throws CapabilityError where it does not exist or has no memory left.
  BatchedCholesky(const Device& device, std::shared_ptr<const BatchPlan> plan, int robots);

  int robots() const { return robots_; }
  const BatchPlan& plan() const { return *plan_; }
  std::size_t bytes() const;  // allocated

  /// values: on the device, the lower triangle of robot b, ordered as the pattern, at values + b * stride. status
  /// [robots]: as MultifrontalCholesky::factor would answer for an indefinite matrix. Returns how many have a factor.
  int factor(const double* values, std::ptrdiff_t stride, double smallest_pivot, std::span<PivotStatus> status);
  /// [robots] of the last factorisation: how many eigenvalues are negative.
  std::span<const int> negative_pivots() const { return negative_pivots_; }
  /// X [robots][count][n] in place, on the device; robots without a factor keep theirs.
  void solve(double* X, int count);

 private:
  FrontBatch view();
  template <class MakeOp>
  void run(const std::vector<FrontStep>& steps, const MakeOp& make);
  template <class Op>
  void launch_groups(const Op& op, int groups);
  template <int R>
  void solve_pass(double* X, int count, int first, int width);

  Device device_;
  std::shared_ptr<const BatchPlan> plan_;
  int robots_;
  Array<BatchFront> fronts_;
  Array<int> contribution_start_;
  Array<FrontContribution> contributions_;
  Array<int> node_of_row_;
  Array<int> source_;
  Array<MatrixBlock> blocks_;
  Array<int> node_, diagonal_at_;
  Array<FrontTask> tasks_;
  Array<double> factor_, updates_, right_, remaining_, signs_;
  Array<int> front_negative_, front_status_, status_, negative_;
  std::vector<int> negative_pivots_;
};

}  // namespace supple
