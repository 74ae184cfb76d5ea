// A robot as a draw list: no graphics library is needed to see what would be drawn.

#include "viewer/draw/robot_drawing.hpp"

#include <algorithm>
#include <cmath>

#include "engine/model/element_stress.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"
#include "tests/viewer/draw/viewed_bar.hpp"
#include "viewer/draw/shapes.hpp"
#include "viewer/play/simulation.hpp"

namespace supple::view {
namespace {

class Drawn : public testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<OpenedRobot> robot_ = GetParam() ? reduced_bar() : full_bar();
  Simulation simulation_{robot_, nullptr};
  DrawList draw(const DrawingOptions& options) {
    const Frame& frame = simulation_.frame();
    DrawList list;
    draw_robot(*robot_->shape, {frame.state, frame.y, frame.goals}, options, list);
    return list;
  }
};

DrawingOptions bare() {
  DrawingOptions options;
  options.cables = options.effectors = options.goals = false;
  return options;
}

TEST_P(Drawn, TheSkinIsWhereItsNodesAre) {
  const DrawList list = draw(bare());
  const RobotShape& shape = *robot_->shape;
  std::vector<Vec3d> places;
  shape.positions(simulation_.frame().state, places);
  ASSERT_EQ(list.solid.vertices.size(), places.size());
  EXPECT_EQ(list.solid.triangles.size(), 3 * shape.triangles().size());
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(list.solid.vertices[i].position[k], static_cast<float>(places[i][static_cast<int>(k)]));
  EXPECT_TRUE(list.bars.empty());
}

TEST_P(Drawn, ASkinWithAHoleIsOpen) {
  EXPECT_TRUE(robot_->shape->closed());
  EXPECT_FALSE(draw(bare()).solid.open);
  if (!GetParam()) return;
  ReducedModel model = *robot_->reduced;
  model.skin.triangles.pop_back();
  EXPECT_FALSE(RobotShape(model).closed());
  model = *robot_->reduced;
  for (auto& triangle : model.skin.triangles) std::swap(triangle[0], triangle[1]);  // inside out
  EXPECT_FALSE(RobotShape(model).closed());
}

TEST_P(Drawn, DisplacementsAreColouredOnTheirScale) {
  DrawingOptions options = bare();
  options.colouring = Colouring::displacement;
  const DrawList list = draw(options);
  ASSERT_EQ(list.bars.size(), 1u);
  EXPECT_EQ(list.bars[0].unit, "m");
  EXPECT_EQ(list.bars[0].low, 0);
  std::vector<Vec3d> places;
  robot_->shape->positions(simulation_.frame().state, places);
  double most = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double moved = norm(places[i] - robot_->shape->rest()[i]);
    most = std::max(most, moved);
    EXPECT_EQ(list.solid.vertices[i].colour, colour_of(list.bars[0], moved));
  }
  EXPECT_DOUBLE_EQ(list.bars[0].high, most);  // one may be rounded once less (fused multiply-add)
  options.bar_high = 1;
  EXPECT_EQ(draw(options).bars[0].high, 1);
}

TEST_P(Drawn, CablesEffectorsAndGoalsCanBeLeftOut) {
  const std::size_t skin = draw(bare()).solid.triangles.size();
  DrawingOptions options = bare();
  options.cables = true;
  EXPECT_GT(draw(options).solid.triangles.size(), skin);
  options = bare();
  options.effectors = true;
  EXPECT_FALSE(draw(options).on_top_solid.triangles.empty());
  options = bare();
  options.goals = true;
  EXPECT_EQ(draw(options).on_top.size(), 1u);
  options = bare();
  options.edges = true;
  // A closed surface has three edges for two triangles.
  EXPECT_EQ(draw(options).segments.size(), 3 * robot_->shape->triangles().size() / 2);
}

