#pragma once
// Constraints in inverse control: rows that end at zero whatever the actuators do, with multipliers of either sign.
// They leave the program: with a the actuators' rows and s the constraints',
// clang-format off
//   lambda_s = -W_ss^-1 (free_s + W_sa lambda_a + B_s dc)
//   W' = W_aa - W_as W_ss^-1 W_sa,   free' = free_a - W_as W_ss^-1 free_s,   B' = B_a - W_as W_ss^-1 B_s
// clang-format on
// and the same for the effectors' rows: the space of the actuators of a robot that obeys its constraints.

#include <vector>

#include "engine/step/constraint_law.hpp"

namespace supple {

class EqualityRows {
 public:
  /// Counts of a robot: rows kept (the first ones), rows that end at zero, rows of effectors, motions.
  EqualityRows(int robots, int kept, int equal, int effector_rows, int motions);
  int kept() const { return n_; }
  /// The space of the kept rows; valid until the next call. Zero for robots that are not independent().
  const ConstraintSpace& eliminate(const ConstraintSpace& space);
  /// Whether the rows that leave do not depend on each other.
  bool independent(int robot) const { return s_ == 0 || independent_[static_cast<std::size_t>(robot)] != 0; }
  /// lambda_s [equal] of one robot.
  void multipliers(int robot, const double* lambda_a, const double* dc, double* lambda_s) const;

 private:
  bool solves(const double* free, const double* W, int all, const double* Y) const;
  void forget(int robot);

  int n_, s_, e_, m_;
  ConstraintSpace reduced_;
  std::vector<double> phi_, free_, W_, B_, effector_free_, effector_W_, effector_B_;
  std::vector<double> factor_, solved_;  // solved [B][1 + n + m][s]: W_ss^-1 [free_s, W_sa, B_s]
  std::vector<int> pivots_;
  std::vector<double> scale_;  // of the eliminated rows
  std::vector<char> independent_;
};

}  // namespace supple
