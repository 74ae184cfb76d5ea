#pragma once
// What a material law is. A law is a stateless type with, for the deformation gradient F of one point,
//   stress (F, m, edges, P)            first Piola-Kirchhoff stress P = dW/dF                          [Pa]
//   tangent(F, m, edges, kind, C)      C = dP/dF, 9x9 row-major over the row-major entries of F, symmetric [Pa]
//   energy (F, m, edges)               W                                                              [J/m^3]
//   shear_modulus(m), bulk_modulus(m)  at rest                                                        [Pa]
// and, where the safe tangent is the exact one without what its eigenvalues below zero do,
//   spectrum(F, edges, C)              the eigenvalues of the exact tangent C
// templates on the scalar, for host and device; stress and tangent take a Pack too (kernels/math/pack.hpp). `edges` is
// the rest edge matrix of a tetrahedron, used by two corotational rotations only, or the rest frame of a membrane.
// parameters: how many there are; moduli: a bit for each that is a modulus; volumetric: the modulus that only resists a
// change of volume, and in which W is linear; volumetric_share: its derivative by the bulk modulus.

#include "kernels/math/pack.hpp"

namespace supple {

// Each law defines its own: the first Law::parameters; those of Law::moduli are moduli [Pa], to which the energy is
// proportional, the others numbers.
inline constexpr int most_parameters = 7;
template <class S>
struct MaterialParameters {
  S p[most_parameters];
};

// Of laws whose parameters are Lame's constants: p[0] = mu, p[1] = lambda [Pa].
struct LameParameters {
  static constexpr int parameters = 2, volumetric = 1;
  static constexpr unsigned moduli = 0b11;
  static constexpr double volumetric_share = 1;
  template <class S>
  SUPPLE_HD static S shear_modulus(const MaterialParameters<S>& m) {
    return m.p[0];
  }
  template <class S>
  SUPPLE_HD static S bulk_modulus(const MaterialParameters<S>& m) {
    return m.p[1] + S(2.0 / 3.0) * m.p[0];
  }
};

// Which linearisation of the internal force (docs/theory/full-model.md).
enum class TangentKind {
  none,
  safe,   // positive semidefinite at every point: rotation frozen, or eigenvalues clamped. For one-linearisation steps
  exact,  // the derivative. For Newton's method and quasi-static equilibria
};

enum class PointStatus : unsigned char {
  regular = 0,
  inverted = 1,   // det F <= 0, the law is still defined there
  undefined = 2,  // the law has no value there (or F is not finite); P and C are set to zero
};

// What stress() returns: the status of one point, or of every lane of a pack.
SUPPLE_INLINE PointStatus point_status(bool defined, bool upright) {
  return !defined ? PointStatus::undefined : upright ? PointStatus::regular : PointStatus::inverted;
}
SUPPLE_INLINE void store_status(unsigned char* to, PointStatus status) {
  *to = static_cast<unsigned char>(status);
}
#ifndef __CUDACC__
template <class Mask>
struct LaneStatus {
  Mask defined, upright;
};
template <class Mask>
SUPPLE_INLINE LaneStatus<Mask> point_status(const Mask& defined, const Mask& upright) {
  return {defined, upright};
}
template <class Mask>
SUPPLE_INLINE void store_status(unsigned char* to, const LaneStatus<Mask>& status) {
  constexpr int width = static_cast<int>(sizeof(status.defined.m) / sizeof(status.defined.m[0]));
  for (int l = 0; l < width; ++l)
    store_status(to + l, point_status(status.defined.m[l] != 0, status.upright.m[l] != 0));
}
#endif

// Eigenvalues and -vectors, of length one, of a 9x9 tangent. The first three turn the point and its rest, which the law
// does not feel: direction = left F + F right of skew matrices, where turns > 0 (elsewhere they are so large that digits
// are lost).
template <class S>
struct TangentSpectrum {
  S values[9];
  Mat3<S> directions[9];
  Mat3<S> left[3], right[3];
  S turns[3];
};

// C b for vectors of 9.
template <class S>
SUPPLE_INLINE Mat3<S> times(const S* C, const Mat3<S>& b) {
  Mat3<S> product;
  for (int i = 0; i < 9; ++i) {
    product[i] = C[9 * i] * b[0];
    for (int j = 1; j < 9; ++j) product[i] += C[9 * i + j] * b[j];
  }
  return product;
}

// C += s a b^T for vectors of 9.
template <class S>
SUPPLE_INLINE void add_outer(S s, const Mat3<S>& a, const Mat3<S>& b, S* C) {
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) C[9 * i + j] += s * a[i] * b[j];
}

// C where it is finite and `defined` holds, else 0 (lane by lane). Returns where it is kept.
template <class Mask, class S>
SUPPLE_INLINE auto keep_finite(const Mask& defined, S* C) {
  S sum = S(0);
  for (int i = 0; i < 81; ++i) sum += C[i] * C[i];
  const auto kept = both(defined, finite(sum));
  for (int i = 0; i < 81; ++i) C[i] = select(kept, C[i], S(0));
  return kept;
}

template <class S>
SUPPLE_INLINE void set_zero(S* C) {
  for (int i = 0; i < 81; ++i) C[i] = S(0);
}

// Second derivative of det F: C += s * d cof(F) / dF, where d cof(F)_ij / dF_kl = eps_ikm eps_jln F_mn.
template <class S>
SUPPLE_HD inline void add_determinant_hessian(S s, const Mat3<S>& f, S* C) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      if (i == k) continue;
      const int m = 3 - i - k;
      const S sign_ik = (k - i + 3) % 3 == 1 ? S(1) : S(-1);
      for (int j = 0; j < 3; ++j)
        for (int l = 0; l < 3; ++l) {
          if (j == l) continue;
          const int n = 3 - j - l;
          const S sign_jl = (l - j + 3) % 3 == 1 ? S(1) : S(-1);
          C[9 * (3 * i + j) + 3 * k + l] += s * sign_ik * sign_jl * f(m, n);
        }
    }
}

}  // namespace supple