TEST_P(Drawn, StressIsThatOfTheElements) {
  DrawingOptions options = bare();
  options.colouring = Colouring::stress;
  const DrawList list = draw(options);
  ASSERT_EQ(list.bars.size(), 1u);
  EXPECT_EQ(list.bars[0].unit, "Pa");
  EXPECT_GT(list.bars[0].high, 0);
  if (GetParam()) {
    EXPECT_EQ(list.see_through.size(), 1u);  // elements solid, the body a ghost
    EXPECT_FALSE(list.solid.triangles.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(FullAndReduced, Drawn, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "reduced" : "full"; });

TEST(DrawnStress, TheFullAndTheReducedModelAgreeElementByElement) {
  // All elements and a full basis: the same stresses, but for rounding of a stress of some kPa.
  const std::shared_ptr<OpenedRobot> full = full_bar(), reduced = reduced_bar();
  Simulation a(full, nullptr), b(reduced, nullptr);
  State state = a.frame().state;  // the coordinates of both are the free nodes' displacements
  const std::vector<double> skin = full->shape->skin_stress(state), cells = reduced->shape->cell_stress(state);
  ASSERT_EQ(cells.size(), static_cast<std::size_t>(full->full->mesh.element_count()));
  const double most = *std::max_element(cells.begin(), cells.end());
  EXPECT_GT(most, 100);
  // A mean over elements lies between them.
  for (double s : skin) {
    EXPECT_GE(s, *std::min_element(cells.begin(), cells.end()) * (1 - 1e-9));
    EXPECT_LE(s, most * (1 + 1e-9));
  }
}

TEST(DrawnStress, UniaxialStretchGivesItsStress) {
  // One bar, F = diag(1 + e, 1, 1): corotational sigma from 2 mu E + lambda tr E with E = diag(e, 0, 0), so that
  // P_11 - P_22 = 2 mu e and sigma = P F^T / J.
  const FullModel model = bar_model();
  const double e = 1e-3;
  std::vector<double> u(3 * model.mesh.nodes.size());
  for (std::size_t i = 0; i < model.mesh.nodes.size(); ++i) u[3 * i] = e * model.mesh.nodes[i][0];
  const double young = 2e5, poisson = 0.35;  // of bar_scene
  const double mu = young / (2 * (1 + poisson)), lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const double p11 = (2 * mu + lambda) * e, p22 = lambda * e;
  const double s11 = p11, s22 = p22 / (1 + e);  // P F^T / J
  // Rounding of a stress of some hundred pascals over a gradient of 1e-3: 1e-9 relative.
  for (double stress : von_mises(model, u)) EXPECT_NEAR(stress, std::abs(s11 - s22), 1e-9 * young);
}

TEST(DrawnDomain, ElementsAreSolidAndTheBodyAGhost) {
  const std::shared_ptr<OpenedRobot> robot = reduced_bar();
  Simulation simulation(robot, nullptr);
  DrawingOptions options = bare();
  options.domain = true;
  options.colouring = Colouring::weight;
  DrawList list;
  draw_robot(*robot->shape, {simulation.frame().state, simulation.frame().y}, options, list);
  ASSERT_EQ(list.see_through.size(), 1u);
  EXPECT_LT(list.see_through[0].vertices[0].colour.a, 0.5f);
  // Four faces of a tetrahedron.
  EXPECT_EQ(list.solid.triangles.size(), 12 * robot->shape->cells().size());
  EXPECT_EQ(list.bars[0].title, "weight of the element");
  EXPECT_EQ(lacks(*full_bar()->shape, Colouring::weight, nullptr), "a full model has no weights");
}

TEST(DrawnDomain, AnElementOfSinglePointsIsShownOnce) {
  const FullModel full = build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                                          reduced_bodies::bar(true));
  const ReducedModel all =
      by_points(project(full, reduced_bodies::random_basis(full.coordinates.nv, 5), 5, all_elements(full)));
  // Two points of the first of three hexahedra, one of the last.
  const ReducedModel model = restrict_to(all, {{{1, 6, 20}, {4.0, 2.0, 24.0}}});
  const RobotShape shape(model);
  ASSERT_EQ(shape.cells().size(), 2u);
  EXPECT_EQ(shape.cells()[0].element, 0);
  EXPECT_EQ(shape.cells()[1].element, 2);
  // Means over eight points.
  EXPECT_EQ(shape.cells()[0].weight, 6.0 / 8);
  EXPECT_EQ(shape.cells()[1].weight, 3.0);
  ReducedMechanics mechanics(model);
  const State state = rest_state(mechanics);
  EXPECT_EQ(shape.cell_stress(state).size(), 2u);
  std::vector<Vec3d> corners;
  shape.cell_corners(state, corners);
  ASSERT_EQ(corners.size(), 16u);
  for (std::size_t c = 0; c < 2; ++c) {
    ASSERT_EQ(shape.cells()[c].corners, 8);
    for (std::size_t k = 0; k < 8; ++k)
      EXPECT_EQ(corners[8 * c + k], full.mesh.nodes[static_cast<std::size_t>(full.fields[0].node[16 * c + k])]);
  }
}

TEST(DrawnDomain, MembranesHaveTwoSides) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  MembraneScene sheet;
  sheet.region = boxes::group_region("z-");
  sheet.thickness = 1e-3;
  sheet.young = 1e6;
  scene.bodies[0].membranes = {sheet};
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const int n = full.coordinates.nv;
  const ReducedModel model = project(full, reduced_bodies::full_basis(n), n, all_elements(full));
  const RobotShape shape(model), whole(full);
  ASSERT_EQ(shape.cells().size(), static_cast<std::size_t>(full.mesh.element_count() + full.fields[1].elements()));
  ReducedMechanics mechanics(model);
  const State state = rest_state(mechanics);
  EXPECT_EQ(shape.cell_stress(state).size(), shape.cells().size());
  EXPECT_EQ(whole.skin_stress(state).size(), whole.rest().size());
  std::vector<Vec3d> corners;
  shape.cell_corners(state, corners);
  const RobotShape::Cell& cell = shape.cells().back();
  EXPECT_EQ(cell.element, full.mesh.element_count() + full.fields[1].elements() - 1);
  ASSERT_EQ(cell.corners, 3);
  Surfaces surfaces;
  add_cell(std::span(corners).subspan(static_cast<std::size_t>(cell.first), 3), {}, surfaces);
  ASSERT_EQ(surfaces.vertices.size(), 6u);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_EQ(surfaces.vertices[0].normal[k], -surfaces.vertices[3].normal[k]);  // seen from both
}

