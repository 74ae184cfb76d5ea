// Contact between bodies against what is known of it: the thickness at which an arch stands, Hertz's pressure and
// Cattaneo's and Mindlin's slip between two soft bodies.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "engine/mesh/generate.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/touching_bodies.hpp"

namespace supple {
namespace {

using namespace assemblies;

// A voussoir between two joints, `apart` from each of its neighbours: its section in x and z, 0.3 m along y.
struct Voussoir {
  CollisionSurface surface;
  RigidInertia inertia;
  Vec3d centre;
};

Voussoir voussoir(double from, double to, double inner, double outer, double apart) {
  const double depth = 0.3, density = 2000;
  const auto corner = [&](double radius, double angle, double side) {
    return Vec3d{{radius * std::cos(angle) - side * 0.5 * apart * std::sin(angle), 0,
                  radius * std::sin(angle) + side * 0.5 * apart * std::cos(angle)}};
  };
  const std::array<Vec3d, 4> section{corner(inner, from, 1), corner(outer, from, 1), corner(outer, to, -1),
                                     corner(inner, to, -1)};
  double area = 0, xx = 0, xz = 0, zz = 0;
  Vec3d first{{0, 0, 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec3d &a = section[i], &b = section[(i + 1) % 4];
    const double twice = a[0] * b[2] - b[0] * a[2];
    area += twice / 2;
    first = first + twice / 6 * (a + b);
    xx += twice / 12 * (a[0] * a[0] + a[0] * b[0] + b[0] * b[0]);
    zz += twice / 12 * (a[2] * a[2] + a[2] * b[2] + b[2] * b[2]);
    xz += twice / 24 * (2 * a[0] * a[2] + a[0] * b[2] + b[0] * a[2] + 2 * b[0] * b[2]);
  }
  const Vec3d centre = 1 / area * first;
  xx -= area * centre[0] * centre[0], zz -= area * centre[2] * centre[2], xz -= area * centre[0] * centre[2];
  const double flat = area * depth * depth / 12;
  Voussoir stone{.surface = box_surface({{1, 1, 1}}),
                 .inertia = {density * depth * area, {{0, 0, 0}}, Mat3d::zero()},
                 .centre = centre};
  stone.inertia.inertia(0, 0) = density * depth * (zz + flat);
  stone.inertia.inertia(1, 1) = density * depth * (xx + zz);
  stone.inertia.inertia(2, 2) = density * depth * (xx + flat);
  stone.inertia.inertia(0, 2) = stone.inertia.inertia(2, 0) = -density * depth * xz;
  // Corners of a box: x against the angle, z outwards.
  for (Vec3d& x : stone.surface.rest) {
    const Vec3d at = x[0] > 0 ? section[x[2] > 0 ? 1 : 0] : section[x[2] > 0 ? 2 : 3];
    x = Vec3d{{at[0] - centre[0], depth * x[1], at[2] - centre[2]}};
  }
  return stone;
}

// How far the crown of a semicircular arch of mean radius 1 m comes down in a second and a half.
double crown_falls(double thickness, int stones, double friction) {
  World world;
  for (const double side : {-1.0, 1.0})
    world.box("springer", {{0.6, 0.6, 0.2}}, 1, Hold::fixed, {{{side, 0, -0.1 - distance / 2}}, Mat3d::identity()},
              friction);
  for (int k = 0; k < stones; ++k) {
    const double step = std::numbers::pi / stones;
    const Voussoir stone = voussoir(k * step, (k + 1) * step, 1 - thickness / 2, 1 + thickness / 2, distance);
    world.add("stone" + std::to_string(k), stone.surface, stone.inertia, Hold::free, {stone.centre, Mat3d::identity()},
              friction);
  }
  AssemblyMechanics mechanics(world.assembly);
  Stepper stepper(mechanics, {.time_step = 5e-3, .tolerance = 1e-9});
  State state = rest_state(mechanics);
  const std::size_t crown = extent(7, stones / 2) + 2;
  const double start = state.q[crown];
  for (int step = 0; step < 300 && start - state.q[crown] < 0.3; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    EXPECT_EQ(report.status, StepStatus::ok) << step << " " << describe(report.status);
    if (report.status != StepStatus::ok) break;
    EXPECT_LE(report.contact.residual, 1e-8) << step;
  }
  return start - state.q[crown];
}

// The least thickness of a semicircular arch, 0.1075 of its radius (Milankovitch, Zur Theorie der Druckkurven,
// Zeitschrift fuer Mathematik und Physik 55, 1907), where joints may open anywhere. Sixteen stones have joints within 2
// degrees of those that do.
TEST(LongMasonryArch, StandsWhereItsThrustFitsIn) {
  EXPECT_LT(std::abs(crown_falls(0.1080, 16, 0.7)), 1e-6);
  EXPECT_GT(crown_falls(0.1055, 16, 0.7), 0.1);
}

constexpr double young = 1e6, radius = 0.4, friction = 0.3;

// Half of a pair: a block whose face is a parabola of this radius along x, one element along y. Cells of h where they
// touch, growing away from it.
struct Half {
  FullModel model;
  std::unique_ptr<FullMechanics> mechanics;
  double width;
};

Half half(double h, int fine, int coarse, double width, double sign) {
  std::vector<double> grade{0};
  for (int i = 0; i < fine + coarse; ++i) grade.push_back(grade.back() + h * std::pow(1.2, std::max(0, i + 1 - fine)));
  const int n = fine + coarse;
  const double size = grade.back();
  Mesh mesh = sign < 0 ? box_hexahedra({{-1, -1, -1}}, {{1, 1, 0}}, 2 * n, 1, n)
                       : box_hexahedra({{-1, -1, 0}}, {{1, 1, 1}}, 2 * n, 1, n);
  for (Vec3d& at : mesh.nodes) {
    const auto i = std::lround(n * at[0]), k = std::lround(n * std::abs(at[2]));
    const double x = std::copysign(grade[extent(static_cast<int>(std::abs(i)))], at[0]),
                 z = grade[extent(static_cast<int>(k))];
    at = Vec3d{{x, 0.5 * width * at[1], sign * (z + x * x / (2 * radius) * (1 - z / size))}};
  }
  // Poisson's ratio 0: plane strain without walls.
  Scene scene = boxes::scene({"", MaterialModel::corotational}, young, 0);
  FixScene far;
  far.region = sign < 0 ? boxes::box_region({{-10, -10, -10}}, {{10, 10, -0.999 * size}})
                        : boxes::box_region({{-10, -10, 0.999 * size}}, {{10, 10, 10}});
  scene.bodies[0].fixes = {far};
  return {build_full_model(scene, mesh), nullptr, width};
}

struct Traction {
  double normal = 0, tangential = 0;                // N
  double normal_second = 0, tangential_second = 0;  // N m^2, about the middle along x
};

// Of all forces of the upper body on the lower one.
Traction traction(AssemblyMechanics& mechanics, const State& state) {
  const Robot& robot = mechanics.robot();
  std::vector<double> y(extent(robot.outputs()));
  mechanics.outputs_elsewhere(state.q, state.motions, y);
  const std::span<const double> x = std::span<const double>(y).subspan(extent(3, robot.first_surface_point));
  Traction sum;
  for (const SurfaceForce& of : state.surface_forces.front()) {
    const SurfaceFeature a = robot.surfaces->feature(of.first), b = robot.surfaces->feature(of.second);
    // In the middle of the smaller of both features.
    const SurfaceFeature& feature = a.points <= b.points ? a : b;
    double at = 0;
    for (int i = 0; i < feature.points; ++i)
      at += x[extent(3, robot.surfaces->vertices_of(feature)[extent(i)])] / feature.points;
    const double sign = a.surface == 0 ? 1 : -1;
    sum.normal -= sign * of.force[2];
    sum.tangential += sign * of.force[0];
    sum.normal_second -= sign * of.force[2] * at * at;
    sum.tangential_second += sign * of.force[0] * at * at;
  }
  return sum;
}

// Two soft bodies that touch along a line. Pressed: the half width of the contact is that of Hertz, a^2 = 4 P R / (pi E)
// of both. Pushed sideways by Q: what slips is what Cattaneo (Accademia dei Lincei, Rendiconti 27, 1938) and Mindlin
// (Journal of Applied Mechanics 16, 1949) found, |x| > c with c^2 = a^2 (1 - Q / (mu P)). Both are measured by the second
// moments of the tractions, P a^2 / 4 and (mu P a^2 - (mu P - Q) c^2) / 4, which single nodes do not spoil.
TEST(LongSoftContact, IsThatOfHertzAndOfCattaneoAndMindlin) {
  const double apart = 2e-6, cell = 0.8e-3;
  std::array<Half, 2> halves{half(cell, 8, 20, 0.06, -1), half(0.9 * cell, 9, 20, 0.057, 1)};
  Assembly assembly;
  assembly.contact_distance = apart;
  assembly.integrator = Integrator::quasi_static;
  assembly.frames = {frame("world", Hold::fixed), frame("press", Hold::driven)};
  MotionInput down, aside;
  down.name = "down", down.direction = {{0, 0, -1}};
  aside.name = "aside", aside.direction = {{1, 0, 0}};
  assembly.frames[1].motions = {down, aside};
  for (int k = 0; k < 2; ++k) {
    Half& of = halves[extent(k)];
    const Pose place{{{0, 0, k * apart}}, Mat3d::identity()};
    assembly.surfaces.push_back(skin_of("half", of.model, k, place, friction));
    of.mechanics = std::make_unique<FullMechanics>(of.model);
    assembly.bodies.push_back(body("half", *of.mechanics, body_inertia(of.model), k, place));
  }
  AssemblyMechanics mechanics(assembly);
  ForwardStep step(mechanics, Integrator::quasi_static, 0.01);
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  // Widths differ by 5 %, and each half has its own load per width.
  const double square = 4 / std::numbers::pi * (radius / 2) * (1 / halves[0].width + 1 / halves[1].width) / young;
  for (int k = 1; k <= 7; ++k) {
    control.motions[0] = 1e-4 * std::min(k, 4);
    control.motions[1] = 5e-5 * std::max(k - 4, 0);
    const StepReport report = step.step(control, state);
    ASSERT_EQ(report.status, StepStatus::ok) << k << " " << describe(report.status);
    EXPECT_LE(report.contact.residual, 1e-8) << k;
    const Traction of = traction(mechanics, state);
    const double a2 = square * of.normal, measured = 4 * of.normal_second / of.normal;
    RecordProperty("hertz" + std::to_string(k), std::to_string(measured / a2));
    if (k < 2) continue;  // three cells in the half width
    EXPECT_NEAR(measured / a2, 1, 0.03) << k;
    if (k < 5) continue;
    const double grip = friction * of.normal, left = 1 - of.tangential / grip, c2 = a2 * left;
    const double expected = (grip * a2 - (grip - of.tangential) * c2) / 4;
    RecordProperty("mindlin" + std::to_string(k), std::to_string(of.tangential_second / expected) + " at Q/(mu P) " +
                                                      std::to_string(of.tangential / grip));
    EXPECT_NEAR(of.tangential_second / expected, 1, 0.03) << k;
    EXPECT_GT(left, 0.02) << k;
  }
}

}  // namespace
}  // namespace supple
