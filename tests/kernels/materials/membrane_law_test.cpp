// The law of membranes: a 3x2 gradient read through the frame of its point.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "kernels/materials/dispatch.hpp"

namespace supple {
namespace {

using Matrix9 = Eigen::Matrix<double, 9, 9, Eigen::RowMajor>;
using Law = CorotationalMembrane;

const MaterialParameters<double> material{{1.3, 4.1, 0}};

Mat3d random_matrix(std::mt19937& rng, double size) {
  std::normal_distribution<double> normal;
  Mat3d m;
  for (int i = 0; i < 9; ++i) m[i] = size * normal(rng);
  return m;
}

Mat3d random_rotation(std::mt19937& rng) {
  return polar_rotation(random_matrix(rng, 1));
}

struct Case {
  Mat3d F, frame;
};

// Singular values of F [e1 e2] given; the third column of F in the frame is anything. Rotations are those of all
// angles.
Case with_stretches(std::mt19937& rng, double a, double b) {
  const Mat3d frame = random_rotation(rng), turn = random_rotation(rng), in_plane = random_rotation(rng);
  std::uniform_real_distribution<double> angle(0, 6.3);
  const double t = angle(rng);
  const Mat3d axes{{std::cos(t), -std::sin(t), 0, std::sin(t), std::cos(t), 0, 0, 0, 1}};
  const Mat3d stretch{{a, 0, 0, 0, b, 0, 0, 0, 0}};
  Mat3d f = turn * (axes * stretch * transpose(axes));
  for (int i = 0; i < 3; ++i) f(i, 2) = in_plane(i, 2);
  return {f * transpose(frame), frame};
}

std::vector<Case> cases() {
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> stretch(0.3, 2.5);
  std::vector<Case> all;
  for (int k = 0; k < 60; ++k) all.push_back(with_stretches(rng, stretch(rng), stretch(rng)));
  for (const double a : {0.4, 0.9, 1.0, 1.1, 2.0}) {
    all.push_back(with_stretches(rng, a, a));
    all.push_back(with_stretches(rng, a, a * (1 + 1e-9)));
    all.push_back(with_stretches(rng, a, 2 - a + 0.1));
  }
  return all;
}

TEST(MembraneLaw, StressIsTheDerivativeOfTheEnergy) {
  for (const Case& c : cases()) {
    Mat3d P;
    ASSERT_EQ(Law::stress(c.F, material, c.frame, P), PointStatus::regular);
    for (int i = 0; i < 9; ++i) {
      const double h = 1e-5;
      Mat3d a = c.F, b = c.F;
      a[i] += h;
      b[i] -= h;
      // Truncation h^2 times third derivatives of order 1 / stretch^2, cancellation 1e-16 / h times energies of
      // order 10.
      EXPECT_NEAR((Law::energy(a, material, c.frame) - Law::energy(b, material, c.frame)) / (2 * h), P[i], 5e-8);
    }
  }
}

TEST(MembraneLaw, ExactTangentIsTheDerivativeOfTheStress) {
  for (const Case& c : cases()) {
    double C[81];
    ASSERT_EQ(Law::tangent(c.F, material, c.frame, TangentKind::exact, C), PointStatus::regular);
    for (int j = 0; j < 9; ++j) {
      const double h = 1e-5;
      Mat3d a = c.F, b = c.F, Pa, Pb;
      a[j] += h;
      b[j] -= h;
      (void)Law::stress(a, material, c.frame, Pa);
      (void)Law::stress(b, material, c.frame, Pb);
      for (int i = 0; i < 9; ++i) {
        EXPECT_NEAR((Pa[i] - Pb[i]) / (2 * h), C[9 * i + j], 1e-7 * (1 + std::abs(C[9 * i + j])));
        EXPECT_NEAR(C[9 * i + j], C[9 * j + i], 1e-12);
      }
    }
  }
}

// The nearest positive semidefinite matrix: the exact tangent without the negative part of its spectrum, itself where
// that has none.
TEST(MembraneLaw, SafeTangentIsTheExactOneClamped) {
  int positive = 0, both_signs = 0;
  for (const Case& c : cases()) {
    Matrix9 safe, exact;
    (void)Law::tangent(c.F, material, c.frame, TangentKind::safe, safe.data());
    (void)Law::tangent(c.F, material, c.frame, TangentKind::exact, exact.data());
    const Eigen::SelfAdjointEigenSolver<Matrix9> e(exact);
    const Matrix9 clamped = e.eigenvectors() * e.eigenvalues().cwiseMax(0).asDiagonal() * e.eigenvectors().transpose();
    EXPECT_LT((safe - clamped).norm(), 1e-13 * exact.norm());
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix9>(safe).eigenvalues()(0), -1e-14 * exact.norm());
    // A strain of both signs out of the plane: B has an eigenvalue to keep and one to drop.
    const Eigen::Matrix<double, 9, 1>& values = e.eigenvalues();
    positive += values(0) > -1e-14 * exact.norm();
    both_signs += values(0) < -1e-3 && (safe - exact).norm() < exact.norm();
  }
  EXPECT_GT(positive, 5);
  EXPECT_GT(both_signs, 5);
}

TEST(MembraneLaw, ReadsThePlaneAlone) {
  std::mt19937 rng(3);
  for (const Case& c : cases()) {
    const Vec3d normal{{c.frame(0, 2), c.frame(1, 2), c.frame(2, 2)}};
    const double t = 0.7;
    const Mat3d turned = c.frame * Mat3d{{std::cos(t), -std::sin(t), 0, std::sin(t), std::cos(t), 0, 0, 0, 1}};
    const Mat3d other = c.F + outer(Vec3d{{0.3, -2, 5}}, normal);
    Mat3d P, same, turned_stress;
    (void)Law::stress(c.F, material, c.frame, P);
    (void)Law::stress(other, material, c.frame, same);
    (void)Law::stress(c.F, material, turned, turned_stress);
    double C[81], D[81], T[81];
    (void)Law::tangent(c.F, material, c.frame, TangentKind::safe, C);
    (void)Law::tangent(other, material, c.frame, TangentKind::safe, D);
    (void)Law::tangent(c.F, material, turned, TangentKind::safe, T);
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR(same[i], P[i], 1e-13);
      EXPECT_NEAR(turned_stress[i], P[i], 1e-13);
    }
    for (int i = 0; i < 81; ++i) {
      EXPECT_NEAR(D[i], C[i], 1e-12);
      EXPECT_NEAR(T[i], C[i], 1e-12);
    }
    const Mat3d R = random_rotation(rng);  // the body turns
    Mat3d Q;
    (void)Law::stress(R * c.F, material, c.frame, Q);
    const Mat3d difference = R * P - Q;
    EXPECT_LT(dot(difference, difference), 1e-24);
  }
}

