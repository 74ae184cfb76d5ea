// SOFA's own reduced diamond in our step: its published modes (32, five decimals), elements (129 of 4147) and weights
// give its trajectories (../shared/peer).
//
// Its springs of 1e12 on the 58 fixed nodes play no part, whatever their reduced domain: every mode is exactly zero at
// those nodes (checked below). So the model is built without fixed nodes, as the peer has it: mass and gravity over all
// 1628 nodes, those of the base among them.

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/io/hdf5_file.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/sofa/sofa_import.hpp"
#include "engine/step/step.hpp"
#include "tests/engine/bodies/peer.hpp"

namespace supple {
namespace {

constexpr int modes = 32;

std::string published(const std::string& name) {
  return peer::folder() + "/diamond/published_elastic/" + name;
}

SofaModes published_modes() {
  return read_sofa_modes(published("modes.txt"));
}
SofaDomain published_domain() {
  return read_sofa_domain(published("reducedFF_modelNode_0_RID.txt"), published("reducedFF_modelNode_0_weight.txt"));
}

// What SOFA published, on a model of its mesh: all nodes have their place in the file.
SofaImport published_import(const FullModel& full) {
  std::vector<int> node_of_file(full.mesh.nodes.size());
  std::iota(node_of_file.begin(), node_of_file.end(), 0);
  return import_sofa(full, node_of_file, published_modes(), {published_domain()}, false);
}

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(peer::folder() + "/reference/" + name);
  return nlohmann::json::parse(file);
}

struct Trajectory {
  std::string name;
  bool all_elements;
};

class PeerReduced : public testing::TestWithParam<Trajectory> {};

TEST_P(PeerReduced, TrajectoryAgrees) {
  SUPPLE_NEEDS_PEER();
  const Trajectory& run = GetParam();
  const Hdf5File reference(peer::folder() + "/reference/" + run.name + ".h5", Hdf5File::Mode::read);
  const nlohmann::json log = read_json(run.name + ".json");
  Scene scene = peer::diamond("diamond_4k_tet.vtu", MaterialModel::corotational, RotationKind::edge_frame, true);
  scene.time_step = 1;
  scene.bodies[0].fixes.clear();
  FullModel full = build_full_model(scene);
  const nlohmann::json attachments = read_json("diamond_cable_barycentric.json").at("4k").at("cables");
  for (const ActuatorRow& cable : full.robot.actuators) {
    const nlohmann::json& attachment = attachments.at(cable.name);
    full.interpolation[static_cast<std::size_t>(cable.first_point)] = {
        attachment.at("nodes").get<std::vector<int>>(), attachment.at("weights").get<std::vector<double>>()};
  }
  const int nv = full.coordinates.nv;
  ASSERT_EQ(nv, 3 * 1628);
  const SofaImport import = published_import(full);
  ASSERT_EQ(import.modes, modes);
  ASSERT_EQ(import.domains.at(0).elements.size(), 129U);
  const std::vector<double>& basis = import.basis;
  for (int node : reference.read_ints("fixed_roi"))
    for (int k = 0; k < 3; ++k)
      for (std::size_t m = 0; m < modes; ++m)
        ASSERT_EQ(basis[m * static_cast<std::size_t>(nv) + static_cast<std::size_t>(3 * node + k)], 0.0);

  ASSERT_EQ(full.fields.size(), 1U);
  const ReducedModel model = project(full, basis, modes, run.all_elements ? all_elements(full) : import.domains);
  ReducedMechanics mechanics(model);
  Stepper stepper(mechanics, {.time_step = 1});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  double worst_x = 0, worst_v = 0, worst_q = 0, worst_force = 0;
  int compared = 0;
  for (const nlohmann::json& entry : log.at("log")) {
    for (std::size_t i = 0; i < full.robot.actuators.size(); ++i)
      control.commands[i] = 1e-3 * entry.at("cables").at(full.robot.actuators[i].name).at(0).get<double>();
    const StepReport report = stepper.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    for (std::size_t i = 0; i < full.robot.actuators.size(); ++i)
      worst_force =
          std::max(worst_force, std::abs(1e3 * state.multipliers[i] -
                                         entry.at("cables").at(full.robot.actuators[i].name).at(2).get<double>()));
    const std::string step = std::to_string(entry.at("step").get<int>());
    if (!reference.has("x_step" + step)) continue;
    ++compared;
    const std::vector<double> x = reference.read_doubles("x_step" + step), v = reference.read_doubles("v_step" + step),
                              q = reference.read_doubles("q_step" + step);
    for (std::size_t m = 0; m < modes; ++m) worst_q = std::max(worst_q, std::abs(1e3 * state.q[m] - q[m]));
    for (std::size_t i = 0; i < static_cast<std::size_t>(nv); ++i) {
      double u = 0, velocity = 0;
      for (std::size_t m = 0; m < modes; ++m) {
        u += basis[m * static_cast<std::size_t>(nv) + i] * state.q[m];
        velocity += basis[m * static_cast<std::size_t>(nv) + i] * state.v[m];
      }
      worst_x = std::max(worst_x, std::abs(1e3 * (full.mesh.nodes[i / 3][static_cast<int>(i % 3)] + u) - x[i]));
      worst_v = std::max(worst_v, std::abs(1e3 * velocity - v[i]));
    }
  }
  ASSERT_EQ(compared, static_cast<int>(log.at("saved").size()));
  RecordProperty("worst_mm", fmt::format("{:.2e}", worst_x));
  RecordProperty("worst_mm_per_s", fmt::format("{:.2e}", worst_v));
  RecordProperty("worst_modal_mm", fmt::format("{:.2e}", worst_q));
  RecordProperty("worst_mN", fmt::format("{:.2e}", worst_force));
  // Same numbers in, same scheme: what is left is how the peer solves its step. Displacements reach 23 mm, modal
  // coordinates 400 mm, forces 7500 mN.
  EXPECT_LT(worst_x, 1e-5);
  EXPECT_LT(worst_v, 1e-5);
  EXPECT_LT(worst_q, 1e-4);
  EXPECT_LT(worst_force, 0.01);
}

const Trajectory runs[] = {
    {"diamond_hrom32_4k_rest", false}, {"diamond_hrom32_4k_north20", false}, {"diamond_rom32_4k_north20", true}};
INSTANTIATE_TEST_SUITE_P(Published, PeerReduced, testing::ValuesIn(runs),
                         [](const auto& info) { return info.param.name; });

TEST(PeerReducedFiles, Hdf5CopyIsThePublishedText) {
  SUPPLE_NEEDS_PEER();
  const Hdf5File copy(peer::folder() + "/reference/diamond_4k_published_rom.h5", Hdf5File::Mode::read);
  const std::vector<double> rows = copy.read_doubles("modes", {4884, modes});
  const SofaModes read = published_modes();
  ASSERT_EQ(read.rows, 4884);
  ASSERT_EQ(read.modes, modes);
  for (std::size_t i = 0; i < 4884; ++i)
    for (std::size_t m = 0; m < modes; ++m) ASSERT_EQ(rows[i * modes + m], read.values[m * 4884 + i]);
  EXPECT_EQ(copy.read_doubles("weights"), published_domain().weights);
  EXPECT_EQ(copy.read_ints("rid"), published_domain().elements);
}

// Whether the fixed nodes are left out of the model, as in a scene, or stay in, as above: the modes are zero there.
TEST(PeerReducedFiles, HeldNodesDoNotChangeTheModel) {
  SUPPLE_NEEDS_PEER();
  Scene scene = peer::diamond("diamond_4k_tet.vtu", MaterialModel::corotational, RotationKind::edge_frame, true);
  const FullModel held = build_full_model(scene);
  scene.bodies[0].fixes.clear();
  const FullModel loose = build_full_model(scene);
  const SofaImport with = published_import(held), without = published_import(loose);
  EXPECT_EQ(with.basis.size() + 3 * 58 * modes, without.basis.size());
  const ReducedModel a = project(held, with.basis, modes, with.domains),
                     b = project(loose, without.basis, modes, without.domains);
  EXPECT_EQ(a.mass, b.mass);
  EXPECT_EQ(a.gravity, b.gravity);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_TRUE(a.fields[0].G == b.fields[0].G);
}

TEST(PeerReducedFiles, AuditOfWhatWasPublished) {
  SUPPLE_NEEDS_PEER();
  const Scene scene = peer::diamond("diamond_4k_tet.vtu", MaterialModel::corotational, RotationKind::edge_frame, true);
  const SofaImport import = published_import(build_full_model(scene));
  EXPECT_EQ(import.error(), nullptr);
  const auto value = [&](const std::string& check) {
    for (const AuditLine& line : import.audit)
      if (line.check.ends_with(check)) return line.value;
    return -1.0;
  };
  EXPECT_NEAR(value("orthonormality"), 1.4e-5, 0.05e-5);
  EXPECT_EQ(value("held nodes"), 0);
  EXPECT_NEAR(value("sum of weights"), 1087.79 / 4147, 1e-5);
  EXPECT_NEAR(value("volume"), 0.726, 0.001);
}

}  // namespace
}  // namespace supple
