#pragma once
// What lies under the pointer: the nearest triangle that a ray meets.

#include <array>
#include <optional>
#include <span>

#include "viewer/draw/camera.hpp"

namespace supple::view {

struct Hit {
  int triangle = -1;
  std::array<double, 3> weights{};  // of its corners; they sum to one
  double distance = 0;              // along the ray [m]
};

// Both sides count; triangles without area do not.
std::optional<Hit> pick(const Ray& ray, std::span<const Vec3d> nodes, std::span<const std::array<int, 3>> triangles);

}  // namespace supple::view
