#pragma once
// How the forces of one linearisation change with the deformation: of
//   E(F) = P(F) + k C(F) : Z,   C the safe tangent, Z a change of F that is held,
// the derivative D = dE/dF = dP/dF + k T, T = d(C : Z)/dF, 9x9 row-major over the row-major entries of F; or its product
// D^T W with a vector W of 9. D is symmetric where C is the derivative of P at all of the points around; a frozen rotation
// and a clamped eigenvalue are not.
//
// No law has a formula for T of its own:
//   polar rotation, frozen   C : Z = mu (Z + R Z^T R) + lambda (R : Z) R, and dR follows from the exact tangent's matrix
//   eigenvalues clamped      from those of the exact tangent, and its changes along Z and along each that is clamped
//   where C is exact         T = dC/ds along F + s Z, since third derivatives are symmetric
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

template <class Law>
inline constexpr bool clamped_law = requires {
  Law::template spectrum<double>;
};

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

// Change of the exact tangent along x: a central difference. Where x is zero, so is the change.
template <class Law, class V>
SUPPLE_INLINE void tangent_along(const Mat3<V>& F, const MaterialParameters<V>& m, const Mat3<V>& edges,
                                 const Mat3<V>& x, V* change) {
  using std::sqrt;
  const V size = sqrt(dot(x, x));
  const auto moves = size > V(0);
  const V step = select(moves, V(difference_step) / select(moves, size, V(1)), V(0));
  const V scale = select(moves, size / V(2 * difference_step), V(0));
  V behind[81];
  (void)Law::tangent(F + step * x, m, edges, TangentKind::exact, change);
  (void)Law::tangent(F - step * x, m, edges, TangentKind::exact, behind);
  for (int c = 0; c < 81; ++c) change[c] = scale * (change[c] - behind[c]);
}

// A safe tangent without the eigenvalues l_i < 0 of the exact one A = sum_k l_k v_k v_k^T changes by
//   v_i^T dC v_j = f_ij v_i^T dA v_j,   f_ij = (l_i^+ - l_j^+)/(l_i - l_j),   l^+ = max(l, 0)
// (Daleckii-Krein): 1 where neither is clamped, l_i/(l_i - l_j) where j alone is, 0 where both are. With z = v . Z and third
// derivatives that are symmetric, A_x the change of A along x,
//   T = P^+ A_y + sum_j [z_j M_j A_j + v_j (A_j (sum_i f_ij z_i v_i))^T],   y = P^+ Z,   M_j = sum_i f_ij v_i v_i^T,
// over j that are clamped and i that are not, P^+ = sum_i v_i v_i^T, A_j along v_j. Most v_j turn the point.
template <class Law, class V>
struct ClampedChange {
  const Mat3<V>& F;
  const MaterialParameters<V>& m;
  const Mat3<V>& edges;
  V A[81];
  TangentSpectrum<V> spectrum;

  SUPPLE_HD ClampedChange(const Mat3<V>& F_, const MaterialParameters<V>& m_, const Mat3<V>& edges_)
      : F(F_), m(m_), edges(edges_) {
    (void)Law::tangent(F, m, edges, TangentKind::exact, A);
    spectrum = Law::spectrum(F, edges, A);
  }
  SUPPLE_INLINE auto clamped(int j) const { return spectrum.values[j] < V(0); }
  SUPPLE_INLINE V divided(int i, int j) const {
    const V of_i = spectrum.values[i], of_j = spectrum.values[j];
    const auto mixed = both(negate(clamped(i)), clamped(j));
    return select(mixed, of_i / select(mixed, of_i - of_j, V(1)), V(0));
  }
  // sum_i f_ij v_i (v_i . x)
  SUPPLE_INLINE Mat3<V> weighted(int j, const Mat3<V>& x) const {
    Mat3<V> sum = Mat3<V>::zero();
    for (int i = 0; i < 9; ++i) sum = sum + (divided(i, j) * dot(spectrum.directions[i], x)) * spectrum.directions[i];
    return sum;
  }
  SUPPLE_INLINE Mat3<V> without_clamped(Mat3<V> x) const {
    for (int j = 0; j < 9; ++j)
      if (const auto lost = clamped(j); any(lost))
        x = x - select(lost, dot(spectrum.directions[j], x), V(0)) * spectrum.directions[j];
    return x;
  }
  // C : Z
  SUPPLE_INLINE Mat3<V> safe_product(const Mat3<V>& Z) const { return without_clamped(times(A, Z)); }

  // use(apply), apply(x) = A_j x. Where v_j turns the point, A turns along:
  //   A_j x = left (A x) + (A x) right - A (left x + x right).
  template <class Use>
  SUPPLE_INLINE void with_change(int j, const Use& use) const {
    if (j < 3 && all(spectrum.turns[j] > V(0))) {
      const Mat3<V>&left = spectrum.left[j], &right = spectrum.right[j];
      use([&](const Mat3<V>& x) {
        const Mat3<V> Ax = times(A, x);
        return left * Ax + Ax * right - times(A, left * x + x * right);
      });
      return;
    }
    V change[81];
    tangent_along<Law>(F, m, edges, spectrum.directions[j], change);
    use([&](const Mat3<V>& x) { return times(change, x); });
  }

