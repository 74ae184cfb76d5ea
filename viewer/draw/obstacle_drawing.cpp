#include "viewer/draw/obstacle_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "viewer/draw/shapes.hpp"

namespace supple::view {

namespace {

constexpr Colour solid_colour{0.58f, 0.60f, 0.63f, 1}, wall_colour{0.58f, 0.60f, 0.63f, 0.55f},
    shell_colour{0.58f, 0.60f, 0.63f, 0.25f}, line_colour{0.35f, 0.38f, 0.42f, 0.5f},
    push_colour{0.10f, 0.55f, 0.30f, 1};
constexpr int sectors = 64, quarter_bands = 16;  // of what is round
constexpr int plane_lines = 10;                  // from the middle of its patch to each side

Vec3d column(const Mat3d& R, int k) {
  return {{R(0, k), R(1, k), R(2, k)}};
}

// A ball of this radius cut at its equator, the upper half moved up by `length`; with `caps`: flat ends instead.
std::vector<Ring> rings_of(double radius, double length, bool caps) {
  const double half = length / 2;
  if (caps)
    return {{-half, 0, -1, 0},    {-half, radius, -1, 0}, {-half, radius, 0, 1},
            {half, radius, 0, 1}, {half, radius, 1, 0},   {half, 0, 1, 0}};
  std::vector<Ring> rings;
  for (int k = -quarter_bands; k <= quarter_bands; ++k) {
    const double angle = std::numbers::pi / 2 * k / quarter_bands, along = std::sin(angle);
    const double out = std::abs(k) == quarter_bands ? 0 : std::cos(angle);
    if (k <= 0) rings.push_back({-half + radius * along, radius * out, along, out});
    if (k >= 0 && (k > 0 || length > 0)) rings.push_back({half + radius * along, radius * out, along, out});
  }
  return rings;
}

void add_solid(const PlacedObstacle& placed, const Vec3d& offset, Colour colour, Surfaces& surfaces) {
  const Obstacle& obstacle = placed.obstacle;
  const Vec3d origin = placed.pose.position + offset;
  const auto at = [&](const Vec3d& own) { return placed.pose.rotation * own + origin; };
  switch (obstacle.shape()) {
    case Obstacle::Shape::plane:
    case Obstacle::Shape::tube:
      break;
    case Obstacle::Shape::sphere:
    case Obstacle::Shape::capsule:
    case Obstacle::Shape::cylinder: {
      const bool caps = obstacle.shape() == Obstacle::Shape::cylinder;
      add_revolved(origin, column(placed.pose.rotation, 2), rings_of(obstacle.radius(), obstacle.length(), caps),
                   colour, surfaces, sectors);
      break;
    }
    case Obstacle::Shape::box: {
      const Vec3d h = 0.5 * obstacle.size();
      std::vector<Vec3d> corners;
      for (const double z : {-h[2], h[2]})
        for (const auto& [x, y] : {std::pair{-h[0], -h[1]}, {h[0], -h[1]}, {h[0], h[1]}, {-h[0], h[1]}})
          corners.push_back(at({{x, y, z}}));
      add_cell(corners, colour, surfaces);
      break;
    }
    case Obstacle::Shape::mesh: {
      const Surface& surface = *obstacle.surface();
      const auto corner = [&](int node) { return at(surface.nodes[static_cast<std::size_t>(node)]); };
      for (const auto& t : surface.triangles) add_triangle(corner(t[0]), corner(t[1]), corner(t[2]), colour, surfaces);
      break;
    }
  }
}

// Seen through from outside, as the robot may be in its bore: behind that the far half of the bore, and the ends.
void add_pipe(const PlacedObstacle& placed, const Vec3d& offset, DrawList& list) {
  const Obstacle& tube = placed.obstacle;
  const double inner = tube.radius(), outer = inner + tube.thickness(), half = tube.length() / 2;
  const Ring bore[] = {{half, outer, 1, 0},   {half, inner, 1, 0},   {half, inner, 0, -1},
                       {-half, inner, 0, -1}, {-half, inner, -1, 0}, {-half, outer, -1, 0}};
  const Ring shell[] = {{-half, outer, 0, 1}, {half, outer, 0, 1}};
  const auto add = [&](std::span<const Ring> rings, Colour colour) {
    add_revolved(placed.pose.position + offset, column(placed.pose.rotation, 2), rings, colour,
                 list.see_through.emplace_back(), sectors);
  };
  add(bore, wall_colour);
  add(shell, shell_colour);
}

// Visible from the free side only, so that it never hides the robot.
void add_plane(const PlacedObstacle& placed, const RobotShape& shape, const Vec3d& offset, DrawList& list) {
  const Vec3d normal = column(placed.pose.rotation, 2), x = column(placed.pose.rotation, 0),
              y = column(placed.pose.rotation, 1);
  const Vec3d middle = 0.5 * (shape.low() + shape.high());
  const Vec3d foot = middle - dot(middle - placed.pose.position, normal) * normal + offset;
  const double width = shape.extent(), step = width / plane_lines;
  const auto at = [&](double a, double b, double up) { return foot + a * x + b * y + up * normal; };
  Surfaces& patch = list.see_through.emplace_back();
  add_triangle(at(-width, -width, 0), at(width, -width, 0), at(width, width, 0), wall_colour, patch);
  add_triangle(at(-width, -width, 0), at(width, width, 0), at(-width, width, 0), wall_colour, patch);
  const double up = 1e-3 * width;  // clear of the patch
  for (int k = -plane_lines; k <= plane_lines; ++k) {
    list.segments.push_back(segment(at(-width, k * step, up), at(width, k * step, up), line_colour, 1));
    list.segments.push_back(segment(at(k * step, -width, up), at(k * step, width, up), line_colour, 1));
  }
}

}  // namespace

void draw_obstacles(const RobotShape& shape, const Vec3d& offset, DrawList& list) {
  for (const PlacedObstacle& placed : shape.robot().obstacles) {
    if (placed.obstacle.shape() == Obstacle::Shape::plane) {
      add_plane(placed, shape, offset, list);
    } else if (placed.obstacle.shape() == Obstacle::Shape::tube) {
      add_pipe(placed, offset, list);
    } else if (placed.obstacle.side() == Obstacle::Side::outside) {
      add_solid(placed, offset, solid_colour, list.solid);
    } else {
      // Walls turned inwards: the near ones are seen from behind, that is not at all.
      Surfaces& walls = list.see_through.emplace_back();
      add_solid(placed, offset, wall_colour, walls);
      for (std::size_t t = 0; t < walls.triangles.size(); t += 3) std::swap(walls.triangles[t], walls.triangles[t + 1]);
    }
  }
}

void draw_contact_forces(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list) {
  const Robot& robot = shape.robot();
  const std::vector<double>& forces = drawn.state.contact_forces;
  const auto pairs = static_cast<std::size_t>(robot.pairs());
  std::vector<Press> pressed = presses(robot, drawn.state, drawn.y);
  for (std::size_t pair = 0; pair < pairs && forces.size() == 3 * pairs; ++pair) {
    const std::size_t point = static_cast<std::size_t>(robot.first_collision_point) + pair / robot.obstacles.size();
    pressed.push_back({.at = {{drawn.y[3 * point], drawn.y[3 * point + 1], drawn.y[3 * point + 2]}},
                       .force = {{forces[3 * pair], forces[3 * pair + 1], forces[3 * pair + 2]}}});
  }
  double most = 0;
  for (const Press& press : pressed) most = std::max(most, norm(press.force));
  if (!(most > 0) || !std::isfinite(most)) return;
  for (const Press& press : pressed) {
    const Vec3d f = (1 / most) * press.force;
    if (!(norm(f) > 0.01)) continue;
    const Vec3d x = press.at + offset;
    add_arrow(x, x + 0.25 * shape.extent() * f, 0.004 * shape.extent(), push_colour, list.on_top_solid);
  }
}

void draw_contact_points(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list) {
  const Robot& robot = shape.robot();
  if (drawn.touches == nullptr || robot.pairs() == 0) return;
  const auto dot = [&](const Vec3d& at, double radius, Colour colour, Surfaces& surfaces) {
    const Ring rings[] = {{-radius, 0, -1, 0},
                          {-0.7 * radius, 0.7 * radius, -0.7, 0.7},
                          {0, radius, 0, 1},
                          {0.7 * radius, 0.7 * radius, 0.7, 0.7},
                          {radius, 0, 1, 0}};
    add_revolved(at + offset, {{0, 0, 1}}, rings, colour, surfaces, 8);
  };
  std::vector<bool> pressing(static_cast<std::size_t>(robot.collision_points), false);
  for (const Touch& touch : *drawn.touches) {
    pressing[static_cast<std::size_t>(touch.point)] = true;
    dot(touch.at, 0.009 * shape.extent(), touch.sliding ? slide_colour : stick_colour, list.on_top_solid);
  }
  const double reach = robot.contact_distance + idle_reach * shape.extent();
  for (int p = 0; p < robot.collision_points; ++p) {
    if (pressing[static_cast<std::size_t>(p)]) continue;
    const auto k = 3 * static_cast<std::size_t>(robot.first_collision_point + p);
    const Vec3d x{{drawn.y[k], drawn.y[k + 1], drawn.y[k + 2]}};
    if (std::ranges::any_of(robot.obstacles, [&](const PlacedObstacle& placed) {
          return placed.obstacle.at(placed.pose, x, reach).feature != Feature::none;
        }))
      dot(x, 0.005 * shape.extent(), idle_colour, list.solid);
  }
}

bool stands_on_a_plane(const Robot& robot) {
  return std::any_of(robot.obstacles.begin(), robot.obstacles.end(), [](const PlacedObstacle& placed) {
    return placed.obstacle.shape() == Obstacle::Shape::plane && placed.pose.rotation(2, 2) > 0.9;
  });
}

}  // namespace supple::view
