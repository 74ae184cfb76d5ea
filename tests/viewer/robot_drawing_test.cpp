// A robot as a draw list: no graphics library is needed to see what would be drawn.

#include "viewer/draw/robot_drawing.hpp"

#include <algorithm>
#include <cmath>

#include "engine/reduction/element_stress.hpp"
#include "tests/viewer/viewed_bar.hpp"
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
  EXPECT_EQ(list.bars[0].high, most);
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

}  // namespace
}  // namespace supple::view
