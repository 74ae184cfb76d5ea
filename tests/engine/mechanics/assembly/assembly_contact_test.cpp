// Several bodies among obstacles: rigid boxes by their corners, soft parts by their skins.

#include <gtest/gtest.h>
#include <omp.h>

#include "kernels/base/error.hpp"
#include "tests/engine/bodies/assemblies.hpp"
#include "tests/engine/bodies/contact_bodies.hpp"

namespace supple {
namespace {

using namespace assemblies;
using contact_bodies::least_gap;
using contact_bodies::total_force;

constexpr double box_mass = 2;
const Vec3d half{{0.1, 0.05, 0.05}};

void add_corners(Assembly& assembly, int frame) {
  for (int k = 0; k < 8; ++k)
    assembly.collision_points.push_back(on_frame(
        frame,
        {{(k & 1) != 0 ? half[0] : -half[0], (k & 2) != 0 ? half[1] : -half[1], (k & 4) != 0 ? half[2] : -half[2]}}));
}

RigidInertia box_inertia() {
  RigidInertia box{box_mass, {{0, 0, 0}}, Mat3d::zero()};
  for (int k = 0; k < 3; ++k) box.inertia(k, k) = box_mass / 3 * (dot(half, half) - half[k] * half[k]);
  return box;
}

// A rigid box among obstacles.
Assembly box_at(const Pose& pose, std::vector<PlacedObstacle> obstacles, const Vec3d& gravity, double distance = 0) {
  Assembly assembly;
  assembly.gravity = gravity;
  assembly.frames = {frame("box", Hold::free, pose, box_inertia())};
  assembly.obstacles = std::move(obstacles);
  assembly.contact_distance = distance;
  add_corners(assembly, 0);
  return assembly;
}

const Vec3d weight{{0, 0, -9.81}};

class BoxContact : public testing::TestWithParam<StepScheme> {};
INSTANTIATE_TEST_SUITE_P(Assembly, BoxContact, testing::Values(StepScheme::one_linearisation, StepScheme::newton));

TEST_P(BoxContact, ABoxFallsOnItsEdgeAndComesToRestOnAFace) {
  const double distance = 0.001;
  AssemblyMechanics mechanics(
      box_at(turned({{0, 0, 0.2}}, {{0.2, 0.5, 0.1}}), {contact_bodies::floor(0.5)}, weight, distance));
  Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 0.005});
  State state = rest_state(mechanics);
  bool flew = false;
  for (int step = 0; step < 300; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    ASSERT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    flew = flew || report.contact.touching == 0;
    // Without geometric stiffness of the frame Newton's method converges linearly: 8 at most were seen.
    EXPECT_LE(report.iterations, 12) << step;
    // One linearisation turns points along their tangent: they end off towards the frame's origin, away from the floor.
    ASSERT_GE(least_gap(mechanics, state), -1e-7) << step;
  }
  EXPECT_TRUE(flew);
  EXPECT_LT(boxes::norm(state.v), 1e-8);
  // A face lies on the floor: the centre is half an edge above it.
  const double height = mechanics.frame_pose(0, state.q, {}).position[2] - distance;
  EXPECT_LT(std::min(std::abs(height - 0.05), std::abs(height - 0.1)), 1e-8) << height;
  const Vec3d force = total_force(state);
  EXPECT_NEAR(force[2], box_mass * 9.81, 1e-6);
  EXPECT_NEAR(std::hypot(force[0], force[1]), 0, 1e-6);
}

