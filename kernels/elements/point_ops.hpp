#pragma once
// Point operations: from deformation gradients to weighted stresses and tangents. Each op is an aggregate of views with
// a call operator on an index k = robot * padded(points) + point; it writes only what k owns. Used by the full model
// (one robot, weights = volumes), the reduced model and batches, on CPU and CUDA. An op with lane_width > 1 also has
// lanes(k): the work of the indices k ... k + lane_width - 1 at once, of one tile.

#include "kernels/elements/tiles.hpp"
#include "kernels/materials/corotational.hpp"

namespace supple {

// The points of one force field. weight = xi_e V_p [m^3]. edges may be null where the law does not use them.
template <class S>
struct PointField {
  int points = 0;
  const S* weight = nullptr;                          // [points]
  const int* region = nullptr;                        // [points] -> parameters
  const MaterialParameters<S>* parameters = nullptr;  // [regions]
  const Mat3<S>* edges = nullptr;                     // [points] or null
  // [robots][scales]: factors on the stress of the regions, which begin at each robot's first; null: all 1. Every law
  // is proportional to its moduli, so these are factors on them.
  const S* scale = nullptr;
  int scales = 0;
  // Of viscous materials in a step (viscous_ops.hpp); null: none, or at rest. H [robots] tiles of 6, a symmetric second
  // Piola-Kirchhoff stress that is constant during the step [Pa]; the parameters with what the step adds, and that alone.
  // P is the law's with in_step, + F H.
  const S* held_stress = nullptr;
  const MaterialParameters<S>* in_step = nullptr;  // [regions]
  const MaterialParameters<S>* added = nullptr;    // [regions]
  bool without_identity = false;                   // what ops are given as F is F - I
};

// Symmetric matrices of points as six numbers: xx, yy, zz, xy, yz, xz.
inline constexpr int symmetric_components = 6;
SUPPLE_INLINE constexpr int symmetric_component(int i, int j) {
  return i == j ? i : i + j == 1 ? 3 : i + j == 3 ? 4 : 5;
}

// What an op needs of a point, or of the points of a pack (V = Pack<S>). Points past the last one are padding: weight
// zero, everything else that of the last point.
template <class V>
struct PointData {
  V weight;
  MaterialParameters<V> parameters;
  Mat3<V> edges;
};

template <class S>
SUPPLE_INLINE void set_lane(S& to, int, const S& value) {
  to = value;
}
template <class S>
SUPPLE_INLINE void store_lanes(S* to, const S& value) {
  *to = value;
}
template <class V, class S>
SUPPLE_INLINE V load_lanes(const S* from) {
  if constexpr (PackTraits<V>::width == 1)
    return *from;
  else
    return V::load(from);
}
#ifndef __CUDACC__
template <class S>
SUPPLE_INLINE void set_lane(Pack<S>& to, int l, const S& value) {
  to.v[l] = value;
}
template <class S>
SUPPLE_INLINE void store_lanes(S* to, const Pack<S>& value) {
  value.store(to);
}
#endif

// parameters: [regions], in place of the field's; null: these.
template <class V, class Law, class S>
SUPPLE_INLINE PointData<V> load_points(const PointField<S>& field, int robot, int first,
                                       const MaterialParameters<S>* parameters = nullptr) {
  constexpr int width = PackTraits<V>::width;
  const S* scale =
      field.scale ? field.scale + static_cast<std::size_t>(robot) * static_cast<std::size_t>(field.scales) : nullptr;
  PointData<V> data;
  data.edges = Mat3<V>::identity();
  data.weight = V(0);
  for (int l = 0; l < width; ++l) {
    const int p = first + l < field.points ? first + l : field.points - 1;
    if (first + l < field.points)
      set_lane(data.weight, l, scale ? field.weight[p] * scale[field.region[p]] : field.weight[p]);
    const MaterialParameters<S>& m = (parameters ? parameters : field.parameters)[field.region[p]];
    for (int i = 0; i < Law::parameters; ++i) set_lane(data.parameters.p[i], l, m.p[i]);
    if (field.edges)
      for (int c = 0; c < 9; ++c) set_lane(data.edges[c], l, field.edges[p][c]);
  }
  return data;
}

// A matrix of every point of V from tiles of 9 components.
template <class V, class S>
SUPPLE_INLINE Mat3<V> load_tile(const S* data, int p) {
  Mat3<V> f;
  for (int c = 0; c < 9; ++c) f[c] = load_lanes<V>(data + tile_index(p, c, 9));
  return f;
}

// F of every point of V, whichever of F and F - I the field's ops are given.
template <class V, class S>
SUPPLE_INLINE Mat3<V> load_gradient(const PointField<S>& field, const S* F, int p) {
  Mat3<V> f = load_tile<V>(F, p);
  if (field.without_identity)
    for (int c = 0; c < 9; c += 4) f[c] += V(1);
  return f;
}

template <class V, class S>
SUPPLE_INLINE void store_tile(S* data, int p, int first, int components, const Mat3<V>& f) {
  for (int c = 0; c < 9; ++c) store_lanes(data + tile_index(p, first + c, components), f[c]);
}

// H of every point of V.
template <class V, class S>
SUPPLE_INLINE Mat3<V> held_stress(const PointField<S>& field, int robot, int p) {
  const S* own = field.held_stress + static_cast<std::size_t>(robot) * static_cast<std::size_t>(padded(field.points)) *
                                         symmetric_components;
  Mat3<V> H;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      H(i, j) = load_lanes<V>(own + tile_index(p, symmetric_component(i, j), symmetric_components));
  return H;
}

// C += what a viscous step adds to the tangent of the law at rest. Exact: the tangent of the added part, and d(F H)/dF.
// Safe: of the added part, S_a its second Piola-Kirchhoff stress, only what comes from the change of strain,
//   d(F S_a)/dF - d(F)/dF S_a:
// the added stress and H are large and nearly cancel, and with one of them clamped the rest would be a stiffness against
// rotation.
template <class Law, class V, class S>
SUPPLE_INLINE void add_viscous_tangent(const PointField<S>& field, int robot, int p, const Mat3<V>& f, TangentKind kind,
                                       V* C) {
  const PointData<V> data = load_points<V, Law>(field, robot, p, field.added);
  V added[81];
  (void)Law::tangent(f, data.parameters, data.edges, TangentKind::exact, added);
  for (int c = 0; c < 81; ++c) C[c] += added[c];
  Mat3<V> T;
  if (kind == TangentKind::exact) {
    T = held_stress<V>(field, robot, p);
  } else {
    Mat3<V> stress;
    (void)Law::stress(f, data.parameters, data.edges, stress);
    T = V(-1) * (inverse(f) * stress);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int l = 0; l < 3; ++l) C[9 * (3 * i + j) + 3 * i + l] += T(j, l);
}

#ifdef __CUDACC__
template <class S>
inline constexpr int point_lanes = 1;
#else
template <class S>
inline constexpr int point_lanes = Pack<S>::width;
#endif

// P <- w P(F), tiles of 9 components per robot. status[k] is the PointStatus.
template <class Law, class S>
struct StressOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  const S* F;
  S* P;
  unsigned char* status;

