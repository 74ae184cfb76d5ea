#include "solvers/sparse/batched_cholesky.hpp"

#include <algorithm>
#include <limits>

#include "kernels/array/launch.hpp"
#include "kernels/base/each.hpp"
#include "kernels/fronts/front_factor_ops.hpp"
#include "kernels/fronts/front_solve_ops.hpp"
#include "solvers/sparse/backends.hpp"

namespace supple {
namespace {

template <class T>
Array<T> copy_of(const Device& device, const std::vector<T>& list) {
  return Array<T>(device, std::span<const T>(list));
}

std::size_t robot_numbers(const BatchPlan& plan, int robots, std::ptrdiff_t numbers) {
  return static_cast<std::size_t>(plan.groups(robots)) * static_cast<std::size_t>(plan.form().lanes) *
         static_cast<std::size_t>(numbers);
}

}  // namespace

BatchedCholesky::BatchedCholesky(const Device& device, std::shared_ptr<const BatchPlan> plan, int robots)
    : device_(device),
      plan_(std::move(plan)),
      robots_(robots),
      fronts_(copy_of(device, plan_->fronts)),
      contribution_start_(copy_of(device, plan_->contribution_start)),
      contributions_(copy_of(device, plan_->contributions)),
      node_of_row_(copy_of(device, plan_->node_of_row)),
      source_(copy_of(device, plan_->source)),
      blocks_(copy_of(device, plan_->blocks)),
      node_(copy_of(device, plan_->node)),
      diagonal_at_(copy_of(device, plan_->diagonal_at)),
      tasks_(copy_of(device, plan_->schedule.tasks)),
      factor_(device, robot_numbers(*plan_, robots, plan_->factor_tiles * front_tile)),
      updates_(device, robot_numbers(*plan_, robots, plan_->update_tiles * front_tile)),
      right_(device, robot_numbers(*plan_, robots, plan_->nodes() * 3 * batch_right_sides)),
      remaining_(device, robot_numbers(*plan_, robots, plan_->remaining_rows * 3 * batch_right_sides)),
      signs_(device, robot_numbers(*plan_, robots, plan_->nodes() * 3)),
      front_negative_(device, robot_numbers(*plan_, robots, plan_->tree().count())),
      front_status_(device, robot_numbers(*plan_, robots, plan_->tree().count())),
      status_(device, robot_numbers(*plan_, robots, 1)),
      negative_(device, robot_numbers(*plan_, robots, 1)) {
  SUPPLE_EXPECT(robots >= 0 && (!plan_->form().registers || device.kind == Device::Kind::cpu));
}

std::size_t BatchedCholesky::bytes() const {
  const auto of = [](const auto&... array) { return (0 + ... + (array.size() * sizeof(*array.data()))); };
  return of(fronts_, contribution_start_, contributions_, node_of_row_, source_, blocks_, node_, diagonal_at_, tasks_,
            factor_, updates_, right_, remaining_, signs_, front_negative_, front_status_, status_, negative_);
}

FrontBatch BatchedCholesky::view() {
  return {.fronts = fronts_.data(),
          .contribution_start = contribution_start_.data(),
          .contributions = contributions_.data(),
          .node_of_row = node_of_row_.data(),
          .source = source_.data(),
          .blocks = blocks_.data(),
          .front_count = plan_->tree().count(),
          .node = node_.data(),
          .diagonal_at = diagonal_at_.data(),
          .robots = robots_,
          .lanes = plan_->form().lanes,
          .first_group = 0,
          .factor_tiles = plan_->factor_tiles,
          .update_tiles = plan_->update_tiles,
          .nodes = plan_->nodes(),
          .remaining_rows = plan_->remaining_rows,
          .factor = factor_.data(),
          .updates = updates_.data(),
          .right = right_.data(),
          .remaining = remaining_.data(),
          .signs = signs_.data(),
          .front_negative = front_negative_.data(),
          .front_status = front_status_.data(),
          .status = status_.data(),
          .negative = negative_.data()};
}

// In chunks whose indices fit an int.
template <class Op>
void BatchedCholesky::launch_groups(const Op& op, int groups) {
  const int of_group = op.count * op.batch.lanes, portion = std::max(1, std::numeric_limits<int>::max() / of_group);
  Op part = op;
  for (int first = 0; first < groups; first += portion) {
    part.batch.first_group = first;
    launch(device_, std::min(portion, groups - first) * of_group, part);
  }
}

// make(step, go) calls go with the op of a step.
template <class MakeOp>
void BatchedCholesky::run(const std::vector<FrontStep>& steps, const MakeOp& make) {
  const int groups = plan_->groups(robots_);
  if (plan_->form().registers) {
    for_each_index(groups, 2, [&](std::ptrdiff_t group) {
      for (const FrontStep& step : steps)
        make(step, [&](const auto& op) {
          for (int t = 0; t < op.count; ++t) op.template run<Pack<double>>(static_cast<int>(group), t, 0);
        });
    });
    return;
  }
  for (const FrontStep& step : steps) make(step, [&](const auto& op) { launch_groups(op, groups); });
}

int BatchedCholesky::factor(const double* values, std::ptrdiff_t stride, double smallest_pivot,
                            std::span<PivotStatus> status) {
  SUPPLE_EXPECT(status.size() == static_cast<std::size_t>(robots_));
  if (robots_ == 0) return 0;
  const FrontBatch batch = view();
  run(plan_->schedule.factor, [&](const FrontStep& step, const auto& go) {
    const FrontTask* tasks = tasks_.data() + step.first;
    if (step.phase == FrontPhase::update)
      go(FrontUpdateOp{batch, tasks, step.count, values, stride});
    else if (step.phase == FrontPhase::diagonal)
      go(FrontDiagonalOp{batch, tasks, step.count, values, stride, smallest_pivot, sparse_nearly_singular,
                         sparse_most_growth});
    else if (step.phase == FrontPhase::rows)
      go(FrontRowsOp{batch, tasks, step.count, values, stride, sparse_most_growth});
    else
      go(FrontStatusOp{batch});
  });
  std::vector<int> codes(status_.size());
  status_.download(codes);
  negative_pivots_.resize(negative_.size());
  negative_.download(negative_pivots_);
  negative_pivots_.resize(status.size());
  for (int b = 0; b < robots_; ++b)
    status[static_cast<std::size_t>(b)] = static_cast<PivotStatus>(codes[static_cast<std::size_t>(b)]);
  return static_cast<int>(std::count(status.begin(), status.end(), PivotStatus::ok));
}

template <int R>
void BatchedCholesky::solve_pass(double* X, int count, int first, int width) {
  const FrontBatch batch = view();
  const FrontRightSides sides{X, plan_->unknowns(), count, first, width};
  run(plan_->schedule.forward, [&](const FrontStep& step, const auto& go) {
    const FrontTask* tasks = tasks_.data() + step.first;
    if (step.phase == FrontPhase::forward_gather)
      go(ForwardGatherOp<R>{batch, tasks, step.count, sides});
    else if (step.phase == FrontPhase::diagonal)
      go(ForwardDiagonalOp<R>{batch, tasks, step.count});
    else
      go(ForwardRowsOp<R>{batch, tasks, step.count});
  });
  run(plan_->schedule.backward, [&](const FrontStep& step, const auto& go) {
    const FrontTask* tasks = tasks_.data() + step.first;
    if (step.phase == FrontPhase::backward_column)
      go(BackwardColumnOp<R>{batch, tasks, step.count});
    else
      go(BackwardDiagonalOp<R>{batch, tasks, step.count, sides});
  });
}

void BatchedCholesky::solve(double* X, int count) {
  if (robots_ == 0) return;
  for (int first = 0; first < count; first += batch_right_sides) {
    const int width = std::min(batch_right_sides, count - first);
    if (width == 1)
      solve_pass<1>(X, count, first, width);
    else
      solve_pass<batch_right_sides>(X, count, first, width);
  }
}

}  // namespace supple
