#pragma once
// How the forces of one linearisation change with the deformation: of
//   E(F) = P(F) + k C(F) : Z,   C the safe tangent, Z a change of F that is held,
// the derivative D = dE/dF = dP/dF + k T, T = d(C : Z)/dF, 9x9 row-major over the row-major entries of F. D is symmetric
// where C is the derivative of P at all of the points around; a frozen rotation and a clamped eigenvalue are not.
//
// No law has a formula for T of its own:
//   polar rotation, frozen   C : Z = mu (Z + R Z^T R) + lambda (R : Z) R, and dR follows from the exact tangent's matrix
//   where C is exact         T = dC/ds along F + s Z, since third derivatives are symmetric; a central difference of C
//   elsewhere                differences of C : Z along the nine entries of F
// Central differences of smooth laws are right to about 1e-10 of C |Z|, the others to about 1e-8: these are one-sided and
// short, so that few points are so near to a kink (an eigenvalue that is clamped from there on) that they see both sides.

#include "kernels/materials/corotational.hpp"

namespace supple {

// Cube root of the rounding: best for central differences of what is of size one.
inline constexpr double difference_step = 6e-6;
// Square root of it: of one-sided ones.
inline constexpr double short_difference_step = 1e-8;

// dP/dF of a law whose rotation is no polar factor of F has no formula.
template <class Law>
inline constexpr bool exact_tangent_law = true;
template <class Rotation>
inline constexpr bool exact_tangent_law<Corotational<Rotation>> = Rotation::has_exact_tangent;

template <class V>
SUPPLE_INLINE Mat3<V> times(const V* C, const Mat3<V>& b) {
  Mat3<V> product;
  for (int i = 0; i < 9; ++i) {
    product[i] = C[9 * i] * b[0];
    for (int j = 1; j < 9; ++j) product[i] += C[9 * i + j] * b[j];
  }
  return product;
}

// E and D of a frozen polar rotation, in which R is found once. With dR = sum_j w_j (G^-1 w(dF))_j, G = tr(S) I - S, w_j
// and w(dF) those of the four rows,
//   D = dP/dF + k d(mu (Z + R Z^T R) + lambda (R : Z) R)/dF.
template <class V>
SUPPLE_INLINE void frozen_rotation_change(const Mat3<V>& F, const MaterialParameters<V>& m, const Mat3<V>& edges,
                                          const Mat3<V>& Z, V k, Mat3<V>& E, V* D) {
  using Law = Corotational<PolarOfGradient>;
  Mat3<V> R;
  (void)Law::stress_and_rotation(F, m, edges, E, R);
  const FourRows<V> rows = Law::four_rows_of(R, F, m, TangentKind::exact);
  const Mat3<V> A = transpose(R) * F;
  const Mat3<V> stretch = V(0.5) * (A + transpose(A));
  const Mat3<V> G = trace(stretch) * Mat3<V>::identity() - stretch;
  const V det = determinant(G), size = dot(G, G);
  // As in four_rows_of().
  const auto differentiable = both(det > V(1e-9) * size * sqrt(size), determinant(F) > V(0));
  const Mat3<V> inverse = select(differentiable, (V(1) / det) * transpose(cofactor(G)), Mat3<V>::zero());
  const Mat3<V> ZtR = transpose(Z) * R, RZt = R * transpose(Z);
  const V turned = dot(R, Z), mu = k * m.p[0], lambda = k * m.p[1];
  E = E + mu * (Z + R * ZtR) + (lambda * turned) * R;
  set_zero(D);
  for (int i = 0; i < 9; ++i) D[10 * i] = rows.two_mu;
  add_outer(rows.lambda, rows.t, rows.t, D);
  for (int j = 0; j < 3; ++j) {
    const Mat3<V>& w = rows.w[j];
    Mat3<V> change = lambda * (dot(w, Z) * R + turned * w) + mu * (w * ZtR + RZt * w);
    // Q = (lambda tr(S - I) - 2 mu) G^-1 where the rotation is differentiable: one sum for both.
    const V of_stress = m.p[1] * (trace(stretch) - V(3)) - V(2) * m.p[0];
    change = change + select(differentiable, of_stress, V(0)) * w;
    const Mat3<V> of = inverse(j, 0) * rows.w[0] + inverse(j, 1) * rows.w[1] + inverse(j, 2) * rows.w[2];
    add_outer(V(1), change, of, D);
    const V frozen = select(differentiable, V(0), -m.p[0]);
    if (any(frozen < V(0))) add_outer(frozen, w, w, D);
  }
}

// Column b of D += factor times the change of value(F) along entry b of F; now: value(F).
template <class V, class Value>
SUPPLE_INLINE void add_differences(const Mat3<V>& F, const Mat3<V>& now, V factor, V* D, const Value& value) {
  for (int b = 0; b < 9; ++b) {
    Mat3<V> ahead = F;
    ahead[b] += V(short_difference_step);
    const Mat3<V> change = value(ahead) - now;
    const V scale = factor / (ahead[b] - F[b]);
    for (int a = 0; a < 9; ++a) D[9 * a + b] += scale * change[a];
  }
}

// D and E at one point, or at those of a pack. Where the law is not defined the tangent is zero, and so is D.
template <class Law, class V>
SUPPLE_HD inline void tangent_change(const Mat3<V>& F, const MaterialParameters<V>& m, const Mat3<V>& edges,
                                     const Mat3<V>& Z, V k, Mat3<V>& E, V* D) {
  using std::sqrt;
  if constexpr (std::is_same_v<Law, Corotational<PolarOfGradient>>) {
    frozen_rotation_change(F, m, edges, Z, k, E, D);
    return;
  }
  const auto stress = [&](const Mat3<V>& f) {
    Mat3<V> P;
    (void)Law::stress(f, m, edges, P);
    return P;
  };
  V safe[81];
  (void)Law::tangent(F, m, edges, TangentKind::safe, safe);
  const Mat3<V> P = stress(F), change = times(safe, Z);
  E = P + k * change;
  if constexpr (exact_tangent_law<Law>) {
    (void)Law::tangent(F, m, edges, TangentKind::exact, D);
  } else {
    set_zero(D);
    add_differences(F, P, V(1), D, stress);
  }
  bool exact = exact_tangent_law<Law>;
  for (int c = 0; c < 81 && exact; ++c) exact = all(safe[c] == D[c]);
  if (!exact) {
    add_differences(F, change, k, D, [&](const Mat3<V>& f) {
      V C[81];
      (void)Law::tangent(f, m, edges, TangentKind::safe, C);
      return times(C, Z);
    });
    return;
  }
  const V size = sqrt(dot(Z, Z));
  const auto moves = size > V(0);
  const V step = select(moves, V(difference_step) / select(moves, size, V(1)), V(0));
  const V scale = select(moves, k * size / V(2 * difference_step), V(0));
  V ahead[81], behind[81];
  (void)Law::tangent(F + step * Z, m, edges, TangentKind::exact, ahead);
  (void)Law::tangent(F - step * Z, m, edges, TangentKind::exact, behind);
  for (int c = 0; c < 81; ++c) D[c] += scale * (ahead[c] - behind[c]);
}

}  // namespace supple
