// Least squares with bounds and outliers on problems with known answers.

#include "engine/calibration/robust_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace supple {
namespace {

// y = a exp(-b t) at 40 instants, from a = 1, b = 1.
struct Decay {
  std::vector<double> t, y;
  FitProblem problem;

  Decay(double a, double b, double noise) {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 40; ++i) {
      t.push_back(0.1 * i);
      y.push_back(a * std::exp(-b * t.back()) + noise * normal(rng));
      problem.group.push_back(i);
    }
    problem.start = Eigen::VectorXd::Ones(2);
    problem.size = Eigen::VectorXd::Ones(2);
    problem.lower = Eigen::VectorXd::Zero(2);
    problem.upper = Eigen::VectorXd::Constant(2, 10);
    problem.residuals = [this](const Eigen::VectorXd& z, Eigen::VectorXd& r) {
      r.resize(40);
      for (Eigen::Index i = 0; i < 40; ++i) {
        const auto k = static_cast<std::size_t>(i);
        r[i] = z[0] * std::exp(-z[1] * t[k]) - y[k];
      }
      return true;
    };
    problem.jacobian = [this](const Eigen::VectorXd& z, const Eigen::VectorXd&, Eigen::MatrixXd& J) {
      for (Eigen::Index i = 0; i < 40; ++i) {
        const double e = std::exp(-z[1] * t[static_cast<std::size_t>(i)]);
        J(i, 0) = e;
        J(i, 1) = -z[0] * t[static_cast<std::size_t>(i)] * e;
      }
    };
    problem.accepted = [](const Eigen::VectorXd&, const Eigen::VectorXd&, int) {};
  }
};

TEST(RobustFit, FindsWhatMadeTheData) {
  const Decay decay(3, 0.7, 0);
  const FitResult found = fit(decay.problem, {});
  EXPECT_TRUE(found.converged);
  // No noise: rounding ends it.
  EXPECT_NEAR(found.z[0], 3, 1e-8);
  EXPECT_NEAR(found.z[1], 0.7, 1e-8);
}

TEST(RobustFit, OutliersCountLittleAndAreNamed) {
  Decay decay(3, 0.7, 0.01);
  for (const std::size_t k : {3u, 11u, 20u}) decay.y[k] += 2;
  const FitResult robust = fit(decay.problem, {.loss = Loss::huber}),
                  plain = fit(decay.problem, {.loss = Loss::squares});
  EXPECT_TRUE(robust.converged);
  EXPECT_TRUE(plain.converged);
  // Three of forty, 200 times the noise away: least squares are off by several per cent.
  EXPECT_NEAR(robust.z[0], 3, 0.03);
  EXPECT_NEAR(robust.z[1], 0.7, 0.02);
  EXPECT_GT(std::abs(plain.z[1] - 0.7), 0.03);
  for (std::size_t k = 0; k < 40; ++k) EXPECT_EQ(robust.size[k] > outlying(1), k == 3 || k == 11 || k == 20) << k;
  EXPECT_LT(robust.weight[3], 0.02);
}

TEST(RobustFit, StopsAtBoundsAndSaysSo) {
  Decay decay(3, 0.7, 0.001);
  decay.problem.upper[1] = 0.5;
  decay.problem.start[1] = 0.2;
  const FitResult found = fit(decay.problem, {.loss = Loss::squares});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.z[1], 0.5);
  EXPECT_TRUE(found.at_bound[1]);
  EXPECT_FALSE(found.at_bound[0]);
  EXPECT_EQ(found.covariance(1, 1), 0);
  // The best a for that b, by hand: sum y e / sum e^2.
  double ye = 0, ee = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    const double e = std::exp(-0.5 * decay.t[k]);
    ye += decay.y[k] * e, ee += e * e;
  }
  EXPECT_NEAR(found.z[0], ye / ee, 1e-4);
}

// Of the second parameter: the mean standard error over what repetition with new noise shows.
double predicted_over_seen(Loss loss, double outlier) {
  const double noise = 0.05;
  double sum = 0, squares = 0, predicted = 0;
  constexpr int draws = 400;
  Decay decay(3, 0.7, 0);
  const std::vector<double> clean = decay.y;
  std::mt19937 rng(7);
  std::normal_distribution<double> normal;
  for (int draw = 0; draw < draws; ++draw) {
    for (std::size_t k = 0; k < 40; ++k) decay.y[k] = clean[k] + noise * normal(rng);
    decay.y[12] += outlier;
    const FitResult found = fit(decay.problem, {.loss = loss});
    sum += found.z[1], squares += found.z[1] * found.z[1];
    predicted += std::sqrt(found.covariance(1, 1)) / draws;
  }
  return predicted / std::sqrt(squares / draws - sum * sum / draws / draws);
}

// 400 draws give a standard deviation to 1 / sqrt(800) = 3.5 %; three of them. Huber's covariance is one of many values.
TEST(RobustFit, StandardErrorsAreThoseOfRepetition) {
  EXPECT_NEAR(predicted_over_seen(Loss::squares, 0), 1, 0.11);
  EXPECT_NEAR(predicted_over_seen(Loss::huber, 0), 1, 0.15);
  // One value that is off by a thousand times the noise does not widen them.
  EXPECT_NEAR(predicted_over_seen(Loss::huber, 50), 1, 0.15);
}

TEST(RobustFit, SaysWhatNothingDependsOn) {
  Decay decay(3, 0.7, 0.01);
  const auto own = decay.problem.jacobian;
  decay.problem.start = Eigen::VectorXd::Ones(3);
  decay.problem.lower = Eigen::VectorXd::Zero(3);
  decay.problem.upper = Eigen::VectorXd::Constant(3, 10);
  decay.problem.size = Eigen::VectorXd::Ones(3);
  decay.problem.jacobian = [&](const Eigen::VectorXd& z, const Eigen::VectorXd& r, Eigen::MatrixXd& J) {
    own(z, r, J);
    J.col(2).setZero();
  };
  const FitResult found = fit(decay.problem, {.loss = Loss::squares});
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.z[2], 1);
  EXPECT_TRUE(std::isinf(found.covariance(2, 2)));
  EXPECT_LT(std::sqrt(found.covariance(1, 1)), 0.01);
}

TEST(RobustFit, TellsWhereNoStepHelps) {
  Decay decay(3, 0.7, 0.01);
  decay.problem.jacobian = [](const Eigen::VectorXd&, const Eigen::VectorXd&, Eigen::MatrixXd& J) { J.setConstant(1); };
  const FitResult found = fit(decay.problem, {.max_iterations = 5});
  EXPECT_FALSE(found.converged);
  EXPECT_FALSE(found.stopped.empty());
}

}  // namespace
}  // namespace supple
