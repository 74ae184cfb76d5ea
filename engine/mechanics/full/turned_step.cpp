#include "engine/mechanics/full/turned_step.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/extent.hpp"
#include "kernels/elements/turned_ops.hpp"

namespace supple {

namespace {

double largest_entry(std::span<const double> x) {
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

TurnedStep::TurnedStep(const FullModel& model, const NodePattern& pattern, FullElements& elements)
    : model_(model),
      pattern_(pattern),
      elements_(elements),
      solver_(make_sparse_direct("cholesky")),
      right_(3 * model.free_nodes.size()) {}

bool TurnedStep::factor() {
  if (factored_ != Factor::none) return factored_ == Factor::there;
  const std::vector<double> blocks = elements_.turn_blocks();
  const std::size_t nodes = model_.free_nodes.size();
  std::vector<double> values(pattern_.row.size(), 0.0);
  double sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (int i = pattern_.contribution_start[k]; i < pattern_.contribution_start[k + 1]; ++i)
      values[k] += blocks[9 * static_cast<std::size_t>(pattern_.source[extent(i)] / 2)];
  for (std::size_t j = 0; j < nodes; ++j) sum += values[extent(pattern_.column_start[j])];
  for (std::size_t j = 0; j < nodes; ++j)
    values[extent(pattern_.column_start[j])] += turn_shift * sum / static_cast<double>(nodes);
  solver_->analyse({static_cast<int>(nodes), 1, pattern_.column_start, pattern_.row}, Definiteness::positive);
  const bool done = solver_->factor(values.data()).status == FactorStatus::ok;
  factored_ = done ? Factor::there : Factor::failed;
  return done;
}

double TurnedStep::take(std::span<const double> u, std::span<double> du, std::span<double> dq) {
  forget();
  if (model_.free_nodes.empty() || factored_ == Factor::failed) return 1;
  const double turn = elements_.turn(u.data(), du.data(), right_.data());
  if (!(turn >= least_turn) || !factor()) return 1;
  double share = 1;
  if (turn > most_turn) {
    share = most_turn / turn;
    for (double& x : du) x *= share;
    for (double& x : dq) x *= share;
    elements_.turn(u.data(), du.data(), right_.data());
  }
  const std::size_t nodes = model_.free_nodes.size();
  std::vector<double> y(3 * nodes);  // component by component
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t k = 0; k < 3; ++k) y[k * nodes + i] = right_[3 * i + k];
  solver_->solve(y.data(), 3);
  if (!std::ranges::all_of(y, [](double value) { return std::isfinite(value); })) return share;
  end_.assign(u.begin(), u.end());
  for (std::size_t i = 0; i < end_.size(); ++i) end_[i] += du[i];
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      dq[3 * i + k] += y[k * nodes + i];
      end_[3 * extent(model_.free_nodes[i]) + k] += y[k * nodes + i];
    }
  length_ = largest_entry(dq);
  return share;
}

bool TurnedStep::ends_at(std::span<const double> u) const {
  if (end_.empty()) return false;
  for (std::size_t i = 0; i < u.size(); ++i)
    if (!(std::abs(u[i] - end_[i]) <= same_place * length_)) return false;
  return true;
}

}  // namespace supple
