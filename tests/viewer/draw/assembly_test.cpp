// Robots of several bodies as the viewer sees and plays them: the hanging gripper, three full fingers on a palm that
// moves freely, with a box and springs; and one with a reduced finger beside a full one.

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "engine/io/model_file.hpp"
#include "engine/scene/reader.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"
#include "viewer/draw/constraint_drawing.hpp"
#include "viewer/play/open_simulation.hpp"

namespace supple::view {
namespace {

std::string asset(const std::string& name) {
  return std::string(SUPPLE_SOURCE_DIR) + "/assets/" + name;
}

// A state that no symmetry hides anything in: all coordinates of the bodies differ, frames are moved and turned.
State moved_state(const AssemblyMechanics& mechanics) {
  State state = rest_state(mechanics);
  std::vector<double> dq(supple::extent(mechanics.coordinates().nv));
  for (std::size_t i = 0; i < dq.size(); ++i) dq[i] = 1e-3 * std::sin(1.7 * static_cast<double>(i));
  for (std::size_t i = dq.size() - 6; i < dq.size(); ++i) dq[i] = 0.02 * static_cast<double>(dq.size() - i);
  mechanics.coordinates().integrate(state.q.data(), dq.data());
  return state;
}

class Hanging : public testing::Test {
 protected:
  static void SetUpTestSuite() { robot_ = open_robot(asset("gripper/hanging.toml")).release(); }
  static void TearDownTestSuite() {
    delete robot_;
    robot_ = nullptr;
  }
  const RobotShape& shape() const { return *robot_->shape; }
  const AssemblyMechanics& mechanics() const { return robot_->assembly->mechanics(); }
  std::vector<double> points(const State& state) const {
    std::vector<double> y(supple::extent(robot_->robot().outputs()));
    robot_->mechanics->evaluate_outputs(state.q, state.motions, y);
    return y;
  }
  DrawList draw(const State& state, const DrawingOptions& options) const {
    DrawList list;
    draw_robot(shape(), {state, points(state)}, options, list);
    return list;
  }
  static OpenedRobot* robot_;
};
OpenedRobot* Hanging::robot_ = nullptr;

DrawingOptions bare() {
  DrawingOptions options;
  options.cables = options.constraints = options.effectors = options.goals = false;
  return options;
}

TEST_F(Hanging, SkinsAreWhereTheEngineWritesThem) {
  const State state = moved_state(mechanics());
  const Surface expected = robot_->assembly->surface(state.q, state.motions);
  std::vector<Vec3d> places;
  shape().positions(state, places);
  EXPECT_EQ(shape().triangles(), expected.triangles);
  ASSERT_EQ(places.size(), expected.nodes.size());
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], expected.nodes[i]);
  ASSERT_EQ(shape().bodies().size(), 4u);
  EXPECT_EQ(shape().bodies()[1].name, "finger-2");
  EXPECT_TRUE(shape().bodies()[3].shape.rigid());
  EXPECT_TRUE(shape().closed());
  EXPECT_EQ(shape().body_of_triangle(static_cast<int>(shape().triangles().size()) - 1).name, "palm");
  EXPECT_EQ(shape().body_of_triangle(shape().bodies()[2].triangles).name, "finger-3");
  EXPECT_EQ(shape().body_of_triangle(shape().bodies()[2].triangles - 1).name, "finger-2");
  EXPECT_EQ(shape().element().back(), -1);
}

// Skins are compared in their bodies' own axes, and places in files are rounded.
TEST_F(Hanging, DifferencesAreThoseOfTheSameBodiesWhereverTheyStand) {
  AssemblyScene scene = read_assembly(asset("gripper/hanging.toml"));
  for (RigidScene& body : scene.rigids) body.translation[0] += 1e-3 / 3;
  const AssemblyRobot moved(scene);
  const RobotShape other(moved);
  EXPECT_NE(other.rest(), shape().rest());
  EXPECT_EQ(lacks(shape(), Colouring::difference, &other), "");
  scene.rigids[0].size = Vec3d{{0.11, 0.11, 0.009}};
  const AssemblyRobot thicker(scene);
  const RobotShape another(thicker);
  EXPECT_NE(lacks(shape(), Colouring::difference, &another), "");
  scene.parts.pop_back();
  scene.rigids[0].size = Vec3d{{0.11, 0.11, 0.008}};
  const AssemblyRobot fewer(scene);
  const RobotShape without(fewer);
  EXPECT_NE(lacks(shape(), Colouring::difference, &without), "");
}

