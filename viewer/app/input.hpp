#pragma once
// What pointer and keyboard did since the last picture: from a window (window.hpp), or written by a test.

#include <string>
#include <vector>

namespace supple::view {

// Numbered as GLFW numbers them.
enum class Key {
  space = 32,
  comma = 44,
  period = 46,
  d1 = 49,
  d3 = 51,
  d7 = 55,
  a = 65,
  c = 67,
  d = 68,
  e = 69,
  f = 70,
  g = 71,
  h = 72,
  i = 73,
  m = 77,
  q = 81,
  r = 82,
  s = 83,
  v = 86,
  x = 88,
  z = 90,
  escape = 256,
  enter = 257,
  tab = 258,
  backspace = 259,
  insert = 260,
  del = 261,
  right = 262,
  left = 263,
  down = 264,
  up = 265,
  page_up = 266,
  page_down = 267,
  home = 268,
  end = 269,
  f1 = 290,
  f5 = 294,
  f8 = 297,
  f9 = 298,
  f11 = 300,
  f12 = 301,
  keypad_enter = 335,
};

struct InputFrame {
  double width = 1280, height = 800;  // of the window, in its own measure
  double pixel_ratio = 1;             // framebuffer pixels per unit of that
  double seconds = 1.0 / 60;          // since the last picture
  double x = -1, y = -1;              // pointer, from the upper left
  bool left = false, right = false, middle = false;
  double wheel = 0;  // notches
  bool ctrl = false, shift = false, alt = false;
  std::vector<int> down;     // keys that are held
  std::vector<int> pressed;  // keys that went down, repeats too
  std::u32string text;
  std::vector<std::string> dropped;  // files
};

}  // namespace supple::view
