// Does an online step cost the same whatever the mesh it was made from? One beam with four cables, meshes from 1,500 to
// 98,304 tetrahedra, models with the same modes (polynomials) and as many elements (spread evenly), stepped in turn:
// forward, and inversely with the tip led along what the forward steps do.
//   mesh_independence [ROUNDS [STEPS]]     5 rounds of 4000 steps; exit code 1 if the medians of either kind of step
//                                          differ by more than 5 %
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "engine/measure/inverse_rate.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {
namespace {

constexpr int degree = 2;  // of the polynomials: 10 of them, in three directions
constexpr int kept_elements = 300;
constexpr double noise = 0.05;
constexpr std::uint64_t path_seed = 20;

// Held at x = 0, a cable along the middle of each side: one more than the tip has directions.
Scene beam() {
  Scene scene;
  scene.name = "beam";
  BodyScene body;
  body.density = 1000;
  MaterialScene material;
  material.young = 5e5;
  material.poisson = 0.4;
  body.materials = {material};
  FixScene wall;
  wall.region.kind = Region::Kind::group;
  wall.region.group = "x-";
  body.fixes = {wall};
  scene.bodies = {body};
  const auto cable = [](const char* name, const Vec3d& point, const Vec3d& pull_point) {
    ActuatorScene actuator;
    actuator.name = name;
    actuator.points = {point};
    actuator.pull_point = pull_point;
    actuator.range = {0, 0.02};
    return actuator;
  };
  scene.actuators = {
      cable("up", {{0.4, 0.05, 0.1}}, {{0, 0.05, 0.2}}), cable("down", {{0.4, 0.05, 0}}, {{0, 0.05, -0.1}}),
      cable("left", {{0.4, 0.1, 0.05}}, {{0, 0.2, 0.05}}), cable("right", {{0.4, 0, 0.05}}, {{0, -0.1, 0.05}})};
  scene.effectors = {position_effector("tip", {{0.4, 0.05, 0.05}})};
  return scene;
}

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// x^(a+1) y^b z^c e_k at the free nodes for a + b + c <= degree, orthonormal by Gram-Schmidt, twice: nv x modes,
// column-major. They vanish where the beam is held.
std::vector<double> polynomial_modes(const FullModel& model, int& modes) {
  const auto n = static_cast<std::size_t>(model.coordinates.nv);
  std::vector<double> basis;
  modes = 0;
  for (int a = 0; a <= degree; ++a)
    for (int b = 0; a + b <= degree; ++b)
      for (int c = 0; a + b + c <= degree; ++c)
        for (std::size_t k = 0; k < 3; ++k) {
          std::vector<double> u(n, 0.0);
          for (std::size_t i = 0; i < model.free_nodes.size(); ++i) {
            const Vec3d& x = model.mesh.nodes[static_cast<std::size_t>(model.free_nodes[i])];
            u[3 * i + k] = std::pow(x[0], a + 1) * std::pow(x[1], b) * std::pow(x[2], c);
          }
          for (int pass = 0; pass < 2; ++pass)
            for (std::size_t m = 0; m < static_cast<std::size_t>(modes); ++m) {
              const double product = dot(&basis[m * n], u.data(), n);
              for (std::size_t i = 0; i < n; ++i) u[i] -= product * basis[m * n + i];
            }
          const double length = std::sqrt(dot(u.data(), u.data(), n));
          for (double& value : u) value /= length;
          basis.insert(basis.end(), u.begin(), u.end());
          ++modes;
        }
  return basis;
}

IntegrationDomain spread_elements(const ElementField& field) {
  IntegrationDomain domain;
  for (int k = 0; k < kept_elements; ++k) {
    domain.elements.push_back(static_cast<int>(static_cast<long>(k) * field.elements() / kept_elements));
    domain.xi.push_back(static_cast<double>(field.elements()) / kept_elements);
  }
  return domain;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

struct Entry {
  int tetrahedra, nodes;
  ReducedModel model;
  std::vector<double> forward, inverse;  // median step of each round [us]
};

// A table of one kind of step; true if the medians differ by no more than noise.
bool report(const char* kind, const std::vector<Entry>& entries, std::vector<double> Entry::*times) {
  double least = INFINITY, largest = 0;
  fmt::print("{} steps\ntetrahedra    nodes  modes  elements  median step   rounds\n", kind);
  for (const Entry& entry : entries) {
    const double middle = median(entry.*times);
    const auto [low, high] = std::ranges::minmax(entry.*times);
    fmt::print("{:10}  {:7}  {:5}  {:8}  {:8.2f} us   {:.2f} to {:.2f}\n", entry.tetrahedra, entry.nodes,
               entry.model.modes, entry.model.fields.front().element.size(), middle, low, high);
    least = std::min(least, middle);
    largest = std::max(largest, middle);
  }
  const double difference = largest / least - 1;
  fmt::print("the medians differ by {:.2g} %, {}\n", 100 * difference,
             difference <= noise ? "no more than noise" : "more than noise is expected to");
  return difference <= noise;
}

Entry make_entry(const Scene& scene, int cells) {
  const FullModel full =
      build_full_model(scene, box_tetrahedra({{0, 0, 0}}, {{0.4, 0.1, 0.1}}, 4 * cells, cells, cells));
  int modes = 0;
  const std::vector<double> basis = polynomial_modes(full, modes);
  return {full.mesh.element_count(),
          static_cast<int>(full.mesh.nodes.size()),
          project(full, basis, modes, {spread_elements(full.fields.front())}),
          {},
          {}};
}

int run(int rounds, int steps) {
  const Scene scene = beam();
  std::vector<Entry> entries;
  for (const int cells : {4, 8, 16}) entries.push_back(make_entry(scene, cells));
  for (int round = 0; round < rounds; ++round)
    for (Entry& entry : entries) {
      ReducedMechanics mechanics(entry.model);
      const Rate forward = measure_rate(mechanics, steps, 1e9, path_seed);
      const InverseRate inverse = measure_inverse_rate(mechanics, steps, 1e9, path_seed);
      for (const StepStatus status : {forward.status, inverse.status})
        if (status != StepStatus::ok) {
          fmt::print(stderr, "mesh_independence: a step failed: {}\n", describe(status));
          return 1;
        }
      if (inverse.held > 0) {
        fmt::print(stderr, "mesh_independence: {} inverse steps had no answer\n", inverse.held);
        return 1;
      }
      entry.forward.push_back(forward.p50_us);
      entry.inverse.push_back(inverse.p50_us);
    }
  const bool same = report("forward", entries, &Entry::forward);
  return report("inverse", entries, &Entry::inverse) && same ? 0 : 1;
}

bool parse_count(const char* text, int& count) {
  const std::string_view all(text);
  const auto result = std::from_chars(all.data(), all.data() + all.size(), count);
  return result.ec == std::errc() && result.ptr == all.data() + all.size() && count > 0;
}

}  // namespace
}  // namespace supple

int main(int count, char** arguments) {
  int rounds = 5, steps = 4000;
  if (count > 3 || (count > 1 && !supple::parse_count(arguments[1], rounds)) ||
      (count > 2 && !supple::parse_count(arguments[2], steps))) {
    fmt::print(stderr, "usage: mesh_independence [ROUNDS [STEPS]]\n");
    return 2;
  }
  try {
    return supple::run(rounds, steps);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "mesh_independence: {}\n", failure.what());
    return 1;
  }
}
