#include "kernels/materials/dispatch.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <functional>
#include <random>
#include <type_traits>

namespace supple {
namespace {

const Mat3d edges{{1.0, 0.2, 0.1, -0.1, 0.9, 0.3, 0.2, 0.1, 1.1}};

MaterialParameters<double> parameters(LawId id) {
  if (id == LawId::mooney_rivlin) return {{0.6, 0.15, 5.0}};
  if (id == LawId::yeoh) return {{0.6, 0.05, 0.01, 5.0}};
  if (id == LawId::gent) return {{1.3, 40, 5.0}};
  if (id == LawId::ogden) return {{0.8, 1.5, 0.1, 5, -0.15, -2, 5.0}};
  return {{1.3, 4.1, 0}};
}

Mat3d random_gradient(std::mt19937& rng, double size) {
  std::normal_distribution<double> normal;
  Mat3d f;
  do {
    f = Mat3d::identity();
    for (int i = 0; i < 9; ++i) f[i] += size * normal(rng);
  } while (determinant(f) < 0.3);
  return f;
}

class EveryLaw : public testing::TestWithParam<LawId> {};
class ExactLaw : public testing::TestWithParam<LawId> {};

TEST_P(ExactLaw, StressIsTheDerivativeOfTheEnergy) {
  std::mt19937 rng(1);
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto law) {
    for (int trial = 0; trial < 50; ++trial) {
      const Mat3d F = random_gradient(rng, 0.4);
      Mat3d P;
      ASSERT_EQ(law.stress(F, m, edges, P), PointStatus::regular);
      for (int i = 0; i < 9; ++i) {
        const double h = 1e-5;
        Mat3d a = F, b = F;
        a[i] += h;
        b[i] -= h;
        // Central differences: truncation h^2, cancellation 1e-16/h, both about 1e-10 times moduli of order 10, and of
        // the stress where a law stiffens to many times these.
        EXPECT_NEAR((law.energy(a, m, edges) - law.energy(b, m, edges)) / (2 * h), P[i], 2e-7 + 1e-8 * std::abs(P[i]));
      }
    }
  });
}

TEST_P(ExactLaw, ExactTangentIsTheDerivativeOfTheStress) {
  std::mt19937 rng(2);
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto law) {
    for (int trial = 0; trial < 50; ++trial) {
      const Mat3d F = random_gradient(rng, 0.4);
      double C[81];
      ASSERT_EQ(law.tangent(F, m, edges, TangentKind::exact, C), PointStatus::regular);
      for (int j = 0; j < 9; ++j) {
        const double h = 1e-5;
        Mat3d a = F, b = F, Pa, Pb;
        a[j] += h;
        b[j] -= h;
        (void)law.stress(a, m, edges, Pa);
        (void)law.stress(b, m, edges, Pb);
        for (int i = 0; i < 9; ++i) {
          // Truncation and cancellation as above, relative to the size of the tangent.
          EXPECT_NEAR((Pa[i] - Pb[i]) / (2 * h), C[9 * i + j], 2e-6 + 1e-7 * std::abs(C[9 * i + j]));
          EXPECT_NEAR(C[9 * i + j], C[9 * j + i], 1e-11);
        }
      }
    }
  });
}

TEST_P(EveryLaw, RigidMotionGivesNoStress) {
  std::mt19937 rng(3);
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto law) {
    for (int trial = 0; trial < 20; ++trial) {
      const Mat3d R = polar_rotation(random_gradient(rng, 0.7));
      Mat3d P;
      ASSERT_EQ(law.stress(R, m, edges, P), PointStatus::regular);
      EXPECT_LT(dot(P, P), 1e-26);  // rounding of a sum of terms of order 10
    }
  });
}

TEST_P(EveryLaw, StressTurnsWithTheBody) {
  std::mt19937 rng(4);
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto law) {
    for (int trial = 0; trial < 20; ++trial) {
      const Mat3d R = polar_rotation(random_gradient(rng, 0.7)), F = random_gradient(rng, 0.3);
      Mat3d P, Q;
      (void)law.stress(F, m, edges, P);
      (void)law.stress(R * F, m, edges, Q);
      const Mat3d difference = R * P - Q;
      EXPECT_LT(dot(difference, difference), 1e-22);
    }
  });
}