TEST(DrawnModes, OnlyTheModeMovesAndByWhatWasAsked) {
  const std::shared_ptr<OpenedRobot> robot = reduced_bar();
  Simulation simulation(robot, nullptr);
  const State state = mode_state(*robot->shape, simulation.frame().state, 3, 0.02);
  std::vector<Vec3d> places;
  robot->shape->positions(state, places);
  double most = 0;
  for (std::size_t i = 0; i < places.size(); ++i) most = std::max(most, norm(places[i] - robot->shape->rest()[i]));
  EXPECT_NEAR(most, 0.02, 1e-15);  // scaled by one division
  EXPECT_EQ(mode_state(*robot->shape, simulation.frame().state, 10000, 0.02).q,
            std::vector<double>(state.q.size(), 0.0));
}

TEST(DrawnStress, SaysThatItLeavesOutMembranesOfStrainModes) {
  const std::shared_ptr<OpenedRobot> robot = reduced_bar();
  const Simulation simulation(robot, nullptr);
  DrawingOptions options = bare();
  options.colouring = Colouring::stress;
  const auto title = [&] {
    DrawList list;
    draw_robot(*robot->shape, {simulation.frame().state, simulation.frame().y}, options, list);
    return list.bars.at(0).title;
  };
  EXPECT_EQ(title(), "von Mises stress");
  ReducedField& field = robot->reduced->fields.emplace_back();
  field.strains.count = 1;
  field.law = LawId::corotational_membrane;
  EXPECT_EQ(title(), "von Mises stress, but of membranes");
  EXPECT_EQ(lacks(*robot->shape, Colouring::stress, nullptr), "");
  field.law = LawId::corotational;
  EXPECT_NE(lacks(*robot->shape, Colouring::stress, nullptr).find("solids by strain modes"), std::string::npos);
}

TEST(DrawnDifference, IsThatOfTheTwoSkins) {
  const std::shared_ptr<OpenedRobot> reduced = reduced_bar(), full = full_bar();
  Simulation simulation(reduced, full);
  State moved = simulation.frame().other;
  for (double& q : moved.q) q += 1e-3;
  DrawingOptions options = bare();
  options.colouring = Colouring::difference;
  EXPECT_EQ(lacks(*reduced->shape, Colouring::difference, full->shape.get()), "");
  EXPECT_NE(lacks(*reduced->shape, Colouring::difference, nullptr), "");
  DrawList list;
  draw_robot(*reduced->shape, {simulation.frame().state, simulation.frame().y, {}, full->shape.get(), &moved}, options,
             list);
  // Every free node is off by (1, 1, 1) mm.
  EXPECT_NEAR(list.bars[0].high, std::sqrt(3) * 1e-3, 1e-9);
}

