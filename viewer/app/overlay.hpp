#pragma once
// Words over the picture: labels, colour bars, the state of the simulation, messages.

#include <string>

#include "viewer/draw/camera.hpp"
#include "viewer/draw/draw_list.hpp"

namespace supple::view {

// A part of the window, in its own measure.
struct Pane {
  double x = 0, y = 0;
  Viewport viewport;
};

// Labels and colour bars of a list that is drawn in a pane.
void draw_words(const DrawList& list, const Camera& camera, const Pane& pane);
// Lines of text in the pane's upper left corner.
void draw_caption(const std::string& text, const Pane& pane);

// What went wrong, or what was done, above the picture until it is closed.
struct Banner {
  std::string text;
  bool wrong = true;
};
// False: it was closed.
bool show_banner(const Banner& banner, const Pane& pane);

}  // namespace supple::view
