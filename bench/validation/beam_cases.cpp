// Beams and bars against closed solutions.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numbers>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"

namespace supple::validation {

namespace {

// A rod clamped along x with a dead load k E I / L^2 across its end: E I theta'' = -P cos theta, theta(0) = 0,
// theta'(L) = 0; L = 1. Classical Runge-Kutta of 2000 steps, bisection on theta'(0). Returns the tip's displacement
// (back, down).
std::array<double, 2> elastica_tip(double k) {
  constexpr int steps = 2000;
  std::array<double, 2> tip{};
  const auto end_curvature = [&](double curvature) {
    double theta = 0, x = 0, z = 0;
    const double h = 1.0 / steps;
    for (int i = 0; i < steps; ++i) {
      double dt = 0, dc = 0, dx = 0, dz = 0, slope_t = 0, slope_c = 0;
      const double half[4] = {0, 0.5 * h, 0.5 * h, h}, weight[4] = {h / 6, h / 3, h / 3, h / 6};
      for (int s = 0; s < 4; ++s) {
        const double ts = theta + half[s] * slope_t, cs = curvature + half[s] * slope_c;
        slope_t = cs;
        slope_c = k * std::cos(ts);
        dt += weight[s] * slope_t;
        dc += weight[s] * slope_c;
        dx += weight[s] * std::cos(ts);
        dz += weight[s] * std::sin(ts);
      }
      theta += dt;
      curvature += dc;
      x += dx;
      z += dz;
    }
    tip = {1 - x, -z};
    return curvature;
  };
  double low = -k, high = 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (end_curvature(middle) > 0 ? high : low) = middle;
  }
  return tip;
}

Run elastica(const Element& element, int refinement, double k, double poisson) {
  return timed([&](Run& run) {
    const double E = 1e7, H = 0.02, I = H * H * H * H / 12;
    const std::array cells{25 * refinement, 1, refinement};
    run.mesh = cells_text(cells);
    Problem problem(element, box_mesh(element, {{1, H, H}}, cells, [](const Vec3d& x) { return x; }),
                    {MaterialModel::st_venant_kirchhoff, E, poisson}, {{0, 0, 0}},
                    [](const Vec3d& x) { return x[0] == 0; });
    const auto end = [](const Vec3d& x) { return x[0] == 1; };
    problem.load_faces({{0, 0, -k * E * I}}, end);
    run.unknowns = problem.unknowns();
    const Vec3d tip = problem.mean_displacement(problem.solve(), end);
    const std::array<double, 2> expected = elastica_tip(k);
    run.figures = {{"back", -tip[0], expected[0]}, {"down", -tip[2], expected[1]}};
  });
}

// A bar 20 times as long as wide, cut from one that hangs: its upper face is held along z alone.
Run hanging_bar(const Element& element, int refinement, double poisson) {
  return timed([&](Run& run) {
    const double E = 1e6, L = 1, W = 0.05, rho = 1000, g = 0.2;
    const std::array cells{2 * refinement, 2 * refinement, 40 * refinement};
    run.mesh = cells_text(cells);
    Problem problem(element, box_mesh(element, {{W, W, L}}, cells, [](const Vec3d& x) { return x; }),
                    {MaterialModel::st_venant_kirchhoff, E, poisson, rho}, {{0, 0, -g}},
                    [&](const Vec3d& x) { return x[0] == W / 2 && x[1] == W / 2 && x[2] == L; });
    problem.hold_along(2, 1e-2, [&](const Vec3d& x) { return x[2] == L; });
    problem.hold_along(0, 1e-2, [&](const Vec3d& x) { return x[0] == W / 2; });
    problem.hold_along(1, 1e-2, [&](const Vec3d& x) { return x[1] == W / 2; });
    run.unknowns = problem.unknowns();
    const Vec3d end = problem.mean_displacement(problem.solve(), [](const Vec3d& x) { return x[2] == 0; });
    // To first order in the strain, 1e-4 on average.
    run.figures = {{"longer", -end[2], rho * g * L * L / (2 * E)}};
  });
}

}  // namespace

std::vector<Case> beam_cases() {
  std::vector<Case> cases;
  for (const auto& [k, poisson] : {std::array{1.0, 0.0}, {2.0, 0.0}, {5.0, 0.0}, {10.0, 0.0}, {1.0, 0.3}, {1.0, 0.49}})
    cases.push_back(
        {fmt::format("elastica-{:g}-{:g}", k, poisson),
         fmt::format("Cantilever, dead load across its end, PL²/EI = {:g}, ν = {:g}", k, poisson),
         "Length 1 m, height and width 20 mm, St. Venant-Kirchhoff; the end's mean displacement. "
         "Reference: the elastica, integrated by the program. A thin solid differs from it by its shear, its "
         "stretch and its clamp, about (H/L)² = 4e-4 and ν H/L.",
         0.01, 1, 3,
         [k, poisson](const Element& element, int refinement) { return elastica(element, refinement, k, poisson); }});
  for (const double poisson : {0.0, 0.3, 0.49})
    cases.push_back(
        {fmt::format("hanging-bar-{:g}", poisson), fmt::format("Bar under its own weight, ν = {:g}", poisson),
         "1 m × 50 mm × 50 mm, its upper face free to become narrower; the lower face's mean displacement. "
         "Reference: ρgL²/2E.",
         0.01, 0, 2,
         [poisson](const Element& element, int refinement) { return hanging_bar(element, refinement, poisson); }});
  return cases;
}

}  // namespace supple::validation
