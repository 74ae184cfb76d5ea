#pragma once
// What pointer drags mean in the picture: turning and shifting the view, dragging a goal, pulling at the body.

#include <optional>
#include <string>

#include "viewer/app/document.hpp"
#include "viewer/app/input.hpp"
#include "viewer/app/view_settings.hpp"
#include "viewer/draw/gizmo.hpp"
#include "viewer/draw/pick.hpp"

namespace supple::view {

class Pointer {
 public:
  // `captured`: a panel has the pointer. `effector`: whose goal has the gizmo, -1 = none. Changes the camera, and the
  // document's intent (goal, pull); true if the intent has changed.
  bool update(const InputFrame& input, bool captured, const Viewport& viewport, int effector, Document& document,
              ViewSettings& settings);
  // Of the goal's handles, the one under the pointer or in its grip.
  Handle hot() const { return drag_ ? drag_->handle() : hover_; }
  // The pull under way, to be drawn: from the body to the pointer.
  struct PullLine {
    Vec3d from, to;
  };
  const std::optional<PullLine>& pull() const { return pull_line_; }
  // What was clicked on last: "element 1234 at (1, 2, 3) mm"; "" nothing.
  const std::string& picked() const { return picked_; }
  // Newton per metre of the pointer's way, of a pull.
  double stiffness = 0;

 private:
  std::optional<Hit> pick_body(const InputFrame& input, const Viewport& viewport, const Document& document,
                               const ViewSettings& settings);
  void begin(const InputFrame& input, const Viewport& viewport, int effector, const Document& document,
             const ViewSettings& settings);
  bool pull_body(const InputFrame& input, const Viewport& viewport, Document& document, const ViewSettings& settings);

  enum class Doing { nothing, orbit, pan, goal, pull };
  Doing doing_ = Doing::nothing;
  Handle hover_ = Handle::none;
  std::optional<GizmoDrag> drag_;
  std::optional<Hit> gripped_;
  std::optional<PullLine> pull_line_;
  double x_ = 0, y_ = 0, travelled_ = 0;
  std::string picked_;
  std::vector<Vec3d> places_;
};

}  // namespace supple::view
