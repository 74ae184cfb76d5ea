#pragma once
// A robot and its frame as a draw list: its bodies in a colouring, cables, effectors and goals, the elements of a
// reduced integration domain. No graphics library; the same list is drawn in a window, offscreen, or looked at by a
// test.

#include <optional>
#include <string>

#include "engine/model/touches.hpp"
#include "viewer/draw/colour_map.hpp"
#include "viewer/draw/draw_list.hpp"
#include "viewer/draw/robot_shape.hpp"

namespace supple::view {

// pressure: the walls of the cavities, the body a ghost.
enum class Colouring { plain, displacement, stress, weight, difference, mode, pressure };
inline constexpr int colouring_count = 7;
const char* name_of(Colouring colouring);

struct DrawingOptions {
  Colouring colouring = Colouring::plain;
  int mode = 0;           // the mode shown (Colouring::mode): its shape, largest displacement a tenth of the robot
  double mode_phase = 1;  // -1 ... 1, times that
  bool domain = false;    // elements of the reduced integration domain solid, the rest a ghost
  bool edges = false;     // of the skin's triangles
  bool cables = true, constraints = true, effectors = true, goals = true;
  bool obstacles = true;  // and the forces with which they push, and what points of contact do
  Colour body{0.93f, 0.62f, 0.42f, 1};
  Vec3d offset{{0, 0, 0}};  // m, of everything: to put two robots side by side
  // Ends of the colour bar; none: from this state.
  std::optional<double> bar_low, bar_high;
};

// What can be coloured: "" or why it cannot. `other` as below.
std::string lacks(const RobotShape& shape, Colouring colouring, const RobotShape* other);

// What is drawn of a robot: its state, the mapped points y of that state (robot.hpp), goals [3 x effectors] (empty:
// none) and which of the effectors are led there (empty: all); and the state of the robot whose difference is shown
// (Colouring::difference: distance between the same points of both skins), or null.
struct DrawnState {
  const State& state;
  std::span<const double> y;
  std::span<const double> goals = {};
  const RobotShape* other = nullptr;
  const State* other_state = nullptr;
  std::span<const char> steered = {};
  const std::vector<Touch>* touches = nullptr;  // contacts that press; null: points of contact are not shown
};
void draw_robot(const RobotShape& shape, const DrawnState& drawn, const DrawingOptions& options, DrawList& list);

// A hand that pulls the robot from a point of its skin to another place.
void draw_pull(const RobotShape& shape, const Vec3d& from, const Vec3d& to, DrawList& list);

// The state in which only mode k is there, scaled so that its largest displacement on the skin is `size` [m].
State mode_state(const RobotShape& shape, const State& like, int mode, double size);

// Grid on the plane z = `height` about a place, for orientation: lines a round number of millimetres apart.
void draw_floor(const Vec3d& centre, double height, double extent, DrawList& list);

}  // namespace supple::view
