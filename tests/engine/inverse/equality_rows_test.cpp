// Constraints that leave the programs of inverse control.

#include "engine/inverse/equality_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace supple {
namespace {

// Of each robot an actuator, two constraints and an effector's row.
struct Spaces {
  std::vector<double> W, phi, free, effector_W, effector_free;
  void add(double coupling, double tilt) {
    const double w[] = {2, 0.3, tilt, 0.3, 1, coupling, tilt, coupling, 1};
    W.insert(W.end(), w, w + 9);
    for (const double x : {0.1, 0.02, -0.03}) phi.push_back(x), free.push_back(2 * x);
    for (const double x : {0.5, 0.2, 0.1}) effector_W.push_back(x);
    effector_free.push_back(0.7);
  }
  ConstraintSpace space() const {
    ConstraintSpace all;
    all.robots = static_cast<int>(effector_free.size());
    all.rows = 3;
    all.effector_rows = 1;
    all.W = W;
    all.phi = phi;
    all.free = free;
    all.effector_W = effector_W;
    all.effector_free = effector_free;
    return all;
  }
};

TEST(EqualityRows, ThatDependOnEachOtherAreThoseOfOneRobotAlone) {
  Spaces all, alone;
  all.add(0.2, 0.1);
  all.add(1, 0.3);  // twice the same row
  all.add(-0.4, 0.2);
  alone.add(-0.4, 0.2);
  EqualityRows three(3, 1, 2, 1, 0), one(1, 1, 2, 1, 0);
  const ConstraintSpace& found = three.eliminate(all.space());
  EXPECT_TRUE(three.independent(0));
  EXPECT_FALSE(three.independent(1));
  EXPECT_TRUE(three.independent(2));
  const ConstraintSpace& expected = one.eliminate(alone.space());
  EXPECT_EQ(found.W[2], expected.W[0]);
  EXPECT_EQ(found.free[2], expected.free[0]);
  EXPECT_EQ(found.effector_W[2], expected.effector_W[0]);
  EXPECT_EQ(found.W[1], 0);
  EXPECT_EQ(found.free[1], 0);
  // By hand: the constraints' rows end at zero.
  const double lambda_a = 0.4, none = 0;
  double lambda[2];
  three.multipliers(2, &lambda_a, &none, lambda);
  EXPECT_NEAR(0.3 * lambda_a + lambda[0] - 0.4 * lambda[1] + 0.04, 0, 1e-15);
  EXPECT_NEAR(0.2 * lambda_a - 0.4 * lambda[0] + lambda[1] - 0.06, 0, 1e-15);
  three.multipliers(1, &lambda_a, &none, lambda);
  EXPECT_EQ(lambda[0], 0);
  // Regular again: nothing is kept of the last time.
  Spaces better;
  for (int k = 0; k < 3; ++k) better.add(-0.4, 0.2);
  const ConstraintSpace& again = three.eliminate(better.space());
  EXPECT_TRUE(three.independent(1));
  EXPECT_EQ(again.W[1], expected.W[0]);
}

}  // namespace
}  // namespace supple
