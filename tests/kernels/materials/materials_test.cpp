#include "kernels/materials/dispatch.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace supple {
namespace {

const Mat3d edges{{1.0, 0.2, 0.1, -0.1, 0.9, 0.3, 0.2, 0.1, 1.1}};

MaterialParameters<double> parameters(LawId id) {
  if (id == LawId::mooney_rivlin) return {{0.6, 0.15, 5.0}};
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
        // Central differences: truncation h^2, cancellation 1e-16/h, both about 1e-10 times moduli of order 10.
        EXPECT_NEAR((law.energy(a, m, edges) - law.energy(b, m, edges)) / (2 * h), P[i], 2e-7);
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
  const bool mooney = GetParam() == LawId::mooney_rivlin, stable = GetParam() == LawId::stable_neo_hookean;
  // Lame constants of the small-strain limit.
  double mu = m.p[0], lambda = m.p[1];
  if (mooney) {
    mu = 2 * (m.p[0] + m.p[1]);
    lambda = 2 * m.p[2] - 2 * mu / 3;
  } else if (stable) {
    mu = 0.75 * m.p[0];
    lambda = m.p[1] - 5.0 / 6.0 * mu;
  }
  visit_law(GetParam(), [&](auto law) {
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
  const char* names[] = {"corotational",        "edge_frame",         "edge_polar",
                         "st_venant_kirchhoff", "stable_neo_hookean", "mooney_rivlin"};
  return std::string(names[static_cast<int>(info.param)]);
};
INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         testing::Values(LawId::corotational, LawId::corotational_edge_frame,
                                         LawId::corotational_edge_polar, LawId::st_venant_kirchhoff,
                                         LawId::stable_neo_hookean, LawId::mooney_rivlin),
                         law_name);
INSTANTIATE_TEST_SUITE_P(Laws, ExactLaw,
                         testing::Values(LawId::corotational, LawId::st_venant_kirchhoff, LawId::stable_neo_hookean,
                                         LawId::mooney_rivlin),
                         law_name);

}  // namespace
}  // namespace supple
