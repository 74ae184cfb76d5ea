#include "viewer/draw/camera.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::view {

namespace {

constexpr double pi = std::numbers::pi;
// Straight down would leave the picture without a direction that is up.
constexpr double steepest = 89.9 * pi / 180;
constexpr double nearest = 1e-6, farthest = 1e6;      // m
constexpr double near_plane = 0.01, far_plane = 100;  // of the distance

// Tangent of a pixel's angle in the middle of the picture.
double pixel_tangent(const Camera& camera, const Viewport& viewport) {
  return 2 * std::tan(camera.field_of_view / 2) / viewport.height;
}

}  // namespace

Vec3d Camera::eye() const {
  return target - distance * forward();
}

Vec3d Camera::right() const {
  return {{std::cos(azimuth), std::sin(azimuth), 0}};
}

Vec3d Camera::up() const {
  return {{-std::sin(elevation) * std::sin(azimuth), std::sin(elevation) * std::cos(azimuth), std::cos(elevation)}};
}

Vec3d Camera::forward() const {
  return {{-std::cos(elevation) * std::sin(azimuth), std::cos(elevation) * std::cos(azimuth), -std::sin(elevation)}};
}

void Camera::orbit(double dx, double dy, const Viewport& viewport) {
  azimuth = std::remainder(azimuth - pi * dx / viewport.height, 2 * pi);
  elevation = std::clamp(elevation + pi * dy / viewport.height, -steepest, steepest);
}

void Camera::pan(double dx, double dy, const Viewport& viewport) {
  const double size = pixel_size(target, viewport);
  target = target - (size * dx) * right() + (size * dy) * up();
}

void Camera::zoom(double notches) {
  distance = std::clamp(distance * std::pow(0.9, notches), nearest, farthest);
}

void Camera::fit(const Vec3d& low, const Vec3d& high, const Viewport& viewport) {
  constexpr double margin = 0.95;  // of the picture that the box may fill
  const double vertical = margin * std::tan(field_of_view / 2);
  const double horizontal = vertical * viewport.width / viewport.height;
  target = 0.5 * (low + high);
  // A corner at (x, y, z) from the target along right, up and forward is seen under the tangents x / (distance + z) and
  // y / (distance + z); it must lie behind the near plane too.
  double least = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d from =
        Vec3d{{(corner & 1 ? high : low)[0], (corner & 2 ? high : low)[1], (corner & 4 ? high : low)[2]}} - target;
    const double x = std::abs(dot(from, right())), y = std::abs(dot(from, up())), z = dot(from, forward());
    least = std::max({least, x / horizontal - z, y / vertical - z, -1.1 * z});
  }
  if (least > 0) distance = std::clamp(least, nearest, farthest);
}

double Camera::pixel_size(const Vec3d& at, const Viewport& viewport) const {
  const double depth = std::max(dot(at - eye(), forward()), near_plane * distance);
  return depth * pixel_tangent(*this, viewport);
}

Ray Camera::ray(double x, double y, const Viewport& viewport) const {
  const double size = pixel_tangent(*this, viewport);
  return {eye(), normalized(forward() + (size * (x - viewport.width / 2)) * right() +
                            (size * (viewport.height / 2 - y)) * up())};
}

std::optional<std::array<double, 3>> Camera::project(const Vec3d& point, const Viewport& viewport) const {
  const Vec3d from = point - eye();
  const double depth = dot(from, forward());
  if (!(depth >= near_plane * distance)) return std::nullopt;
  const double size = depth * pixel_tangent(*this, viewport);
  return {{viewport.width / 2 + dot(from, right()) / size, viewport.height / 2 - dot(from, up()) / size, depth}};
}

std::array<float, 16> Camera::matrix(const Viewport& viewport) const {
  // clip = (x / (t aspect), y / t, (z (f + n) - 2 f n) / (f - n), z) for a point at x, y along right and up and z along
  // forward from the eye; n, f: near and far plane, t: tangent of half the field of view.
  const double t = std::tan(field_of_view / 2), aspect = viewport.width / viewport.height;
  const double n = near_plane * distance, f = far_plane * distance;
  const Vec3d x = (1 / (t * aspect)) * right(), y = (1 / t) * up(), z = ((f + n) / (f - n)) * forward();
  const Vec3d w = forward(), from = eye();
  const double rows[4][4] = {{x[0], x[1], x[2], -dot(x, from)},
                             {y[0], y[1], y[2], -dot(y, from)},
                             {z[0], z[1], z[2], -dot(z, from) - 2 * f * n / (f - n)},
                             {w[0], w[1], w[2], -dot(w, from)}};
  std::array<float, 16> matrix{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) matrix[4 * j + i] = static_cast<float>(rows[i][j]);
  return matrix;
}

std::optional<Vec3d> meet_plane(const Ray& ray, const Vec3d& at, const Vec3d& normal) {
  // Along the plane: nothing but rounding stands between the ray and a right angle to the normal.
  constexpr double parallel = 1e-14;
  const double slope = dot(normal, ray.direction);
  if (!(std::abs(slope) > parallel * norm(normal))) return std::nullopt;
  const double distance = dot(normal, at - ray.origin) / slope;
  if (!(distance > 0)) return std::nullopt;
  return ray.origin + distance * ray.direction;
}

}  // namespace supple::view
