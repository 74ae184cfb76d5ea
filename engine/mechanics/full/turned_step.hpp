#pragma once
// Steps of Newton's method of a full model in statics by turning (kernels/elements/turned_ops.hpp): the linear step, and
// a correction that is the solution of a linear system of one unknown per free node, factored once.

#include <memory>
#include <span>
#include <vector>

#include "engine/mechanics/full/full_elements.hpp"
#include "solvers/sparse/direct.hpp"

namespace supple {

class TurnedStep {
 public:
  // All must outlive this object; elements: of one robot on a CPU.
  TurnedStep(const FullModel& model, const NodePattern& pattern, FullElements& elements);

  // From displacements u by a motion du of the nodes, both [mesh nodes][3], of which dq [nv] are the free ones: dq is
  // corrected, unless it turns nothing by an angle that matters. Returns the share of the step that it is, with which du
  // and dq were multiplied: 1 unless it turns too far.
  double take(std::span<const double> u, std::span<double> du, std::span<double> dq);
  // Whether an evaluation at u is the one at the end of the last step taken.
  bool ends_at(std::span<const double> u) const;
  void forget() { end_.clear(); }

 private:
  bool factor();

  const FullModel& model_;
  const NodePattern& pattern_;
  FullElements& elements_;
  std::unique_ptr<SparseDirect> solver_;
  enum class Factor { none, there, failed } factored_ = Factor::none;
  std::vector<double> right_, end_;  // [free nodes][3]; [mesh nodes][3], empty: there is no step
  double length_ = 0;                // largest entry of the motion [m]
};

}  // namespace supple
