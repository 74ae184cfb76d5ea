#pragma once
// Dear ImGui in this program: its set-up, input and drawing. Everything else only calls ImGui's widgets.

#include "viewer/app/input.hpp"

struct ImGuiContext;

namespace supple::view {

class Gui {
 public:
  // Needs a current OpenGL context. pixel_ratio: framebuffer pixels per unit of the window (HiDPI).
  explicit Gui(double pixel_ratio = 1);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  // Clears the framebuffer to the panels' colour.
  void begin(const InputFrame& input);
  // Draws what was built since begin() into the framebuffer that is bound.
  void end();
  // Whether pointer or keyboard are at work in a panel.
  bool has_pointer() const;
  bool has_keyboard() const;

 private:
  ImGuiContext* context_;
};

}  // namespace supple::view