TEST_P(EveryLaw, SmallStrainsFollowHooke) {
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto law) {
    using Law = decltype(law);
    double mu = 0, lambda = 0;
    if constexpr (solid_law<Law>) {
      mu = Law::shear_modulus(m);
      lambda = Law::bulk_modulus(m) - 2.0 / 3 * mu;
    }
    double C[81];
    (void)law.tangent(Mat3d::identity(), m, edges, TangentKind::exact, C);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) {
            const double expected = lambda * (i == j) * (k == l) + mu * ((i == k) * (j == l) + (i == l) * (j == k));
            EXPECT_NEAR(C[9 * (3 * i + j) + 3 * k + l], expected, 1e-13 * 20);
          }
  });
}

TEST_P(EveryLaw, SafeTangentIsPositiveSemidefinite) {
  std::mt19937 rng(6);
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto law) {
    for (int trial = 0; trial < 200; ++trial) {
      const Mat3d F = random_gradient(rng, 0.6);
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> C(9, 9), E(9, 9);
      (void)law.tangent(F, m, edges, TangentKind::safe, C.data());
      (void)law.tangent(F, m, edges, TangentKind::exact, E.data());
      const double size = std::max(1.0, E.norm());
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<decltype(C)>(C).eigenvalues()(0), -1e-12 * size);
      // Clamping leaves a tangent that is already positive alone; for the corotational law the frozen one is a bound
      // from above... of C.
      const bool corotational = GetParam() <= LawId::corotational_edge_polar;
      if (!corotational && Eigen::SelfAdjointEigenSolver<decltype(E)>(E).eigenvalues()(0) > 0) {
        EXPECT_LT((C - E).norm(), 1e-10 * size);
      }
      if (!corotational) {
        // Projection: removes exactly the negative part.
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> e(E);
        const auto projected =
            (e.eigenvectors() * e.eigenvalues().cwiseMax(0).asDiagonal() * e.eigenvectors().transpose()).eval();
        EXPECT_LT((C - projected).norm(), 1e-9 * size);
      }
    }
  });
}

TEST_P(EveryLaw, NeverReturnsNan) {
  const auto m = parameters(GetParam());
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Mat3d cases[] = {Mat3d::zero(),
                         {{1, 0, 0, 0, 1, 0, 0, 0, 0}},
                         {{1, 0, 0, 0, 1, 0, 0, 0, -1}},
                         {{1e-160, 0, 0, 0, 1e-160, 0, 0, 0, 1e-160}},
                         {{1e200, 0, 0, 0, 1, 0, 0, 0, 1}},
                         {{nan, 0, 0, 0, 1, 0, 0, 0, 1}},
                         {{inf, 0, 0, 0, 1, 0, 0, 0, 1}}};
  visit_law(GetParam(), [&](auto law) {
    for (const Mat3d& F : cases) {
      if (GetParam() == LawId::corotational_edge_frame && determinant(F) == 0) continue;  // next test
      Mat3d P;
      double C[81];
      const PointStatus status = law.stress(F, m, edges, P);
      for (int i = 0; i < 9; ++i) EXPECT_TRUE(std::isfinite(P[i]));
      if (!(determinant(F) > 0)) {
        EXPECT_NE(status, PointStatus::regular);
      }
      for (TangentKind kind : {TangentKind::safe, TangentKind::exact}) {
        (void)law.tangent(F, m, edges, kind, C);
        for (double c : C) EXPECT_TRUE(std::isfinite(c));
      }
    }
  });
}

// Nominal stress of incompressible bodies in tension, from the text books: with s the stretch, the principal Cauchy
// stresses' difference is s P (uniaxial: t1 - t2).
TEST(Isochoric, TensionFollowsTheTextBooks) {
  struct Known {
    LawId law;
    std::function<double(double)> stress;  // uniaxial
  };
  const auto invariant = [](double s) { return s * s + 2 / s; };
  const Known known[] = {
      {LawId::mooney_rivlin, [](double s) { return 2 * (s - 1 / (s * s)) * (0.6 + 0.15 / s); }},
      {LawId::yeoh,
       [&](double s) {
         const double x = invariant(s) - 3;
         return 2 * (s - 1 / (s * s)) * (0.6 + 2 * 0.05 * x + 3 * 0.01 * x * x);
       }},
      {LawId::gent, [&](double s) { return 1.3 * 40 / (40 - invariant(s) + 3) * (s - 1 / (s * s)); }},
      {LawId::ogden, [](double s) {
         const auto term = [&](double mu, double alpha) {
           return mu * (std::pow(s, alpha - 1) - std::pow(s, -alpha / 2 - 1));
         };
         return term(0.8, 1.5) + term(0.1, 5) + term(-0.15, -2);
       }}};
  for (const Known& each : known)
    for (const double s : {0.5, 0.9, 1.2, 2.0, 3.0}) {
      const Mat3d F = from_columns(Vec3d{{s, 0, 0}}, Vec3d{{0, 1 / std::sqrt(s), 0}}, Vec3d{{0, 0, 1 / std::sqrt(s)}});
      Mat3d P;
      visit_law(each.law,
                [&](auto law) { ASSERT_EQ(law.stress(F, parameters(each.law), edges, P), PointStatus::regular); });
      // The pressure that incompressibility leaves open drops out of the difference.
      const double difference = P(0, 0) * s - P(1, 1) / std::sqrt(s);
      EXPECT_NEAR(difference / s, each.stress(s), 1e-12 * (1 + std::abs(each.stress(s))));
    }
}

