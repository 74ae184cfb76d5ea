#pragma once
// Draws a draw list with OpenGL 3.3 into the framebuffer that is bound.

#include "viewer/draw/camera.hpp"
#include "viewer/draw/draw_list.hpp"
#include "viewer/gl/program.hpp"

namespace supple::view {

class Renderer {
 public:
  // Needs a current context. Throws CapabilityError.
  Renderer();
  // viewport: in pixels of the framebuffer, its lower left corner at (x, y) [OpenGL's, y up]; clears what lies under
  // it. pixel_ratio: framebuffer pixels per pixel of the picture's own measure (widths of segments).
  void draw(const DrawList& list, const Camera& camera, const Viewport& viewport, int x = 0, int y = 0,
            double pixel_ratio = 1);

 private:
  void background(const DrawList& list);
  bool whole(const Surfaces& surfaces) const;
  void surfaces(const Surfaces& surfaces, bool nearest_layer = false);
  void segments(const std::vector<Segment>& segments);

  Program lit_, line_, backdrop_;
  VertexArray surface_array_, line_array_, empty_array_;
  Buffer vertices_, indices_, instances_;
  std::array<float, 16> clip_{};
  std::array<float, 3> eye_{}, right_{}, up_{};
  float width_ = 1, height_ = 1, ratio_ = 1;
};

}  // namespace supple::view
