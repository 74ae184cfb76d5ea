// Cables whose points move with many nodes: their stiffness is that of the forces, and eigenvalues below zero are counted as
// those of the matrix without segments' unknowns.
#include "engine/mechanics/full/segment_unknowns.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

// Multipliers of two cables, the strut and the distance: under tension, slack, under pressure, under tension.
const std::vector<double> multipliers{5, 0, -4, 3};

// driven: nodes at the far end move along z.
FullModel bar(double attachment_radius, bool driven = false) {
  Scene scene = reduced_bodies::bar_scene({"", MaterialModel::stable_neo_hookean});
  for (ActuatorScene& actuator : scene.actuators)
    if (actuator.kind == ActuatorKind::cable) actuator.attachment_radius = attachment_radius;
  ConstraintScene distance;
  distance.name = "distance";
  distance.points = {{{0.2, 0.05, 0.05}}};
  distance.anchor = Vec3d{{0.35, 0.1, -0.1}};
  distance.attachment_radius = attachment_radius;
  scene.constraints = {distance};
  if (driven) {
    FixScene slide;
    slide.region = boxes::box_region({{0.26, -1, -1}}, {{1, 1, 1}});
    slide.motion = "slide";
    slide.motion_direction = {{0, 0, 1}};
    slide.motion_range = {-0.02, 0.02};
    scene.bodies[0].fixes = {boxes::clamp_at_origin(), slide};
  }
  return build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.3, 0.1, 0.1}}, 12, 4, 4));
}

// f - H^T lambda at q and c.
std::vector<double> forces(FullMechanics& mechanics, const std::vector<double>& q, const std::vector<double>& c = {}) {
  const FullModel& model = mechanics.model();
  std::vector<double> f(q.size()), y(extent(model.robot.outputs())), phi(extent(mechanics.rows().rows())),
      gradients(extent(mechanics.rows().gradients())), H(phi.size() * q.size()), H_c(phi.size() * c.size());
  mechanics.evaluate_outputs(q, c, y);
  (void)mechanics.evaluate_forces(q, c, TangentKind::none, f);
  evaluate_rows(model.robot, mechanics.rows(), y, phi, gradients);
  mechanics.row_jacobians(mechanics.rows(), gradients, H, H_c);
  for (std::size_t row = 0; row < phi.size(); ++row)
    for (std::size_t i = 0; i < q.size(); ++i) f[i] -= multipliers[row] * H[row * q.size() + i];
  return f;
}

struct Solved {
  Eigen::MatrixXd inverse;
  SystemReport report;
};

Solved solved(FullMechanics& mechanics, const std::vector<double>& q, double mass) {
  std::vector<double> f(q.size()), y(extent(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(q, {}, y);
  (void)mechanics.evaluate_forces(q, {}, TangentKind::exact, f);
  Solved found;
  found.report = mechanics.factor({.mass = mass, .stiffness = 1, .geometric = true}, y, multipliers);
  const auto n = static_cast<Eigen::Index>(q.size());
  found.inverse = Eigen::MatrixXd::Identity(n, n);
  mechanics.solve({found.inverse.data(), q.size() * q.size()}, static_cast<int>(n));
  return found;
}

TEST(SegmentUnknowns, SystemsAreThoseOfTheForces) {
  const FullModel model = bar(0.052);
  EXPECT_EQ(SegmentUnknowns::rows(model), (std::vector<char>{1, 1, 1, 1}));
  FullMechanics mechanics(model);
  EXPECT_EQ(mechanics.pattern().n, mechanics.node_pattern().scalar.n + 3 * 5);
  const std::vector<double> q = boxes::random_vector(model.coordinates.nv, 2e-3);
  const Solved found = solved(mechanics, q, 0);
  ASSERT_EQ(found.report.status, SystemStatus::ok);
  const double size = found.inverse.cwiseAbs().maxCoeff();
  EXPECT_LT((found.inverse - found.inverse.transpose()).cwiseAbs().maxCoeff(), 1e-9 * size);
  for (const int column : {0, 7, 100}) {
    const Eigen::VectorXd x = found.inverse.col(column) / found.inverse.col(column).norm();
    const std::vector<double> direction(x.data(), x.data() + x.size());
    const double h = 1e-6;
    const std::vector<double> ahead = forces(mechanics, boxes::plus(q, h, direction)),
                              behind = forces(mechanics, boxes::plus(q, -h, direction));
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double expected = static_cast<int>(i) == column ? 1 / found.inverse.col(column).norm() : 0;
      // Differences of forces of some newtons, rounded to 1e-15 of them.
      EXPECT_NEAR((ahead[i] - behind[i]) / (2 * h), expected, 1e-6 / found.inverse.col(column).norm() + 1e-6) << column;
    }
  }
}

// With a mass below zero the matrix has many eigenvalues below zero; and segments that push or pull each their own.
TEST(SegmentUnknowns, EigenvaluesBelowZero) {
  const FullModel model = bar(0.052);
  FullMechanics mechanics(model);
  const std::vector<double> q = boxes::random_vector(model.coordinates.nv, 2e-3);
  for (const double mass : {0.0, -2e3, -2e4}) {
    const Solved found = solved(mechanics, q, mass);
    ASSERT_EQ(found.report.status, SystemStatus::ok);
    const Eigen::MatrixXd symmetric = 0.5 * (found.inverse + found.inverse.transpose());
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric).eigenvalues();
    EXPECT_EQ(found.report.negative_pivots, (values.array() < 0).count()) << mass;
    if (mass < 0) {
      EXPECT_GT(found.report.negative_pivots, 0);
    }
  }
}

// Points that move with nodes that are driven: what a motion does to the forces.
TEST(SegmentUnknowns, PrescribedMotions) {
  const FullModel model = bar(0.052, true);
  FullMechanics mechanics(model);
  const std::vector<double> q = boxes::random_vector(model.coordinates.nv, 2e-3), c{0.004};
  std::vector<double> f(q.size()), y(extent(model.robot.outputs())), by_c(q.size());
  mechanics.evaluate_outputs(q, c, y);
  (void)mechanics.evaluate_forces(q, c, TangentKind::exact, f);
  const SystemCoefficients coefficients{.mass = 0, .stiffness = 1, .geometric = true};
  ASSERT_EQ(mechanics.factor(coefficients, y, multipliers).status, SystemStatus::ok);
  mechanics.input_columns(coefficients, by_c);
  const double h = 1e-6;
  const std::vector<double> ahead = forces(mechanics, q, {c[0] + h}), behind = forces(mechanics, q, {c[0] - h});
  std::vector<double> slope(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) slope[i] = (ahead[i] - behind[i]) / (2 * h);
  EXPECT_GT(boxes::norm(by_c), 0);
  EXPECT_LT(boxes::difference(by_c, slope), 1e-7);  // rounding of forces of some newtons over 1e-6
  // Without the cables' part it is not.
  ASSERT_EQ(mechanics.factor({.mass = 0, .stiffness = 1}, y, multipliers).status, SystemStatus::ok);
  mechanics.input_columns({.mass = 0, .stiffness = 1}, by_c);
  EXPECT_GT(boxes::difference(by_c, slope), 1e-6);
}

// Few nodes at each end: as elements couple them.
TEST(SegmentUnknowns, NarrowAttachmentsHaveNone) {
  const FullModel model = bar(0);
  EXPECT_EQ(SegmentUnknowns::rows(model), (std::vector<char>{0, 0, 0, 0}));
  EXPECT_EQ(FullMechanics(model).pattern().n, model.coordinates.nv);
}

}  // namespace
}  // namespace supple
