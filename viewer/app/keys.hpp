#pragma once
// Keys of the viewer: one table for what they do, for F1 and for docs/reference/viewer.md.

#include <string>
#include <vector>

#include "viewer/app/input.hpp"

namespace supple::view {

enum class Action {
  none,
  pause,
  step_forward,
  step_back,
  reset,
  reload,
  mode,
  next_colour,
  domain,
  edges,
  fit,
  front,
  right,
  top,
  full_screen,
  screenshot,
  record,
  go_on,
  film,
  help,
  quit,
  nudge_left,
  nudge_right,
  nudge_back,
  nudge_forward,
  nudge_up,
  nudge_down,
};

struct Shortcut {
  Key key;
  bool ctrl;
  const char* name;  // as it is printed on the key
  Action action;
  const char* words;
};
const std::vector<Shortcut>& shortcuts();
// What the pointer does: pairs of gesture and meaning.
struct Gesture {
  const char* gesture;
  const char* words;
};
const std::vector<Gesture>& gestures();

Action action_of(int key, bool ctrl);
// The tables as Markdown (docs/reference/viewer.md).
std::string keys_reference();

}  // namespace supple::view
