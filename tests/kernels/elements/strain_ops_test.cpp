// Which share of their geometric stiffness systems take that strains spoil, by teams (kernels/elements/strain_ops.hpp).

#include "kernels/elements/strain_ops.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "tests/thread_team.hpp"

namespace supple {
namespace {

constexpr int r = 6, count = 2, robots = 5;
constexpr double stiffness = 2, mass = 3;
// What robots have of G for their smallest eigenvalue, of b (K - G) + a M / 2 and of b G along the same vector; and the
// share that keeps a sum of both positive.
constexpr double rest[robots] = {20, 20, 20, 20, -1}, lowest[robots] = {-30, -30, -60, -100, -40},
                 share[robots] = {1, 0.5, 0.25, 0, 0};

struct Spoilt {
  std::vector<double> quadratic, strains, K, M, outputs, A, trial;
  std::vector<PointStiffness> points;
  std::vector<int> first_point{0, 0, 1, 1, 1, 1}, info{0, 7, 2, 1, 1}, weakened;

  static std::size_t at(int b, int i, int j) { return static_cast<std::size_t>((b * r + i) * r + j); }
  // Of a symmetric matrix with a unit vector of all ones as the eigenvector of `low`, zero on the others.
  static double ones(double low) { return low / r; }
  Spoilt()
      : quadratic(count * r * r),
        K(robots * r * r),
        M(r * r),
        outputs(6 * r),
        A(robots * r * r, 3.0),
        trial(robots * r * r),
        weakened(robots, -1) {
    for (int i = 0; i < r; ++i) {
      M[at(0, i, i)] = 1;
      for (int j = 0; j < r; ++j) {
        for (int k = 0; k < count; ++k) quadratic[at(k, i, j)] = ones(1 + k);
        outputs[at(0, i, j)] = i == j ? 0.1 : 0;
      }
    }
    for (int b = 0; b < robots; ++b) {
      // s_0 + 2 s_1 = lowest / stiffness
      strains.push_back(2 * lowest[b] / stiffness);
      strains.push_back(-0.5 * lowest[b] / stiffness);
      for (int i = 0; i < r; ++i)
        for (int j = 0; j < r; ++j)
          K[at(b, i, j)] = ((i == j ? rest[b] - trial_mass * mass : 0) + ones(lowest[b])) / stiffness;
    }
    points.push_back({1, 0, 0, Mat3d::identity()});
  }
  GeometricShareTeamOp<double> op() {
    return {count,
            r,
            {.mass = mass, .stiffness = stiffness},
            quadratic.data(),
            strains.data(),
            K.data(),
            M.data(),
            outputs.data(),
            points.data(),
            first_point.data(),
            info.data(),
            trial.data(),
            A.data(),
            weakened.data()};
  }
};

TEST(StrainOps, SpoiltSystemsTakeTheShareThatKeepsThemPositive) {
  Spoilt alone;
  for (int b = 0; b < robots; ++b) alone.op()(SingleTeam{}, 0, b);
  EXPECT_EQ(alone.weakened, (std::vector<int>{0, 1, 1, 1, 1}));
  for (int b = 0; b < robots; ++b)
    for (int i = 0; i < r; ++i)
      for (int j = 0; j <= i; ++j) {
        double expected = 3;  // untouched
        if (b > 0) {
          expected = (i == j ? rest[b] + (1 - trial_mass) * mass : 0) + share[b] * Spoilt::ones(lowest[b]);
          if (b == 1)
            for (int k = 0; k < 3; ++k)
              expected += alone.outputs[Spoilt::at(0, k, i)] * alone.outputs[Spoilt::at(0, k, j)];
        }
        EXPECT_NEAR(alone.A[Spoilt::at(b, i, j)], expected, 1e-13 * 100) << b;
      }
  for (const int members : {3, 8}) {
    Spoilt shared;
    const auto op = shared.op();
    std::barrier<> barrier(members);
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank < members; ++rank)
        threads.emplace_back([&, rank] {
          for (int b = 0; b < robots; ++b) op(test::ThreadTeam{rank, members, &barrier}, 0, b);
        });
    }
    EXPECT_EQ(shared.weakened, alone.weakened);
    EXPECT_EQ(shared.A, alone.A);
  }
}

}  // namespace
}  // namespace supple
