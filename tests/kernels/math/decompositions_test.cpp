#include <gtest/gtest.h>

#include <random>

#include "kernels/math/polar.hpp"

namespace supple {
namespace {

double distance(const Mat3d& a, const Mat3d& b) {
  return std::sqrt(dot(a - b, a - b));
}

Mat3d random_matrix(std::mt19937& rng, double scale = 1) {
  std::normal_distribution<double> normal;
  Mat3d a;
  for (int i = 0; i < 9; ++i) a[i] = scale * normal(rng);
  return a;
}

void expect_rotation(const Mat3d& r) {
  // Products of unit vectors computed in a dozen operations: rounding only.
  EXPECT_LT(distance(transpose(r) * r, Mat3d::identity()), 1e-14);
  EXPECT_GT(determinant(r), 0);
}

TEST(SymmetricEigen, ReproducesTheMatrix) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 1000; ++trial) {
    Mat3d a = random_matrix(rng);
    a = a + transpose(a);
    const auto e = eigen_symmetric(a);
    Mat3d d = Mat3d::zero();
    for (int k = 0; k < 3; ++k) d(k, k) = e.values[k];
    EXPECT_LT(distance(e.vectors * d * transpose(e.vectors), a), 1e-13);
  }
}

TEST(Svd, ReproducesTheMatrixWithRotations) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 1000; ++trial) {
    Mat3d f = random_matrix(rng);
    if (trial % 7 == 0)
      for (int j = 0; j < 3; ++j) f(2, j) = f(0, j);                                       // rank two
    if (trial % 11 == 0) f = outer(Vec3d{{f[0], f[1], f[2]}}, Vec3d{{f[3], f[4], f[5]}});  // rank one
    const auto d = svd(f);
    expect_rotation(d.u);
    expect_rotation(d.v);
    Mat3d s = Mat3d::zero();
    for (int k = 0; k < 3; ++k) s(k, k) = d.s[k];
    // Singular values far below the largest carry the square root of rounding (header).
    EXPECT_LT(distance(d.u * s * transpose(d.v), f), 3e-8 * std::sqrt(dot(f, f)));
    EXPECT_GE(d.s[0], d.s[1]);
    EXPECT_GE(d.s[1], std::abs(d.s[2]) - 1e-7);
  }
}

TEST(Svd, ZeroMatrixGivesRotations) {
  const auto d = svd(Mat3d::zero());
  expect_rotation(d.u);
  expect_rotation(d.v);
}

TEST(Polar, RotationTimesSymmetricPositive) {
  std::mt19937 rng(3);
  for (int trial = 0; trial < 2000; ++trial) {
    Mat3d f = random_matrix(rng);
    if (determinant(f) < 0) f = -1.0 * f;
    const Mat3d r = polar_rotation(f);
    expect_rotation(r);
    const Mat3d s = transpose(r) * f;
    // The symmetry of S is as good as the conditioning of the rotation allows.
    const auto e = eigen_symmetric(transpose(f) * f);
    const double smallest = std::sqrt(std::max(0.0, std::min({e.values[0], e.values[1], e.values[2]})));
    if (smallest < 1e-3) continue;
    EXPECT_LT(distance(s, transpose(s)), 1e-12 / smallest);
    for (int k = 0; k < 3; ++k) EXPECT_GT(eigen_symmetric(0.5 * (s + transpose(s))).values[k], 0);
  }
}

TEST(Polar, InvertedAndSingularStillGiveTheBestRotation) {
  std::mt19937 rng(4);
  for (int trial = 0; trial < 500; ++trial) {
    Mat3d f = random_matrix(rng);
    if (determinant(f) > 0) f = -1.0 * f;
    const Mat3d r = polar_rotation(f);
    expect_rotation(r);
    // No small rotation about any axis increases tr(R^T F).
    for (int axis = 0; axis < 3; ++axis)
      for (double angle : {1e-3, -1e-3, 0.5, -0.5, 2.0}) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        Mat3d q = Mat3d::identity();
        q(a, a) = q(b, b) = std::cos(angle);
        q(a, b) = -std::sin(angle);
        q(b, a) = std::sin(angle);
        EXPECT_LE(dot(q * r, f), dot(r, f) + 1e-10);
      }
  }
  expect_rotation(polar_rotation(Mat3d::zero()));
}

// Newton's method in long double, scaled (N. Higham, 1986), knows nothing of the closed form.
TEST(Polar, AgreesWithAnIterationInLongDouble) {
  using Long = long double;
  std::mt19937 rng(6);
  for (int trial = 0; trial < 2000; ++trial) {
    Mat3d f = Mat3d::identity() + random_matrix(rng, 0.05 * (1 + trial % 20));
    if (determinant(f) < 0.01) continue;
    Mat3<Long> x;
    for (int i = 0; i < 9; ++i) x[i] = f[i];
    for (int k = 0; k < 40; ++k) {
      const Mat3<Long> back = (Long(1) / determinant(x)) * cofactor(x);
      const Long g = k < 20 ? std::sqrt(std::sqrt(dot(back, back) / dot(x, x))) : Long(1);
      x = (g / 2) * x + (1 / (2 * g)) * back;
    }
    const Mat3d r = polar_rotation(f);
    // 8e-16 is the worst of a million where the closed form serves; elsewhere the decomposition's rounding.
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(r[i], static_cast<double>(x[i]), 1e-14);
  }
}

TEST(Polar, FloatAgreesWithDouble) {
  std::mt19937 rng(5);
  for (int trial = 0; trial < 500; ++trial) {
    Mat3d f = Mat3d::identity() + random_matrix(rng, 0.3);
    if (determinant(f) < 0.1) continue;
    Mat3<float> g;
    for (int i = 0; i < 9; ++i) g[i] = static_cast<float>(f[i]);
    const Mat3d r = polar_rotation(f);
    const Mat3<float> q = polar_rotation(g);
    // Rotations amplify input rounding (6e-8) by one over the smallest sum of two stretches, > 0.1 here.
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(r[i], q[i], 1e-5);
  }
}

}  // namespace
}  // namespace supple
