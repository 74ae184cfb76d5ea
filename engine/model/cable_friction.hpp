#pragma once
// Friction of a cable where it turns at its points: Coulomb's, as of a rope about a drum.
//
// Segment m - 1 of a path of m segments ends where the cable is pulled; turn k lies between the segments k - 1 and k.
// With the tension lambda of the row,
//   T_{m-1} = lambda,   T_{k-1} = T_k exp(-eta_k),   |eta_k| <= mu theta_k                    (Euler, Eytelwein)
// theta_k the angle by which the path turns there. eta_k follows the sliding s_k of the cable through the point, towards
// the end that is pulled: how much shorter the path beyond the point has become. Over ds
//   eta <- mu theta sign(ds) + (eta - mu theta sign(ds)) exp(-|ds|/slip_length)
// It does not depend on time: a cable that stands still keeps its tensions. Source: P. R. Dahl, "A solid friction
// model", 1968 (exponent 1), for the exponent of the capstan equation.

#include <span>
#include <vector>

#include "engine/model/robot.hpp"

namespace supple {

class CableFriction {
 public:
  /// Of each turn in State::history: eta, s since the rest [m], ds of the last step [m].
  static constexpr int numbers = 3;

  /// One of the robot's actuators.
  CableFriction(const ActuatorRow& cable, const Robot& robot);

  /// Points of the path [3 point_count, m], `history` as the step began [numbers x turns]. Where nothing has slid yet
  /// in this step, stiffness() is that of the last step's sliding, or with `either_way` that of the harder way: iterations
  /// do not know yet which it will be.
  void evaluate(const ActuatorRow& cable, std::span<const double> points, std::span<const double> history,
                bool either_way = false);

  /// The row's gradient [3 point_count], so that H^T lambda has the tensions above: in place of that of the length.
  void gradient(const ActuatorRow& cable, std::span<double> out) const;
  /// Tension over lambda, in the mean over the length: what a change of lambda does to the length, over what it would
  /// do without friction.
  double mean_weight() const { return mean_weight_; }
  /// Of each segment, per lambda [1/m]: kappa with sum kappa (dL_j/dy)(dL_j/dy)^T at least what friction adds to the
  /// stiffness, sum_k d(T_k - T_{k-1})/ds_k (ds_k/dy)(ds_k/dy)^T; it couples the ends of a segment only.
  std::span<const double> stiffness() const { return stiffness_; }
  /// What the history is where the step ends at these points.
  std::span<const double> history() const { return history_; }

 private:
  std::vector<double> weight_, stiffness_;  // [segments]
  std::vector<double> history_;             // [numbers x turns]
  std::vector<Vec3d> direction_;            // [segments]
  std::vector<double> length_, rest_length_;
  double mean_weight_ = 1;
};

}  // namespace supple
