#include "viewer/draw/gizmo.hpp"

#include <array>
#include <cmath>

#include "viewer/draw/shapes.hpp"

namespace supple::view {

namespace {

// Pixels.
constexpr double arrow_length = 90, arrow_start = 12, arrow_radius = 1.75, arrow_reach = 7;
constexpr double square_near = 24, square_far = 42;
constexpr double ball_radius = 8, ball_reach = 10;
// Sines of angles between the view and a handle's line or plane: below 8 degrees it is not offered, below 2 degrees a
// drag under way does not follow.
constexpr double offered = 0.139, followed = 0.035;

constexpr Colour axis_colours[3] = {{0.84f, 0.30f, 0.31f, 1}, {0.42f, 0.68f, 0.27f, 1}, {0.27f, 0.48f, 0.85f, 1}};
constexpr Colour ball_colour{0.93f, 0.93f, 0.93f, 1}, hot_colour{1.00f, 0.83f, 0.25f, 1};

constexpr Handle arrows[3] = {Handle::x, Handle::y, Handle::z};
constexpr Handle squares[3] = {Handle::yz, Handle::zx, Handle::xy};  // by their normal

Vec3d axis(int k) {
  Vec3d unit{{0, 0, 0}};
  unit[k] = 1;
  return unit;
}

// The axis of an arrow, or that across a square; -1: neither.
int arrow_axis(Handle handle) {
  return handle == Handle::x ? 0 : handle == Handle::y ? 1 : handle == Handle::z ? 2 : -1;
}
int square_axis(Handle handle) {
  return handle == Handle::yz ? 0 : handle == Handle::zx ? 1 : handle == Handle::xy ? 2 : -1;
}

// Where a line or a plane is seen from: sine of the angle that `direction` makes with it.
double sine_to_line(const Vec3d& direction, int k) {
  return norm(cross(direction, axis(k)));
}
double sine_to_plane(const Vec3d& direction, int k) {
  return std::abs(direction[k]);
}

// How far along axis k from `at` the line comes nearest to the ray; nothing where that is behind the eye.
// With w = at - origin and b = e . d: t = (b d . w - e . w) / (1 - b^2), and d . w + t b along the ray.
std::optional<double> nearest_along(const Ray& ray, const Vec3d& at, int k) {
  const double sine = sine_to_line(ray.direction, k);
  if (sine < followed) return std::nullopt;
  const Vec3d from = at - ray.origin;
  const double b = ray.direction[k], t = (b * dot(ray.direction, from) - from[k]) / (sine * sine);
  if (!(dot(ray.direction, from) + t * b > 0)) return std::nullopt;
  return t;
}

// The point of a handle's line or plane through `at` that is under the pointer.
std::optional<Vec3d> under(const Ray& ray, Handle handle, const Camera& camera, const Vec3d& at) {
  if (const int k = arrow_axis(handle); k >= 0) {
    const auto t = nearest_along(ray, at, k);
    if (!t) return std::nullopt;
    return at + *t * axis(k);
  }
  if (handle == Handle::view) return meet_plane(ray, at, camera.forward());
  const int k = square_axis(handle);
  if (k < 0 || sine_to_plane(ray.direction, k) < followed) return std::nullopt;
  return meet_plane(ray, at, axis(k));
}

}  // namespace

Handle handle_at(const Camera& camera, const Viewport& viewport, const Vec3d& place, double x, double y) {
  if (!camera.project(place, viewport)) return Handle::none;
  const double pixel = camera.pixel_size(place, viewport);
  const Ray ray = camera.ray(x, y, viewport);
  const Vec3d view = normalized(place - ray.origin);
  Handle nearest = Handle::none;
  double least = 0;
  // A point of a handle that may be under the pointer: within `reach` of the ray it is, at that distance from the eye.
  const auto offer = [&](Handle handle, const Vec3d& point, double reach, double in_front) {
    const double along = dot(point - ray.origin, ray.direction);
    if (along <= 0 || norm(point - ray.origin - along * ray.direction) > reach) return;
    if (nearest != Handle::none && along - in_front >= least) return;
    nearest = handle;
    least = along - in_front;
  };
  offer(Handle::view, place, ball_reach * pixel, ball_radius * pixel);
  for (int k = 0; k < 3; ++k) {
    if (sine_to_line(view, k) >= offered)
      if (const auto t = nearest_along(ray, place, k); t && *t > arrow_start * pixel)
        offer(arrows[k], place + std::min(*t, arrow_length * pixel) * axis(k), arrow_reach * pixel,
              arrow_radius * pixel);
    if (sine_to_plane(view, k) < offered) continue;
    const auto point = under(ray, squares[k], camera, place);
    if (!point) continue;
    const double u = ((*point)[(k + 1) % 3] - place[(k + 1) % 3]) / pixel;
    const double v = ((*point)[(k + 2) % 3] - place[(k + 2) % 3]) / pixel;
    if (u >= square_near && u <= square_far && v >= square_near && v <= square_far) offer(squares[k], *point, pixel, 0);
  }
  return nearest;
}

GizmoDrag::GizmoDrag(Handle handle, const Camera& camera, const Viewport& viewport, const Vec3d& place, double x,
                     double y)
    : handle_(handle), start_(place), last_(place), grip_(under(camera.ray(x, y, viewport), handle, camera, place)) {}

Vec3d GizmoDrag::place(const Camera& camera, const Viewport& viewport, double x, double y) {
  if (!grip_) return last_;
  const auto point = under(camera.ray(x, y, viewport), handle_, camera, *grip_);
  if (!point) return last_;
  last_ = start_ + (*point - *grip_);
  if (const int k = square_axis(handle_); k >= 0) last_[k] = start_[k];
  return last_;
}

void draw_gizmo(const Camera& camera, const Viewport& viewport, const Vec3d& place, Handle hot, DrawList& list) {
  if (!camera.project(place, viewport)) return;
  const double pixel = camera.pixel_size(place, viewport);
  const Vec3d view = normalized(place - camera.eye());
  const auto colour = [&](Handle handle, Colour usual) { return handle == hot ? hot_colour : usual; };
  Surfaces& surfaces = list.on_top_solid;
  surfaces.open = true;  // the squares
  for (int k = 0; k < 3; ++k) {
    if (sine_to_line(view, k) >= offered)
      add_arrow(place + (arrow_start * pixel) * axis(k), place + (arrow_length * pixel) * axis(k), arrow_radius * pixel,
                colour(arrows[k], axis_colours[k]), surfaces);
    if (sine_to_plane(view, k) < offered) continue;
    const auto corner = [&](double u, double v) {
      return place + (u * pixel) * axis((k + 1) % 3) + (v * pixel) * axis((k + 2) % 3);
    };
    const Colour shade = colour(squares[k], axis_colours[k]);
    const Vec3d a = corner(square_near, square_near), b = corner(square_far, square_near);
    const Vec3d c = corner(square_far, square_far), d = corner(square_near, square_far);
    add_triangle(a, b, c, shade, surfaces);
    add_triangle(a, c, d, shade, surfaces);
  }
  add_ball(place, ball_radius * pixel, colour(Handle::view, ball_colour), surfaces);
}

}  // namespace supple::view