// Curved obstacles couple a frame's points, and pull it away from where it stands: Newton's method has their curvature.
TEST_P(BoxContact, ABoxComesToRestInABowl) {
  const double radius = 0.3;
  AssemblyMechanics mechanics(box_at(
      turned({{0.05, 0.02, 0}}, {{0.3, 0.4, 0.1}}),
      {{.name = "bowl", .obstacle = Obstacle::sphere(radius, Obstacle::Side::inside), .pose = {}, .friction = 0.3}},
      weight));
  Stepper stepper(mechanics, {.scheme = GetParam(), .time_step = 0.005});
  State state = rest_state(mechanics);
  int most = 0;
  for (int step = 0; step < 600; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    ASSERT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    most = std::max(most, report.iterations);
    if (GetParam() == StepScheme::newton) {
      ASSERT_GE(least_gap(mechanics, state), -2e-9) << step;
    }
  }
  EXPECT_LE(most, 10);
  EXPECT_LT(boxes::norm(state.v), 1e-6);
  const Vec3d force = total_force(state);
  EXPECT_NEAR(force[2], box_mass * 9.81, 1e-4);
  EXPECT_NEAR(std::hypot(force[0], force[1]), 0, 1e-4);
}

// Gravity is turned instead of the floor.
double speed_on_slope(StepScheme scheme, double slope, double friction, int steps, State* end = nullptr) {
  const double c = 1 / std::sqrt(1 + slope * slope);
  AssemblyMechanics mechanics(box_at({{{0, 0, half[2]}}, Mat3d::identity()}, {contact_bodies::floor(friction)},
                                     {{9.81 * slope * c, 0, -9.81 * c}}));
  Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
  State state = rest_state(mechanics);
  run(stepper, zero_control(mechanics), steps, state);
  if (end) *end = state;
  EXPECT_LT(norm(Vec3d{{state.v[3], state.v[4], state.v[5]}}), 1e-8);  // it does not turn
  return state.v[0];
}

TEST_P(BoxContact, ABoxSticksBelowTheAngleOfFrictionAndSlidesAbove) {
  const double mu = 0.4;
  EXPECT_LT(std::abs(speed_on_slope(GetParam(), 0.999 * mu, mu, 20)), 1e-8);
  for (const double slope : {1.001 * mu, 2 * mu}) {
    const double c = 1 / std::sqrt(1 + slope * slope), acceleration = 9.81 * (slope - mu) * c;
    State end;
    // Implicit Euler is exact under a constant acceleration: what is left is the solver's, 1e-8 of g.
    EXPECT_NEAR(speed_on_slope(GetParam(), slope, mu, 20, &end), 0.2 * acceleration, 1e-7) << slope;
    const Vec3d force = total_force(end);
    EXPECT_NEAR(force[2], box_mass * 9.81 * c, 1e-6);
    EXPECT_NEAR(force[0], -mu * force[2], 1e-6);
  }
}

