#include "tests/engine/bodies/hollow_bodies.hpp"

#include <array>
#include <cmath>
#include <map>
#include <numbers>

namespace supple::hollow_bodies {

Mesh bar(bool hexahedra) {
  const Vec3d lower{{0, 0, 0}}, upper{{0.3, 0.1, 0.1}};
  Mesh whole = hexahedra ? box_hexahedra(lower, upper, 5, 3, 3) : box_tetrahedra(lower, upper, 5, 3, 3);
  const auto in_void = [&](const auto& nodes) {
    Vec3d centre{{0, 0, 0}};
    for (const int node : nodes)
      centre = centre + (1.0 / static_cast<double>(nodes.size())) * whole.nodes[static_cast<std::size_t>(node)];
    return centre[0] > 0.06 && centre[0] < 0.24 && std::abs(centre[1] - 0.05) < 0.1 / 6 &&
           std::abs(centre[2] - 0.05) < 0.1 / 6;
  };
  std::erase_if(whole.tetrahedra, in_void);
  std::erase_if(whole.hexahedra, in_void);
  whole.groups.clear();
  whole.triangles.clear();
  boxes::Random random;
  for (Vec3d& x : whole.nodes)
    for (int k = 0; k < 3; ++k)
      if (x[0] > 1e-9 || k > 0) x[k] += 0.003 * random();
  return whole;
}

Region walls_of_bar() {
  return boxes::box_region({{0.03, 0.02, 0.02}}, {{0.27, 0.08, 0.08}});
}

ActuatorScene cavity(const std::string& name, const Region& walls, ActuatorControl control, double upper) {
  ActuatorScene actuator;
  actuator.name = name;
  actuator.kind = ActuatorKind::cavity;
  actuator.region = walls;
  actuator.control = control;
  actuator.range = {0, upper};
  actuator.force = {0, unlimited};
  return actuator;
}

Scene bar_scene(const boxes::Law& law, ActuatorControl control, double upper) {
  Scene scene = boxes::scene(law, 2e5, 0.35);
  scene.name = "hollow bar";
  scene.gravity = {{1, -2, -9.81}};
  scene.bodies[0].fixes = {boxes::clamp_at_origin()};
  ActuatorScene cable;
  cable.name = "cable";
  cable.points = {{{0.29, 0.05, 0.09}}};
  cable.pull_point = {{-0.05, 0.05, 0.1}};
  cable.range = {0, 0.02};
  cable.force = {0, unlimited};
  scene.actuators = {cavity("cavity", walls_of_bar(), control, upper), cable};
  scene.effectors = {position_effector("tip", {{0.29, 0.05, 0.05}})};
  return scene;
}

Mesh shell(int n, int layers, double a, double b, double length, int along) {
  struct Corner {
    Vec3d direction;
    double shift;
  };
  std::vector<Corner> corners;
  std::map<std::array<long, 4>, int> known;
  const auto corner = [&](const Vec3d& direction, double shift) {
    const auto key = [](double x) { return std::lround(1e9 * x); };
    const auto [it, added] =
        known.try_emplace({key(direction[0]), key(direction[1]), key(direction[2]), key(shift)}, corners.size());
    if (added) corners.push_back({direction, shift});
    return it->second;
  };
  std::vector<std::array<int, 4>> quads;  // seen from outside counter-clockwise
  for (int axis = 0; axis < 3; ++axis)
    for (const int side : {-1, 1})
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          std::array<Vec3d, 4> d;
          for (int c = 0; c < 4; ++c) {
            const int u = i + (c == 1 || c == 2), v = j + (c >= 2);
            const auto angle = [&](int k) { return std::tan(std::numbers::pi / 4 * (2.0 * k / n - 1)); };
            Vec3d x{{0, 0, 0}};
            x[axis] = side;
            x[(axis + 1) % 3] = angle(side > 0 ? u : v);
            x[(axis + 2) % 3] = angle(side > 0 ? v : u);
            d[static_cast<std::size_t>(c)] = normalized(x);
          }
          const double z = d[0][2] + d[1][2] + d[2][2] + d[3][2];
          std::array<int, 4> quad{};
          for (std::size_t c = 0; c < 4; ++c) quad[c] = corner(d[c], z > 0 ? length / 2 : -length / 2);
          quads.push_back(quad);
          for (std::size_t c = 0; c < 4 && length > 0 && z > 0; ++c) {
            const Vec3d &p = d[(c + 1) % 4], &q = d[c];  // an edge of the equator, from its other side
            if (std::abs(p[2]) + std::abs(q[2]) > 1e-9) continue;
            for (int k = 0; k < along; ++k) {
              const double low = length * k / along - length / 2, high = length * (k + 1) / along - length / 2;
              quads.push_back({corner(q, low), corner(p, low), corner(p, high), corner(q, high)});
            }
          }
        }
  Mesh mesh;
  for (int k = 0; k <= layers; ++k)
    for (const Corner& each : corners)
      mesh.nodes.push_back((a + (b - a) * k / layers) * each.direction + Vec3d{{0, 0, each.shift}});
  const int stride = static_cast<int>(corners.size());
  for (int k = 0; k < layers; ++k)
    for (const auto& q : quads) {
      std::array<int, 8> cell{};
      for (std::size_t c = 0; c < 4; ++c) {
        cell[c] = k * stride + q[c];
        cell[c + 4] = (k + 1) * stride + q[c];
      }
      mesh.hexahedra.push_back(cell);
    }
  return mesh;
}

}  // namespace supple::hollow_bodies
