// Beams and bars against closed solutions.

#include <fmt/format.h>

#include <array>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"
#include "tests/engine/bodies/elastica.hpp"

namespace supple::validation {

namespace {

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
    run.figures = {{"back", -tip[0], 1 - expected[0]}, {"down", -tip[2], -expected[1]}};
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
