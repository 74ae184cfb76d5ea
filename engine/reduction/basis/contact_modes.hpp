#pragma once
// Modes of the response of a body to contact that the modes of the snapshots lack: local indentation of the skin at the
// points that were in contact. At rest a force f on the collision points moves the body by S H^T f, its modes by S_r
// H^T f (rest_response.hpp). With W = diag(W_p) the weights of the points,
// clang-format off
//   W^1/2 H (S - S_r) H^T W^1/2 = V diag(e) V^T,      Z = S H^T W^1/2 V
// clang-format on
// (S - S_r) H^T is orthogonal to the modes in the norm of energy, so that its leading directions are those of the
// largest e, and N modes Z take away sum_{i <= N} e_i of the missing compliance sum_p tr(W_p (C_p - C_r,p)): no others
// take more (POD of the missing responses in the norm of energy). docs/theory/reduction.md#contact-modes
//
// For a free-floating body K + w^2 M replaces K, as in metric.hpp; the modes must then contain its rigid modes, so that
// S - S_r contains no rigid motion.

#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"

namespace supple {

// Weights of points that touch something: the mean over the states of n n^T + mu^2 (I - n n^T), summed over the
// obstacles that the point touches there, n their normals, and I where it is pushed; zero where it never is. `robot`:
// with its friction. Throws RunError where no state touches anything: modes that no training state moves along would
// leave the choice of elements open.
struct PointWeights {
  std::vector<int> point;     // mapped points
  std::vector<Mat3d> weight;  // of each
  int touching = 0;           // points that touch in some state
};
PointWeights point_weights(const FullModel& model, const Robot& robot, const std::string& folder,
                           const SnapshotSet& set);

// That of a point in one state: n n^T + mu^2 (I - n n^T), n of length one.
Mat3d touch_weight(const Vec3d& normal, double squared_friction);
// A point so near to an obstacle touches it: steps of one linearisation leave a point that moves along a curved
// obstacle 1e-4 of the body's size farther off than `distance`, at which it is held.
double touching_distance(const FullModel& model, double distance);

inline constexpr int most_contact_points = 1500;  // whose matrices have 0.8 GB, and K^-1 H^T 36 kB for each unknown

struct ContactModes {
  std::vector<double> basis;  // nv x (modes + count), column-major, orthonormal: the given ones, then the contact modes
  int count = 0;              // at most as many as were asked for: what remains is rounding
  // Share of the weighted compliance sum_p tr(W_p C_p) that the given modes lack, and all modes.
  double lacked = 0, lacks = 0;
};
// `count` contact modes for an orthonormal basis nv x modes, or as many as leave `share` of the weighted compliance
// lacking, if these are fewer. Throws InputError where the response at rest is not
// determined, or there are more points than their matrix has room for.
ContactModes join_contact_modes(const FullModel& model, std::vector<double> basis, int modes,
                                const PointWeights& weights, int count, double share = 0);

}  // namespace supple
