// Whole trajectories of SOFA against our one-linearisation step, node by node (../shared/peer/reference/*.h5; scenes
// and scheme as documented there). The peer's units are mm, kg, s, so its forces are mN.

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/io/hdf5_file.hpp"
#include "tests/engine/bodies/boxes.hpp"
#include "tests/engine/bodies/peer.hpp"

namespace supple {
namespace {

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(peer::folder() + "/reference/" + name);
  return nlohmann::json::parse(file);
}

// Largest distance, in the file's unit, of a component of x and the positions X + u.
double worst_difference(const FullModel& model, const FullMechanics& mechanics, const State& state, double unit,
                        const std::vector<double>& expected) {
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(mechanics.model(), state.q, state.motions, u);
  double worst = 0;
  for (std::size_t i = 0; i < model.mesh.nodes.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const std::size_t c = 3 * i + static_cast<std::size_t>(k);
      worst = std::max(worst, std::abs((model.mesh.nodes[i][k] + u[c]) / unit - expected[c]));
    }
  return worst;
}

// Largest difference of a free node's velocity, in the file's unit.
double worst_velocity(const FullModel& model, const State& state, double unit, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < model.free_nodes.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      worst = std::max(
          worst, std::abs(state.v[3 * i + k] / unit - expected[3 * static_cast<std::size_t>(model.free_nodes[i]) + k]));
  return worst;
}

struct DiamondRun {
  std::string name, mesh;
  RotationKind rotation;
};

void follow_diamond(const DiamondRun& run) {
  const Hdf5File reference(peer::folder() + "/reference/" + run.name + ".h5", Hdf5File::Mode::read);
  const nlohmann::json log = read_json(run.name + ".json");
  Scene scene = peer::diamond("diamond_" + run.mesh + "_tet.vtu", MaterialModel::corotational, run.rotation, true);
  scene.time_step = 1;
  FullModel model = build_full_model(scene);
  ASSERT_EQ(model.mesh.nodes.size() - model.free_nodes.size(), reference.shape("fixed_roi")[0]);
  // Its cables hang on the tetrahedra it chose, where the point lies outside the body not the nearest ones.
  const nlohmann::json attachments = read_json("diamond_cable_barycentric.json").at(run.mesh).at("cables");
  for (const ActuatorRow& cable : model.robot.actuators) {
    const nlohmann::json& attachment = attachments.at(cable.name);
    model.interpolation[static_cast<std::size_t>(cable.first_point)] = {
        attachment.at("nodes").get<std::vector<int>>(), attachment.at("weights").get<std::vector<double>>()};
  }
  FullMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 1});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  double worst_x = 0, worst_v = 0, worst_force = 0;
  for (const nlohmann::json& entry : log.at("log")) {
    for (std::size_t i = 0; i < model.robot.actuators.size(); ++i)
      control.commands[i] = 1e-3 * entry.at("cables").at(model.robot.actuators[i].name).at(0).get<double>();
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    for (std::size_t i = 0; i < model.robot.actuators.size(); ++i)
      worst_force =
          std::max(worst_force, std::abs(1e3 * state.multipliers[i] -
                                         entry.at("cables").at(model.robot.actuators[i].name).at(2).get<double>()));
    const std::string step = std::to_string(entry.at("step").get<int>());
    if (!reference.has("x_step" + step)) continue;
    worst_x =
        std::max(worst_x, worst_difference(model, mechanics, state, 1e-3, reference.read_doubles("x_step" + step)));
    worst_v = std::max(worst_v, worst_velocity(model, state, 1e-3, reference.read_doubles("v_step" + step)));
  }
  testing::Test::RecordProperty("worst_mm", fmt::format("{:.2e}", worst_x));
  testing::Test::RecordProperty("worst_mm_per_s", fmt::format("{:.2e}", worst_v));
  testing::Test::RecordProperty("worst_mN", fmt::format("{:.2e}", worst_force));
  // The peer holds its fixed nodes by springs of 1e12 and solves by a factorisation of that matrix: five digits of its
  // sixteen go there. Displacements reach 27 mm, forces 7500 mN.
  EXPECT_LT(worst_x, 1e-5);
  EXPECT_LT(worst_v, 1e-5);
  EXPECT_LT(worst_force, 0.01);
}

class PeerDiamond : public testing::TestWithParam<DiamondRun> {};
TEST_P(PeerDiamond, TrajectoryAgrees) {
  SUPPLE_NEEDS_PEER();
  follow_diamond(GetParam());
}
const DiamondRun small_runs[] = {{"diamond_fom_4k_rest", "4k", RotationKind::edge_frame},
                                 {"diamond_fom_4k_north20", "4k", RotationKind::edge_frame},
                                 {"diamond_fom_4k_polar_north20", "4k", RotationKind::edge_polar}};
INSTANTIATE_TEST_SUITE_P(Runs, PeerDiamond, testing::ValuesIn(small_runs),
                         [](const auto& info) { return info.param.name; });