  template <class V>
  SUPPLE_INLINE void points(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride) * 9;
    const PointData<V> data = load_points<V, Law>(field, robot, p, field.in_step);
    Mat3<V> stress;
    const Mat3<V> f = load_gradient<V>(field, F + base, p);
    store_status(status + k, Law::stress(f, data.parameters, data.edges, stress));
    if (field.held_stress) stress = stress + f * held_stress<V>(field, robot, p);
    store_tile(P + base, p, 0, 9, data.weight * stress);
  }
  SUPPLE_HD void operator()(int k) const { points<S>(k); }
#ifndef __CUDACC__
  SUPPLE_WHOLE void lanes(int k) const {
    points<Pack<S>>(k);
  }
#endif
};

// Weighted tangent w dP/dF, 81 components per point (tiles).
template <class Law, class S>
struct TangentOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  TangentKind kind;
  const S* F;
  S* C;

  template <class V>
  SUPPLE_INLINE void points(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    const PointData<V> data = load_points<V, Law>(field, robot, p);
    V tangent[81];
    const Mat3<V> f = load_gradient<V>(field, F + base * 9, p);
    (void)Law::tangent(f, data.parameters, data.edges, kind, tangent);
    if (field.held_stress) add_viscous_tangent<Law>(field, robot, p, f, kind, tangent);
    for (int c = 0; c < 81; ++c) store_lanes(C + base * 81 + tile_index(p, c, 81), data.weight * tangent[c]);
  }
  SUPPLE_HD void operator()(int k) const { points<S>(k); }
#ifndef __CUDACC__
  SUPPLE_WHOLE void lanes(int k) const {
    points<Pack<S>>(k);
  }
#endif
};

// Stress and four-row tangent of a corotational law (corotational.hpp) with one rotation for both: P and status as
// StressOp writes them, and R (9), w Q (9), w lambda (1): 19 components per point. The term 2 mu w |dF|^2 is constant
// and not written, nor is what a viscous step adds: ViscousTangentOp.
inline constexpr int four_row_components = 19;

template <class Law, class S>
struct StressFourRowOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  TangentKind kind;
  const S* F;
  S* P;
  unsigned char* status;
  S* rows;

  template <class V>
  SUPPLE_INLINE void points(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    const PointData<V> data = load_points<V, Law>(field, robot, p);
    const Mat3<V> f = load_gradient<V>(field, F + base * 9, p);
    Mat3<V> stress, R;
    store_status(status + k, Law::stress_and_rotation(f, data.parameters, data.edges, stress, R));
    const FourRows<V> r = Law::four_rows_of(R, f, data.parameters, kind);
    if (field.held_stress) {
      const PointData<V> in_step = load_points<V, Law>(field, robot, p, field.in_step);
      (void)Law::stress_and_rotation(f, in_step.parameters, data.edges, stress, R);
      stress = stress + f * held_stress<V>(field, robot, p);
    }
    store_tile(P + base * 9, p, 0, 9, data.weight * stress);
    S* out = rows + base * four_row_components;
    store_tile(out, p, 0, four_row_components, R);
    store_tile(out, p, 9, four_row_components, data.weight * r.Q);
    store_lanes(out + tile_index(p, 18, four_row_components), data.weight * r.lambda);
  }
  SUPPLE_HD void operator()(int k) const { points<S>(k); }
#ifndef __CUDACC__
  SUPPLE_WHOLE void lanes(int k) const {
    points<Pack<S>>(k);
  }
#endif
};

// The op at the first `lanes` points of one tile, whose index starts at 0; a multiple of the op's width.
template <class Op>
SUPPLE_INLINE void run_tile(const Op& op, int lanes = tile_size) {
  for (int l = 0; l < lanes; l += Op::lane_width)
    if constexpr (requires { op.lanes(l); })
      op.lanes(l);
    else
      op(l);
}

}  // namespace supple
