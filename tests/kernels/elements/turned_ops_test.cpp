// Newton's steps by turning, point by point: what only turns is turned exactly, whatever it is, and what the tangent is
// given is of second order in the step, and nothing where a step turns what is strained.
#include "kernels/elements/turned_ops.hpp"

#include <gtest/gtest.h>

#include <random>

namespace supple {
namespace {

std::mt19937 rng(7);

Vec3d random_vector() {
  std::normal_distribution<double> normal;
  return {{normal(rng), normal(rng), normal(rng)}};
}

Mat3d random_matrix(double size) {
  Mat3d m;
  for (int c = 0; c < 3; ++c) {
    const Vec3d v = random_vector();
    for (int i = 0; i < 3; ++i) m(i, c) = size * v[i];
  }
  return m;
}

Mat3d skew(const Vec3d& w) {
  return {{0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0}};
}

Mat3d turned_matrix(const Vec3d& w, const Mat3d& m) {
  return from_columns(turned_by(w, column_of(m, 0)), turned_by(w, column_of(m, 1)), turned_by(w, column_of(m, 2)));
}

// Any frame; of a rod the two directions and the share that stretches.
template <class Law>
Mat3d frame() {
  const Vec3d a = normalized(random_vector());
  if (std::is_same_v<Law, Rod>) return from_columns(a, normalized(a + 0.3 * random_vector()), Vec3d{{0.7, 0, 0}});
  const Vec3d n = normalized(cross(a, random_vector()));
  return from_columns(a, cross(n, a), n);
}

template <class Law>
MaterialParameters<double> material() {
  MaterialParameters<double> m{};
  for (int i = 0; i < Law::parameters; ++i) m.p[i] = 3.0 + i;
  if (std::is_same_v<Law, Gent>) m = {{3, 40, 9}};
  if (std::is_same_v<Law, Ogden>) m = {{3, 2, 0.5, -2, 0, 1, 9}};
  if (std::is_same_v<Law, Fibres>) m.p[1] = 0.5;
  if (std::is_same_v<Law, Rod>) m.p[2] = 0.5;
  return m;
}

// What a law reads of F after everything was turned by w: of rods, whose columns are changes, another thing than R F.
template <class Law>
Mat3d after_turning(const Vec3d& w, const Mat3d& F, const Mat3d& edges) {
  if constexpr (std::is_same_v<Law, Rod>) {
    Mat3d to = F;
    for (int j = 0; j < 2; ++j) {
      Vec3d f = column_of(F, j) + column_of(edges, j);
      f[j] -= 1;
      const Vec3d change = turned_by(w, f) - f;
      for (int i = 0; i < 3; ++i) to(i, j) += change[i];
    }
    return to;
  } else if constexpr (solid_law<Law>) {
    return turned_matrix(w, F);
  } else {  // F n stays where it was
    const Vec3d n = column_of(edges, 2);
    const Mat3d flat = F - outer(F * n, n);
    return turned_matrix(w, flat) + outer(F * n, n);
  }
}

// d/ds of after_turning(s w).
template <class Law>
Mat3d linear_turn(const Vec3d& w, const Mat3d& F, const Mat3d& edges) {
  if constexpr (std::is_same_v<Law, Rod>) {
    Mat3d to = Mat3d::zero();
    for (int j = 0; j < 2; ++j) {
      Vec3d f = column_of(F, j) + column_of(edges, j);
      f[j] -= 1;
      const Vec3d change = cross(w, f);
      for (int i = 0; i < 3; ++i) to(i, j) = change[i];
    }
    return to;
  } else if constexpr (solid_law<Law>) {
    return skew(w) * F;
  } else {
    const Vec3d n = column_of(edges, 2);
    return skew(w) * (F - outer(F * n, n));
  }
}

// F of a membrane or threads leaves the normal at rest where it is, as u g^T with g in the plane does.
template <class Law>
Mat3d some_gradient(const Mat3d& edges) {
  Mat3d change = random_matrix(0.15);
  if constexpr (std::is_same_v<Law, Rod>) {
    for (int i = 0; i < 3; ++i) change(i, 2) = 0;
  } else if constexpr (!solid_law<Law>) {
    const Vec3d n = column_of(edges, 2);
    change = change - outer(change * n, n);
  }
  return Mat3d::identity() + change;
}

double size(const Mat3d& m) {
  return std::sqrt(dot(m, m));
}

template <class Law>
class TurnedPoint : public testing::Test {};
// Not those that turn with an element's edges: they have no exact tangent, and no steps by turning.
using Laws = testing::Types<Corotational<PolarOfGradient>, StVenantKirchhoff, StableNeoHookean, MooneyRivlin, Yeoh,
                            Gent, Ogden, CorotationalMembrane, Fibres, Rod>;
TYPED_TEST_SUITE(TurnedPoint, Laws);

// Threads turn about what is across them and rods in their directions, so that these alone count.
TYPED_TEST(TurnedPoint, TurnsExactly) {
  for (int k = 0; k < 20; ++k) {
    const Mat3d edges = frame<TypeParam>(), F = some_gradient<TypeParam>(edges);
    Vec3d w = 0.6 * random_vector();
    if constexpr (std::is_same_v<TypeParam, Fibres>) {
      const Vec3d along = normalized(F * column_of(edges, 0));
      w = w - dot(w, along) * along;
    }
    if constexpr (std::is_same_v<TypeParam, Rod>) {  // in the plane of both
      const Vec3d a = column_of(F, 0) + column_of(edges, 0) - Vec3d{{1, 0, 0}},
                  b = column_of(F, 1) + column_of(edges, 1) - Vec3d{{0, 1, 0}};
      w = 0.8 * normalized(cross(a, b));
    }
    const Mat3d D = linear_turn<TypeParam>(w, F, edges), to = after_turning<TypeParam>(w, F, edges);
    double turn = 0;
    Mat3d expected = to - F - D;
    if constexpr (std::is_same_v<TypeParam, Fibres>) {  // along the threads alone
      const Vec3d e = column_of(edges, 0);
      expected = outer(expected * e, e);
    }
    EXPECT_LT(size(turned_gradient<TypeParam>(F, D, edges, turn) - expected), 1e-12);
    EXPECT_NEAR(turn, norm(w), 1e-12);
  }
}

// The angle of a step of nothing but strain is none, and the step is as it was: along the axes of strain.
TYPED_TEST(TurnedPoint, LeavesStretchingAlone) {
  const Mat3d edges = frame<TypeParam>();
  double turn = 0;
  Mat3d D = Mat3d::zero();
  if constexpr (std::is_same_v<TypeParam, Rod>)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 3; ++i) D(i, j) = 0.2 * edges(i, j);
  else
    D = 0.2 * outer(column_of(edges, 0), column_of(edges, 0));
  EXPECT_LT(size(turned_gradient<TypeParam>(Mat3d::identity(), D, edges, turn)), 1e-15);
  EXPECT_LT(turn, 1e-15);
}

// A step that only turns brings no stress: what is strained bears afterwards what it bore.
TYPED_TEST(TurnedPoint, TurningBringsNoStress) {
  const MaterialParameters<double> m = material<TypeParam>();
  for (int k = 0; k < 20; ++k) {
    const Mat3d edges = frame<TypeParam>(), F = some_gradient<TypeParam>(edges);
    const Vec3d w = 0.6 * random_vector();
    double C[81], scale = 0, sum = 0, tangent[81];
    linear_stress_tangent<TypeParam>(after_turning<TypeParam>(w, F, edges), F, linear_turn<TypeParam>(w, F, edges), m,
                                     edges, C);
    (void)TypeParam::tangent(F, m, edges, TangentKind::exact, tangent);
    for (int c = 0; c < 81; ++c) {
      scale += tangent[c] * tangent[c];
      sum += C[c] * C[c];
    }
    EXPECT_LT(std::sqrt(sum / scale), 1e-13);
  }
}

// The stress of the linear step and that at its end differ by its square: half the step, a quarter.
TYPED_TEST(TurnedPoint, StressOfTheLinearStepIsOfSecondOrder) {
  const MaterialParameters<double> m = material<TypeParam>();
  const Mat3d edges = frame<TypeParam>(), F = some_gradient<TypeParam>(edges);
  const Mat3d D = some_gradient<TypeParam>(edges) - Mat3d::identity();
  double sizes[2];
  for (int k = 0; k < 2; ++k) {
    const double h = k == 0 ? 1e-3 : 5e-4;
    double C[81];
    linear_stress_tangent<TypeParam>(F + h * D, F, h * D, m, edges, C);
    double sum = 0;
    for (const double c : C) sum += c * c;
    sizes[k] = std::sqrt(sum);
  }
  EXPECT_GT(sizes[0], 1e-9);
  EXPECT_NEAR(sizes[0] / sizes[1], 4, 0.05);
}

TEST(TurnedPoint, InsideOutIsLeftAlone) {
  double turn = 0, C[81];
  const Mat3d flat{{1, 0, 0, 0, 1, 0, 0, 0, 0}}, D = skew({{0.3, 0, 0}}) * flat;
  EXPECT_EQ(size(turned_gradient<StableNeoHookean>(flat, D, Mat3d::identity(), turn)), 0);
  EXPECT_EQ(turn, 0);
  linear_stress_tangent<StableNeoHookean>(flat, flat, D, {{1, 1}}, Mat3d::identity(), C);
  for (const double c : C) EXPECT_EQ(c, 0);
}

}  // namespace
}  // namespace supple
