#pragma once
// Gent (A. N. Gent, A new constitutive relation for rubber, 1996):
//   W = -mu/2 J_m log(1 - x/J_m) + D (J - 1)^2,   x = I1bar - 3
// It locks where x comes to J_m, and is not defined beyond. Parameters: p[0] = mu (Pa), p[1] = J_m, p[2] = D (Pa).

#include "kernels/materials/isochoric.hpp"

namespace supple {

struct GentEnergy {
  static constexpr int bulk = 2;
  static constexpr unsigned moduli = 0b101;
  static constexpr bool curved = true;
  template <class S>
  SUPPLE_INLINE static S energy(const S& x, const S&, const MaterialParameters<S>& m) {
    using std::log;
    return S(-0.5) * m.p[0] * m.p[1] * log(S(1) - x / m.p[1]);
  }
  template <class S>
  SUPPLE_INLINE static InvariantEnergy<S> of(const S& x, const S&, const MaterialParameters<S>& m) {
    const S rest = m.p[1] - x, slope = S(0.5) * m.p[0] * m.p[1] / rest;
    return {slope, S(0), slope / rest, rest};
  }
};
using Gent = IsochoricLaw<GentEnergy>;

}  // namespace supple
