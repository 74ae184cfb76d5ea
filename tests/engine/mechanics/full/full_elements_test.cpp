// Elements of several full robots evaluated together, on every device, against each robot's own (full_mechanics.hpp).

#include "engine/mechanics/full/full_elements.hpp"

#include <limits>

#include "engine/mechanics/full/shared_elements.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/extent.hpp"
#include "tests/devices.hpp"
#include "tests/engine/bodies/driven_bodies.hpp"

namespace supple {
namespace {

constexpr int robots = 3;

std::vector<Array<double>> filled(const Device& device, std::initializer_list<std::size_t> sizes) {
  std::vector<Array<double>> arrays;
  for (const std::size_t size : sizes)
    arrays.emplace_back(device, std::span<const double>(std::vector<double>(size, 3e5)));
  return arrays;
}
std::vector<double> back(const Array<double>& array, std::size_t first, std::size_t count) {
  std::vector<double> all(array.size());
  array.download(all);
  return {all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(first + count)};
}

struct Evaluated {
  std::vector<double> f, K;
  PointReport report;
};

// K is what is factored, where there are no springs at nodes.
Evaluated alone(FullMechanics& mechanics, const std::vector<double>& q, TangentKind kind) {
  const Robot& robot = mechanics.robot();
  Evaluated result;
  result.f.resize(q.size());
  result.report = mechanics.evaluate_forces(q, std::vector<double>(robot.motions.size()), kind, result.f);
  if (kind == TangentKind::none) return result;
  std::vector<double> y(extent(robot.outputs())), multipliers(extent(mechanics.rows().rows()));
  (void)mechanics.factor({}, y, multipliers);
  result.K.assign(mechanics.system().begin(), mechanics.system().end());
  return result;
}

// Of all robots, with what lies beyond the last one looked at, too.
std::vector<Evaluated> together(FullElements& elements, const FullModel& model, const NodePattern& pattern,
                                const std::vector<std::vector<double>>& q, TangentKind kind) {
  const std::size_t nodes = 3 * model.mesh.nodes.size(), nv = extent(model.coordinates.nv),
                    nonzeros = pattern.scalar.row.size(), count = q.size();
  std::vector<double> u(count * nodes);
  for (std::size_t b = 0; b < count; ++b)
    node_displacements(model, q[b], std::vector<double>(model.robot.motions.size()),
                       std::span(u).subspan(b * nodes, nodes));
  const Array<double> u_there(elements.device(), std::span<const double>(u));
  auto out = filled(elements.device(), {(count + 1) * nv, (count + 1) * nv, (count + 1) * nonzeros});
  std::vector<PointReport> reports(count);
  elements.evaluate(static_cast<int>(count), u_there.data(), kind, out[0].data(), out[1].data(), out[2].data(),
                    reports);
  std::vector<Evaluated> result(count);
  for (std::size_t b = 0; b < count; ++b) {
    result[b] = {back(out[0], b * nv, nv), {}, reports[b]};
    if (kind != TangentKind::none) result[b].K = back(out[2], b * nonzeros, nonzeros);
  }
  EXPECT_EQ(back(out[0], count * nv, nv), std::vector<double>(nv, 3e5));
  EXPECT_EQ(back(out[2], count * nonzeros, nonzeros), std::vector<double>(nonzeros, 3e5));
  return result;
}

void expect_equal(const Device& device, const std::vector<double>& found, const std::vector<double>& expected,
                  double scale, const char* what) {
  if (device == cpu()) {  // the same source in the same program
    EXPECT_TRUE(found == expected) << what;
    return;
  }
  ASSERT_EQ(found.size(), expected.size());
  double difference = 0;
  for (std::size_t i = 0; i < found.size(); ++i) difference = std::max(difference, std::abs(found[i] - expected[i]));
  // A GPU's compiler contracts other sums of products: some roundings of the largest number, more through the inverse
  // square roots of a rotation and the eigenvectors of a clamped tangent.
  EXPECT_LE(difference, 1e4 * std::numeric_limits<double>::epsilon() * scale) << what;
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  return most;
}

double size_of(const Mesh& mesh) {
  double size = 0;
  for (const Vec3d& x : mesh.nodes)
    for (int a = 0; a < 3; ++a) size = std::max(size, std::abs(x[a] - mesh.nodes[0][a]));
  return size;
}

void expect_as_alone(const Device& device, const FullModel& model, const std::vector<std::vector<double>>& q) {
  FullMechanics mechanics(model);
  const double size = size_of(model.mesh);
  FullElements elements(model, mechanics.node_pattern(), device, robots);
  for (const TangentKind kind : {TangentKind::exact, TangentKind::none, TangentKind::safe}) {
    const auto found = together(elements, model, mechanics.node_pattern(), q, kind);
    for (std::size_t b = 0; b < q.size(); ++b) {
      const Evaluated expected = alone(mechanics, q[b], kind);
      // Near rest forces are what the roundings of a rotation, some hundred of them here, turn the body's stiffness into.
      const double turned = 0.01 * size * largest(alone(mechanics, q[b], TangentKind::exact).K);
      expect_equal(device, found[b].f, expected.f, expected.report.force_scale + turned, "f");
      expect_equal(device, found[b].K, expected.K, largest(expected.K), "K");
      EXPECT_EQ(found[b].report.inverted, expected.report.inverted);
      EXPECT_EQ(found[b].report.undefined, expected.report.undefined);
      EXPECT_EQ(found[b].report.first_undefined, expected.report.first_undefined);
    }
  }
}

std::vector<double> strained(const FullModel& model, int robot) {
  const Mat3d stretch{{1.1, 0.05, 0, 0.02, 0.95, 0.1, 0, 0.1, 1.05}};
  return boxes::plus(boxes::affine(model, boxes::rotation({{1, 2, 3}}, 0.4 * robot) * stretch), 1,
                     boxes::random_vector(model.coordinates.nv, 0.02));
}

class FullElementsOn : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, FullElementsOn, test::every_device(), test::device_name);

TEST_P(FullElementsOn, AreEachRobotsOwnForEveryLawAndShape) {
  for (const boxes::Law& law : boxes::all_laws())
    for (const bool hexahedra : {false, true}) {
      if (hexahedra && !law.exact()) continue;
      SCOPED_TRACE(law.name + (hexahedra ? ", hexahedra" : ", tetrahedra"));
      const FullModel model = build_full_model(boxes::scene(law), boxes::cube(hexahedra, 3, 0.06));
      expect_as_alone(GetParam(), model,
                      {strained(model, 0), strained(model, 1), std::vector<double>(extent(model.coordinates.nv))});
    }
}

// Several fields, membranes, a driven base, unknowns that rows couple.
TEST_P(FullElementsOn, AreEachRobotsOwnInAssets) {
  for (const char* scene : {"multigait/scene.toml", "tentacle/sliding.toml", "diamond/scene.toml"}) {
    SCOPED_TRACE(scene);
    const FullModel model = build_full_model(read_scene(std::string(SUPPLE_SOURCE_DIR "/assets/") + scene));
    std::vector<std::vector<double>> q;
    for (const double size : {0.0, 1e-4, 3e-4}) q.push_back(boxes::random_vector(model.coordinates.nv, size));
    expect_as_alone(GetParam(), model, q);
  }
}

TEST_P(FullElementsOn, ARobotIsTheSameInAnyCompany) {
  const FullModel model =
      build_full_model(boxes::scene({"mooney_rivlin", MaterialModel::mooney_rivlin}), boxes::cube(false, 3, 0.06));
  const FullMechanics mechanics(model);
  const NodePattern& pattern = mechanics.node_pattern();
  FullElements elements(model, pattern, GetParam(), robots);
  const std::vector<double> a = strained(model, 1), b = strained(model, 2), c = strained(model, 0);
  const auto one = together(elements, model, pattern, {a}, TangentKind::exact),
             all = together(elements, model, pattern, {b, c, a}, TangentKind::exact);
  EXPECT_EQ(one[0].f, all[2].f);
  EXPECT_EQ(one[0].K, all[2].K);
}

TEST_P(FullElementsOn, OneThatIsTurnedInsideOutIsReportedAlone) {
  const FullModel model =
      build_full_model(boxes::scene({"mooney_rivlin", MaterialModel::mooney_rivlin}), boxes::cube(false, 3));
  std::vector<double> inside_out(extent(model.coordinates.nv));
  inside_out[3 * 21] = 0.6;  // an inner node, through the next one
  FullMechanics mechanics(model);
  const PointReport report = alone(mechanics, inside_out, TangentKind::none).report;
  EXPECT_GT(report.inverted + report.undefined, 0);
  expect_as_alone(GetParam(), model, {strained(model, 0), inside_out, strained(model, 1)});
}

TEST_P(FullElementsOn, TakeTheMemoryThatWasPlanned) {
  for (const char* scene : {"multigait/scene.toml", "tentacle/sliding.toml"}) {
    const FullModel model = build_full_model(read_scene(std::string(SUPPLE_SOURCE_DIR "/assets/") + scene));
    const FullMechanics mechanics(model);
    const FullElements elements(model, mechanics.node_pattern(), GetParam(), robots);
    EXPECT_EQ(elements.bytes(), FullElements::memory(model, mechanics.node_pattern(), GetParam()).of(robots)) << scene;
  }
}

// What a step asks of a robot whose elements are evaluated with those of others: also its stiffness between nodes and
// driven regions. All together, or in portions of one or two of them.
TEST_P(FullElementsOn, InLockstepAreEachRobotsOwn) {
  const FullModel model = driven_bodies::model(driven_bodies::Drive::ends);
  FullMechanics own(model);
  const auto tree = std::make_shared<const AssemblyTree>(assembly_tree(own.pattern()));
  const auto plan = std::make_shared<const BatchPlan>(tree, batch_form(GetParam()));
  for (const int portion : {0, 1, 2}) {
    Lockstep lockstep(GetParam(), plan, robots);
    SharedElements shared(lockstep, model, own.node_pattern(), GetParam(), portion);
    const std::size_t nv = extent(model.coordinates.nv), motions = model.robot.motions.size();
    const std::vector<double> c(motions, 0.01);
    struct Answer {
      std::vector<double> f, columns, x;
      PointReport report;
    };
    // Robots ask a different number of times.
    const auto answer = [&](FullMechanics& mechanics, int robot) {
      Answer answer{std::vector<double>(nv),
                    std::vector<double>(motions * nv),
                    boxes::random_vector(model.coordinates.nv, 1),
                    {}};
      std::vector<double> y(extent(model.robot.outputs())), multipliers(extent(mechanics.rows().rows()));
      for (int round = 0; round <= robot; ++round) {
        const std::vector<double> q = boxes::random_vector(model.coordinates.nv, 1e-3 * (robot + round + 1));
        answer.report = mechanics.evaluate_forces(q, c, TangentKind::none, answer.f);
        answer.report = mechanics.evaluate_forces(q, c, robot == 1 ? TangentKind::exact : TangentKind::safe, answer.f);
        if (mechanics.factor({.mass = 1e4}, y, multipliers).status != SystemStatus::ok) ADD_FAILURE();
        mechanics.input_columns({.mass = 1e4}, answer.columns);
        mechanics.solve(answer.x, 1);
      }
      return answer;
    };
    std::vector<Answer> found(robots);
    lockstep.run([&](int slot) {
      FullMechanics mechanics(
          model, [&] { return lockstep.solver(slot); },
          [&](const double* u, TangentKind kind, const ElementResults& results) {
            return shared.evaluate(slot, u, kind, results);
          });
      found[extent(slot)] = answer(mechanics, slot);
    });
    for (int b = 0; b < robots; ++b) {
      const Answer expected = answer(own, b), &mine = found[extent(b)];
      expect_equal(GetParam(), mine.f, expected.f, expected.report.force_scale, "f");
      expect_equal(GetParam(), mine.columns, expected.columns, largest(expected.columns), "A_c");
      EXPECT_NEAR(mine.report.force_scale, expected.report.force_scale, 1e-12 * expected.report.force_scale);
      EXPECT_LT(boxes::difference(mine.x, expected.x), 1e-10);  // factored by another algorithm
    }
  }
}

}  // namespace
}  // namespace supple