// Rows of a part, and the ends of its cables in space, are in its own axes: turned back into them each cable lies
// within its own finger and the cable's end above it.
TEST_F(Hanging, CablesAreDrawnInTheirFingers) {
  const State state = moved_state(mechanics());
  DrawingOptions options = bare();
  const std::size_t before = draw(state, options).solid.vertices.size();
  options.cables = true;
  const DrawList list = draw(state, options);
  const std::size_t each = (list.solid.vertices.size() - before) / 3;
  ASSERT_GT(each, 0u);
  for (std::size_t k = 0; k < 3; ++k) {
    const RobotShape::Body& body = shape().bodies()[k];
    Vec3d low = *robot_->robot().actuators[k].pull_point, high = low;
    for (const Vec3d& x : body.shape.rest())
      for (int d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], x[d]);
        high[d] = std::max(high[d], x[d]);
      }
    const Pose pose = shape().pose(body, state);
    const double slack = 0.005 * shape().extent() + 2e-3;  // of the cable's radius, and of the state's deformation
    for (std::size_t i = before + k * each; i < before + (k + 1) * each; ++i) {
      const auto& at = list.solid.vertices[i].position;
      const Vec3d x = transpose(pose.rotation) * (Vec3d{{at[0], at[1], at[2]}} - pose.position);
      for (int d = 0; d < 3; ++d) {
        ASSERT_GT(x[d], low[d] - slack) << body.name;
        ASSERT_LT(x[d], high[d] + slack) << body.name;
      }
    }
  }
}

// A palm of flat faces: each vertex has the normal of its face, of the frame's axes turned.
TEST_F(Hanging, TheBoxHasFlatFaces) {
  const State state = moved_state(mechanics());
  const DrawList list = draw(state, bare());
  const RobotShape::Body& palm = shape().bodies()[3];
  const Mat3d R = shape().pose(palm, state).rotation;
  ASSERT_EQ(list.solid.triangles.size(), 3 * shape().triangles().size());
  for (std::size_t k = list.solid.vertices.size() - 36; k < list.solid.vertices.size(); ++k) {
    const auto& n = list.solid.vertices[k].normal;
    const Vec3d own = transpose(R) * Vec3d{{n[0], n[1], n[2]}};
    double most = 0;
    for (int d = 0; d < 3; ++d) most = std::max(most, std::abs(own[d]));
    EXPECT_NEAR(most, 1, 1e-6);  // single precision
  }
}

TEST_F(Hanging, SpringsTieThePalmToTheCeiling) {
  State state = rest_state(mechanics());
  // 20 mm down: the springs reach from the ceiling's points at 8 mm to the palm's.
  state.q[state.q.size() - 5] -= 0.02;
  DrawingOptions options = bare();
  const std::size_t before = draw(state, options).solid.vertices.size();
  options.constraints = true;
  const DrawList list = draw(state, options);
  double low = 1, high = -1;
  for (std::size_t i = before; i < list.solid.vertices.size(); ++i) {
    low = std::min(low, static_cast<double>(list.solid.vertices[i].position[2]));
    high = std::max(high, static_cast<double>(list.solid.vertices[i].position[2]));
  }
  const double ball = 0.01 * shape().extent();
  EXPECT_NEAR(high, 0.008, ball);
  EXPECT_NEAR(low, -0.012, ball);
}

TEST_F(Hanging, StressIsUnknownOfWhatIsRigid) {
  const State state = moved_state(mechanics());
  const std::vector<double> stress = shape().skin_stress(state);
  for (const RobotShape::Body& body : shape().bodies())
    for (std::size_t i = 0; i < body.shape.rest().size(); ++i)
      EXPECT_EQ(std::isfinite(stress[supple::extent(body.nodes) + i]), !body.shape.rigid());
  DrawingOptions options = bare();
  const Colour plain = draw(state, options).solid.vertices.back().colour;
  options.colouring = Colouring::stress;
  const DrawList list = draw(state, options);
  EXPECT_EQ(list.solid.vertices.back().colour, plain);
  EXPECT_GT(list.bars.at(0).high, 0);
  EXPECT_EQ(lacks(shape(), Colouring::displacement, nullptr), "");
  EXPECT_NE(lacks(shape(), Colouring::mode, nullptr).find("several bodies"), std::string::npos);
  EXPECT_EQ(lacks(shape(), Colouring::weight, nullptr), "a full model has no weights");
}

