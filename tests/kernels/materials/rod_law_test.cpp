// The law of slender rods at their nodes.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "kernels/materials/dispatch.hpp"

namespace supple {
namespace {

Vec3d random_vector(std::mt19937& rng) {
  std::normal_distribution<double> normal;
  Vec3d v;
  for (int i = 0; i < 3; ++i) v[i] = normal(rng);
  return v;
}

struct Case {
  Vec3d a0, b0;
  Mat3d F;
};

// Of a node that is straight or bent at rest, stretched, pressed and turned.
std::vector<Case> cases() {
  std::mt19937 rng(1);
  std::vector<Case> all;
  while (all.size() < 80) {
    Case c;
    c.a0 = normalized(random_vector(rng));
    c.b0 = all.size() % 2 == 0 ? c.a0 : normalized(c.a0 + 0.3 * random_vector(rng));
    const Vec3d a = c.a0 + 0.3 * random_vector(rng), b = c.b0 + 0.3 * random_vector(rng);
    if (dot(a, b) < -0.5 * norm(a) * norm(b) || norm(a) < 0.3 || norm(b) < 0.3) continue;
    c.F = Mat3d::identity();
    for (int i = 0; i < 3; ++i) {
      c.F(i, 0) += a[i] - c.a0[i];
      c.F(i, 1) += b[i] - c.b0[i];
    }
    all.push_back(c);
  }
  return all;
}

Mat3d directions(const Vec3d& a0, const Vec3d& b0) {
  return from_columns(a0, b0, Vec3d{{0.7, 0, 0}});
}
Mat3d edges(const Case& c) {
  return directions(c.a0, c.b0);
}

const MaterialParameters<double> wire{{7.5, 3, 0}}, cord{{7.5, 0, 0.2}}, both_kinds{{2, 9, 0.5}};

TEST(RodLaw, StressIsTheDerivativeOfTheEnergy) {
  for (const auto& material : {wire, cord, both_kinds})
    for (const Case& c : cases()) {
      Mat3d P;
      ASSERT_EQ(Rod::stress(c.F, material, edges(c), P), PointStatus::regular);
      for (int i = 0; i < 9; ++i) {
        const double h = 1e-5;
        Mat3d a = c.F, b = c.F;
        a[i] += h;
        b[i] -= h;
        // Truncation h^2 times third derivatives of up to 1e3, cancellation 1e-16 / h times energies of order 10.
        EXPECT_NEAR((Rod::energy(a, material, edges(c)) - Rod::energy(b, material, edges(c))) / (2 * h), P[i], 1e-6);
      }
    }
}

TEST(RodLaw, ExactTangentIsTheDerivativeOfTheStress) {
  for (const auto& material : {wire, cord, both_kinds})
    for (const Case& c : cases()) {
      double C[81];
      ASSERT_EQ(Rod::tangent(c.F, material, edges(c), TangentKind::exact, C), PointStatus::regular);
      for (int j = 0; j < 9; ++j) {
        const double h = 1e-5;
        Mat3d a = c.F, b = c.F, Pa, Pb;
        a[j] += h;
        b[j] -= h;
        (void)Rod::stress(a, material, edges(c), Pa);
        (void)Rod::stress(b, material, edges(c), Pb);
        for (int i = 0; i < 9; ++i)
          // h^2 times third derivatives of up to 1e4
          EXPECT_NEAR((Pa[i] - Pb[i]) / (2 * h), C[9 * i + j], 5e-6 * (1 + std::abs(C[9 * i + j])));
      }
    }
}

TEST(RodLaw, RigidMotionsAreFree) {
  std::mt19937 rng(3);
  for (int k = 0; k < 20; ++k) {
    const Vec3d t = normalized(random_vector(rng));
    Mat3d A;
    for (int i = 0; i < 9; ++i) A[i] = std::normal_distribution<double>()(rng);
    const Vec3d turned = polar_rotation(A) * t;
    Mat3d F = Mat3d::identity(), P;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 2; ++j) F(i, j) += turned[i] - t[i];
    ASSERT_EQ(Rod::stress(F, wire, directions(t, t), P), PointStatus::regular);
    EXPECT_LT(std::sqrt(dot(P, P)), 1e-14 * 10);  // rounding of the lengths times moduli
  }
}

using Matrix9 = Eigen::Matrix<double, 9, 9, Eigen::RowMajor>;

// Exact where the rod is straight and not stretched, and never negative.
TEST(RodLaw, SafeTangentIsPositive) {
  for (const auto& material : {wire, cord, both_kinds})
    for (const Case& c : cases()) {
      Matrix9 safe;
      (void)Rod::tangent(c.F, material, edges(c), TangentKind::safe, safe.data());
      EXPECT_LT((safe - safe.transpose()).norm(), 1e-13 * safe.norm());
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix9>(safe).eigenvalues()[0], -1e-12 * safe.norm());  // rounding
    }
  const Vec3d t = normalized(Vec3d{{1, 2, -1}});
  Matrix9 exact, safe;
  (void)Rod::tangent(Mat3d::identity(), wire, directions(t, t), TangentKind::exact, exact.data());
  (void)Rod::tangent(Mat3d::identity(), wire, directions(t, t), TangentKind::safe, safe.data());
  EXPECT_LT((safe - exact).norm(), 1e-13 * exact.norm());
}

// In pure bending the safe tangent is the exact one but for what the stress does to turning: along what bends the node
// further they agree.
TEST(RodLaw, SafeTangentKeepsTheStiffnessOfBending) {
  const double angle = 0.8;
  const Vec3d t{{1, 0, 0}}, b{{std::cos(angle), std::sin(angle), 0}}, b_further{{-std::sin(angle), std::cos(angle), 0}};
  Mat3d F = Mat3d::identity();
  for (int i = 0; i < 3; ++i) F(i, 1) += b[i] - t[i];
  Matrix9 exact, safe;
  (void)Rod::tangent(F, wire, directions(t, t), TangentKind::exact, exact.data());
  (void)Rod::tangent(F, wire, directions(t, t), TangentKind::safe, safe.data());
  Eigen::Matrix<double, 9, 1> d = Eigen::Matrix<double, 9, 1>::Zero();
  for (int i = 0; i < 3; ++i) d[3 * i + 1] = b_further[i];
  EXPECT_NEAR(d.dot(safe * d), d.dot(exact * d), 1e-12 * exact.norm());
}

// 2 B tan^2(phi/2)
TEST(RodLaw, BendsAsADiscreteElasticRod) {
  for (const double angle : {0.01, 0.5, 1.5, 2.5}) {
    Mat3d F = Mat3d::identity();
    F(0, 1) += std::cos(angle) - 1;
    F(1, 1) += std::sin(angle);
    const Vec3d t{{1, 0, 0}};
    EXPECT_NEAR(Rod::energy(F, wire, directions(t, t)), 2 * 3 * std::pow(std::tan(angle / 2), 2),
                1e-12 * (1 + std::pow(std::tan(angle / 2), 2)));
  }
}

TEST(RodLaw, HasNoValueWithoutADirectionOrFoldedBack) {
  const Vec3d t{{1, 0, 0}};
  Mat3d F = Mat3d::identity(), P;
  F(0, 0) -= 1;
  EXPECT_EQ(Rod::stress(F, wire, directions(t, t), P), PointStatus::undefined);
  EXPECT_EQ(dot(P, P), 0);
  F = Mat3d::identity();
  F(0, 1) -= 2;
  EXPECT_EQ(Rod::stress(F, wire, directions(t, t), P), PointStatus::undefined);
}

}  // namespace
}  // namespace supple
