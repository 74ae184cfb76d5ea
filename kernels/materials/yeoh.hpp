#pragma once
// Yeoh (O. H. Yeoh, Some forms of the strain energy function for rubber, 1993):
//   W = C1 x + C2 x^2 + C3 x^3 + D (J - 1)^2,   x = I1bar - 3
// Parameters: p[0] = C1, p[1] = C2, p[2] = C3, p[3] = D (Pa).

#include "kernels/materials/isochoric.hpp"

namespace supple {

struct YeohEnergy {
  static constexpr int bulk = 3;
  static constexpr unsigned moduli = 0b1111;
  static constexpr bool curved = true;
  template <class S>
  SUPPLE_INLINE static S energy(const S& x, const S&, const MaterialParameters<S>& m) {
    return x * (m.p[0] + x * (m.p[1] + x * m.p[2]));
  }
  template <class S>
  SUPPLE_INLINE static InvariantEnergy<S> of(const S& x, const S&, const MaterialParameters<S>& m) {
    return {m.p[0] + x * (S(2) * m.p[1] + S(3) * x * m.p[2]), S(0), S(2) * m.p[1] + S(6) * x * m.p[2], S(1)};
  }
};
using Yeoh = IsochoricLaw<YeohEnergy>;

}  // namespace supple
