#pragma once
// What is to be drawn, without any graphics library: built from a robot and its state (robot_drawing.hpp), shown by
// gl/renderer.hpp, or looked at by a test. Lengths in metres in the frame of the scene, z up.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/math/small.hpp"

namespace supple::view {

struct Colour {
  float r = 0, g = 0, b = 0, a = 1;  // sRGB, as a picture file has it; a = 0: not seen
  friend bool operator==(const Colour&, const Colour&) = default;
};
inline Colour with_alpha(Colour colour, float alpha) {
  return {colour.r, colour.g, colour.b, alpha};
}

struct Vertex {
  std::array<float, 3> position, normal;  // normal of length one
  Colour colour;
};

// Triangles that are lit alike. Where a batch is see-through only its nearest layer is blended over what lies behind,
// so that no order of triangles shows.
struct Surfaces {
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> triangles;  // three indices each
  // Whether some triangles are visible from both sides; otherwise they close solids and are oriented outwards, so
  // that their backs are not visible from outside.
  bool open = false;
};

// Straight segments of a width in pixels.
struct Segment {
  std::array<float, 3> from, to;
  Colour colour;
  float width = 1;
};

struct Label {
  Vec3d at;
  std::string text;
  Colour colour;
};

// Legend of a colouring: values from `low` to `high` in `unit`.
struct ColourBar {
  std::string title, unit;
  double low = 0, high = 1;
  bool diverging = false;  // see colour_map.hpp
};

struct DrawList {
  Surfaces solid;
  std::vector<Surfaces> see_through;
  std::vector<Segment> segments;  // behind surfaces they are hidden
  std::vector<Segment> on_top;    // drawn over everything: gizmo, goals
  Surfaces on_top_solid;
  std::vector<Label> labels;
  std::vector<ColourBar> bars;
  Colour background_top{0.93f, 0.94f, 0.96f, 1}, background_bottom{0.72f, 0.76f, 0.82f, 1};
};

}  // namespace supple::view
