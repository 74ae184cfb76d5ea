#include "kernels/contact/coulomb.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using test::Random;

// Symmetric positive definite with eigenvalues down to 10^-decades, any axes: strong coupling of normal and tangents.
Matrix3d random_block(Random& random, double decades) {
  const Matrix3d Q = random.orthonormal(3, 3);
  Vector3d eigenvalues(1, std::pow(10.0, -random.uniform(0, decades)), std::pow(10.0, -random.uniform(0, decades)));
  const Matrix3d W = Q * eigenvalues.asDiagonal() * Q.transpose();
  return (W + W.transpose()) / 2;
}

struct Local {
  Matrix3d W;
  Vector3d b;
  double mu;
  Vector3d w(const Vector3d& lambda) const { return W * lambda + b; }
  Vector3d solve(Vector3d lambda = Vector3d::Zero()) const {
    solve_coulomb(CoulombBlock::of(W.data()), mu, b.data(), lambda.data());
    return lambda;
  }
  // The laws one by one, forces in the unit of b.
  double violation(const Vector3d& lambda) const {
    const Vector3d move = w(lambda);
    const double scale = W.trace() / 3, slip = move.tail(2).norm();
    double worst = std::max({-lambda[0] * scale, -move[0], std::min(lambda[0] * scale, move[0]),
                             (lambda.tail(2).norm() - mu * lambda[0]) * scale});
    // A product: a tiny slip has no direction.
    const double astray = slip > 0 ? (lambda.tail(2) + mu * lambda[0] / slip * move.tail(2)).norm() * scale : 0;
    if (astray > 0) worst = std::max(worst, slip * astray / std::max(slip, astray + lambda.tail(2).norm() * scale));
    return worst / std::max(b.norm(), lambda.norm() * scale);
  }
};

TEST(Coulomb, ClosedForms) {
  Matrix3d W = Vector3d(2, 1, 4).asDiagonal();
  EXPECT_EQ((Local{W, {0.1, 5, 5}, 0.5}.solve({1, 0, 0})), Vector3d(0, 0, 0));
  EXPECT_LT((Local{W, {-2, 0.1, -0.8}, 0.5}.solve() - Vector3d(1, -0.1, 0.2)).norm(), 1e-15);  // sticks
  EXPECT_LT((Local{W, {-2, 3, 0}, 0.5}.solve() - Vector3d(1, -0.5, 0)).norm(), 1e-15);         // slips
  EXPECT_LT((Local{W, {-2, 3, 7}, 0}.solve() - Vector3d(1, 0, 0)).norm(), 1e-15);              // frictionless
  // Anisotropic: friction opposes the slip, not the free slip. Force along 45 degrees: w_t = b_t + W_tt lambda_t.
  const double t = 0.5 / std::numbers::sqrt2;
  const Local oblique{W, {-2, 1 + t, 1 + 4 * t}, 0.5};
  EXPECT_LT((oblique.solve() - Vector3d(1, -t, -t)).norm(), 1e-14);
  EXPECT_LT((oblique.w(oblique.solve()) - Vector3d(0, 1, 1)).norm(), 1e-14);
}

TEST(Coulomb, ExactOnRandomBlocks) {
  Random random(1);
  double worst = 0;
  int slips = 0;
  for (int trial = 0; trial < 60000; ++trial) {
    Local local{random_block(random, 3), random.vector(3), random.uniform(0, 1)};
    if (trial % 8 == 0) local.mu = 100;
    if (trial % 8 == 1) local.mu = random.uniform(0, 10);
    const Vector3d start = trial % 2 == 0 ? Vector3d::Zero() : Vector3d(random.vector(3));
    const Vector3d lambda = local.solve(start);
    // Rounding: W lambda cancels b, and mu multiplies the error of a normal force.
    const double magnified = std::max(1.0, lambda.norm()) * std::max(1.0, local.mu);
    worst = std::max(worst, local.violation(lambda) / magnified);
    ASSERT_LT(local.violation(lambda), 1e-14 * magnified) << trial;
    slips += lambda[0] > 0 && local.w(lambda).tail(2).norm() > 1e-9;
  }
  EXPECT_GT(slips, 15000);
  RecordProperty("worst", std::to_string(worst));
}