TEST(MembraneLaw, RigidMotionGivesNoStress) {
  std::mt19937 rng(4);
  for (int k = 0; k < 50; ++k) {
    Mat3d P;
    ASSERT_EQ(Law::stress(random_rotation(rng), material, random_rotation(rng), P), PointStatus::regular);
    EXPECT_LT(dot(P, P), 1e-26);  // rounding of a sum of terms of order 10
  }
}

// T = E / (1 - nu^2) ((1 - nu) e + nu tr(e) I), and uniaxial stress E e with the lateral strain -nu e.
TEST(MembraneLaw, PlaneStress) {
  const double E = 2.5, nu = 0.4, strain = 0.3;
  const MaterialParameters<double> m{{E / (2 * (1 + nu)), E * nu / (1 - nu * nu), 0}};
  const Mat3d F{{1 + strain, 0, 0, 0, 1 - nu * strain, 0, 0, 0, 1}};
  Mat3d P;
  (void)Law::stress(F, m, Mat3d::identity(), P);
  EXPECT_NEAR(P(0, 0), E * strain, 1e-15);
  for (int i = 1; i < 9; ++i) EXPECT_NEAR(P[i], 0, 1e-15);
}

TEST(MembraneLaw, NeverReturnsNan) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Mat3d undefined[] = {Mat3d::zero(),
                             {{1, 0, 0, 0, 0, 0, 0, 0, 1}},
                             {{1, 1, 0, 2, 2, 0, -1, -1, 1}},
                             {{1e-160, 0, 0, 0, 1e-160, 0, 0, 0, 1}},
                             {{1e200, 0, 0, 0, 1, 0, 0, 0, 1}},
                             {{nan, 0, 0, 0, 1, 0, 0, 0, 1}},
                             {{inf, 0, 0, 0, 1, 0, 0, 0, 1}}};
  for (const Mat3d& F : undefined) {
    Mat3d P;
    EXPECT_EQ(Law::stress(F, material, Mat3d::identity(), P), PointStatus::undefined);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(P[i], 0);
    for (const TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
      double C[81];
      EXPECT_EQ(Law::tangent(F, material, Mat3d::identity(), kind, C), PointStatus::undefined);
      for (double c : C) EXPECT_EQ(c, 0);
    }
  }
  // A membrane knows no inside out.
  Mat3d P;
  const Mat3d mirrored{{1, 0, 0, 0, 1, 0, 0, 0, -1}};
  EXPECT_EQ(Law::stress(mirrored, material, Mat3d::identity(), P), PointStatus::regular);
  EXPECT_EQ(dot(P, P), 0);
}

}  // namespace
}  // namespace supple
