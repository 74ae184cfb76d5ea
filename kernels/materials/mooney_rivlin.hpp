#pragma once
// Mooney-Rivlin as the paper writes it (Goury & Duriez 2018, eq. 10):
//   W = C01 (I1bar - 3) + C10 (I2bar - 3) + D (J - 1)^2
// Parameters: p[0] = C01, p[1] = C10, p[2] = D (Pa).

#include "kernels/materials/isochoric.hpp"

namespace supple {

struct MooneyRivlinEnergy {
  static constexpr int bulk = 2;
  static constexpr unsigned moduli = 0b111;
  static constexpr bool curved = false;
  template <class S>
  SUPPLE_INLINE static S energy(const S& x, const S& y, const MaterialParameters<S>& m) {
    return m.p[0] * x + m.p[1] * y;
  }
  template <class S>
  SUPPLE_INLINE static InvariantEnergy<S> of(const S&, const S&, const MaterialParameters<S>& m) {
    return {m.p[0], m.p[1], S(0), S(1)};
  }
};
using MooneyRivlin = IsochoricLaw<MooneyRivlinEnergy>;

}  // namespace supple
