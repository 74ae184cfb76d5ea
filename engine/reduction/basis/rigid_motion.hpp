#pragma once
// Rigid motions of free-floating bodies (Robot::floating): position and orientation of a body do not depend on its
// shape. Snapshots enter the basis, and states are compared, without their rigid part; six rigid modes restore the
// rigid motion of the reduced body (Goury & Duriez 2018, eq. 22).

#include <span>
#include <utility>
#include <vector>

#include "engine/model/full_model.hpp"

namespace supple {

// x -> R x + t.
struct RigidMotion {
  Mat3d rotation = Mat3d::identity();
  Vec3d translation{{0, 0, 0}};
  Vec3d operator()(const Vec3d& x) const { return rotation * x + translation; }
  double angle() const;                        // of the rotation, 0 to pi
  void apply(std::span<double> points) const;  // three coordinates each
};

// Best rigid motions between shapes of a floating body (W. Kabsch, Acta Cryst. A32, 1976), its nodes weighted with the
// row sums of the mass matrix. A shape is given by the displacements q [nv, m].
class RigidFit {
 public:
  explicit RigidFit(const FullModel& model);
  RigidFit(std::vector<Vec3d> rest, std::vector<double> mass) : rest_(std::move(rest)), mass_(std::move(mass)) {}
  // The motion that minimises sum_i m_i |R (X_i + from_i) + t - (X_i + onto_i)|^2. Unique where the body is no line.
  RigidMotion between(std::span<const double> from, std::span<const double> onto) const;
  Vec3d centre(std::span<const double> q) const;  // weighted mean of the nodes
  // q <- displacements of the shape q after the motion: R (X + q) + t - X.
  void move(const RigidMotion& motion, std::span<double> q) const;
  // The motion that brings q nearest to rest, done.
  RigidMotion remove(std::span<double> q) const;

 private:
  std::vector<Vec3d> rest_;   // [nodes]
  std::vector<double> mass_;  // [nodes, kg]
};

// Relative position of two copies of a free-floating body, full and reduced, and their position relative to rest; means
// over the nodes.
struct Whereabouts {
  double turned = 0;                       // angle of the best rotation of the reduced copy onto the full one [rad]
  double travelled = 0;                    // of the full one's mean from rest [m]
  double strayed = 0;                      // between the means of both [m]
  void include(const Whereabouts& other);  // the larger of each
};
// Takes both copies, displacements u [3 nodes] and points y in space, to rest by the full one's best motion, the
// reduced one after the best motion onto the full one: what differs then is the shape.
Whereabouts bring_to_rest(const RigidFit& fit, std::span<double> u_full, std::span<double> y_full,
                          std::span<double> u_reduced, std::span<double> y_reduced);

// Orthonormal (Euclidean, as all modes are): three translations, entry by entry the same number, then three linearised
// rotations about the mean of the nodes. [6][nv].
std::vector<double> rigid_modes(const FullModel& model);

// q <- q - R R^T q for each of the columns of q [count][nv]; modes: R, orthonormal [any][nv].
void remove_modes(std::span<const double> modes, int nv, std::span<double> q);

// [R, Phi - R R^T Phi] (eq. 22), orthonormal to rounding; first: R, orthonormal; more: Phi, independent unit columns
// [any][nv], of which one that R has is an error of the caller.
std::vector<double> join_modes(std::span<const double> first, std::span<const double> more, int nv);

}  // namespace supple
