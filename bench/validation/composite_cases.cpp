// Bodies with wires and threads against the theory of composite beams; a cable that rubs around a drum.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"
#include "engine/model/cable_friction.hpp"
#include "kernels/base/extent.hpp"

namespace supple::validation {

namespace {

constexpr double E = 2e5, length = 0.12, side = 0.012;
constexpr double body_bending = E * side * side * side * side / 12;
constexpr double wire_radius = 5e-4, wire_young = 6e10;
const double wire_bending = wire_young * std::numbers::pi / 4 * std::pow(wire_radius, 4);

// Of silicone, held at x = 0, its section about the x axis.
struct Beam {
  Beam(const Element& element, int refinement, const std::function<void(BodyScene&)>& with)
      : cells{16 * refinement, 2 * refinement, 2 * refinement},
        problem(
            element, box_mesh(element, {{length, side, side}}, cells, about_axis),
            {MaterialModel::stable_neo_hookean, E, 0}, {{0, 0, 0}}, [](const Vec3d& x) { return x[0] == 0; }, with) {}
  static Vec3d about_axis(const Vec3d& x) { return {{x[0], x[1] - side / 2, x[2] - side / 2}}; }
  static bool end(const Vec3d& x) { return x[0] == length; }
  Vec3d tip(const Vec3d& force) {
    problem.load_faces(force, end);
    return problem.mean_displacement(problem.solve(), end);
  }

  std::array<int, 3> cells;
  Problem problem;
};

void add_wire(BodyScene& body) {
  RodScene wire;
  wire.points = {{{0, 0, 0}}, {{length, 0, 0}}};
  wire.radius = wire_radius;
  wire.young = wire_young;
  body.rods = {wire};
}

Run bent(const Element& element, int refinement, double k, const std::array<double, 2>& expected) {
  return timed([&](Run& run) {
    Beam beam(element, refinement, add_wire);
    run.mesh = cells_text(beam.cells);
    run.unknowns = beam.problem.unknowns();
    const Vec3d tip = beam.tip({{0, 0, -k * (body_bending + wire_bending) / (length * length)}});
    run.figures = {{"down", -tip[2] / length, expected[1]}};
    if (expected[0] > 0) run.figures.push_back({"back", -tip[0] / length, expected[0]});
  });
}

// Threads along x on the upper and the lower face.
Run with_threads(const Element& element, int refinement) {
  return timed([&](Run& run) {
    constexpr double spacing = 1e-3, stiffness = 2;  // N
    const auto layers = [&](BodyScene& body) {
      for (const double z : {-side / 2, side / 2}) {
        MembraneScene layer;
        layer.region.kind = Region::Kind::box;
        layer.region.lower = {{-1, -1, z - 1e-9}};
        layer.region.upper = {{1, 1, z + 1e-9}};
        layer.threads = ThreadScene{
            .stiffness = stiffness, .spacing = spacing, .push = true, .direction = Vec3d{{1, 0, 0}}, .centre = {}};
        body.membranes.push_back(layer);
      }
    };
    Beam beam(element, refinement, layers);
    run.mesh = cells_text(beam.cells);
    run.unknowns = beam.problem.unknowns();
    const double of_layer = stiffness * side / spacing,  // N
        bending = body_bending + 2 * of_layer * side * side / 4;
    // G A, with nu = 0, times the square of the mean over the mean square of E S(z)/(width), what is beyond z times its
    // distance: the stress of shear is nearly even between faces that carry most of the bending.
    const double faces = of_layer / side * side / 2, core = E * side * side / 8, mean = faces + 2.0 / 3 * core,
                 square = faces * faces + 4.0 / 3 * faces * core + 8.0 / 15 * core * core,
                 shear = mean * mean / square * E / 2 * side * side;
    const double force = 1e-5;  // N
    run.figures = {
        {"down", -beam.tip({{0, 0, -force}})[2] / force, length * length * length / (3 * bending) + length / shear}};
  });
}

// A cable around a quarter, half and three quarters of a turn, drawn so far that it slips everywhere.
Run capstan() {
  return timed([&](Run& run) {
    constexpr double friction = 0.25, radius = 0.05, pulled = 2e-3;
    constexpr int turns = 8;
    run.mesh = "8 corners";
    for (const int quarters : {1, 2, 3}) {
      const double angle = quarters * std::numbers::pi / 2;
      Robot robot;
      ActuatorRow cable;
      cable.kind = ActuatorKind::cable;
      cable.friction = friction;
      for (int k = 0; k < turns + 2; ++k) {
        const double at = angle * (k - 0.5) / turns;
        robot.rest_points.push_back({{radius * std::cos(at), radius * std::sin(at), 0}});
      }
      cable.point_count = turns + 1;
      cable.pull_point = robot.rest_points.back();
      robot.rest_points.pop_back();
      std::vector<double> y, g(extent(3 * cable.point_count)), history(extent(cable.history()), 0.0);
      for (const Vec3d& x : robot.rest_points) y.insert(y.end(), {x[0], x[1], x[2]});
      CableFriction rubbing(cable, robot);
      rubbing.evaluate(cable, y, history);
      const Vec3d d = robot.rest_points[1] - robot.rest_points[0];
      for (int c = 0; c < 3; ++c) y[extent(c)] += pulled / norm(d) * d[c];
      rubbing.evaluate(cable, y, history);
      rubbing.gradient(cable, g);
      run.figures.push_back(
          {fmt::format("{} quarters", quarters), 1 / norm(Vec3d{{g[0], g[1], g[2]}}), std::exp(friction * angle)});
    }
  });
}

}  // namespace

std::vector<Case> composite_cases() {
  const auto one = [](const Element& element) { return &element == &default_element(); };
  return {
      {"wire", "Beam with a wire along its axis",
       "120 mm × 12 mm × 12 mm of silicone (200 kPa, ν = 0) with a wire of 1 mm and 60 GPa, which carries nine "
       "tenths of the bending. Under P L²/Σ E I = 0.01 at its end, over its length. Reference: P L³/(3 Σ E I); the "
       "silicone, which carries a ninth of the load, shears besides, by 0.6 % of that.",
       0.01, 1, 2,
       [](const Element& element, int refinement) {
         return bent(element, refinement, 0.01, {0, 0.01 / 3});
       }},
      {"wire-elastica", "The same beam bent far",
       "Under P L²/Σ E I = 5. Reference: the elastica, 0.71379 down and 0.38763 back (K. E. Bisshopp, D. C. "
       "Drucker, 1945). The silicone's outer fibres are stretched by up to 15 %, where neo-Hooke is no longer Hooke.",
       0.01, 1, 2,
       [](const Element& element, int refinement) {
         return bent(element, refinement, 5, {0.38763, 0.71379});
       }},
      {"threads", "Beam with threads on two faces",
       "The beam without the wire; threads along it on its upper and lower face, 1 mm apart, with 2 N for a strain "
       "of one each, which resist pressing too. Compliance of its end across [m/N]. Reference: a composite beam's "
       "L³/(3 Σ E I) and the shear of its core, L/(0.995 G A).",
       0.01, 1, 2, with_threads},
      {"capstan", "Cable that rubs around a drum",
       "Coefficient 0.25, around one, two and three quarters of a turn at eight corners, drawn by 2 mm. The "
       "tension at the drawn end over that at the other. Reference: exp(μ θ), Euler and Eytelwein. Elements have no "
       "part in it.",
       0.01, 0, 1, [](const Element&, int) { return capstan(); }, one}};
}

}  // namespace supple::validation
