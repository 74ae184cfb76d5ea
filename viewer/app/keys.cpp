#include "viewer/app/keys.hpp"

#include <fmt/format.h>

namespace supple::view {

const std::vector<Shortcut>& shortcuts() {
  static const std::vector<Shortcut> table{
      {Key::space, false, "Space", Action::pause, "run or pause"},
      {Key::period, false, ".", Action::step_forward, "one step, then pause"},
      {Key::comma, false, ",", Action::step_back, "one step back, then pause"},
      {Key::r, false, "R", Action::reset, "back to the start, bit by bit"},
      {Key::f5, false, "F5", Action::reload, "read the file again (done by itself when the file is saved)"},
      {Key::m, false, "M", Action::mode, "lead the goal (inverse) or the actuators (forward)"},
      {Key::left, false, "Left", Action::nudge_left, "goal along -x by 1 mm; with Shift 10 mm, with Alt 0.1 mm"},
      {Key::right, false, "Right", Action::nudge_right, "goal along +x"},
      {Key::up, false, "Up", Action::nudge_back, "goal along +y"},
      {Key::down, false, "Down", Action::nudge_forward, "goal along -y"},
      {Key::page_up, false, "PageUp", Action::nudge_up, "goal along +z"},
      {Key::page_down, false, "PageDown", Action::nudge_down, "goal along -z"},
      {Key::c, false, "C", Action::next_colour, "the next colouring that this robot has"},
      {Key::d, false, "D", Action::domain, "elements of the reduced integration domain, the body a ghost"},
      {Key::e, false, "E", Action::edges, "edges of the mesh"},
      {Key::f, false, "F", Action::fit, "all of the robot in view"},
      {Key::d1, false, "1", Action::front, "seen from the front (along +y)"},
      {Key::d3, false, "3", Action::right, "seen from the right (along -x)"},
      {Key::d7, false, "7", Action::top, "seen from above"},
      {Key::f11, false, "F11", Action::full_screen, "fills the screen, and back"},
      {Key::f12, false, "F12", Action::screenshot, "a picture of the window as PNG in the current folder"},
      {Key::f8, false, "F8", Action::record, "begins and ends a recording of the simulation, in the current folder"},
      {Key::g, false, "G", Action::go_on, "simulate on from the frame of a recording"},
      {Key::f9, false, "F9", Action::film, "begins and ends a film of the window (ffmpeg), in the current folder"},
      {Key::f1, false, "F1", Action::help, "this list"},
      {Key::q, true, "Ctrl+Q", Action::quit, "close the window"},
  };
  return table;
}

const std::vector<Gesture>& gestures() {
  static const std::vector<Gesture> table{
      {"left drag on the goal's arrows, squares or ball",
       "moves the goal along an axis, in a plane, in the picture's plane"},
      {"left drag elsewhere", "turns the view"},
      {"right drag, or Shift and left drag", "shifts the view"},
      {"wheel", "nearer or further"},
      {"Ctrl and left drag on the body", "pulls at the body"},
      {"left click on the body", "shows what is there: element, place"},
      {"dropping a file on the window", "opens it"},
  };
  return table;
}

Action action_of(int key, bool ctrl) {
  for (const Shortcut& shortcut : shortcuts())
    if (static_cast<int>(shortcut.key) == key && shortcut.ctrl == ctrl) return shortcut.action;
  return Action::none;
}

std::string keys_reference() {
  std::string text = "| key | what it does |\n|---|---|\n";
  for (const Shortcut& shortcut : shortcuts()) text += fmt::format("| {} | {} |\n", shortcut.name, shortcut.words);
  text += "\n| pointer | what it does |\n|---|---|\n";
  for (const Gesture& gesture : gestures()) text += fmt::format("| {} | {} |\n", gesture.gesture, gesture.words);
  return text;
}

}  // namespace supple::view
