#pragma once
// The viewer without its window: takes input, draws a picture into the framebuffer that is bound. A window feeds it
// (window.hpp), or a test with scripted input and no display.

#include <memory>

#include "viewer/app/gui.hpp"
#include "viewer/app/keys.hpp"
#include "viewer/app/panels.hpp"
#include "viewer/app/pointer.hpp"
#include "viewer/gl/renderer.hpp"

namespace supple::view {

class App {
 public:
  // Needs a current OpenGL context.
  // dropped: for files that are dropped on the window.
  explicit App(double pixel_ratio = 1, const SimulationSettings& dropped = {});
  ~App();

  // Begins to open a file; what is open stays until that has worked.
  void open(const OpenRequest& request);
  void frame(const InputFrame& input);

  bool closing() const { return closing_; }
  // A picture of the window is wanted, once.
  bool take_screenshot() { return std::exchange(screenshot_, false); }
  // Whether the window is to fill the screen.
  bool full_screen() const { return full_screen_; }
  // Whether a film of the window is wanted.
  bool filming() const { return filming_; }
  void stop_filming() { filming_ = false; }
  // Ends a recording that is being made; waits for the step under way. Throws RunError if the recording is lost.
  void finish();
  void say(const Banner& banner) { banner_ = banner; }

  // The open file, or null; whether another is being read; the text of the banner.
  Document* document() { return document_.get(); }
  bool opening() const { return pending_ != nullptr; }
  const Banner& banner() const { return banner_; }
  const Pointer& pointer() const { return pointer_; }
  ViewSettings& settings() { return settings_; }
  // Where the picture is in the window, between the panels.
  Pane pane(const InputFrame& input) const;
  int effector() const;

 private:
  void take_over();
  void watch(double seconds);
  void act(const InputFrame& input);
  void perform(Action action, const InputFrame& input);
  void nudge(const Vec3d& direction, const InputFrame& input);
  void fit(const InputFrame& input);
  void panels(const InputFrame& input);
  void draw(const InputFrame& input);
  std::string caption() const;
  void record_or_end();
  void tell_of_recording();

  SimulationSettings dropped_;
  Gui gui_;
  Renderer renderer_;
  std::unique_ptr<Document> document_, pending_;
  std::unique_ptr<Document> failed_;  // the last that could not be opened, while none is open
  ViewSettings settings_;
  PanelState panel_;
  Pointer pointer_;
  Banner banner_;
  bool fitted_ = false, closing_ = false, screenshot_ = false, filming_ = false, changed_ = false, resume_ = false;
  bool full_screen_ = false;
  double unwatched_ = 0;
  long recordings_told_ = 0;
};

}  // namespace supple::view