// The generalised force does the force's work, on the finger, and on the frame that carries it: load . dq = force . dx,
// by central differences of 1e-6 (their error is of the order 1e-12 of the motion, rounding 1e-10).
TEST_F(Hanging, AHandsForceDoesItsWork) {
  const State state = moved_state(mechanics());
  const std::array<double, 3> weights{0.2, 0.3, 0.5};
  const Vec3d force{{1, -2, 0.5}};
  const Coordinates& coordinates = mechanics().coordinates();
  const std::size_t nv = supple::extent(coordinates.nv);
  for (const int triangle : {shape().bodies()[1].triangles + 70, static_cast<int>(shape().triangles().size()) - 3}) {
    const std::vector<double> load = shape().load(state, triangle, weights, force);
    std::vector<double> dq(nv);
    double work = 0;
    for (std::size_t i = 0; i < nv; ++i) {
      dq[i] = 1e-6 * std::cos(0.9 * static_cast<double>(i));
      work += load[i] * dq[i];
    }
    const auto along = [&](double side) {
      State there = state;
      std::vector<double> way = dq;
      for (double& x : way) x *= side;
      coordinates.integrate(there.q.data(), way.data());
      std::vector<Vec3d> places;
      shape().positions(there, places);
      return dot(force, shape().point(places, triangle, weights));
    };
    EXPECT_NEAR(work, 0.5 * (along(1) - along(-1)), 1e-8 * std::abs(work) + 1e-15);
    EXPECT_GT(std::abs(work), 1e-7);
  }
}

TEST_F(Hanging, PlaysAsTheEngineSteps) {
  const std::unique_ptr<Simulation> simulation = open_simulation({asset("gripper/hanging.toml"), "", {}});
  EXPECT_EQ(simulation->frame().failure, "");  // settled on its springs
  EXPECT_TRUE(simulation->can_lead());
  Mechanics& alone = *robot_->mechanics;
  State state = settled_state(alone);
  EXPECT_EQ(hash(simulation->frame().state), hash(state));
  ForwardStep step(alone, Integrator::implicit_euler, 0.01);
  Control control = zero_control(alone);
  control.commands = {0.004, 0.002, 0};
  Intent intent = simulation->rest_intent();
  EXPECT_EQ(intent.mode, Mode::inverse);
  intent.mode = Mode::forward;
  intent.commands = control.commands;
  for (int k = 0; k < 2; ++k) {
    ASSERT_TRUE(simulation->step(intent)) << simulation->frame().failure;
    ASSERT_EQ(step.step(control, state).status, StepStatus::ok);
  }
  EXPECT_EQ(hash(simulation->frame().state), hash(state));
  // A hand that pulls the palm upwards lifts it.
  const auto height = [&] { return simulation->frame().state.q[simulation->frame().state.q.size() - 5]; };
  ASSERT_TRUE(simulation->back());
  ASSERT_TRUE(simulation->step(intent));
  const double free = height();
  ASSERT_TRUE(simulation->back());
  intent.pull = {static_cast<int>(shape().triangles().size()) - 1, {0.3, 0.3, 0.4}, {{0, 0, 0.2}}, 20};
  ASSERT_TRUE(simulation->step(intent)) << simulation->frame().failure;
  EXPECT_GT(height(), free + 1e-4);
  // And goals lead its tips: where they are they stay.
  intent.mode = Mode::inverse;
  intent.pull = {};
  intent.goals = simulation->frame().reached;
  EXPECT_TRUE(simulation->step(intent)) << simulation->frame().failure;
}

class Mixed : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("supple-mixed-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    const FullModel model = build_full_model(read_scene(asset("finger")));
    const auto n = supple::extent(model.coordinates.nv);
    constexpr int modes = 2;  // bending along x and y: u = z^2, sections turned with it
    std::vector<double> basis(modes * n);
    for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
      const Vec3d& x = model.mesh.nodes[supple::extent(model.free_nodes[i])];
      basis[3 * i] = basis[n + 3 * i + 1] = x[2] * x[2];
      basis[3 * i + 2] = -2 * x[2] * x[0];
      basis[n + 3 * i + 2] = -2 * x[2] * x[1];
    }
    const auto product = [&](std::size_t a, std::size_t b) {
      return std::inner_product(&basis[a * n], &basis[a * n] + n, &basis[b * n], 0.0);
    };
    for (const std::size_t k : {0, 1}) {
      const double along = k == 1 ? product(0, 1) : 0;
      for (std::size_t i = 0; i < n; ++i) basis[k * n + i] -= along * basis[i];
      const double length = std::sqrt(product(k, k));
      for (std::size_t i = 0; i < n; ++i) basis[k * n + i] /= length;
    }
    std::vector<IntegrationDomain> domains(model.fields.size());
    for (int e = 0; e < model.fields[0].elements(); e += 20) {
      domains[0].elements.push_back(e);
      domains[0].xi.push_back(20);
    }
    write_model(project(model, basis, modes, domains), (folder_ / "finger.rom.h5").string());
    std::ofstream(folder_ / "pair.toml") << "name = \"pair\"\n"
                                            "[[part]]\nname = \"full\"\nscene = \"" +
                                                asset("finger/scene.toml") +
                                                "\"\n"
                                                "[[part]]\nname = \"reduced\"\nmodel = \"finger.rom.h5\"\n"
                                                "translation = [\"60 mm\", 0, 0]\nrotation = [0, 0, \"90 deg\"]\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Mixed, StressIsSeenOnOneAndInTheElementsOfTheOther) {
  const auto robot = open_robot((folder_ / "pair.toml").string());
  const RobotShape& shape = *robot->shape;
  State state = moved_state(robot->assembly->mechanics());
  state.q.back() = 0.01;
  const auto cells = shape.cells().size();
  ASSERT_GT(cells, 10u);
  EXPECT_EQ(shape.cell_stress(state).size(), cells);
  std::vector<double> y(supple::extent(robot->robot().outputs()));
  robot->mechanics->evaluate_outputs(state.q, state.motions, y);
  DrawingOptions options = bare();
  options.colouring = Colouring::stress;
  EXPECT_EQ(lacks(shape, Colouring::stress, nullptr), "");
  DrawList list;
  draw_robot(shape, {state, y}, options, list);
  ASSERT_EQ(list.see_through.size(), 1u);
  EXPECT_EQ(list.see_through[0].vertices.size(), shape.bodies()[1].shape.rest().size());
  EXPECT_EQ(list.solid.triangles.size(), 12 * cells + 3 * shape.bodies()[0].shape.triangles().size());
  // Elements of the reduced finger, where it is.
  std::vector<Vec3d> corners;
  shape.cell_corners(state, corners);
  EXPECT_EQ(corners.size(), 4 * cells);
  for (const Vec3d& x : corners) EXPECT_GT(x[0], 0.03);
  EXPECT_EQ(lacks(shape, Colouring::weight, nullptr), "");
}

