#pragma once
// Point operations: from deformation gradients to weighted stresses and tangents. Each op is an aggregate of views with
// a call operator on an index k = robot * padded(points) + point; it writes only what k owns. Used by the full model
// (one robot, weights = volumes), the reduced model and batches, on CPU and CUDA.

#include "kernels/materials/law.hpp"
#include "kernels/points/tiles.hpp"

namespace supple {

// The points of one force field. weight = xi_e V_p [m^3]. edges may be null where the law does not use them.
template <class S>
struct PointField {
  int points = 0;
  const S* weight = nullptr;                          // [points]
  const int* region = nullptr;                        // [points] -> parameters
  const MaterialParameters<S>* parameters = nullptr;  // [regions]
  const Mat3<S>* edges = nullptr;                     // [points] or null

  SUPPLE_INLINE Mat3<S> edges_of(int p) const { return edges ? edges[p] : Mat3<S>::identity(); }
};

template <class S>
SUPPLE_INLINE Mat3<S> load_tile(const S* data, int p) {
  Mat3<S> f;
  for (int c = 0; c < 9; ++c) f[c] = data[tile_index(p, c, 9)];
  return f;
}

// P <- w P(F), tiles of 9 components per robot. status[k] is the PointStatus.
template <class Law, class S>
struct StressOp {
  PointField<S> field;
  const S* F;
  S* P;
  unsigned char* status;

  SUPPLE_HD void operator()(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride) * 9;
    Mat3<S> stress = Mat3<S>::zero();
    status[k] = 0;
    if (p < field.points) {
      const Mat3<S> f = load_tile(F + base, p);
      status[k] =
          static_cast<unsigned char>(Law::stress(f, field.parameters[field.region[p]], field.edges_of(p), stress));
      stress = field.weight[p] * stress;
    }
    for (int c = 0; c < 9; ++c) P[base + tile_index(p, c, 9)] = stress[c];
  }
};

// Weighted tangent w dP/dF, 81 components per point (tiles).
template <class Law, class S>
struct TangentOp {
  PointField<S> field;
  TangentKind kind;
  const S* F;
  S* C;

  SUPPLE_HD void operator()(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    S tangent[81];
    set_zero(tangent);
    S weight = 0;
    if (p < field.points) {
      const Mat3<S> f = load_tile(F + base * 9, p);
      (void)Law::tangent(f, field.parameters[field.region[p]], field.edges_of(p), kind, tangent);
      weight = field.weight[p];
    }
    for (int c = 0; c < 81; ++c) C[base * 81 + tile_index(p, c, 81)] = weight * tangent[c];
  }
};

// Stress and four-row tangent of a corotational law (corotational.hpp) with one rotation for both: P and status as
// StressOp writes them, and R (9), w Q (9), w lambda (1): 19 components per point. The term 2 mu w |dF|^2 is constant
// and not written.
inline constexpr int four_row_components = 19;

template <class Law, class S>
struct StressFourRowOp {
  PointField<S> field;
  TangentKind kind;
  const S* F;
  S* P;
  unsigned char* status;
  S* rows;

  SUPPLE_HD void operator()(int k) const {
    const int stride = padded(field.points), robot = k / stride, p = k % stride;
    const std::size_t base = static_cast<std::size_t>(robot) * static_cast<std::size_t>(stride);
    S* out = rows + base * four_row_components;
    S* stress_out = P + base * 9;
    Mat3<S> stress = Mat3<S>::zero(), R = Mat3<S>::zero(), Q = Mat3<S>::zero();
    S lambda = 0;
    status[k] = 0;
    if (p < field.points) {
      const Mat3<S> f = load_tile(F + base * 9, p);
      const S w = field.weight[p], size2 = dot(f, f);
      if (size2 - size2 == S(0)) {
        const MaterialParameters<S>& m = field.parameters[field.region[p]];
        R = Law::rotation(f, field.edges_of(p));
        status[k] = static_cast<unsigned char>(Law::stress_of(R, f, m, stress));
        const auto r = Law::four_rows_of(R, f, m, kind);
        stress = w * stress;
        Q = w * r.Q;
        lambda = w * r.lambda;
      } else {
        status[k] = static_cast<unsigned char>(PointStatus::undefined);
      }
    }
    for (int c = 0; c < 9; ++c) {
      stress_out[tile_index(p, c, 9)] = stress[c];
      out[tile_index(p, c, four_row_components)] = R[c];
      out[tile_index(p, 9 + c, four_row_components)] = Q[c];
    }
    out[tile_index(p, 18, four_row_components)] = lambda;
  }
};

}  // namespace supple