TEST(LongPeerDiamond, TrajectoryOfThe70kMeshAgrees) {
  SUPPLE_NEEDS_PEER();
  follow_diamond({"diamond_fom_70k_north20", "70k", RotationKind::edge_frame});
}

struct BeamRun {
  std::string name;
  RotationKind rotation;
  double young, poisson;
  bool dynamic;
  double rayleigh;  // mass [1/s] and stiffness [s]
};

// The peer's cantilever from its own nodes and tetrahedra: x = 0 clamped, gravity along -z, lumped mass.
FullModel beam(const BeamRun& run, const Hdf5File& reference) {
  Mesh mesh;
  const std::vector<double> rest = reference.read_doubles("rest");
  const std::vector<int> tets = reference.read_ints("tets");
  for (std::size_t i = 0; i < rest.size(); i += 3) mesh.nodes.push_back({{rest[i], rest[i + 1], rest[i + 2]}});
  for (std::size_t i = 0; i < tets.size(); i += 4)
    mesh.tetrahedra.push_back({tets[i], tets[i + 1], tets[i + 2], tets[i + 3]});
  Scene scene = boxes::scene({"", MaterialModel::corotational, run.rotation}, run.young, run.poisson);
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].mass_kind = MassKind::lumped;
  scene.bodies[0].rayleigh_mass = scene.bodies[0].rayleigh_stiffness = run.rayleigh;
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  return build_full_model(scene, std::move(mesh));
}

void follow_beam(const BeamRun& run, std::size_t last_step) {
  const Hdf5File reference(peer::folder() + "/reference/" + run.name + ".h5", Hdf5File::Mode::read);
  const FullModel model = beam(run, reference);
  FullMechanics mechanics(model);
  State state = rest_state(mechanics);
  const Control control = zero_control(mechanics);
  double worst = 0;
  const std::size_t steps = reference.shape("tip_history")[0];
  if (run.dynamic) {
    Stepper stepper(mechanics, {.time_step = 0.01});
    for (std::size_t step = 1; step <= std::min(steps, last_step); ++step) {
      ASSERT_EQ(stepper.step(control, state).status, StepStatus::ok);
      const std::string name = "x_step" + std::to_string(step);
      if (reference.has(name))
        worst = std::max(worst, worst_difference(model, mechanics, state, 1, reference.read_doubles(name)));
    }
  } else {
    // Converged with the frozen rotation, whose rate is linear.
    Stepper stepper(mechanics,
                    {.scheme = StepScheme::quasi_static, .time_step = 0, .tolerance = 1e-11, .max_iterations = 300});
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    testing::Test::RecordProperty("iterations", report.iterations);
    worst = worst_difference(model, mechanics, state, 1, reference.read_doubles("x_step" + std::to_string(steps)));
  }
  testing::Test::RecordProperty("worst_m", fmt::format("{:.2e}", worst));
  // Relative to deflections of 0.1 m (1.2 mm for E = 1 GPa): the agreed target is 1e-8.
  EXPECT_LT(worst, 1e-8 * (run.young > 1e8 ? 1.2e-3 : 0.1));
}

class PeerBeam : public testing::TestWithParam<BeamRun> {};
TEST_P(PeerBeam, Agrees) {
  SUPPLE_NEEDS_PEER();
  follow_beam(GetParam(), 10);
}
class LongPeerBeam : public testing::TestWithParam<BeamRun> {};
TEST_P(LongPeerBeam, Agrees) {
  SUPPLE_NEEDS_PEER();
  follow_beam(GetParam(), 200);
}

std::string name_of(const testing::TestParamInfo<BeamRun>& info) {
  std::string name = info.param.name;
  std::erase(name, '+');
  return name;
}
const BeamRun dynamic_beams[] = {
    {"beam_dynamic_large_E1e7", RotationKind::edge_frame, 1e7, 0.3, true, 0},
    {"beam_dynamic_large_E1e7_rayleigh", RotationKind::edge_frame, 1e7, 0.3, true, 0.1},
};
const BeamRun static_beams[] = {
    {"beam_static_large_E1e9_nu0", RotationKind::edge_frame, 1e9, 0, false, 0},
    {"beam_static_large_E1e+07", RotationKind::edge_frame, 1e7, 0.3, false, 0},
    {"beam_static_polar_E1e+07", RotationKind::edge_polar, 1e7, 0.3, false, 0},
};
INSTANTIATE_TEST_SUITE_P(Static, PeerBeam, testing::ValuesIn(static_beams), name_of);
INSTANTIATE_TEST_SUITE_P(FirstSteps, PeerBeam, testing::ValuesIn(dynamic_beams), name_of);
INSTANTIATE_TEST_SUITE_P(WholeRuns, LongPeerBeam, testing::ValuesIn(dynamic_beams), name_of);

}  // namespace
}  // namespace supple
