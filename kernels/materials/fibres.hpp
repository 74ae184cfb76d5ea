#pragma once
// Threads that lie side by side in a layer and carry along themselves alone. The columns of `edges` are the rest frame of
// the layer: e1 along the threads, n normal. With d = F e1, stretch l = |d| and e = l - 1,
//   P = T d/l e1^T,   T = k e            stretched, and pressed where e0 = 0: wires that the body keeps straight
//                     T = k e/(1 - e/e0)  pressed: threads, which buckle and carry k e0 at most
// without a jump of the stiffness, at which Newton's method would go back and forth. Parameters: p[0] = k [Pa], axial
// stiffness of a thread over spacing and thickness of the layer; p[1] = e0, strain at which threads buckle. Not defined
// where d = 0.
//
// Tangent: dF e1 = b gives T' (b.d/l)^2 + T/l |b - (b.d/l) d/l|^2. Safe: T >= 0 in the second term.

#include "kernels/materials/law.hpp"

namespace supple {

// T and T' of the strain e.
template <class S>
struct FibrePull {
  S tension, slope;
};
template <class S>
SUPPLE_INLINE FibrePull<S> fibre_pull(const S& strain, const S& k, const S& e0) {
  const auto buckles = both(strain<S(0), e0> S(0));
  const S share = select(buckles, S(1) / (S(1) - strain / select(buckles, e0, S(1))), S(1));
  return {k * strain * share, k * share * share};
}
// Its integral from 0.
template <class S>
SUPPLE_HD S fibre_energy(const S& strain, const S& k, const S& e0) {
  using std::log;
  if (!(strain < S(0)) || !(e0 > S(0))) return S(0.5) * k * strain * strain;
  return -k * e0 * (strain + e0 * log(S(1) - strain / e0));
}

struct Fibres {
  static constexpr int parameters = 2;
  static constexpr unsigned moduli = 0b01;

  template <class S>
  struct Thread {
    Vec3<S> rest, now;  // e1, d / l
    S length;           // l
    FibrePull<S> pull;
  };

  // Returns where there is a direction.
  template <class S>
  SUPPLE_INLINE static auto thread(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                   Thread<S>& t) {
    using std::sqrt;
    t.rest = {{edges(0, 0), edges(1, 0), edges(2, 0)}};
    const Vec3<S> d = F * t.rest;
    const S square = dot(d, d);
    const auto defined = both(finite(square), square > S(0));
    t.length = sqrt(select(defined, square, S(1)));
    t.now = select(defined, (S(1) / t.length) * d, t.rest);
    t.pull = fibre_pull(t.length - S(1), m.p[0], m.p[1]);
    return defined;
  }

  template <class S>
  SUPPLE_HD static S energy(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges) {
    Thread<S> t;
    (void)thread(F, m, edges, t);
    return fibre_energy(t.length - S(1), m.p[0], m.p[1]);
  }

  template <class S>
  SUPPLE_HD static auto stress(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges, Mat3<S>& P) {
    Thread<S> t;
    const auto has_direction = thread(F, m, edges, t);
    P = outer(t.pull.tension * t.now, t.rest);
    const auto defined = both(has_direction, finite(dot(P, P)));
    P = select(defined, P, Mat3<S>::zero());
    return point_status(defined, defined);
  }

  template <class S>
  SUPPLE_HD static auto tangent(const Mat3<S>& F, const MaterialParameters<S>& m, const Mat3<S>& edges,
                                TangentKind kind, S* C) {
    Thread<S> t;
    const auto defined = thread(F, m, edges, t);
    S across = t.pull.tension / t.length;
    if (kind != TangentKind::exact) across = select(across > S(0), across, S(0));
    set_zero(C);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        const S along = (t.pull.slope - across) * t.now[i] * t.now[k] + (i == k ? across : S(0));
        for (int j = 0; j < 3; ++j)
          for (int l = 0; l < 3; ++l) C[9 * (3 * i + j) + 3 * k + l] = along * t.rest[j] * t.rest[l];
      }
    const auto kept = keep_finite(defined, C);
    return point_status(kept, kept);
  }
};

}  // namespace supple
