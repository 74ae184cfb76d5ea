#pragma once
// How much of the geometric stiffness G = sum_k s_k Q_k of strain modes a safe tangent takes. G may be negative: a
// layer under compression buckles, in the tangent before it does in time. A = b K + a M takes the largest of these
// shares of b G with which A - a M / 2 is positive definite, the last of them in any case: W^T W alone is never
// negative. So A is at least half its mass, and a step of one linearisation goes at most twice as far as inertia alone
// would let it.

#include "kernels/base/team.hpp"

namespace supple {

inline constexpr int geometric_shares = 4;

SUPPLE_HD inline double geometric_share(int at) {
  return at == 0 ? 1 : at == 1 ? 0.5 : at == 2 ? 0.25 : 0;
}

inline constexpr double trial_mass = 0.5;  // of a M, in the matrix that has to be positive

}  // namespace supple
