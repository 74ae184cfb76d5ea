#pragma once
// Inertia of a soft body in a frame that moves and turns. r = X + u: places in the body's axes, from their origin; the
// coordinates alpha move them by u = sum alpha_j phi_j. Sums are over masses of nodes, with the coupling between nodes
// that a consistent mass has. The frame has the velocity V of its origin and the turn Omega, in its own axes:
//   w = V + Omega x r + u'              velocity of a place
//   P = sum m w,  L = sum m r x w,  p_j = sum m phi_j . w
//   sum m (Omega x (w - V)) . phi_j     what p_j - sum m V . phi_j loses to the turn: centrifugal, Coriolis forces
// Source: A. A. Shabana, Dynamics of Multibody Systems, chapter 5 (floating frame of reference).

#include <span>
#include <vector>

#include "engine/model/pose.hpp"

namespace supple {

struct FullModel;
struct ReducedModel;

/// Constants of a body, in its own axes.
struct BodyInertia {
  RigidInertia rest;                // at u = 0; without mass: not known
  std::vector<double> translation;  // [nv][3] sum m phi_j [kg]
  /// [nv][9] sum m X phi_j^T [kg m]; empty: not known, or that of a full model
  std::vector<double> first;
  /// [nv][nv][9] sum m phi_k phi_j^T, k before j [kg]; as `first`
  std::vector<double> second;
  const FullModel* full = nullptr;  // computes from its nodes instead
  /// Whether the body can be carried by a frame that turns.
  bool turns() const { return rest.mass > 0 && (full != nullptr || !second.empty()); }
};

/// The model must outlive it.
BodyInertia body_inertia(const FullModel& model);
/// Imported models and older files know the translations alone.
BodyInertia body_inertia(const ReducedModel& model);
/// Of a reduced model with these modes (column-major [nv][modes]).
BodyInertia project_inertia(const FullModel& full, std::span<const double> basis, int modes);

/// A body in a frame, at a place of its own; everything in the axes of the frame, about its origin.
class CarriedInertia {
 public:
  CarriedInertia() = default;
  /// place: of the body in the frame. A body that does not turn (BodyInertia::turns) has translations alone.
  CarriedInertia(const BodyInertia& inertia, const Pose& place);

  /// What depends on the coordinates.
  struct At {
    Vec3d moment{{0, 0, 0}};       // sum m u [kg m]
    Mat3d second = Mat3d::zero();  // sum m (r r^T - X X^T) [kg m^2]
    std::vector<double> rotation;  // [nv][3] sum m r x phi_j [kg m]
    std::vector<double> products;  // reduced: [nv][9] sum m r phi_j^T; full: [nodes][3] M u
  };
  int coordinates() const { return nv_; }
  /// sum m phi_j [nv][3].
  std::span<const double> translation() const { return translation_; }
  void evaluate(std::span<const double> alpha, At& at) const;
  /// out_j -= scale sum m (Omega x (w - V)) . phi_j, with w of `turn` Omega and `rates` alpha'.
  void add_apparent_forces(const At& at, const Vec3d& turn, std::span<const double> rates, double scale,
                           std::span<double> out) const;

 private:
  int nv_ = 0;
  bool turns_ = false;
  std::vector<double> translation_;     // [nv][3]
  std::vector<double> first_, second_;  // [nv][9], [nv][nv][9]
  std::vector<double> twist_;           // [nv][nv][3] sum m phi_k x phi_j
  const FullModel* full_ = nullptr;
  Mat3d axes_ = Mat3d::identity();             // full: of the body in the frame
  std::vector<Vec3d> places_, rest_products_;  // full: X of the nodes, M X
};

}  // namespace supple
