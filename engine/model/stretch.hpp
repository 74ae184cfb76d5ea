#pragma once
// Rest shapes that parameters of type stretch make of a body:
//   X' = X + sum_k (s_k - 1) t_k(X) d_k,   t_k(X) = clamp(d_k . X, begin_k, end_k) - about_k.
// In an element t_k is interpolated between its nodes, so that a point has there
//   A = dX'/dX = I + sum_k (s_k - 1) d_k b_k^T,   b_k = sum_a t_k(X_a) g_a,
// gradients A^-T g_a, displacement gradients H A^-1 and volumes det A V. As each stretch moves along one direction,
// masses are linear in each s_k by itself: sums over subsets of them (MassTerm).

#include <span>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

/// Numbers in Robot::parameters of those of type stretch, in their order: "stretch k" is the k-th of these.
std::vector<int> stretches_of(const Robot& robot);

/// t_k(X) [m].
double stretched_along(const Parameter& stretch, const Vec3d& X);

inline constexpr std::size_t most_stretches = 4;

/// t_k(X) of all stretches [stretches] [m].
std::vector<double> stretched_along(const Robot& robot, const Vec3d& X);

/// A shape: s_k - 1 of every stretch.
class RestShape {
 public:
  /// values: of all parameters.
  RestShape(const Robot& robot, std::span<const double> values);
  int stretches() const { return static_cast<int>(change_.size()); }
  /// X' - X, of the t_k of one place [stretches].
  Vec3d shift(const double* along) const;
  /// A, of the b_k of one point [stretches][3].
  Mat3d gradient(const double* slope) const;
  /// prod_{k in subset} (s_k - 1); bit k of `subset`: stretch k is in it.
  double factor(unsigned subset) const;

 private:
  std::vector<double> change_;
  std::vector<Vec3d> direction_;
};

/// Whether det A > 0 at all points [points][stretches][3] and for all values in the ranges of the stretches.
bool stays_upright(const Robot& robot, const std::vector<double>& slopes);

/// sum_a t_k(X_a) g_a of the points of a field [points][stretches][3], at the nodes' places X.
std::vector<double> stretch_slopes(const Robot& robot, const std::vector<Vec3d>& X, const ElementField& field);
/// t_k of mapped points, which their nodes carry [points][stretches] [m].
std::vector<double> stretch_of_points(const FullModel& nominal);

/// H A^-1 of a tile of gradients F = I + H, and det A P A^-T of stresses: a point's generalised forces in this shape.
/// slope: of its first point; points: in the tile.
void enter_shape(const RestShape& shape, const double* slope, int points, double* F);
void leave_shape(const RestShape& shape, const double* slope, int points, double* P);

/// values += sum over subsets of the shape's factor times the term of the subset k + 1.
void add_mass_terms(const RestShape& shape, std::span<const std::vector<double>* const> terms,
                    std::vector<double>& values);
/// Places at rest and what rows are made of there; along: t_k of mapped points. Lengths that the scene gives stay.
void set_shape(const Robot& nominal, const RestShape& shape, const std::vector<double>& along, Robot& robot);
/// The model in a shape, in the place of a model of the same parts. Its masses are those of `nominal` before.
void set_shape(const FullModel& nominal, const RestShape& shape, FullModel& model);
void set_shape(const ReducedModel& nominal, const RestShape& shape, ReducedModel& model);

}  // namespace supple