TEST(Gent, IsNotDefinedBeyondItsLimit) {
  const MaterialParameters<double> m{{1, 5, 100}};
  Mat3d P;
  double C[81];
  const Mat3d F = from_columns(Vec3d{{3, 0, 0}}, Vec3d{{0, std::sqrt(1.0 / 3), 0}}, Vec3d{{0, 0, std::sqrt(1.0 / 3)}});
  EXPECT_EQ(Gent::stress(F, m, edges, P), PointStatus::undefined);  // I1 - 3 = 6.7
  EXPECT_EQ(dot(P, P), 0);
  EXPECT_EQ(Gent::tangent(F, m, edges, TangentKind::safe, C), PointStatus::undefined);
}

// Equal and nearly equal stretches: quotients of differences go over into derivatives.
TEST(Ogden, StretchesMayBeEqual) {
  const auto m = parameters(LawId::ogden);
  double before[81];
  for (const double apart : {0.0, 1e-12, 1e-6, 3e-5, 1e-4}) {
    const Mat3d F = from_columns(Vec3d{{1.3, 0, 0}}, Vec3d{{0, 1.3 + apart, 0}}, Vec3d{{0, 0, 0.7}});
    double C[81];
    ASSERT_EQ(Ogden::tangent(F, m, edges, TangentKind::exact, C), PointStatus::regular);
    for (int i = 0; i < 81; ++i) {
      // The tangent changes by its slope, of order 10, times what they are apart.
      if (apart > 0) {
        EXPECT_NEAR(C[i], before[i], 100 * apart + 1e-9);
      }
    }
    if (apart == 0) std::copy_n(C, 81, before);
  }
}

TEST(Corotational, FourRowsEqualTheFullTangent) {
  std::mt19937 rng(8);
  const MaterialParameters<double> m{{1.3, 4.1, 0}};
  for (int trial = 0; trial < 100; ++trial) {
    const Mat3d F = random_gradient(rng, 0.5), dF = random_gradient(rng, 1.0) - Mat3d::identity();
    const auto rows = Corotational<PolarOfGradient>::four_rows(F, m, edges, TangentKind::exact);
    double C[81], form = 0;
    (void)Corotational<PolarOfGradient>::tangent(F, m, edges, TangentKind::exact, C);
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) form += dF[i] * C[9 * i + j] * dF[j];
    const double t = dot(rows.t, dF);
    const Vec3d w{{dot(rows.w[0], dF), dot(rows.w[1], dF), dot(rows.w[2], dF)}};
    EXPECT_NEAR(rows.two_mu * dot(dF, dF) + rows.lambda * t * t + dot(w, rows.Q * w), form,
                1e-11 * (1 + std::abs(form)));
  }
}

const auto law_name = [](const testing::TestParamInfo<LawId>& info) {
  const char* names[] = {"corotational",
                         "edge_frame",
                         "edge_polar",
                         "st_venant_kirchhoff",
                         "stable_neo_hookean",
                         "mooney_rivlin",
                         "membrane",
                         "yeoh",
                         "gent",
                         "ogden"};
  return std::string(names[static_cast<int>(info.param)]);
};
INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         testing::Values(LawId::corotational, LawId::corotational_edge_frame,
                                         LawId::corotational_edge_polar, LawId::st_venant_kirchhoff,
                                         LawId::stable_neo_hookean, LawId::mooney_rivlin, LawId::yeoh, LawId::gent,
                                         LawId::ogden),
                         law_name);
INSTANTIATE_TEST_SUITE_P(Laws, ExactLaw,
                         testing::Values(LawId::corotational, LawId::st_venant_kirchhoff, LawId::stable_neo_hookean,
                                         LawId::mooney_rivlin, LawId::yeoh, LawId::gent, LawId::ogden),
                         law_name);

}  // namespace
}  // namespace supple
