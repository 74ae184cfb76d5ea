// How forces of one linearisation change with F, of every law, against differences of these forces.
#include "kernels/materials/tangent_change.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernels/materials/dispatch.hpp"

namespace supple {
namespace {

constexpr double factor = 1.7;

MaterialParameters<double> parameters(LawId id) {
  if (id == LawId::mooney_rivlin) return {{0.6, 0.15, 5.0}};
  if (id == LawId::yeoh) return {{0.6, 0.05, 0.01, 5.0}};
  if (id == LawId::gent) return {{1.3, 40, 5.0}};
  if (id == LawId::ogden) return {{0.8, 1.5, 0.1, 5, -0.15, -2, 5.0}};
  if (id == LawId::fibres) return {{7.5, 0.5}};
  if (id == LawId::rod) return {{7.5, 1.2, 0.5}};
  return {{1.3, 4.1}};
}

Mat3d random_matrix(std::mt19937& rng, double size) {
  std::normal_distribution<double> normal;
  Mat3d m;
  for (int i = 0; i < 9; ++i) m[i] = size * normal(rng);
  return m;
}

struct Point {
  Mat3d F, edges, Z, W;
};

Point random_point(std::mt19937& rng) {
  Point point;
  do point.F = Mat3d::identity() + random_matrix(rng, 0.2);
  while (determinant(point.F) < 0.4);
  point.edges = polar_rotation(random_matrix(rng, 1));
  point.Z = random_matrix(rng, 0.1);
  point.W = random_matrix(rng, 1);
  return point;
}

template <class Law>
Mat3d forces(const Point& at, const Mat3d& F, const MaterialParameters<double>& m) {
  Mat3d P;
  double C[81];
  (void)Law::stress(F, m, at.edges, P);
  (void)Law::tangent(F, m, at.edges, TangentKind::safe, C);
  return P + factor * times(C, at.Z);
}

// Whether a clamped eigenvalue may change sign within the differences: one side's slope differs from the other's.
template <class Law>
bool at_kink(const Point& at, const MaterialParameters<double>& m, double h) {
  const Mat3d now = forces<Law>(at, at.F, m);
  double most = 0;
  for (int b = 0; b < 9; ++b) {
    Mat3d ahead = at.F, behind = at.F;
    ahead[b] += 2 * h;
    behind[b] -= 2 * h;
    const Mat3d bend = forces<Law>(at, ahead, m) + forces<Law>(at, behind, m) - 2.0 * now;
    most = std::max(most, std::sqrt(dot(bend, bend)) / (2 * h));
  }
  return most > 1e-2;  // smooth: second derivatives of order 10 to 100 times 2h
}

class TangentChange : public testing::TestWithParam<LawId> {};

TEST_P(TangentChange, IsThatOfTheForces) {
  const auto m = parameters(GetParam());
  visit_law(GetParam(), [&](auto type) {
    using Law = decltype(type);
    std::mt19937 rng(5);
    int smooth = 0, clamped = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const Point at = random_point(rng);
      constexpr double h = 2e-5;
      if (at_kink<Law>(at, m, h)) continue;
      ++smooth;
      double safe[81], exact[81], D[81], size = 1;
      (void)Law::tangent(at.F, m, at.edges, TangentKind::safe, safe);
      (void)Law::tangent(at.F, m, at.edges, TangentKind::exact, exact);
      clamped += std::equal(safe, safe + 81, exact) ? 0 : 1;
      Mat3d E, of_product, by_differences = Mat3d::zero();
      tangent_change<Law>(at.F, m, at.edges, at.Z, factor, E, D);
      const Mat3d product = tangent_change_product<Law>(at.F, m, at.edges, at.Z, factor, at.W, of_product);
      const Mat3d expected = forces<Law>(at, at.F, m);
      for (int c = 0; c < 81; ++c) size = std::max(size, std::abs(D[c]));
      for (int b = 0; b < 9; ++b) {
        const auto moved = [&](double by) {
          Mat3d F = at.F;
          F[b] += by;
          return forces<Law>(at, F, m);
        };
        const Mat3d slope = (1 / (12 * h)) * (8.0 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h)));
        // Cancellation in these differences: 1e-16/h of forces of order 10; central ones of tangents, 1e-10 of their
        // third derivatives. Laws without a spectrum take one-sided ones: 1e-8 of second derivatives.
        const double rounding = clamped_law<Law> ? 1e-8 : 1e-6;
        for (int a = 0; a < 9; ++a) EXPECT_NEAR(D[9 * a + b], slope[a], rounding * size) << trial;
        for (int a = 0; a < 9; ++a) by_differences[b] += D[9 * a + b] * at.W[a];
      }
      for (int a = 0; a < 9; ++a) {
        EXPECT_NEAR(E[a], expected[a], 1e-12 * size);
        EXPECT_NEAR(of_product[a], expected[a], 1e-12 * size);
        // The same differences in another order: Ogden's tangent is right to 1e-11 where stretches are close.
        EXPECT_NEAR(product[a], by_differences[a], 1e-9 * size);
      }
    }
    EXPECT_GT(smooth, 100);
    if constexpr (clamped_law<Law>) {
      EXPECT_GT(clamped, 20);
    }
  });
}