  // T^T W
  SUPPLE_INLINE Mat3<V> product(const Mat3<V>& Z, const Mat3<V>& W) const {
    V change[81];
    tangent_along<Law>(F, m, edges, without_clamped(Z), change);
    Mat3<V> sum = times(change, without_clamped(W));
    for (int j = 0; j < 9; ++j) {
      const auto lost = clamped(j);
      if (!any(lost)) continue;
      const Mat3<V>& direction = spectrum.directions[j];
      const V z = select(lost, dot(direction, Z), V(0)), w = select(lost, dot(direction, W), V(0));
      with_change(j, [&](const auto& apply) { sum = sum + apply(z * weighted(j, W) + w * weighted(j, Z)); });
    }
    return sum;
  }

  // D += k T
  SUPPLE_INLINE void add(const Mat3<V>& Z, V k, V* D) const {
    V change[81];
    tangent_along<Law>(F, m, edges, without_clamped(Z), change);
    for (int c = 0; c < 81; ++c) D[c] += k * change[c];
    for (int j = 0; j < 9; ++j) {
      const auto lost = clamped(j);
      if (!any(lost)) continue;
      const Mat3<V>& direction = spectrum.directions[j];
      add_outer(select(lost, -k, V(0)), direction, times(change, direction), D);
      const V z = k * select(lost, dot(direction, Z), V(0));
      with_change(j, [&](const auto& apply) {
        add_outer(select(lost, k, V(0)), direction, apply(weighted(j, Z)), D);
        for (int i = 0; i < 9; ++i)
          add_outer(z * divided(i, j), spectrum.directions[i], apply(spectrum.directions[i]), D);
      });
    }
  }
};

// D and E at one point, or at those of a pack. Where the law is not defined the tangent is zero, and so is D.
template <class Law, class V>
SUPPLE_HD inline void tangent_change(const Mat3<V>& F, const MaterialParameters<V>& m, const Mat3<V>& edges,
                                     const Mat3<V>& Z, V k, Mat3<V>& E, V* D) {
  if constexpr (std::is_same_v<Law, Corotational<PolarOfGradient>>) {
    frozen_rotation_change(F, m, edges, Z, k, E, D);
    return;
  }
  const auto stress = [&](const Mat3<V>& f) {
    Mat3<V> P;
    (void)Law::stress(f, m, edges, P);
    return P;
  };
  const Mat3<V> P = stress(F);
  if constexpr (clamped_law<Law>) {
    const ClampedChange<Law, V> change(F, m, edges);
    E = P + k * change.safe_product(Z);
    for (int c = 0; c < 81; ++c) D[c] = change.A[c];
    change.add(Z, k, D);
    return;
  }
  V safe[81];
  (void)Law::tangent(F, m, edges, TangentKind::safe, safe);
  const Mat3<V> change = times(safe, Z);
  E = P + k * change;
  if constexpr (exact_tangent_law<Law>) {
    (void)Law::tangent(F, m, edges, TangentKind::exact, D);
  } else {
    set_zero(D);
    add_differences(F, P, V(1), D, stress);
  }
  bool exact = exact_tangent_law<Law>;
  for (int c = 0; c < 81 && exact; ++c) exact = all(safe[c] == D[c]);
  if (exact) {
    V along[81];
    tangent_along<Law>(F, m, edges, Z, along);
    for (int c = 0; c < 81; ++c) D[c] += k * along[c];
    return;
  }
  add_differences(F, change, k, D, [&](const Mat3<V>& f) {
    V C[81];
    (void)Law::tangent(f, m, edges, TangentKind::safe, C);
    return times(C, Z);
  });
}

// D^T W and E.
template <class Law, class V>
SUPPLE_HD inline Mat3<V> tangent_change_product(const Mat3<V>& F, const MaterialParameters<V>& m, const Mat3<V>& edges,
                                                const Mat3<V>& Z, V k, const Mat3<V>& W, Mat3<V>& E) {
  if constexpr (clamped_law<Law>) {
    (void)Law::stress(F, m, edges, E);
    const ClampedChange<Law, V> change(F, m, edges);
    E = E + k * change.safe_product(Z);
    return times(change.A, W) + k * change.product(Z, W);
  } else {
    V D[81];
    tangent_change<Law>(F, m, edges, Z, k, E, D);
    Mat3<V> product = Mat3<V>::zero();
    for (int a = 0; a < 9; ++a)
      for (int b = 0; b < 9; ++b) product[b] += D[9 * a + b] * W[a];
    return product;
  }
}

}  // namespace supple