// All slips by a search over the angle: the answer is one of them, and where the search finds none it does not slip.
TEST(Coulomb, SlipIsOneOfThoseFoundBySearch) {
  Random random(2);
  int several = 0, hidden = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Local local{random_block(random, 2), random.vector(3), random.uniform(0, 3)};
    const auto force = [&](double angle) {
      const Eigen::Vector2d tau(std::cos(angle), std::sin(angle));
      const double normal = -local.b[0] / (local.W(0, 0) + local.mu * local.W.row(0).tail(2).dot(tau));
      return Vector3d(normal, local.mu * normal * tau[0], local.mu * normal * tau[1]);
    };
    const auto turned = [&](double angle) {
      const Vector3d move = local.w(force(angle));
      return std::cos(angle) * move[2] - std::sin(angle) * move[1];
    };
    std::vector<Vector3d> found;
    const int pieces = 2000;
    for (int k = 0; k < pieces; ++k) {
      double low = 2 * std::numbers::pi * k / pieces, high = 2 * std::numbers::pi * (k + 1) / pieces;
      if ((turned(low) < 0) == (turned(high) < 0)) continue;
      for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        ((turned(middle) < 0) == (turned(low) < 0) ? low : high) = middle;
      }
      if (force(low)[0] > 0 && local.violation(force(low)) < 1e-9) found.push_back(force(low));
    }
    several += found.size() > 1;
    const Vector3d lambda = local.solve(), move = local.w(lambda);
    if (lambda[0] == 0 || move.tail(2).norm() < 1e-6) continue;
    // Two close roots may hide in one piece.
    double nearest = found.empty() ? local.violation(lambda) : 1;
    hidden += found.empty();
    for (const Vector3d& other : found) nearest = std::min(nearest, (other - lambda).norm() / lambda.norm());
    ASSERT_LT(nearest, 1e-8) << trial;
  }
  EXPECT_GT(several, 3);
  EXPECT_LT(hidden, 10);
}

TEST(Coulomb, SingularBlocksAreFixedPoints) {
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    // Rank 1 or 2 with a solution: b = -W x for an admissible x.
    const Eigen::MatrixXd V = random.matrix(3, 1 + trial % 2);
    Local local{V * V.transpose(), Vector3d::Zero(), random.uniform(0.1, 1)};
    const double normal = random.uniform(0.1, 1);
    local.b = -local.W * Vector3d(normal, 0.3 * local.mu * normal, -0.3 * local.mu * normal);
    Vector3d lambda = Vector3d::Zero();
    for (int step = 0; step < 200; ++step) lambda = local.solve(lambda);
    ASSERT_LT(local.violation(lambda), 1e-11) << trial;
  }
  const Local nothing{Matrix3d::Zero(), {-1, 0.3, 0.2}, 0.5};
  EXPECT_TRUE(nothing.solve().allFinite());
}

TEST(Coulomb, ResidualIsZeroOnlyAtSolutions) {
  const double slide[3] = {1, -0.5, 0}, gap[3] = {0, 2, 0}, other[3] = {0, 2, 0.1};
  EXPECT_EQ(coulomb_residual(slide, gap, 0.5), 0);
  EXPECT_GT(coulomb_residual(slide, other, 0.5), 0.005);
  const double none[3] = {0, 0, 0}, open[3] = {0.1, 3, 3}, closed[3] = {-0.1, 0, 0};
  EXPECT_EQ(coulomb_residual(none, open, 0.5), 0);
  EXPECT_DOUBLE_EQ(coulomb_residual(none, closed, 0.5), 0.1);
  double force[3] = {2, 3, 4};
  project_friction(0.5, force);
  EXPECT_NEAR(std::hypot(force[1], force[2]), 1, 1e-15);
}

}  // namespace
}  // namespace supple
