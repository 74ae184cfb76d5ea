// Beams and bars against closed solutions.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"
#include "kernels/base/extent.hpp"
#include "tests/engine/bodies/elastica.hpp"

namespace supple::validation {

namespace {

// 1 m long, with a dead load across its end.
struct Cantilever {
  static constexpr double E = 1e7, H = 0.02, I = H * H * H * H / 12;
  static bool end(const Vec3d& x) { return x[0] == 1; }

  Cantilever(const Element& element, int refinement, double k, double poisson)
      : cells{25 * refinement, 1, refinement},
        problem(element, box_mesh(element, {{1, H, H}}, cells, [](const Vec3d& x) { return x; }),
                {MaterialModel::st_venant_kirchhoff, E, poisson}, {{0, 0, 0}},
                [](const Vec3d& x) { return x[0] == 0; }) {
    problem.load_faces({{0, 0, -k * E * I}}, end);
  }
  Vec3d tip() { return problem.mean_displacement(problem.solve(), end); }

  std::array<int, 3> cells;
  Problem problem;
};

Run elastica(const Element& element, int refinement, double k, double poisson) {
  return timed([&](Run& run) {
    Cantilever cantilever(element, refinement, k, poisson);
    run.mesh = cells_text(cantilever.cells);
    run.unknowns = cantilever.problem.unknowns();
    const Vec3d tip = cantilever.tip();
    const std::array<double, 2> expected = elastica_tip(k);
    run.figures = {{"back", -tip[0], 1 - expected[0]}, {"down", -tip[2], -expected[1]}};
  });
}

// The same as it falls from rest: steps of implicit Euler with one linearisation.
Run cost(const Element& element, int refinement) {
  Run run = elastica(element, refinement, 1, 0.3);
  const Cantilever cantilever(element, refinement, 1, 0.3);
  run.steps_per_second = cantilever.problem.steps_per_second(0.01);
  return run;
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

// The end face of a bar along x, z its height about the middle.
class EndFace {
 public:
  explicit EndFace(const Problem& problem)
      : problem_(problem), shares_(problem.face_shares([](const Vec3d& x) { return x[0] == 1; })) {}

  // Tensions, linear over the height, of this moment about -y [N m], along the normal of a face turned by this angle.
  std::vector<double> moment(double moment, double angle) const {
    const FullModel& model = problem_.model();
    double second = 0;
    for (const auto& [node, share] : shares_) second += share * height(node) * height(node);
    std::vector<double> load(problem_.load().size());
    for (const auto& [node, share] : shares_) {
      const int unknown = model.node_unknown[extent(node)];
      const double force = -moment / second * share * height(node);
      load[extent(3 * unknown)] = force * std::cos(angle);
      load[extent(3 * unknown + 2)] = force * std::sin(angle);
    }
    return load;
  }

  // By how much it has turned about -y [rad], that of about this angle.
  double angle(const std::vector<double>& u, double about) const {
    double x = 0, z = 0;
    for (const auto& [node, share] : shares_) {
      x += share * height(node) * u[extent(3 * node)];
      z += share * height(node) * (height(node) + u[extent(3 * node + 2)]);
    }
    return about + std::remainder(std::atan2(-x, z) - about, 2 * std::numbers::pi);
  }

 private:
  double height(int node) const { return problem_.model().mesh.nodes[extent(node)][2]; }

  const Problem& problem_;
  std::vector<std::pair<int, double>> shares_;
};

// Up to a full circle. The end's forces are dead while the bar comes to equilibrium, and are then turned with its face
// until both agree.
Run end_moment(const Element& element, int refinement) {
  return timed([&](Run& run) {
    const double E = 1e7, H = 0.02, I = H * H * H * H / 12, turn = 2 * std::numbers::pi;
    const std::array cells{25 * refinement, 1, refinement};
    run.mesh = cells_text(cells);
    Problem problem(element,
                    box_mesh(element, {{1, H, H}}, cells,
                             [&](const Vec3d& x) {
                               return x - Vec3d{{0, 0, H / 2}};
                             }),
                    {MaterialModel::corotational, E, 0}, {{0, 0, 0}}, [](const Vec3d& x) { return x[0] == 0; });
    problem.hold_along(1, 1e-3, everywhere);
    run.unknowns = problem.unknowns();
    const EndFace face(problem);
    Statics statics(problem);
    constexpr int increments = 72;
    double angle = 0, before = 0;
    for (int k = 1; k <= increments; ++k) {
      const double t = turn * k / increments;
      std::vector<double> u;
      double direction = 2 * angle - std::exchange(before, angle);
      // The moment of the dead forces is too small by the cosine of what the directions differ by.
      for (int tries = 0; tries == 0 || std::abs(angle - direction) > 1e-3; ++tries) {
        if (tries == 10) throw RunError("the end's forces do not come to turn with it", "more increments");
        if (tries > 0) direction = angle;
        u = statics.solve(face.moment(t * E * I, direction));
        angle = face.angle(u, direction);
      }
      const Vec3d end = problem.mean_displacement(u, [](const Vec3d& x) { return x[0] == 1; });
      if (k == increments / 4)
        run.figures = {{"quarter: back", -end[0], 1 - std::sin(t) / t}, {"up", end[2], (1 - std::cos(t)) / t}};
      if (k == increments / 2)
        run.figures.insert(run.figures.end(), {{"half: back", -end[0], 1}, {"up", end[2], (1 - std::cos(t)) / t}});
      if (k == increments)
        run.figures.insert(run.figures.end(), {{"full: back", -end[0], 1}, {"turned by", angle, turn}});
    }
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
  cases.push_back(
      {"end-moment", "Cantilever, moment at its end, up to a full circle",
       "Length 1 m, height 20 mm, ν = 0, corotational, plane strain; the end's mean displacement and how far "
       "its face has turned, at a quarter, a half and the whole of ML/EI = t = 2π. Forces on the end's nodes, "
       "tension below and pressure above, are turned with the end's face, in 72 increments. Reference: "
       "u/L = sin t/t − 1, v/L = (1 − cos t)/t. The solid becomes thinner where it is bent, by about "
       "(H t/L)²/12, 0.1 % at the full circle. With ν = 0 it makes no difference where a change of volume is resisted.",
       0.01, 1, 2, end_moment, [](const Element& element) {
         return element.dilatation == Dilatation::mean || element.name == elements()[0].name;
       }});
  cases.push_back(
      {"cost", "Accuracy and cost of each element",
       "The cantilever with PL²/EI = 1, ν = 0.3 again, with what a time step takes: steps of implicit Euler, "
       "10 ms long with one linearisation each, while it falls from rest under the same load. One thread.",
       0.01, 1, 3, cost});
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
