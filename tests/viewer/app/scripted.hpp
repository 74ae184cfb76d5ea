#pragma once
// The viewer without a window and without a display: input is written by the test, pictures are drawn offscreen.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "kernels/base/error.hpp"
#include "viewer/app/app.hpp"
#include "viewer/gl/offscreen.hpp"

namespace supple::view {

// What a driver leaks can be told from our leaks only while it is loaded, and it is unloaded with its last context:
// keeps it. Whose leaks are not ours: driver_leaks_test.cpp.
inline void keep_driver() {
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void*) {
        const std::string name = library->dlpi_name;
        for (const char* driver : {"_dri.so", "libgallium", "libEGL", "libLLVM"})
          if (name.find(driver) != std::string::npos)
            (void)dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        return 0;
      },
      nullptr);
}

// Why this machine draws no pictures; "" it does. The test is then to be skipped, visibly; with SUPPLE_REQUIRE_GL=1 it
// fails.
inline std::string no_pictures() {
  try {
    const OffscreenContext context;
    keep_driver();
    return "";
  } catch (const CapabilityError& error) {
    return error.report();
  }
}
inline bool pictures_required() {
  const char* required = std::getenv("SUPPLE_REQUIRE_GL");
  return required != nullptr && std::string(required) == "1";
}

class NeedsPictures : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = no_pictures();
    if (why.empty()) return;
    if (pictures_required()) FAIL() << "SUPPLE_REQUIRE_GL=1, but " << why;
    GTEST_SKIP() << why;
  }
};

inline std::string asset(const std::string& name) {
  return std::string(SUPPLE_SOURCE_DIR) + "/assets/" + name;
}

class Scripted : public NeedsPictures {
 protected:
  struct Stage {
    Stage(int width, int height, const SimulationSettings& settings) : target(width, height, 0), app(1, settings) {}
    OffscreenContext context;
    OffscreenTarget target;
    App app;
  };

  void SetUp() override {
    NeedsPictures::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    stage_ = std::make_unique<Stage>(width, height, settings_);
    input_.width = width;
    input_.height = height;
  }

  App& app() { return stage_->app; }
  Document& document() { return *app().document(); }
  const Frame& now() { return document().frame(); }
  Viewport viewport() { return app().pane(input_).viewport; }
  const Camera& camera() { return app().settings().camera; }
  bool is_open() { return app().document() && !app().opening(); }

  // One picture with what was done since the last; no OpenGL error.
  void frame() {
    stage_->target.bind();
    app().frame(input_);
    input_.pressed.clear();
    input_.text.clear();
    input_.dropped.clear();
    input_.wheel = 0;
    glFinish();  // no window waits for the picture here, and pictures that are not waited for pile up
    ASSERT_STREQ(gl_error(), "");
  }
  void frames(int count) {
    for (int k = 0; k < count; ++k) frame();
  }
  // Pictures until the condition holds. The limit is for a machine with other work: nothing is decided by it.
  template <class Condition>
  bool until(const Condition& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit || HasFatalFailure()) return false;
      frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  void open(const std::string& file, const std::string& compare = "") {
    app().open({file, compare, settings_});
    ASSERT_TRUE(until([&] { return !app().opening(); }));
  }
  // Open, and standing still at its start.
  void open_paused(const std::string& file) {
    open(file);
    ASSERT_TRUE(app().document()) << app().banner().text;
    press(Key::space);
    press(Key::r);
    ASSERT_TRUE(until([&] { return now().step == 0; }));
    frames(2);
  }

  void press(Key key) {
    input_.pressed.push_back(static_cast<int>(key));
    frame();
  }
  // Pointer to a pixel of the picture (not of the window), seen by one frame.
  void point(double x, double y) {
    const Pane pane = app().pane(input_);
    input_.x = pane.x + x;
    input_.y = pane.y + y;
    frame();
  }
  void drag(double x0, double y0, double x1, double y1, int steps = 8) {
    point(x0, y0);
    input_.left = true;
    frame();
    for (int k = 1; k <= steps; ++k) point(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps);
    input_.left = false;
    frame();
  }
  void click(double x, double y) { drag(x, y, x, y, 1); }

  // As many simulated steps as the machine gives, not only as many as real time has.
  void hurry() {
    document().intent().speed = unlimited;
    document().send();
  }

  static constexpr int width = 800, height = 560;
  SimulationSettings settings_;  // of every file
  InputFrame input_;
  std::unique_ptr<Stage> stage_;
};

}  // namespace supple::view
