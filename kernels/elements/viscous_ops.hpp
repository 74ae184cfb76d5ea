#pragma once
// Viscosity of materials: springs and dashpots beside the law, for the part of it that changes the shape. A branch with
// the viscosity eta (a modulus relative to the law's, times a time) and the relaxation time tau has
//   S_v = eta/tau (S - z),   tau dz/dt = S - z     Maxwell, with the modulus g = eta/tau
//   S_v = eta dS/dt                                Kelvin-Voigt: tau = 0
// where S = F^-1 P is the second Piola-Kirchhoff stress of the law with as much of its volumetric modulus as leaves it no
// bulk modulus at rest, and z a state of the point (J. C. Simo, On a fully three-dimensional finite-strain viscoelastic
// damage model, 1987, in the form without a projection at every time; a sum of branches is a Prony series). Implicit
// Euler over a step h, of first order as the step is:
//   z' = (tau z + h S')/(tau + h),   S_v' = k (S' - z),   k = eta/(tau + h).
// With z from the step's start the stress at its end is that of a law with more shear modulus and a constant stress:
//   P' = P(F'; p + sum_k p_shape) + F' H,   H = -sum k z.
// z: [robots] tiles of 6 `terms` components, those of a term after each other.

#include "kernels/elements/point_ops.hpp"

namespace supple {

// H. Index: robot * padded(points) + point.
template <class S>
struct HeldStressOp {
  int points, terms;
  const int* region;     // [points]
  const S* viscosity;    // [regions][terms] s
  const S* time;         // [regions][terms] s
  S step;                // h, s
  const S* z;            // of the field, of the first robot [Pa]
  std::size_t z_stride;  // from robot to robot
  S* H;
  SUPPLE_HD void operator()(int k) const {
    const int stride = padded(points), robot = k / stride, p = k % stride;
    const int first = terms * region[p < points ? p : points - 1];
    const S* own = z + static_cast<std::size_t>(robot) * z_stride;
    S* out = H + static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride) * symmetric_components;
    for (int c = 0; c < symmetric_components; ++c) {
      S sum = S(0);
      for (int t = 0; t < terms; ++t)
        if (viscosity[first + t] != S(0))
          sum -= viscosity[first + t] / (time[first + t] + step) *
                 own[tile_index(p, symmetric_components * t + c, symmetric_components * terms)];
      out[tile_index(p, c, symmetric_components)] = sum;
    }
  }
};

// w times what a viscous step adds to the tangent, in TangentOp's form.
template <class Law, class S>
struct ViscousTangentOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  TangentKind kind;
  const S* F;
  S* C;
  template <class V>
  SUPPLE_INLINE void points(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    V tangent[81];
    set_zero(tangent);
    add_viscous_tangent<Law>(field, robot, p, load_tile<V>(F + base * 9, p), kind, tangent);
    const V weight = load_points<V, Law>(field, robot, p).weight;
    for (int c = 0; c < 81; ++c) store_lanes(C + base * 81 + tile_index(p, c, 81), weight * tangent[c]);
  }
  SUPPLE_HD void operator()(int k) const { points<S>(k); }
#ifndef __CUDACC__
  SUPPLE_WHOLE void lanes(int k) const {
    points<Pack<S>>(k);
  }
#endif
};

// z <- z' for the deformation gradients F where a step ended; at rest z' = S. field: with the parameters of the shape
// alone. Points beyond the last keep zero.
template <class Law, class S>
struct RelaxOp {
  static constexpr int lane_width = 1;
  PointField<S> field;
  int terms;
  const S* viscosity;          // [regions][terms] s
  const S* time;               // [regions][terms] s
  S step;                      // h, s; 0: at rest
  const unsigned char* moved;  // [robots] the others keep z; or null: all have
  const S* F;
  S* z;
  std::size_t z_stride;
  SUPPLE_HD void operator()(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    if (p >= field.points || (moved && moved[robot] == 0)) return;
    const PointData<S> data = load_points<S, Law>(field, robot, p);
    const Mat3<S> f = load_tile<S>(F + static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride) * 9, p);
    Mat3<S> stress;
    // Where the point is inverted it keeps z: S grows beyond bounds towards det F = 0.
    if (Law::stress(f, data.parameters, data.edges, stress) == PointStatus::undefined || !(determinant(f) > S(0)))
      return;
    stress = inverse(f) * stress;
    S* own = z + static_cast<std::size_t>(robot) * z_stride;
    const int first = terms * field.region[p];
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        const S now = S(0.5) * (stress(i, j) + stress(j, i));
        for (int t = 0; t < terms; ++t) {
          if (viscosity[first + t] == S(0)) continue;
          S& state =
              own[tile_index(p, symmetric_components * t + symmetric_component(i, j), symmetric_components * terms)];
          const S tau = time[first + t];
          state = step == S(0) ? now : (tau * state + step * now) / (tau + step);
        }
      }
  }
};

}  // namespace supple
