#pragma once
// A camera that turns about a point. Angles in radians: azimuth about z from the -y side, elevation above the
// horizontal. Pixels: origin at the upper left, y down.

#include <array>
#include <optional>

#include "kernels/math/small.hpp"

namespace supple::view {

struct Viewport {
  double width = 1, height = 1;  // pixels
};

struct Ray {
  Vec3d origin, direction;  // direction of length one
};

struct Camera {
  Vec3d target{{0, 0, 0}};  // m
  double distance = 1;      // m, from the target
  double azimuth = 0.6, elevation = 0.35;
  double field_of_view = 0.5;  // rad, vertical

  Vec3d eye() const;
  // Unit vectors of the picture: to the right, up, and from the eye to the target.
  Vec3d right() const;
  Vec3d up() const;
  Vec3d forward() const;

  // Turns by a drag of so many pixels: a drag across the height of the viewport is half a turn. Elevation stays
  // within 89.9 degrees.
  void orbit(double dx, double dy, const Viewport& viewport);
  // Moves the target with the pointer, in the plane through it that faces the camera.
  void pan(double dx, double dy, const Viewport& viewport);
  // Nearer by notches of a wheel, a tenth each.
  void zoom(double notches);
  // All of a box [m] in view, seen from the present side. A box that is a point becomes the target.
  void fit(const Vec3d& low, const Vec3d& high, const Viewport& viewport);

  // Metres that a pixel covers at a point; before the near plane: at the near plane.
  double pixel_size(const Vec3d& at, const Viewport& viewport) const;
  Ray ray(double x, double y, const Viewport& viewport) const;
  // Pixel of a point, with its depth along forward() [m]; nothing before the near plane.
  std::optional<std::array<double, 3>> project(const Vec3d& point, const Viewport& viewport) const;
  // Column-major 4x4 for OpenGL: clip = projection view; the near plane lies at a hundredth of the
  // distance, the far one at a hundred distances.
  std::array<float, 16> matrix(const Viewport& viewport) const;
};

// Where the ray meets the plane through `at` with that normal; nothing where it runs along the plane or away from it.
std::optional<Vec3d> meet_plane(const Ray& ray, const Vec3d& at, const Vec3d& normal);

}  // namespace supple::view
