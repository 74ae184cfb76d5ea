// Plane problems: one cell through the thickness, held there for plane strain.

#include <algorithm>
#include <cmath>
#include <span>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"

namespace supple::validation {

namespace {

// Cook's panel: corners (0, 0), (48, 44), (48, 60), (0, 44), held on the left, sheared upwards on the right.
Run cook(const Element& element, int refinement, const Material& material, double force, bool plane_strain,
         double reference) {
  return timed([&](Run& run) {
    const std::array cells{4 * refinement, 1, 4 * refinement};
    run.mesh = cells_text(cells);
    const auto map = [](const Vec3d& x) {
      const double lower = 44 * x[0], upper = 44 + 16 * x[0];
      return Vec3d{{48 * x[0], x[1], lower + x[2] * (upper - lower)}};
    };
    Problem problem(element, box_mesh(element, {{1, 1, 1}}, cells, map), material, {{0, 0, 0}},
                    [](const Vec3d& x) { return x[0] == 0; });
    if (plane_strain) problem.hold_along(1, 1e-3, everywhere);
    const auto end = [](const Vec3d& x) { return x[0] == 48; };
    problem.load_faces({{0, 0, force}}, end);
    run.unknowns = problem.unknowns();
    const std::vector<double> u = problem.solve();
    const auto up = [&](double z) {
      return 0.5 * (problem.displacement(u, {{48, 0, z}})[2] + problem.displacement(u, {{48, 1, z}})[2]) / force;
    };
    run.figures = {{"up", up(52), reference}};
  });
}

// The elastic bar behind the cylinder of the FSI benchmark of Turek and Hron, under its weight.
Problem turek_hron(const Element& element, const std::array<int, 3>& cells, double young) {
  const auto map = [](const Vec3d& x) {
    const double z = 0.19 + 0.02 * x[2], left = 0.2 + std::sqrt(0.05 * 0.05 - (z - 0.2) * (z - 0.2));
    return Vec3d{{x[0] == 1 ? 0.6 : left + x[0] * (0.6 - left), 0.02 * x[1], z}};
  };
  Problem problem(element, box_mesh(element, {{1, 1, 1}}, cells, map),
                  {MaterialModel::st_venant_kirchhoff, young, 0.4, 1000}, {{0, 0, -2}},
                  [](const Vec3d& x) { return x[0] < 0.2500001 && std::hypot(x[0] - 0.2, x[2] - 0.2) < 0.05 + 1e-9; });
  problem.hold_along(1, 1e-3, everywhere);
  return problem;
}

bool at_end_of_bar(const Vec3d& x) {
  return x[0] == 0.6;
}

Run turek_hron_at_rest(const Element& element, int refinement, double young, const std::array<double, 2>& reference) {
  return timed([&](Run& run) {
    const std::array cells{18 * refinement, 1, refinement};
    run.mesh = cells_text(cells);
    Problem problem = turek_hron(element, cells, young);
    run.unknowns = problem.unknowns();
    const Vec3d u = problem.mean_displacement(problem.solve(), at_end_of_bar);
    run.figures = {{"x", u[0], reference[0]}, {"z", u[2], reference[1]}};
  });
}

// Of the last whole swing before the end: means and amplitudes, (max + min)/2 and (max - min)/2, and the frequency of
// passing the mean upwards.
Run turek_hron_swinging(const Element& element, int refinement) {
  return timed([&](Run& run) {
    const std::array cells{18 * refinement, 1, refinement};
    run.mesh = cells_text(cells);
    Problem problem = turek_hron(element, cells, 1.4e6);
    run.unknowns = problem.unknowns();
    constexpr double step = 5e-3;
    std::vector<double> x, z;
    problem.swing(step, 2000, [&](double, const std::vector<double>& u) {
      const Vec3d end = problem.mean_displacement(u, at_end_of_bar);
      x.push_back(end[0]);
      z.push_back(end[2]);
    });
    constexpr std::size_t swing = 183;  // steps, a little more than a period of 0.91 s
    const auto last = [](const std::vector<double>& values) {
      return std::ranges::minmax(std::span(values).last(swing));
    };
    const auto [z_low, z_high] = last(z);
    const auto [x_low, x_high] = last(x);
    const double mean = 0.5 * (z_low + z_high);
    std::vector<double> passed;
    for (std::size_t k = 1; k < z.size(); ++k)
      if (z[k - 1] < mean && z[k] >= mean)
        passed.push_back(step * (static_cast<double>(k) + (mean - z[k - 1]) / (z[k] - z[k - 1])));
    if (passed.size() < 2) throw RunError("the bar did not swing twice", "more steps");
    run.figures = {{"x, mean", 0.5 * (x_low + x_high), -14.305e-3},
                   {"x, amplitude", 0.5 * (x_high - x_low), 14.305e-3},
                   {"z, mean", mean, -63.607e-3},
                   {"z, amplitude", 0.5 * (z_high - z_low), 65.160e-3},
                   {"Hz", static_cast<double>(passed.size() - 1) / (passed.back() - passed.front()), 1.0995}};
  });
}

}  // namespace

std::vector<Case> plane_cases() {
  return {
      {"cook", "Cook's membrane, ν = 1/3, plane stress",
       "A panel of thickness 1 with corners (0, 0), (48, 44), (48, 60), (0, 44), E = 1, held on the left and sheared "
       "by a "
       "force that is made small; the displacement of the right side's middle for a force of 1. Reference: 23.96, R. "
       "D. "
       "Cook, D. S. Malkus, M. E. Plesha, Concepts and Applications of Finite Element Analysis (1989), section 6.13. "
       "(The "
       "upper corner moves by 25.2.)",
       0.01, 2, 4,
       [](const Element& element, int refinement) {
         return cook(element, refinement, {MaterialModel::corotational, 1, 1.0 / 3}, 1e-6, false, 23.96);
       }},
      {"cook-incompressible", "Cook's membrane, ν = 0.4999, plane strain",
       "The same, nearly incompressible. Reference: the limits of the five elements that do not lock, extrapolated "
       "from their "
       "last three meshes, are 18.48 to 18.51.",
       0.01, 2, 4,
       [](const Element& element, int refinement) {
         return cook(element, refinement, {MaterialModel::corotational, 1, 0.4999}, 1e-6, true, 18.49);
       }},
      {"csm1", "Turek-Hron CSM1: bar behind a cylinder, E = 1.4 MPa",
       "0.35 m × 20 mm behind a cylinder of 50 mm radius, ν = 0.4, 1000 kg/m³, 2 m/s² down, plane strain, St. "
       "Venant-Kirchhoff. Reference: (−7.1877, −66.102) mm, the FSI benchmark of S. Turek and J. Hron (2006), CSM1, "
       "finest level.",
       0.01, 1, 3,
       [](const Element& element, int refinement) {
         return turek_hron_at_rest(element, refinement, 1.4e6, {-7.1877e-3, -66.102e-3});
       }},
      {"csm2", "Turek-Hron CSM2: the same with E = 5.6 MPa", "Reference: (−0.4690, −16.974) mm, CSM2, finest level.",
       0.01, 1, 3,
       [](const Element& element, int refinement) {
         return turek_hron_at_rest(element, refinement, 5.6e6, {-0.4690e-3, -16.974e-3});
       }},
      {"csm3", "Turek-Hron CSM3: CSM1 let go, swinging",
       "CSM1's bar from rest, without damping, for 10 s; trapezoidal rule, steps of 5 ms; means and amplitudes of the "
       "last "
       "whole swing. The second mode of bending beats with the first, so that swings differ by 2 %, as do the "
       "published "
       "values for steps of 20, 10 and 5 ms. Reference: x −14.305 ± 14.305 mm, z −63.607 ± 65.160 mm, 1.0995 Hz, CSM3 "
       "(level 4, steps of 5 "
       "ms).",
       0.01, 0, 1, [](const Element& element, int) { return turek_hron_swinging(element, 2); },
       [](const Element& element) { return element.order == 2 && element.dilatation == Dilatation::mean; }},
  };
}

}  // namespace supple::validation