// A hollow bar, full, or reduced to four modes, in a state that both have.
class DrawnHollow : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    constexpr std::size_t modes = 4;
    const auto n = static_cast<std::size_t>(full_.coordinates.nv);
    const std::vector<double> basis = reduced_bodies::random_basis(full_.coordinates.nv, modes);
    const FullMechanics mechanics(full_);
    state_ = full_state_ = rest_state(mechanics);
    full_state_.multipliers = state_.multipliers = {1.5e4, 0};
    std::vector<double> alpha(modes);
    for (std::size_t k = 0; k < modes; ++k) {
      alpha[k] = 0.01 * static_cast<double>(k + 1);
      for (std::size_t i = 0; i < n; ++i) full_state_.q[i] += alpha[k] * basis[k * n + i];
    }
    if (GetParam()) {
      reduced_ = project(full_, basis, modes, all_elements(full_));
      state_.q = state_.v = alpha;
      shape_ = std::make_unique<RobotShape>(*reduced_);
    } else {
      state_ = full_state_;
      shape_ = std::make_unique<RobotShape>(full_);
    }
    y_.resize(static_cast<std::size_t>(full_.robot.outputs()));
    FullMechanics(full_).evaluate_outputs(full_state_.q, full_state_.motions, y_);
  }
  const FullModel full_ = build_full_model(
      hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 4e4),
      hollow_bodies::bar(false));
  std::optional<ReducedModel> reduced_;
  State full_state_, state_;
  std::vector<double> y_;  // of the full model, in that state
  std::unique_ptr<RobotShape> shape_;
};

TEST_P(DrawnHollow, TheWallsAreTheCornersThatThePressureActsOn) {
  ASSERT_EQ(shape_->cavities().size(), 1u);
  const RobotShape::Cavity& cavity = shape_->cavities()[0];
  EXPECT_EQ(cavity.actuator, 0u);
  const ActuatorRow& row = full_.robot.actuators[0];
  EXPECT_EQ(cavity.triangles, row.triangles);
  std::vector<Vec3d> corners;
  shape_->wall_corners(cavity, state_, corners);
  ASSERT_EQ(corners.size(), static_cast<std::size_t>(row.point_count));
  for (std::size_t p = 0; p < corners.size(); ++p)
    for (int k = 0; k < 3; ++k)  // rounding of places within 0.3 m
      EXPECT_NEAR(corners[p][k], y_[3 * (static_cast<std::size_t>(row.first_point) + p) + static_cast<std::size_t>(k)],
                  1e-15);
}

TEST_P(DrawnHollow, ThePressureIsSeenThroughTheBody) {
  DrawingOptions options = bare();
  options.colouring = Colouring::pressure;
  EXPECT_EQ(lacks(*shape_, Colouring::pressure, nullptr), "");
  DrawList list;
  draw_robot(*shape_, {state_, y_}, options, list);
  ASSERT_EQ(list.bars.size(), 1u);
  EXPECT_EQ(list.bars[0].unit, "Pa");
  EXPECT_EQ(list.bars[0].low, 0);
  EXPECT_EQ(list.bars[0].high, 4e4);  // what the scene allows
  EXPECT_EQ(list.solid.triangles.size(), 3 * shape_->cavities()[0].triangles.size());
  const Colour colour = colour_of(list.bars[0], 1.5e4);
  for (const Vertex& vertex : list.solid.vertices) EXPECT_EQ(vertex.colour, colour);
  ASSERT_EQ(list.see_through.size(), 1u);
  EXPECT_LT(list.see_through[0].vertices[0].colour.a, 0.5f);
  ASSERT_EQ(list.labels.size(), 1u);
  EXPECT_EQ(list.labels[0].text, "cavity 15 kPa");
}

INSTANTIATE_TEST_SUITE_P(FullAndReduced, DrawnHollow, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "reduced" : "full"; });

TEST(DrawnWithoutWalls, SaysWhy) {
  const FullModel model = build_full_model(
      hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 4e4),
      hollow_bodies::bar(false));
  ReducedModel reduced = project(model, reduced_bodies::random_basis(model.coordinates.nv, 4), 4, all_elements(model));
  reduced.walls.clear();  // as in files that were written before they had them
  EXPECT_NE(lacks(RobotShape(reduced), Colouring::pressure, nullptr).find("does not say where the walls"),
            std::string::npos);
  const std::shared_ptr<OpenedRobot> bar = full_bar();
  EXPECT_EQ(lacks(*bar->shape, Colouring::pressure, nullptr), "this robot has no cavities");
}

TEST(DrawnGoals, AreThoseOfSteeredEffectors) {
  const std::shared_ptr<OpenedRobot> robot = full_bar();
  const Simulation simulation(robot, nullptr);
  const Frame& frame = simulation.frame();
  const std::vector<char> yes{1}, no{0};
  const auto links = [&](std::span<const char> steered) {
    DrawList list;
    DrawnState pose{frame.state, frame.y, frame.goals};
    pose.steered = steered;
    draw_robot(*robot->shape, pose, {}, list);
    return list.on_top.size();
  };
  EXPECT_EQ(links({}), 1u);
  EXPECT_EQ(links(yes), 1u);
  EXPECT_EQ(links(no), 0u);
}

}  // namespace
}  // namespace supple::view