// A bar under its cable and weight, against the ball and the floor that bend it.
std::vector<PlacedObstacle> bar_obstacles(const FullModel& model, const Pose& place) {
  Vec3d lower{{1e9, 1e9, 1e9}}, upper = -1.0 * lower;
  for (const Vec3d& x : model.mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
  const double radius = 0.4 * (upper[0] - lower[0]);
  const Vec3d below{{0.4 * lower[0] + 0.6 * upper[0], 0.5 * (lower[1] + upper[1]), lower[2] - radius}};
  return {
      {.name = "ball", .obstacle = Obstacle::sphere(radius), .pose = {place.rotation, place(below)}, .friction = 0.3},
      {.name = "floor",
       .obstacle = Obstacle::plane(),
       .pose = {place.rotation, place({{0, 0, lower[2] - 0.011}})},
       .friction = 0.5}};
}

struct ContactBar {
  FullModel model;
  std::unique_ptr<FullMechanics> mechanics;
  BodyInertia inertia;
  // With obstacles it is a robot of its own, else a part.
  explicit ContactBar(bool alone)
      : model(build_full_model(bar_scene({{0, 0, -40}}), reduced_bodies::bar(false))), inertia(body_inertia(model)) {
    contact_bodies::place_among(model, bar_obstacles(model, {}));
    if (!alone) model.robot.obstacles.clear();
    mechanics = std::make_unique<FullMechanics>(model);
  }
};

Assembly bar_among(ContactBar& bar, const Pose& place, Hold hold) {
  Assembly assembly;
  assembly.gravity = place.rotation * bar.model.robot.gravity;
  assembly.frames = {frame("base", hold, place, {50, {{0, 0, 0}}, 2.0 * Mat3d::identity()})};
  assembly.bodies = {body("bar", *bar.mechanics, bar.inertia, 0)};
  assembly.obstacles = bar_obstacles(bar.model, place);
  for (int k = 0; k < bar.model.robot.collision_points; ++k)
    assembly.collision_points.push_back(on_body(0, bar.model.robot.first_collision_point + k));
  return assembly;
}

struct Pressed {
  int iterations = 0;          // in all of thirty steps
  double impulse[2] = {0, 0};  // sums of forces of the two obstacles
};

Pressed run_pressed(Stepper& stepper, const Control& control, State& state) {
  Pressed pressed;
  for (int step = 0; step < 30; ++step) {
    const StepReport report = stepper.step(control, state);
    EXPECT_EQ(report.status, StepStatus::ok) << step << ": " << describe(report.status);
    pressed.iterations += report.iterations;
    for (std::size_t k = 0; k < state.contact_forces.size(); ++k)
      pressed.impulse[k / 3 % 2] += std::abs(state.contact_forces[k]);
  }
  return pressed;
}

// The same body alone among the same obstacles, in any pose.
TEST_P(BoxContact, ABarInAnAssemblyIsPressedAsItIsAlone) {
  ContactBar alone(true), own(false);
  Stepper one(*alone.mechanics, {.scheme = GetParam()});
  State expected = rest_state(*alone.mechanics);
  const Control control = commands(*alone.mechanics, 0.5);
  const Pressed pressed = run_pressed(one, control, expected);
  EXPECT_GT(pressed.impulse[0], 1);
  EXPECT_GT(pressed.impulse[1], 1);
  for (const Pose& place : {Pose{}, turned({{0.3, -0.2, 0.5}}, {{0.4, 1.1, -0.7}})}) {
    AssemblyMechanics mechanics(bar_among(own, place, Hold::fixed));
    Stepper stepper(mechanics, {.scheme = GetParam()});
    State state = rest_state(mechanics);
    // The curvature of the ball comes in the body's own axes.
    EXPECT_NEAR(run_pressed(stepper, control, state).iterations, pressed.iterations, 3);
    // The solver's 1e-10 of forces through thirty steps.
    EXPECT_LT(boxes::difference(state.q, expected.q), 1e-7);
    EXPECT_LT(norm(transpose(place.rotation) * total_force(state) - total_force(expected)),
              1e-6 * norm(total_force(expected)));
  }
}

// Points carried by a free, turned frame: what moves them, and what they push.
TEST(AssemblyContact, RowsOfPointsAgreeWithDifferencesAndTheirTranspose) {
  ContactBar own(false);
  Assembly assembly = bar_among(own, turned({{0.3, -0.2, 0.5}}, {{0.4, 1.1, -0.7}}), Hold::free);
  add_corners(assembly, 0);
  AssemblyMechanics mechanics(assembly);
  const Robot& robot = mechanics.robot();
  const int nv = mechanics.coordinates().nv;
  State state = rest_state(mechanics);
  std::vector<double> du = boxes::random_vector(nv, 1e-3), start = state.q;
  du[extent(nv) - 2] = 0.8;  // well turned
  mechanics.coordinates().integrate(start.data(), du.data());
  PointRows rows;
  for (int p = 0; p < robot.collision_points; ++p) {
    rows.point.push_back(robot.first_collision_point + p);
    rows.frame.push_back(boxes::rotation({{1, 2, static_cast<double>(p)}}, 0.3));
  }
  std::vector<double> y(extent(robot.outputs())), ahead = y, behind = y, moved(extent(rows.rows()));
  const std::vector<double> v = boxes::random_vector(nv, 1);
  const double step = 1e-6;
  for (const auto& [sign, out] : {std::pair{1.0, &ahead}, std::pair{-1.0, &behind}}) {
    std::vector<double> q = start, u = v;
    for (double& x : u) x *= sign * step;
    mechanics.coordinates().integrate(q.data(), u.data());
    mechanics.evaluate_outputs(q, state.motions, *out);
  }
  mechanics.evaluate_outputs(start, state.motions, y);
  mechanics.multiply_rows(rows, v, 1, moved);
  for (int p = 0; p < rows.points(); ++p) {
    const int point = rows.point[extent(p)];
    const Vec3d rate = rows.frame[extent(p)] * ((0.5 / step) * (point_at(ahead, point) - point_at(behind, point)));
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(moved[extent(3 * p + k)], rate[k], 1e-8) << p;
  }
  const std::vector<double> lambda = boxes::random_vector(rows.rows(), 1);
  std::vector<double> f(extent(nv), 0.0);
  mechanics.add_row_forces(rows, lambda, f);
  EXPECT_NEAR(boxes::dot(f, v), boxes::dot(lambda, moved), 1e-10 * boxes::norm(f) * boxes::norm(v));
}

// A soft bar on a heavy base that falls: both touch, the floor bears both in the end. The same bits for all threads.
TEST(AssemblyContact, ABarOnAFreeBaseLiesOnTheFloorWithTheSameBitsOnAllThreads) {
  ContactBar own(false);
  own.model.robot.rayleigh_mass = 5;
  own.model.robot.rayleigh_stiffness = 0.01;
  FullMechanics damped(own.model);
  Assembly assembly = bar_among(own, {{{0, 0, 0.3}}, Mat3d::identity()}, Hold::free);
  assembly.bodies[0].mechanics = &damped;
  assembly.frames[0].inertia = box_inertia();
  assembly.obstacles = {contact_bodies::floor(0.4)};
  add_corners(assembly, 0);
  std::vector<std::uint64_t> hashes;
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 8}) {
    omp_set_num_threads(threads);
    AssemblyMechanics mechanics(assembly);
    Stepper stepper(mechanics, {});
    State state = rest_state(mechanics);
    run(stepper, zero_control(mechanics), 60, state);
    hashes.push_back(hash(state));
    if (threads > 1) continue;
    run(stepper, zero_control(mechanics), 240, state);
    const double carried = 40 * (box_mass + assembly.bodies[0].inertia.rest.mass);
    EXPECT_NEAR(total_force(state)[2], carried, 1e-3 * carried);
    EXPECT_GE(least_gap(mechanics, state), -1e-6);
  }
  omp_set_num_threads(before);
  EXPECT_EQ(hashes[1], hashes[0]);
  EXPECT_EQ(hashes[2], hashes[0]);
}

TEST(AssemblyContact, EquilibriaOfFreeBodiesAreRefused) {
  Assembly assembly = box_at({{{0, 0, 0.2}}, Mat3d::identity()}, {contact_bodies::floor(0.5)}, weight);
  AssemblyMechanics mechanics(assembly);
  State state = rest_state(mechanics);
  EXPECT_EQ(Equilibrium(mechanics, {}).solve(zero_control(mechanics), state).status, StepStatus::loose_among_obstacles);
  assembly.integrator = Integrator::quasi_static;
  EXPECT_THROW(AssemblyMechanics{assembly}, InputError);
}

TEST(AssemblyContact, ABodyWithObstaclesOfItsOwnIsRefused) {
  ContactBar alone(true);
  Assembly assembly;
  assembly.frames = {frame("base", Hold::fixed)};
  assembly.bodies = {body("bar", *alone.mechanics, alone.inertia, 0)};
  EXPECT_THROW(AssemblyMechanics{assembly}, InputError);
}

}  // namespace
}  // namespace supple
