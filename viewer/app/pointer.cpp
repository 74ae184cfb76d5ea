#include "viewer/app/pointer.hpp"

#include <fmt/format.h>

#include <cmath>

namespace supple::view {

namespace {

constexpr double click = 4;  // pixels that a click may travel

}  // namespace

std::optional<Hit> Pointer::pick_body(const InputFrame& input, const Viewport& viewport, const Document& document,
                                      const ViewSettings& settings) {
  const RobotShape& shape = *document.robot().shape;
  shape.positions(shown_state(document.robot(), document.frame(), settings), places_);
  return pick(settings.camera.ray(input.x, input.y, viewport), places_, shape.triangles());
}

// A button has gone down over the picture.
void Pointer::begin(const InputFrame& input, const Viewport& viewport, int effector, const Document& document,
                    const ViewSettings& settings) {
  travelled_ = 0;
  if (input.right || input.middle || input.shift) {
    doing_ = Doing::pan;
    return;
  }
  // A mode's shape and a recording have nothing that could be pulled.
  if (input.ctrl && settings.drawing.colouring != Colouring::mode && !document.playing()) {
    gripped_ = pick_body(input, viewport, document, settings);
    doing_ = gripped_ ? Doing::pull : Doing::orbit;
    return;
  }
  doing_ = Doing::orbit;
  if (effector < 0) return;
  const Vec3d goal = document.goal(effector);
  const Handle handle = handle_at(settings.camera, viewport, goal, input.x, input.y);
  if (handle == Handle::none) return;
  drag_.emplace(handle, settings.camera, viewport, goal, input.x, input.y);
  doing_ = Doing::goal;
}

bool Pointer::pull_body(const InputFrame& input, const Viewport& viewport, Document& document,
                        const ViewSettings& settings) {
  const RobotShape& shape = *document.robot().shape;
  shape.positions(document.frame().state, places_);
  const Vec3d from = shape.point(places_, gripped_->triangle, gripped_->weights);
  const auto to = meet_plane(settings.camera.ray(input.x, input.y, viewport), from, settings.camera.forward());
  if (!to) return false;
  pull_line_ = PullLine{from, *to};
  document.intent().pull = {gripped_->triangle, gripped_->weights, *to, stiffness};
  return true;
}

bool Pointer::update(const InputFrame& input, bool captured, const Viewport& viewport, int effector, Document& document,
                     ViewSettings& settings) {
  const bool held = input.left || input.right || input.middle;
  const double dx = input.x - x_, dy = input.y - y_;
  x_ = input.x;
  y_ = input.y;
  bool changed = false;
  if (!captured && input.wheel != 0) settings.camera.zoom(input.wheel);
  hover_ = Handle::none;
  if (!held) {
    if (doing_ == Doing::orbit && travelled_ <= click) {
      picked_.clear();
      if (const auto hit = pick_body(input, viewport, document, settings)) {
        const Vec3d x = document.robot().shape->point(places_, hit->triangle, hit->weights);
        const RobotShape& shape = *document.robot().shape;
        const int element = shape.element()[static_cast<std::size_t>(hit->triangle)];
        const std::string& body = shape.body_of_triangle(hit->triangle).name;
        picked_ = fmt::format("({:.1f}, {:.1f}, {:.1f}) mm", 1e3 * x[0], 1e3 * x[1], 1e3 * x[2]);
        if (element >= 0) picked_ = fmt::format("element {} at {}", element, picked_);
        if (!body.empty()) picked_ = fmt::format("{}: {}", body, picked_);
      }
    }
    if (doing_ == Doing::pull) {
      document.intent().pull = {};
      changed = true;
    }
    doing_ = Doing::nothing;
    drag_.reset();
    gripped_.reset();
    pull_line_.reset();
    if (!captured && effector >= 0)
      hover_ = handle_at(settings.camera, viewport, document.goal(effector), input.x, input.y);
    return changed;
  }
  if (doing_ == Doing::nothing) {
    if (captured) return false;
    begin(input, viewport, effector, document, settings);
    return false;
  }
  travelled_ += std::abs(dx) + std::abs(dy);
  switch (doing_) {
    case Doing::orbit:
      settings.camera.orbit(dx, dy, viewport);
      return false;
    case Doing::pan:
      settings.camera.pan(dx, dy, viewport);
      return false;
    case Doing::goal:
      if (effector < 0) return false;
      document.set_goal(effector, drag_->place(settings.camera, viewport, input.x, input.y));
      return true;
    case Doing::pull:
      return pull_body(input, viewport, document, settings);
    case Doing::nothing:
      break;
  }
  return false;
}

}  // namespace supple::view
