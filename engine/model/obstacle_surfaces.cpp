#include "engine/model/obstacle_surfaces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr int sectors = 48, bands = 12;  // of what is round

struct Ring {
  double along, radius;
};

// Of a profile turned about z, from its first ring to its last; its outside is on the right of that way, drawn with z
// upwards and the radius to the right. A ring of radius 0 is one node.
Surface revolved(const std::vector<Ring>& profile) {
  Surface surface;
  std::vector<std::vector<int>> rings;
  for (const Ring& ring : profile) {
    std::vector<int>& nodes = rings.emplace_back();
    const int count = ring.radius > 0 ? sectors : 1;
    for (int k = 0; k < sectors; ++k) {
      if (k < count) {
        const double angle = 2 * std::numbers::pi * k / sectors;
        surface.nodes.push_back({{ring.radius * std::cos(angle), ring.radius * std::sin(angle), ring.along}});
      }
      nodes.push_back(static_cast<int>(surface.nodes.size()) - 1);
    }
  }
  for (std::size_t i = 0; i + 1 < rings.size(); ++i)
    for (std::size_t k = 0; k < sectors; ++k) {
      const std::size_t next = (k + 1) % sectors;
      const int a = rings[i][k], b = rings[i][next], c = rings[i + 1][next], d = rings[i + 1][k];
      if (a != b) surface.triangles.push_back({a, b, c});
      if (c != d) surface.triangles.push_back({a, c, d});
    }
  return surface;
}

void add_dome(std::vector<Ring>& profile, double radius, double shift, double from) {
  for (int k = 0; k <= bands; ++k) {
    const double angle = from + std::numbers::pi / 2 * k / bands;
    const bool pole = std::abs(std::abs(angle) - std::numbers::pi / 2) < 1e-9;
    profile.push_back({shift + radius * std::sin(angle), pole ? 0 : radius * std::cos(angle)});
  }
}

Surface box(const Vec3d& half) {
  Surface surface;
  for (int k = 0; k < 8; ++k)
    surface.nodes.push_back({{k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]}});
  for (const auto& [a, b, c, d] :
       {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}) {
    surface.triangles.push_back({a, b, c});
    surface.triangles.push_back({a, c, d});
  }
  return surface;
}

// Of one obstacle in its own frame; the plane around the foot of `middle`.
Surface own_surface(const Obstacle& obstacle, const Vec3d& middle, double size) {
  const double r = obstacle.radius(), h = obstacle.length() / 2, outer = r + obstacle.thickness();
  constexpr double down = -std::numbers::pi / 2;
  std::vector<Ring> profile;
  switch (obstacle.shape()) {
    case Obstacle::Shape::plane: {
      Surface square;
      for (const auto& [x, y] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
        square.nodes.push_back({{middle[0] + x * size, middle[1] + y * size, 0}});
      square.triangles = {{0, 1, 2}, {0, 2, 3}};
      return square;
    }
    case Obstacle::Shape::sphere:
      add_dome(profile, r, 0, down);
      profile.pop_back();
      add_dome(profile, r, 0, 0);
      return revolved(profile);
    case Obstacle::Shape::capsule:
      add_dome(profile, r, -h, down);
      if (!(h > 0)) profile.pop_back();
      add_dome(profile, r, h, 0);
      return revolved(profile);
    case Obstacle::Shape::cylinder:
      return revolved({{-h, 0}, {-h, r}, {h, r}, {h, 0}});
    case Obstacle::Shape::tube:
      return revolved({{-h, r}, {-h, outer}, {h, outer}, {h, r}, {-h, r}});
    case Obstacle::Shape::box:
      return box(0.5 * obstacle.size());
    case Obstacle::Shape::mesh:
      return *obstacle.surface();
  }
  return {};
}

}  // namespace

Surface solid_surface(const Obstacle& solid) {
  return solid.shape() == Obstacle::Shape::plane ? Surface{} : own_surface(solid, {{0, 0, 0}}, 0);
}

std::vector<Surface> obstacle_surfaces(const Robot& robot, std::span<const Vec3d> skin) {
  Vec3d low = skin.empty() ? Vec3d{{0, 0, 0}} : skin[0], high = low;
  for (const Vec3d& x : skin)
    for (int i = 0; i < 3; ++i) {
      low[i] = std::min(low[i], x[i]);
      high[i] = std::max(high[i], x[i]);
    }
  std::vector<Surface> surfaces;
  for (const PlacedObstacle& placed : robot.obstacles) {
    const Mat3d& R = placed.pose.rotation;
    Surface surface =
        own_surface(placed.obstacle, transpose(R) * (0.5 * (low + high) - placed.pose.position), norm(high - low));
    for (Vec3d& x : surface.nodes) x = R * x + placed.pose.position;
    surfaces.push_back(std::move(surface));
  }
  return surfaces;
}

}  // namespace supple
