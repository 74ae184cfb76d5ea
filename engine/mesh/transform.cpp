#include <cmath>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

void transform_nodes(std::vector<Vec3d>& nodes, double unit, const Transform& transform) {
  const auto usable = [](double s) { return std::isfinite(s) && s > 0; };
  if (!usable(unit)) throw InputError("mesh unit must be a positive length (1 = metres)", "write unit = \"mm\"");
  if (!usable(transform.scale))
    throw InputError("mesh scale must be positive (a mirrored mesh would have negative volumes)", "write scale = 1");
  const Mat3d R = rotation_matrix(transform);
  for (Vec3d& x : nodes) x = transform.scale * (R * (unit * x)) + transform.translation;
}

}  // namespace

Mat3d rotation_matrix(const Transform& transform) {
  const double cx = std::cos(transform.rotation[0]), sx = std::sin(transform.rotation[0]);
  const double cy = std::cos(transform.rotation[1]), sy = std::sin(transform.rotation[1]);
  const double cz = std::cos(transform.rotation[2]), sz = std::sin(transform.rotation[2]);
  const Mat3d Rx{{1, 0, 0, 0, cx, -sx, 0, sx, cx}};
  const Mat3d Ry{{cy, 0, sy, 0, 1, 0, -sy, 0, cy}};
  const Mat3d Rz{{cz, -sz, 0, sz, cz, 0, 0, 0, 1}};
  return Rz * Ry * Rx;
}

Vec3d apply(const Transform& transform, const Vec3d& x) {
  return transform.scale * (rotation_matrix(transform) * x) + transform.translation;
}

void transform_mesh(Mesh& mesh, double unit, const Transform& transform) {
  transform_nodes(mesh.nodes, unit, transform);
}

void transform_surface(Surface& surface, double unit, const Transform& transform) {
  transform_nodes(surface.nodes, unit, transform);
}

}  // namespace supple