// Two pneumatic fingers, one turned: each cavity has its own actuator's pressure, and its walls are within its body.
TEST_F(Mixed, CavitiesAreThoseOfTheirParts) {
  const std::string scene = "scene = \"" + asset("pneumatic_finger/scene.toml") + "\"\n";
  std::ofstream(folder_ / "air.toml") << "[[part]]\nname = \"one\"\n" + scene + "[[part]]\nname = \"two\"\n" + scene +
                                             "translation = [0, \"80 mm\", 0]\nrotation = [\"180 deg\", 0, 0]\n";
  const auto robot = open_robot((folder_ / "air.toml").string());
  const RobotShape& shape = *robot->shape;
  State state = rest_state(robot->assembly->mechanics());
  state.multipliers = {1e4, 3e4};
  ASSERT_EQ(shape.cavities().size(), 2u);
  std::vector<Vec3d> first, second;
  shape.wall_corners(shape.cavities()[0], state, first);
  shape.wall_corners(shape.cavities()[1], state, second);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const Vec3d turned{{first[i][0], 0.08 - first[i][1], -first[i][2]}};
    EXPECT_LT(norm(second[i] - turned), 1e-15);
  }
  std::vector<double> y(supple::extent(robot->robot().outputs()));
  robot->mechanics->evaluate_outputs(state.q, state.motions, y);
  DrawingOptions options = bare();
  options.colouring = Colouring::pressure;
  DrawList list;
  draw_robot(shape, {state, y}, options, list);
  EXPECT_EQ(list.see_through.size(), 2u);
  ASSERT_EQ(list.labels.size(), 2u);
  EXPECT_EQ(list.labels[0].text, "one/air 10 kPa");
  EXPECT_EQ(list.labels[1].text, "two/air 30 kPa");
}

// A recording of the steps, played without a solve and simulated on.
TEST_F(Mixed, IsRecordedAndPlayed) {
  const std::string file = (folder_ / "a.rec.h5").string();
  std::uint64_t end = 0;
  {
    const auto simulation = open_simulation({(folder_ / "pair.toml").string(), "", {}});
    simulation->record(file);
    Intent intent = simulation->rest_intent();
    intent.commands = {0.003, 0.002};
    for (int k = 0; k < 3; ++k) ASSERT_TRUE(simulation->step(intent)) << simulation->frame().failure;
    end = hash(simulation->frame().state);
    simulation->record("");
    ASSERT_NE(simulation->recording().written, "") << simulation->recording().failure;
  }
  const auto played = open_simulation({file, "", {}});
  EXPECT_TRUE(played->frame().playing);
  EXPECT_EQ(played->frame().newest, 3);
  played->seek(2);
  played->go_on();
  Intent intent = played->rest_intent();
  intent.commands = {0.003, 0.002};
  ASSERT_TRUE(played->step(intent)) << played->frame().failure;
  EXPECT_EQ(hash(played->frame().state), end);
  // It is found again only as it was.
  std::ofstream(folder_ / "pair.toml", std::ios::app) << "# now another\n";
  EXPECT_THROW((void)open_simulation({file, "", {}}), InputError);
}

}  // namespace
}  // namespace supple::view