// Inverted points whose last two singular values nearly cancel, so that turning about their axis takes large angles: by
// differences.
TEST(TangentChangeOfInvertedPoints, IsThatOfTheForces) {
  using Law = StVenantKirchhoff;
  const MaterialParameters<double> m{{1.3, 4.1}};
  std::mt19937 rng(7);
  for (int trial = 0; trial < 20; ++trial) {
    Point at = random_point(rng);
    const Mat3d U = polar_rotation(random_matrix(rng, 1)), V = polar_rotation(random_matrix(rng, 1));
    at.F = U * Mat3d{{1.1, 0, 0, 0, 0.5, 0, 0, 0, -0.4997}} * transpose(V);
    double C[81], D[81], size = 1;
    (void)Law::tangent(at.F, m, at.edges, TangentKind::exact, C);
    const TangentSpectrum<double> spectrum = Law::spectrum(at.F, at.edges, C);
    EXPECT_EQ(spectrum.turns[2], 0);
    EXPECT_LT(spectrum.values[2], 0);  // clamped
    Mat3d E;
    tangent_change<Law>(at.F, m, at.edges, at.Z, factor, E, D);
    for (const double d : D) size = std::max(size, std::abs(d));
    constexpr double h = 1e-6;
    for (int b = 0; b < 9; ++b) {
      Mat3d ahead = at.F, behind = at.F;
      ahead[b] += h;
      behind[b] -= h;
      const Mat3d slope = (1 / (2 * h)) * (forces<Law>(at, ahead, m) - forces<Law>(at, behind, m));
      for (int a = 0; a < 9; ++a) EXPECT_NEAR(D[9 * a + b], slope[a], 1e-7 * size);
    }
  }
}

// A pack has points that are clamped in different ways.
TEST_P(TangentChange, OfAPackIsThatOfItsPoints) {
  const auto scalar = parameters(GetParam());
  MaterialParameters<Pack<double>> m;
  for (int i = 0; i < most_parameters; ++i) m.p[i] = Pack<double>(scalar.p[i]);
  visit_law(GetParam(), [&](auto type) {
    using Law = decltype(type);
    std::mt19937 rng(6);
    Mat3<Pack<double>> F, edges, Z, W, E;
    std::vector<Point> points;
    for (int l = 0; l < Pack<double>::width; ++l) {
      const Point& at = points.emplace_back(random_point(rng));
      set_lane(F, l, at.F);
      set_lane(edges, l, at.edges);
      set_lane(Z, l, at.Z);
      set_lane(W, l, at.W);
    }
    Pack<double> D[81];
    tangent_change<Law>(F, m, edges, Z, Pack<double>(factor), E, D);
    const auto product = tangent_change_product<Law>(F, m, edges, Z, Pack<double>(factor), W, E);
    for (int l = 0; l < Pack<double>::width; ++l) {
      const Point& at = points[static_cast<std::size_t>(l)];
      double of_point[81], size = 1;
      Mat3d force;
      tangent_change<Law>(at.F, scalar, at.edges, at.Z, factor, force, of_point);
      const Mat3d own = tangent_change_product<Law>(at.F, scalar, at.edges, at.Z, factor, at.W, force);
      for (const double d : of_point) size = std::max(size, std::abs(d));
      // Of laws without a spectrum all take the differences of 1e-8 that one point of a pack needs.
      const double rounding = clamped_law<Law> ? 1e-9 : 2e-6;
      for (int c = 0; c < 81; ++c) EXPECT_NEAR(D[c].v[l], of_point[c], rounding * size);
      for (int a = 0; a < 9; ++a) EXPECT_NEAR(product[a].v[l], own[a], 9 * rounding * size);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Laws, TangentChange,
                         testing::Values(LawId::corotational, LawId::corotational_edge_frame,
                                         LawId::corotational_edge_polar, LawId::st_venant_kirchhoff,
                                         LawId::stable_neo_hookean, LawId::mooney_rivlin, LawId::yeoh, LawId::gent,
                                         LawId::ogden, LawId::corotational_membrane, LawId::fibres, LawId::rod));

}  // namespace
}  // namespace supple
