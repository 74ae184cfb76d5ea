// Systems that their strains spoil, factored again by teams (kernels/points/strain_ops.hpp).

#include "kernels/points/strain_ops.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "tests/thread_team.hpp"

namespace supple {
namespace {

constexpr int r = 6, count = 2, robots = 3;

struct Spoilt {
  std::vector<double> quadratic, strains, K, M, outputs, A;
  std::vector<PointStiffness> points;
  std::vector<int> first_point{0, 0, 1, 1}, info{0, 7, 2};

  // K - sum s Q = 10 I + i j / 10 of robot 1 and -2 I of robot 2; robot 0 is factored as it is.
  Spoilt() : M(r * r), outputs(6 * r), A(robots * r * r, 3.0) {
    const auto at = [](int b, int i, int j) { return static_cast<std::size_t>((b * r + i) * r + j); };
    quadratic.resize(count * r * r);
    K.resize(robots * r * r);
    for (int i = 0; i < r; ++i) {
      M[at(0, i, i)] = 1;
      for (int j = 0; j < r; ++j) {
        for (int k = 0; k < count; ++k) quadratic[at(k, i, j)] = std::cos(k + i + j);
        outputs[at(0, i, j)] = std::sin(i * r + j);
      }
    }
    for (int b = 0; b < robots; ++b)
      for (int k = 0; k < count; ++k) strains.push_back(b - 5.0 * k);
    for (int b = 0; b < robots; ++b)
      for (int i = 0; i < r; ++i)
        for (int j = 0; j < r; ++j) {
          double& entry = K[at(b, i, j)];
          entry = b == 1 ? (i == j ? 10 : 0) + 0.1 * i * j : i == j ? -2 : 0;
          for (int k = 0; k < count; ++k)
            entry += strains[static_cast<std::size_t>(b * count + k)] * quadratic[at(k, i, j)];
        }
    points.push_back({1, 0, 0, Mat3d::identity()});
  }
  StrainRefactorTeamOp<double> op() {
    return {count,
            r,
            2,
            3,
            quadratic.data(),
            strains.data(),
            K.data(),
            M.data(),
            outputs.data(),
            points.data(),
            first_point.data(),
            A.data(),
            info.data()};
  }
};

TEST(StrainOps, SpoiltSystemsAreFactoredWithoutTheirStrains) {
  Spoilt alone;
  for (int b = 0; b < robots; ++b) alone.op()(SingleTeam{}, 0, b);
  EXPECT_EQ(alone.info, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(std::vector<double>(alone.A.begin(), alone.A.begin() + r * r), std::vector<double>(r * r, 3.0));
  for (int i = 0; i < r; ++i)
    for (int j = 0; j <= i; ++j) {
      double product = 0, expected = (i == j ? 23 : 0) + 0.2 * i * j;
      for (int k = 0; k <= j; ++k)
        product +=
            alone.A[static_cast<std::size_t>(r * r + i * r + k)] * alone.A[static_cast<std::size_t>(r * r + j * r + k)];
      for (int k = 0; k < 3; ++k)
        expected +=
            alone.outputs[static_cast<std::size_t>(k * r + i)] * alone.outputs[static_cast<std::size_t>(k * r + j)];
      EXPECT_NEAR(product, expected, 1e-13 * 30);
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
    EXPECT_EQ(shared.info, alone.info);
    for (std::size_t k = 0; k < 2 * r * r; ++k)
      if (k % (r * r) / r >= k % r) {
        EXPECT_NEAR(shared.A[k], alone.A[k], 1e-13 * 30);
      }
  }
}

}  // namespace
}  // namespace supple
