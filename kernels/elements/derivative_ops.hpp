#pragma once
// Derivatives of the forces of one linearisation at points (kernels/materials/tangent_change.hpp). Same conventions as
// point_ops.hpp, of robots without viscous materials.

#include "kernels/elements/point_ops.hpp"
#include "kernels/materials/tangent_change.hpp"

namespace supple {

// w E into tiles of 9 and w D into tiles of 81. Z: tiles of 9, the change of F that is held.
template <class Law, class S>
struct TangentChangeOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  S factor;  // k
  const S* F;
  const S* Z;
  S* E;
  S* D;

  template <class V>
  SUPPLE_INLINE void points(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    const PointData<V> data = load_points<V, Law>(field, robot, p);
    Mat3<V> force;
    V change[81];
    tangent_change<Law>(load_gradient<V>(field, F + base * 9, p), data.parameters, data.edges,
                        load_tile<V>(Z + base * 9, p), V(factor), force, change);
    store_tile(E + base * 9, p, 0, 9, data.weight * force);
    for (int c = 0; c < 81; ++c) store_lanes(D + base * 81 + tile_index(p, c, 81), data.weight * change[c]);
  }
  SUPPLE_HD void operator()(int k) const { points<S>(k); }
#ifndef __CUDACC__
  void lanes(int k) const {
    points<Pack<S>>(k);
  }
#endif
};

// w E and w D^T W into tiles of 9; W: tiles of 9. `product` may be F.
template <class Law, class S>
struct ChangeProductOp {
  static constexpr int lane_width = point_lanes<S>;
  PointField<S> field;
  S factor;  // k
  const S* F;
  const S* Z;
  const S* W;
  S* E;
  S* product;

  template <class V>
  SUPPLE_INLINE void points(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    const PointData<V> data = load_points<V, Law>(field, robot, p);
    Mat3<V> force;
    const Mat3<V> found =
        tangent_change_product<Law>(load_gradient<V>(field, F + base * 9, p), data.parameters, data.edges,
                                    load_tile<V>(Z + base * 9, p), V(factor), load_tile<V>(W + base * 9, p), force);
    store_tile(E + base * 9, p, 0, 9, data.weight * force);
    store_tile(product + base * 9, p, 0, 9, data.weight * found);
  }
  SUPPLE_HD void operator()(int k) const { points<S>(k); }
#ifndef __CUDACC__
  void lanes(int k) const {
    points<Pack<S>>(k);
  }
#endif
};

}  // namespace supple
