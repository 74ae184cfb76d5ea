// A cube under dead loads on its faces, against the closed stress of its law.

#include <fmt/format.h>

#include <cmath>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"

namespace supple::validation {

namespace {

// Nominal stresses [Pa] of a test piece stretched by s.
struct ClosedForm {
  std::function<double(double)> uniaxial, biaxial;  // biaxial: of each of both directions; none: not a case
};

constexpr double mu = 1e5, poisson = 0.4999;
constexpr double half_bulk = mu * (1 + poisson) / (3 * (1 - 2 * poisson));

// Incompressible laws by w1 = dw/dI1 and w2 = dw/dI2 at the invariants (R. W. Ogden, Non-linear elastic deformations,
// 1984, chapter 4): uniaxial 2 (s - s^-2)(w1 + w2/s), biaxial 2 (s - s^-5)(w1 + s^2 w2).
ClosedForm by_invariants(const std::function<double(double)>& w1, double w2) {
  return {[=](double s) { return 2 * (s - std::pow(s, -2)) * (w1(s * s + 2 / s) + w2 / s); },
          [=](double s) { return 2 * (s - std::pow(s, -5)) * (w1(2 * s * s + std::pow(s, -4)) + s * s * w2); }};
}

// sum mu_i (s^(alpha - 1) - s^(-alpha/2 - 1)), biaxial sum mu_i (s^(alpha - 1) - s^(-2 alpha - 1)).
ClosedForm ogden(const std::vector<double>& c) {
  const auto sum = [=](double s, double lateral) {
    double stress = 0;
    for (std::size_t i = 0; i + 1 < c.size(); i += 2)
      stress += c[i] * (std::pow(s, c[i + 1] - 1) - std::pow(s, lateral * c[i + 1] - 1));
    return stress;
  };
  return {[=](double s) { return sum(s, -0.5); }, [=](double s) { return sum(s, -2); }};
}

// The stretch of a cube whose faces across x (and y) carry the stress of this stretch.
double stretched(const Element& element, int refinement, const Material& material, double stress, bool biaxial,
                 Run& run) {
  const std::array cells{refinement, refinement, refinement};
  run.mesh = cells_text(cells);
  const auto face = [](int axis, double at) { return [=](const Vec3d& x) { return x[axis] == at; }; };
  Problem problem(element, box_mesh(element, {{1, 1, 1}}, cells, [](const Vec3d& x) { return x; }), material,
                  {{0, 0, 0}}, nowhere);
  for (int axis = 0; axis < 3; ++axis) problem.hold_along(axis, 1e-4, face(axis, 0));
  problem.load_faces({{stress, 0, 0}}, face(0, 1));
  if (biaxial) problem.load_faces({{0, stress, 0}}, face(1, 1));
  run.unknowns = problem.unknowns();
  const std::vector<double> u = problem.solve(10);
  return 1 + problem.mean_displacement(u, face(0, 1))[0] - problem.mean_displacement(u, face(0, 0))[0];
}

Case law_case(const std::string& name, const std::string& title, const std::string& text, const Material& material,
              const ClosedForm& closed) {
  return {"law-" + name, title, text, 0.01, 1, 2, [=](const Element& element, int refinement) {
            return timed([&](Run& run) {
              for (const double s : {0.8, 1.3, 1.8})
                run.figures.push_back({fmt::format("uniaxial {:g}", s),
                                       stretched(element, refinement, material, closed.uniaxial(s), false, run), s});
              if (closed.biaxial)
                run.figures.push_back(
                    {"biaxial 1.3", stretched(element, refinement, material, closed.biaxial(1.3), true, run), 1.3});
            });
          }};
}

}  // namespace

std::vector<Case> law_cases() {
  const std::string words =
      "A cube pulled and pressed by dead loads on its faces, in one direction and in two, with free sides; stretches. "
      "Reference: the law's closed stress, incompressible; Poisson's ratio is 0.4999.";
  const auto material = [](MaterialModel model, std::vector<double> constants) {
    constants.push_back(half_bulk);
    return Material{model, 3 * mu, poisson, 1000, std::move(constants)};
  };
  const std::vector<double> terms{0.8 * mu, 1.5, 0.1 * mu, 5, -0.15 * mu, -2};  // sum mu_i alpha_i = 2 mu
  return {
      law_case("corotational", "Corotational cube",
               "A cube pulled and pressed by dead loads on its faces, with free sides, ν = 0.3; stretches. Reference: "
               "P = E (s − 1), exact.",
               {MaterialModel::corotational, 1e5, 0.3}, {[](double s) { return 1e5 * (s - 1); }, {}}),
      law_case("st-venant-kirchhoff", "St. Venant-Kirchhoff cube", "The same. Reference: P = E s (s² − 1)/2, exact.",
               {MaterialModel::st_venant_kirchhoff, 1e5, 0.3}, {[](double s) { return 0.5e5 * s * (s * s - 1); }, {}}),
      law_case("mooney-rivlin", "Mooney-Rivlin cube", words,
               {MaterialModel::mooney_rivlin, 2 * mu * (1 + poisson), poisson},
               by_invariants([](double) { return 0.4 * mu; }, 0.1 * mu)),  // C10/C01 = 1/4 of mu/2
      law_case(
          "yeoh", "Yeoh cube", words, material(MaterialModel::yeoh, {mu / 2, -0.02 * mu, 0.01 * mu}),
          by_invariants([](double i1) { return mu / 2 - 0.04 * mu * (i1 - 3) + 0.03 * mu * (i1 - 3) * (i1 - 3); }, 0)),
      law_case("gent", "Gent cube", words, material(MaterialModel::gent, {mu, 10}),
               by_invariants([](double i1) { return mu / 2 * 10 / (10 - (i1 - 3)); }, 0)),
      law_case("ogden", "Ogden cube", words, material(MaterialModel::ogden, terms), ogden(terms)),
  };
}

}  // namespace supple::validation
