#include "viewer/app/view_settings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "viewer/draw/obstacle_drawing.hpp"
#include "viewer/play/frame.hpp"
#include "viewer/play/opened_robot.hpp"

namespace supple::view {

namespace {

constexpr Colour beside_colour{0.35f, 0.55f, 0.75f, 0.45f};
constexpr double mode_seconds = 2;  // of one swing of a mode
constexpr double mode_size = 0.1;   // its largest displacement, of the robot's extent

void draw_main(const OpenedRobot& robot, const OpenedRobot* beside, const Frame& frame, const ViewSettings& settings,
               DrawList& list) {
  const RobotShape& shape = *robot.shape;
  if (settings.drawing.colouring == Colouring::mode) {
    DrawingOptions options = settings.drawing;
    options.bar_low = 0;
    options.bar_high = mode_size * shape.extent();
    draw_robot(shape, {shown_state(robot, frame, settings), frame.y}, options, list);
    return;
  }
  draw_robot(shape,
             {frame.state, frame.y, frame.goals, beside ? beside->shape.get() : nullptr,
              beside ? &frame.other : nullptr, frame.steered, &frame.touches},
             settings.drawing, list);
  // Of a recording; a hand that pulls now is drawn where the pointer is (pointer.hpp).
  if (!frame.playing || frame.pull.triangle < 0) return;
  std::vector<Vec3d> places;
  shape.positions(frame.state, places);
  draw_pull(shape, shape.point(places, frame.pull.triangle, frame.pull.weights), frame.pull.to, list);
}

}  // namespace

bool shows_two(const OpenedRobot* beside, const Frame& frame, const ViewSettings& settings) {
  return settings.side_by_side && beside && !frame.other.q.empty() && settings.drawing.colouring != Colouring::mode;
}

State shown_state(const OpenedRobot& robot, const Frame& frame, const ViewSettings& settings) {
  if (settings.drawing.colouring != Colouring::mode) return frame.state;
  const double swing = settings.animate_mode ? std::sin(2 * std::numbers::pi * settings.phase / mode_seconds) : 1;
  return mode_state(*robot.shape, frame.state, settings.drawing.mode, mode_size * robot.shape->extent() * swing);
}

void Bounds::add(const Vec3d& point) {
  for (int i = 0; i < 3; ++i) {
    low[i] = std::min(low[i], point[i]);
    high[i] = std::max(high[i], point[i]);
  }
}

void add_shown(const OpenedRobot& robot, const OpenedRobot* beside, const Frame& frame, const ViewSettings& settings,
               Bounds& bounds) {
  std::vector<Vec3d> places;
  const auto add = [&](const RobotShape& shape, const State& state) {
    shape.positions(state, places);
    for (const Vec3d& x : places) bounds.add(x);
  };
  if (settings.drawing.colouring != Colouring::mode) {
    add(*robot.shape, frame.state);
    if (beside && !frame.other.q.empty()) add(*beside->shape, frame.other);
    return;
  }
  // Both ends of its swing.
  for (const double side : {-1.0, 1.0})
    add(*robot.shape,
        mode_state(*robot.shape, frame.state, settings.drawing.mode, side * mode_size * robot.shape->extent()));
}

Picture make_picture(const OpenedRobot& robot, const OpenedRobot* beside, const Frame& frame,
                     const ViewSettings& settings) {
  Picture picture;
  const RobotShape& shape = *robot.shape;
  const auto floor = [&](DrawList& list) {
    if (settings.floor && !stands_on_a_plane(shape.robot()))
      draw_floor(0.5 * (shape.low() + shape.high()), shape.low()[2], shape.extent(), list);
  };
  floor(picture.left);
  draw_main(robot, beside, frame, settings, picture.left);
  if (!beside || frame.other.q.empty() || settings.drawing.colouring == Colouring::mode) return picture;
  picture.two = shows_two(beside, frame, settings);
  DrawList& list = picture.two ? picture.right : picture.left;
  if (picture.two) floor(list);
  DrawingOptions options = settings.drawing;
  if (lacks(*beside->shape, options.colouring, robot.shape.get()) != "") options.colouring = Colouring::plain;
  if (!picture.two) {
    if (settings.drawing.colouring == Colouring::difference) return picture;
    options.colouring = Colouring::plain;
    options.body = beside_colour;
    options.cables = options.constraints = options.domain = options.goals = options.obstacles = false;
  }
  // The same scale on both sides, so that colours can be compared.
  if (picture.two && !picture.left.bars.empty() && options.colouring == settings.drawing.colouring) {
    options.bar_low = picture.left.bars.front().low;
    options.bar_high = picture.left.bars.front().high;
  }
  draw_robot(*beside->shape, {frame.other, frame.other_y, frame.goals, robot.shape.get(), &frame.state, frame.steered},
             options, list);
  return picture;
}

}  // namespace supple::view
