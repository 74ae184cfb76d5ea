#pragma once
// Three arrows along x, y, z and three small squares between them, by which a goal is dragged: an arrow moves it along
// its axis, a square in its plane, the ball in the middle in the plane that faces the camera. Sized in pixels, so that
// it can be taken hold of from any distance.

#include <optional>

#include "viewer/draw/camera.hpp"
#include "viewer/draw/draw_list.hpp"

namespace supple::view {

enum class Handle { none, x, y, z, yz, zx, xy, view };

// The handle under a pixel; the nearest to the eye where several are. Arrows and squares seen edge-on are not offered.
Handle handle_at(const Camera& camera, const Viewport& viewport, const Vec3d& place, double x, double y);

// A drag under way: where the goal goes while the pointer moves.
class GizmoDrag {
 public:
  GizmoDrag(Handle handle, const Camera& camera, const Viewport& viewport, const Vec3d& place, double x, double y);
  // The goal for the pointer at a pixel. The point that was taken hold of stays under the pointer; where the handle's
  // line or plane is seen edge-on (within 2 degrees), or lies behind the eye, the goal stays where it was last.
  Vec3d place(const Camera& camera, const Viewport& viewport, double x, double y);
  Handle handle() const { return handle_; }

 private:
  Handle handle_;
  Vec3d start_, last_;
  std::optional<Vec3d> grip_;  // the point that was taken hold of
};

// Adds its arrows, squares and ball on top of everything, those that are offered; `hot` is drawn brighter.
void draw_gizmo(const Camera& camera, const Viewport& viewport, const Vec3d& place, Handle hot, DrawList& list);

}  // namespace supple::view
