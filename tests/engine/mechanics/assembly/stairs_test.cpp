// The soft cube of the assets tumbles down its stairs and comes to rest.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/collision/surface_gaps.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/model/touches.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

TEST(LongStairs, ACubeTumblesToTheFloorAndRests) {
  AssemblyRobot robot(read_assembly(std::string(SUPPLE_SOURCE_DIR) + "/assets/stairs"));
  AssemblyMechanics& mechanics = robot.mechanics();
  Stepper stepper(mechanics, {.time_step = 0.002});
  State state = rest_state(mechanics);
  const Control control = zero_control(mechanics);
  const Robot& whole = mechanics.robot();
  std::vector<double> y(extent(whole.outputs()));
  // Its eight corners come first among the nodes of the skin: the edge from the first to the second shows how it turned.
  const auto edge_angle = [&] {
    const Surface skin = robot.surface(state.q, state.motions);
    const Vec3d edge = skin.nodes[1] - skin.nodes[0];
    return std::atan2(edge[2], edge[0]);
  };
  double turned = 0, angle = edge_angle(), least = HUGE_VAL;
  for (int step = 1; step <= 1000; ++step) {
    ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok) << step;
    mechanics.evaluate_outputs(state.q, state.motions, y);
    const std::span<const double> x = std::span<const double>(y).subspan(3 * extent(whole.first_surface_point),
                                                                         3 * extent(whole.surfaces->vertices()));
    least = std::min(least, least_gap(*whole.surfaces, x, whole.contact_distance).gap);
    const double now = edge_angle();
    turned += std::remainder(now - angle, 2 * M_PI);
    angle = now;
  }
  EXPECT_GT(std::abs(turned), M_PI);               // half a turn at least
  EXPECT_GE(least, 0.5 * whole.contact_distance);  // of faces and edges, as in piles
  const double weight = 0.04 * 0.04 * 0.04 * 1070 * 9.81;
  const std::vector<BodyTouch> touches = body_touches(whole, state);
  ASSERT_EQ(touches.size(), 1U);
  EXPECT_EQ(whole.surface_names[extent(std::max(touches[0].first, touches[0].second))], "floor");
  EXPECT_NEAR(std::abs(touches[0].force[2]), weight, 1e-3 * weight);
  // It has come to rest: implicit Euler has used up what is left of its swings.
  for (const double v : state.v) EXPECT_LT(std::abs(v), 1e-3);
}

}  // namespace
}  // namespace supple
