// Constraints as solids: rods where lengths are, patches where points are to be.

#include "viewer/draw/constraint_drawing.hpp"

#include <algorithm>
#include <cmath>

#include "tests/viewer/draw/viewed_bar.hpp"

namespace supple::view {
namespace {

class DrawnConstraints : public testing::Test {
 protected:
  void hold(const std::vector<ConstraintScene>& constraints) {
    Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
    scene.constraints = constraints;
    model_ = build_full_model(scene, reduced_bodies::bar(false));
    shape_ = std::make_unique<RobotShape>(*model_);
    mechanics_ = std::make_unique<FullMechanics>(*model_);
    state_ = rest_state(*mechanics_);
  }
  DrawList draw(const Vec3d& offset = {{0, 0, 0}}) {
    y_.resize(static_cast<std::size_t>(model_->robot.outputs()));
    mechanics_->evaluate_outputs(state_.q, state_.motions, y_);
    DrawList list;
    draw_constraints(*shape_, {state_, y_}, offset, list);
    return list;
  }
  double& force() { return state_.multipliers[model_->robot.actuators.size()]; }
  Vec3d tip() const { return reduced_bodies::bar(false).nodes.back(); }
  static Vec3d at(const Vertex& vertex) { return {{vertex.position[0], vertex.position[1], vertex.position[2]}}; }
  // Largest distance of what is drawn from the line from a to b, and the least and largest way along it.
  struct Reach {
    double away = 0, from = 1, to = 0;
  };
  static Reach reach(const Surfaces& drawn, const Vec3d& a, const Vec3d& b) {
    const double length = norm(b - a);
    const Vec3d axis = (1 / length) * (b - a);
    Reach found;
    for (const Vertex& vertex : drawn.vertices) {
      const Vec3d x = at(vertex) - a;
      const double along = dot(x, axis);
      found.away = std::max(found.away, norm(x - along * axis));
      found.from = std::min(found.from, along / length);
      found.to = std::max(found.to, along / length);
    }
    return found;
  }

  std::optional<FullModel> model_;
  std::unique_ptr<RobotShape> shape_;
  std::unique_ptr<FullMechanics> mechanics_;
  State state_;
  std::vector<double> y_;
};

TEST_F(DrawnConstraints, LengthsAreRodsBetweenTheirPoints) {
  const Vec3d anchor{{0.1, 0.2, 0.5}}, offset{{0.5, -0.25, 0.125}};
  ConstraintScene tie;
  tie.name = "tie";
  tie.points = {tip()};
  tie.anchor = anchor;
  hold({tie});
  const Surfaces rod = draw(offset).solid;
  ASSERT_FALSE(rod.triangles.empty());
  const Reach hard = reach(rod, tip() + offset, anchor + offset);
  EXPECT_LT(hard.away, 0.005 * shape_->extent());
  EXPECT_NEAR(hard.from, 0, 0.02);
  EXPECT_NEAR(hard.to, 1, 0.02);
  // One that gives way is no straight rod, and has the same ends.
  tie.compliance = 1e-3;
  hold({tie});
  const Reach soft = reach(draw(offset).solid, tip() + offset, anchor + offset);
  EXPECT_GT(soft.away, 2 * hard.away);
  EXPECT_NEAR(soft.from, 0, 0.02);
  EXPECT_NEAR(soft.to, 1, 0.02);
}

TEST_F(DrawnConstraints, LimitsThatHoldAreThicker) {
  ConstraintScene rope;
  rope.name = "rope";
  rope.kind = ConstraintKind::limit;
  rope.points = {tip()};
  rope.anchor = tip() + Vec3d{{0, 0, 0.3}};
  rope.length = 0.31;
  hold({rope});
  const Surfaces slack = draw().solid;
  force() = 2;
  const Surfaces taut = draw().solid;
  EXPECT_LT(reach(slack, tip(), *rope.anchor).away, 0.5 * reach(taut, tip(), *rope.anchor).away);
  EXPECT_NE(slack.vertices.front().colour, taut.vertices.front().colour);
}

TEST_F(DrawnConstraints, PlanesArePatchesWhereThePointIsToBe) {
  ConstraintScene guide;
  guide.name = "guide";
  guide.kind = ConstraintKind::plane;
  guide.points = {tip()};
  guide.directions = {{{0, 1, 0}}};
  guide.position = tip() + Vec3d{{0, 0.02, 0}};
  hold({guide});
  const DrawList list = draw();
  double low = 1, high = -1, wide = 0;
  for (const Vertex& vertex : list.solid.vertices) {
    const Vec3d x = at(vertex) - tip();
    low = std::min(low, x[1]);
    high = std::max(high, x[1]);
    wide = std::max(wide, std::hypot(x[0], x[2]));
  }
  EXPECT_NEAR(low, 0, 1e-6);  // the rod from where the point is
  EXPECT_NEAR(high, 0.02, 0.002 * shape_->extent());
  EXPECT_NEAR(wide, 0.02 * shape_->extent(), 1e-6);
}

TEST_F(DrawnConstraints, CanBeLeftOut) {
  ConstraintScene tie;
  tie.points = {tip()};
  tie.anchor = Vec3d{{0.1, 0.2, 0.5}};
  hold({tie});
  (void)draw();
  DrawList with, without;
  draw_robot(*shape_, {state_, y_}, {}, with);
  DrawingOptions options;
  options.constraints = false;
  draw_robot(*shape_, {state_, y_}, options, without);
  EXPECT_GT(with.solid.triangles.size(), without.solid.triangles.size());
}

}  // namespace
}  // namespace supple::view
