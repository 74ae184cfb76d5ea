// Viscoelastic materials against closed forms: a bar that creeps under a constant force, one that swings along itself.

#include <cmath>
#include <numbers>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"

namespace supple::validation {

namespace {

constexpr double E = 1e5, length = 0.4, side = 0.04;
const std::array<int, 3> coarsest{6, 1, 1};

// Along x, in a state of uniaxial stress: an eighth of a bar between planes of symmetry.
struct Bar {
  Bar(const Element& element, int refinement, const Material& material)
      : cells{coarsest[0] * refinement, coarsest[1] * refinement, coarsest[2] * refinement},
        problem(element, box_mesh(element, {{length, side, side}}, cells, [](const Vec3d& x) { return x; }), material,
                {{0, 0, 0}}, nowhere) {
    for (int axis = 0; axis < 3; ++axis)
      problem.hold_along(axis, 1e-4, [axis](const Vec3d& x) { return x[axis] == 0; });
  }
  double end(const std::vector<double>& u) const { return problem.mean_displacement(u, at_end)[0]; }
  static bool at_end(const Vec3d& x) { return x[0] == length; }

  std::array<int, 3> cells;
  Problem problem;
};

// With the bulk modulus K of the law and a shear compliance J(t) = (1 - g/(1 + g) exp(-t/(tau (1 + g))))/G a bar under a
// stress has the strain J/3 + 1/(9 K) times it.
Run creep(const Element& element, int refinement) {
  return timed([&](Run& run) {
    constexpr double g = 1.5, tau = 2, nu = 0.45, G = E / (2 * (1 + nu)), K = E / (3 * (1 - 2 * nu)), step = 0.01;
    // Light, so that it is at rest at all times: its waves take 4 ms along it.
    Bar bar(element, refinement, {MaterialModel::stable_neo_hookean, E, nu, 10, {}, {{g, tau}}});
    run.mesh = cells_text(bar.cells);
    run.unknowns = bar.problem.unknowns();
    constexpr double stress = 1e-4 * E;
    bar.problem.load_faces({{stress * side * side, 0, 0}}, Bar::at_end);
    bar.problem.swing(step, 1000, [&](double time, const std::vector<double>& u) {
      for (const double at : {0.5, 3.0, 10.0}) {
        if (std::abs(time - at) > step / 2) continue;
        const double J = (1 - g / (1 + g) * std::exp(-time / (tau * (1 + g)))) / G;
        run.figures.push_back({"at " + std::to_string(static_cast<int>(1000 * at)) + " ms", bar.end(u),
                               length * stress * (J / 3 + 1 / (9 * K))});
      }
    });
  });
}

// The first mode along the bar, omega = pi/(2 L) (E/rho)^1/2; in uniaxial stress with a constant bulk modulus the
// retardation of Young's modulus is 2 (1 + nu)/3 of that of shear.
Run swing(const Element& element, int refinement) {
  return timed([&](Run& run) {
    constexpr double nu = 0.45, density = 1000, speed = 1e-3, damping = 0.1;
    const double omega = std::numbers::pi / (2 * length) * std::sqrt(E / density);
    const double retardation = 2 * damping / omega * 3 / (2 * (1 + nu));
    Bar bar(element, refinement, {MaterialModel::stable_neo_hookean, E, nu, density, {}, {}, retardation});
    run.mesh = cells_text(bar.cells);
    run.unknowns = bar.problem.unknowns();
    const double period = 2 * std::numbers::pi / omega;
    const double damped = omega * std::sqrt(1 - damping * damping);
    // Implicit Euler is of first order: what two steps give, extrapolated.
    const auto at = [&](int steps_per_period) {
      std::vector<double> ends;
      bar.problem.swing(
          period / steps_per_period, 5 * steps_per_period / 4,
          [&](double, const std::vector<double>& u) { ends.push_back(bar.end(u)); },
          [&](const Vec3d& x) {
            return Vec3d{{speed * std::sin(std::numbers::pi * x[0] / (2 * length)), 0, 0}};
          });
      return std::array{ends[static_cast<std::size_t>(steps_per_period / 4 - 1)], ends.back()};
    };
    const auto coarse = at(200), fine = at(400);
    for (std::size_t k = 0; k < 2; ++k) {
      const double time = period * (0.25 + static_cast<double>(k));
      run.figures.push_back({k == 0 ? "after 1/4 period" : "after 5/4 periods", 2 * fine[k] - coarse[k],
                             speed / damped * std::exp(-damping * omega * time) * std::sin(damped * time)});
    }
  });
}

}  // namespace

std::vector<Case> viscous_cases() {
  return {{"prony-creep", "Creep of a Prony solid, ν = 0.45",
           "A bar, 40 × 4 × 4 cm between planes of symmetry, stable neo-Hookean with a Maxwell branch of 1.5 times its "
           "shear modulus and 2 s, pulled along by a force that is there from the start (strains of 10⁻⁴); steps of 10 "
           "ms of implicit Euler; how far its end has moved [m]. Reference: the closed form with a constant bulk "
           "modulus.",
           0.01, 0, 2, creep},
          {"kelvin-voigt", "Oscillator of Kelvin and Voigt, ν = 0.45",
           "The same bar with a retardation that damps its first mode along itself by a tenth of the critical damping; "
           "200 and 400 steps of implicit Euler a period, extrapolated; how far its end has moved [m]. Reference: "
           "exp(−ζωt) sin(ω(1 − ζ²)^½ t), slender.",
           0.01, 0, 2, swing}};
}

}  // namespace supple::validation
