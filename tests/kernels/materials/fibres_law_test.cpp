// The law of layers of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/materials/dispatch.hpp"

namespace supple {
namespace {

struct Case {
  Mat3d F, frame;
};

std::vector<Case> cases() {
  std::mt19937 rng(1);
  std::normal_distribution<double> normal;
  const auto random = [&](double size) {
    Mat3d m;
    for (int i = 0; i < 9; ++i) m[i] = size * normal(rng);
    return m;
  };
  std::vector<Case> all;
  for (int k = 0; k < 60; ++k) all.push_back({Mat3d::identity() + random(0.4), polar_rotation(random(1))});
  return all;
}

double stretch(const Case& c) {
  return norm(c.F * Vec3d{{c.frame(0, 0), c.frame(1, 0), c.frame(2, 0)}});
}

// Threads and wires; the cases are stretched and pressed.
const MaterialParameters<double> threads{{7.5, 0.02}}, wires{{7.5, 0}}, stiff_threads{{7.5, 0.5}};

TEST(FibresLaw, StressIsTheDerivativeOfTheEnergy) {
  for (const auto& material : {threads, wires, stiff_threads})
    for (const Case& c : cases()) {
      Mat3d P;
      ASSERT_EQ(Fibres::stress(c.F, material, c.frame, P), PointStatus::regular);
      for (int i = 0; i < 9; ++i) {
        const double h = 1e-5;
        Mat3d a = c.F, b = c.F;
        a[i] += h;
        b[i] -= h;
        // Truncation h^2 times third derivatives of order 10, cancellation 1e-16 / h times energies of order 1.
        EXPECT_NEAR((Fibres::energy(a, material, c.frame) - Fibres::energy(b, material, c.frame)) / (2 * h), P[i],
                    2e-8);
      }
    }
}

TEST(FibresLaw, ExactTangentIsTheDerivativeOfTheStress) {
  for (const auto& material : {threads, wires, stiff_threads})
    for (const Case& c : cases()) {
      if (std::abs(stretch(c) - 1) < 1e-3) continue;  // where the second derivative jumps
      double C[81];
      ASSERT_EQ(Fibres::tangent(c.F, material, c.frame, TangentKind::exact, C), PointStatus::regular);
      for (int j = 0; j < 9; ++j) {
        const double h = 1e-5;
        Mat3d a = c.F, b = c.F, Pa, Pb;
        a[j] += h;
        b[j] -= h;
        (void)Fibres::stress(a, material, c.frame, Pa);
        (void)Fibres::stress(b, material, c.frame, Pb);
        for (int i = 0; i < 9; ++i)
          // h^2 times third derivatives of up to k/e0^2 = 2e4
          EXPECT_NEAR((Pa[i] - Pb[i]) / (2 * h), C[9 * i + j], 2e-6 * (1 + std::abs(C[9 * i + j])));
      }
    }
}

TEST(FibresLaw, SafeTangentIsPositiveAndExactUnderTension) {
  for (const Case& c : cases()) {
    double exact[81], safe[81];
    (void)Fibres::tangent(c.F, wires, c.frame, TangentKind::exact, exact);
    (void)Fibres::tangent(c.F, wires, c.frame, TangentKind::safe, safe);
    for (int i = 0; i < 81 && stretch(c) > 1; ++i) EXPECT_EQ(safe[i], exact[i]);
    std::mt19937 rng(2);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 20; ++k) {
      double d[9], sum = 0;
      for (double& x : d) x = normal(rng);
      for (int i = 0; i < 9; ++i)
        for (int j = 0; j < 9; ++j) sum += d[i] * safe[9 * i + j] * d[j];
      EXPECT_GE(sum, -1e-12);  // rounding
    }
  }
}

// Pulled as stiff as wires, and at rest; pressed they carry k e0 at most.
TEST(FibresLaw, ThreadsBuckle) {
  double C[81];
  (void)Fibres::tangent(Mat3d::identity(), threads, Mat3d::identity(), TangentKind::exact, C);
  EXPECT_DOUBLE_EQ(C[0], 7.5);
  Mat3d F = Mat3d::identity(), P;
  F(0, 0) = 1.1;
  (void)Fibres::stress(F, threads, Mat3d::identity(), P);
  EXPECT_DOUBLE_EQ(P[0], 7.5 * (1.1 - 1));
  F(0, 0) = 0.98;
  (void)Fibres::stress(F, threads, Mat3d::identity(), P);
  EXPECT_DOUBLE_EQ(P[0], 7.5 * (0.98 - 1) / 2);
  F(0, 0) = 0.5;
  (void)Fibres::stress(F, threads, Mat3d::identity(), P);
  EXPECT_LT(P[0], -0.95 * 7.5 * 0.02);
  EXPECT_GT(P[0], -7.5 * 0.02);
  (void)Fibres::stress(F, wires, Mat3d::identity(), P);
  EXPECT_DOUBLE_EQ(P[0], -3.75);
}

TEST(FibresLaw, HasNoValueWithoutADirection) {
  Mat3d F = Mat3d::identity(), P;
  F(0, 0) = 0;
  EXPECT_EQ(Fibres::stress(F, threads, Mat3d::identity(), P), PointStatus::undefined);
  EXPECT_EQ(dot(P, P), 0);
}

}  // namespace
}  // namespace supple
