// SOFA's inverse example (SoftRobots.Inverse 25.12) on its full diamond against ours: the tip led round a circle of
// 15 mm, one linearisation a step, energy term 1e-3 (../shared/peer/reference/inverse_diamond_fom_circle.h5).

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/inverse/inverse_law.hpp"
#include "engine/io/hdf5_file.hpp"
#include "engine/step/step.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/peer.hpp"

namespace supple {
namespace {

TEST(LongPeerInverse, CircleOfTheFullDiamond) {
  SUPPLE_NEEDS_PEER();
  const Hdf5File reference(peer::folder() + "/reference/inverse_diamond_fom_circle.h5", Hdf5File::Mode::read);
  const auto steps = reference.shape("goal")[0];
  const std::vector<double> goal = reference.read_doubles("goal", {steps, 3}),
                            tip = reference.read_doubles("tip", {steps, 3}),
                            displacement = reference.read_doubles("cable_disp", {steps, 4}),
                            force = reference.read_doubles("cable_force", {steps, 4});
  Scene scene = peer::diamond("diamond_4k_tet.vtu", MaterialModel::corotational, RotationKind::edge_frame, false);
  scene.bodies[0].materials[0].young = 180e3;
  scene.effectors = {position_effector("tip", {{0, 0, 0.125}})};
  FullModel model = build_full_model(scene);
  std::ifstream file(peer::folder() + "/reference/diamond_cable_barycentric.json");
  const nlohmann::json attachments = nlohmann::json::parse(file).at("4k").at("cables");
  for (const ActuatorRow& cable : model.robot.actuators) {
    const nlohmann::json& attachment = attachments.at(cable.name);
    model.interpolation[static_cast<std::size_t>(cable.first_point)] = {
        attachment.at("nodes").get<std::vector<int>>(), attachment.at("weights").get<std::vector<double>>()};
  }
  FullMechanics mechanics(model);
  InverseLaw law(model.robot, 1, {.regularisation = Regularisation::energy, .epsilon = 1e-3});
  Stepper stepper(mechanics, {.time_step = 1});
  State state = rest_state(mechanics);
  double worst_tip = 0, worst_displacement = 0, worst_force = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    const double target[3] = {1e-3 * goal[3 * k], 1e-3 * goal[3 * k + 1], 1e-3 * goal[3 * k + 2]};
    law.set_goals(target);
    ASSERT_EQ(stepper.step(law, state.motions, state).status, StepStatus::ok);
    ASSERT_FALSE(law.report(0).held) << law.conflict(0);
    const double* reached = stepper.outputs().data() + extent(3, model.robot.effectors[0].point);
    for (std::size_t i = 0; i < 3; ++i) worst_tip = std::max(worst_tip, std::abs(1e3 * reached[i] - tip[3 * k + i]));
    for (std::size_t i = 0; i < 4; ++i) {
      worst_displacement = std::max(worst_displacement, std::abs(1e3 * state.commands[i] - displacement[4 * k + i]));
      worst_force = std::max(worst_force, std::abs(1e3 * state.multipliers[i] - force[4 * k + i]));
    }
  }
  // Both solve the same equations with other solvers: rounding (6e-13 mm, 5e-12 mm and 2e-9 mN were seen).
  EXPECT_LT(worst_tip, 1e-9);           // mm
  EXPECT_LT(worst_displacement, 1e-8);  // mm
  EXPECT_LT(worst_force, 1e-5);         // mN, of 1800
}

}  // namespace
}  // namespace supple
