// Robots' meshes as they are shipped.

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/validation/problem.hpp"
#include "bench/validation/timed.hpp"
#include "engine/mesh/check.hpp"
#include "engine/mesh/order.hpp"
#include "engine/mesh/read.hpp"

namespace supple::validation {

namespace {

// Area and second moments of the convex hull of points (a, b) in a plane, about its centroid.
struct Section {
  double area = 0, moment_a = 0, moment_b = 0;  // moment_a: integral of a^2
};

Section section_of(std::vector<std::array<double, 2>> points) {
  std::ranges::sort(points);
  const auto turn = [](const auto& o, const auto& p, const auto& q) {
    return (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
  };
  std::vector<std::array<double, 2>> hull;
  for (int side = 0; side < 2; ++side) {
    const std::size_t first = hull.size();
    for (const auto& p : points) {
      while (hull.size() >= first + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::ranges::reverse(points);
  }
  Section s;
  double first_a = 0, first_b = 0;
  for (std::size_t k = 0; k < hull.size(); ++k) {
    const auto &p = hull[k], &q = hull[(k + 1) % hull.size()];
    const double cross = p[0] * q[1] - q[0] * p[1];
    s.area += cross / 2;
    first_a += cross * (p[0] + q[0]) / 6;
    first_b += cross * (p[1] + q[1]) / 6;
    s.moment_a += cross * (p[0] * p[0] + p[0] * q[0] + q[0] * q[0]) / 12;
    s.moment_b += cross * (p[1] * p[1] + p[1] * q[1] + q[1] * q[1]) / 12;
  }
  s.moment_a -= first_a * first_a / s.area;
  s.moment_b -= first_b * first_b / s.area;
  return s;
}

// Centre and slope along y of one component of u on a slice of nodes, by a linear fit.
struct Slice {
  double centre, slope;
};

Slice slice_at(double y, double half, int axis, const std::vector<Vec3d>& nodes, const std::vector<double>& u) {
  double n = 0, sum_y = 0, sum_v = 0, yy = 0, yv = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (std::abs(nodes[i][1] - y) > half) continue;
    const double at = nodes[i][1] - y, v = u[3 * i + static_cast<std::size_t>(axis)];
    n += 1, sum_y += at, sum_v += v, yy += at * at, yv += at * v;
  }
  const double slope = (n * yv - sum_y * sum_v) / (n * yy - sum_y * sum_y);
  return {(sum_v - slope * sum_y) / n, slope};
}

// A leg of Emio: straight along y from 0 to 205 mm, wide along x, thin along z, its end rounded. axis: of the load near
// its end, 0 or 2.
Run emio_leg(const Element& element, int axis) {
  return timed([&](Run& run) {
    constexpr double E = 35e6, nu = 0.45, from = 0.025, to = 0.19, half = 0.006;
    Mesh mesh = read_mesh(SUPPLE_ASSETS "/emio/blueleg.vtk");
    transform_mesh(mesh, 1e-3, {});
    (void)check_mesh(mesh);
    set_order(mesh, element.order);
    run.mesh = "as shipped";
    Problem problem(element, mesh, {MaterialModel::corotational, E, nu, 1220}, {{0, 0, 0}},
                    [](const Vec3d& x) { return x[1] < 0.01; });
    Vec3d force{{0, 0, 0}};
    force[axis] = 1e-5;
    const auto at_end = [](const Vec3d& x) { return x[1] > 0.2; };
    problem.load_faces(force, at_end);
    run.unknowns = problem.unknowns();
    const std::vector<double> u = problem.solve();

    const auto& nodes = problem.model().mesh.nodes;
    std::vector<double> place(u.size());
    std::vector<std::array<double, 2>> across;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) place[3 * i + k] = nodes[i][static_cast<int>(k)];
      if (nodes[i][1] > from && nodes[i][1] < to) across.push_back({nodes[i][0], nodes[i][2]});
    }
    const Slice first = slice_at(from, half, axis, nodes, u), last = slice_at(to, half, axis, nodes, u);
    const double moved = last.centre - first.centre - first.slope * (to - from);

    const Section section = section_of(std::move(across));
    const double I = axis == 0 ? section.moment_a : section.moment_b, length = to - from;
    const double arm = problem.mean_displacement(place, at_end)[1] - from;  // of the load's centre
    // The slope at the start holds the shear, which is the same everywhere: only bending is left in `moved`.
    const double beam = length * length * (arm / 2 - length / 6) / (E * I);
    run.figures = {{"mm/N", 1e3 * moved / force[axis], 1e3 * beam}};
  });
}

}  // namespace

std::vector<Case> robot_cases() {
  std::vector<Case> cases;
  for (const int axis : {2, 0})
    cases.push_back(
        {axis == 2 ? "emio-leg-weak" : "emio-leg-strong",
         axis == 2 ? "Emio's leg, bent in its weak direction" : "Emio's leg, bent in its strong direction",
         "`assets/emio/blueleg.vtk` as it is shipped (1,214 tetrahedra), E = 35 MPa, ν = 0.45, a small force "
         "across its end; how far the end moves in the axes of the section 25 mm from the bend. Reference: "
         "the beam (Euler-Bernoulli) of the mesh's own section; shear turns the end as it turns the start.",
         0.03, 0, 1, [axis](const Element& element, int) { return emio_leg(element, axis); },
         [](const Element& element) { return !element.hexahedra; }});
  return cases;
}

}  // namespace supple::validation
