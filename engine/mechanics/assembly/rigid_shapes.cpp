#include "engine/mechanics/assembly/rigid_shapes.hpp"

#include <fmt/format.h>

#include "engine/model/obstacle_surfaces.hpp"
#include "engine/model/place_points.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

RigidInertia about_axes(double mass, double x, double y, double z) {
  return {mass, {{0, 0, 0}}, {{x, 0, 0, 0, y, 0, 0, 0, z}}};
}

// Without the nodes that no triangle has.
Surface used_part(const Surface& surface) {
  Surface out;
  std::vector<int> number(surface.nodes.size(), -1);
  for (std::array<int, 3> triangle : surface.triangles) {
    for (int& node : triangle) {
      int& to = number[extent(node)];
      if (to < 0) {
        to = static_cast<int>(out.nodes.size());
        out.nodes.push_back(surface.nodes[extent(node)]);
      }
      node = to;
    }
    out.triangles.push_back(triangle);
  }
  return out;
}

RigidSolid solid_of(const RigidScene& rigid) {
  const double mass = rigid.mass.value_or(0), radius = rigid.radius.value_or(0), length = rigid.length;
  RigidSolid solid;
  switch (rigid.shape) {
    case RigidShape::box:
      solid = {solid_surface(Obstacle::box(*rigid.size)), box_surface(*rigid.size), true,
               box_inertia(mass, *rigid.size)};
      break;
    case RigidShape::sphere:
      solid = {solid_surface(Obstacle::sphere(radius)), sphere_surface(radius), false, sphere_inertia(mass, radius)};
      break;
    case RigidShape::capsule:
      solid = {solid_surface(Obstacle::capsule(radius, length)), capsule_surface(radius, length), false,
               capsule_inertia(mass, radius, length)};
      break;
    case RigidShape::cylinder:
      solid = {solid_surface(Obstacle::cylinder(radius, length)), cylinder_surface(radius, length), true,
               cylinder_inertia(mass, radius, length)};
      break;
    case RigidShape::mesh: {
      // Checks that it is closed and faces outwards.
      const Obstacle checked = Obstacle::mesh(placed_surface(*rigid.surface));
      solid.picture = used_part(*checked.surface());
      solid.contact = make_collision_surface(solid.picture, {.edges = {}, .radius = 0, .rigid = true});
      solid.inertia = enclosed_inertia(mass, solid.picture);
      break;
    }
  }
  return solid;
}

}  // namespace

std::optional<RigidSolid> rigid_solid(const RigidScene& rigid) {
  if (!rigid.has_shape()) return std::nullopt;
  try {
    return solid_of(rigid);
  } catch (const InputError& error) {
    if (!error.place().file.empty()) throw;  // a surface file
    throw InputError(fmt::format("rigid body '{}': {}", rigid.name, error.what()), error.suggestion(), rigid.place);
  }
}

// m/12 (b^2 + c^2)
RigidInertia box_inertia(double mass, const Vec3d& size) {
  const double xx = size[0] * size[0], yy = size[1] * size[1], zz = size[2] * size[2];
  return about_axes(mass, mass / 12 * (yy + zz), mass / 12 * (xx + zz), mass / 12 * (xx + yy));
}

// 2/5 m r^2
RigidInertia sphere_inertia(double mass, double radius) {
  const double i = 0.4 * mass * radius * radius;
  return about_axes(mass, i, i, i);
}

// Across m (3 r^2 + l^2)/12, along m r^2/2.
RigidInertia cylinder_inertia(double mass, double radius, double length) {
  const double rr = radius * radius, across = mass / 12 * (3 * rr + length * length);
  return about_axes(mass, across, across, mass / 2 * rr);
}

// A cylinder, and two half balls, whose centres of mass are 3 r/8 from their flat sides: with the parallel axes
// m (2 r^2/5 + l^2/4 + 3 l r/8) across for both.
RigidInertia capsule_inertia(double mass, double radius, double length) {
  const double balls = mass * (4 * radius / 3) / (length + 4 * radius / 3), rr = radius * radius;
  const RigidInertia middle = cylinder_inertia(mass - balls, radius, length);
  const double across = middle.inertia(0, 0) + balls * (0.4 * rr + length * length / 4 + 3 * length * radius / 8);
  return about_axes(mass, across, across, middle.inertia(2, 2) + 0.4 * balls * rr);
}

// Over the tetrahedra (o, a, b, c), o a point near the surface, s = a + b + c: V = a . (b x c)/6, integral of x: V s/4,
// of x x^T: V/20 (a a^T + b b^T + c c^T + s s^T). Then, with the second moment C about the centre, (tr C) I - C.
RigidInertia enclosed_inertia(double mass, const Surface& surface) {
  const Vec3d origin = surface.nodes.front();
  double volume = 0;
  Vec3d first{{0, 0, 0}};
  Mat3d second = Mat3d::zero();
  for (const auto& triangle : surface.triangles) {
    const auto x = [&](std::size_t k) { return surface.nodes[extent(triangle[k])] - origin; };
    const Vec3d a = x(0), b = x(1), c = x(2), s = a + b + c;
    const double v = dot(a, cross(b, c)) / 6;
    volume += v;
    first = first + (v / 4) * s;
    second = second + (v / 20) * (outer(a, a) + outer(b, b) + outer(c, c) + outer(s, s));
  }
  const Vec3d centre = (1 / volume) * first;
  const Mat3d about = (mass / volume) * (second - volume * outer(centre, centre));
  return {mass, origin + centre, (about(0, 0) + about(1, 1) + about(2, 2)) * Mat3d::identity() - about};
}

}  // namespace supple
