#include "viewer/app/window.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "kernels/base/error.hpp"
#include "viewer/app/video.hpp"
#include "viewer/gl/offscreen.hpp"

namespace supple::view {

namespace {

// What has come in since the last picture. Modifiers of keys that went down and up again in between are known by the
// keys alone.
struct Heard {
  InputFrame input;
  int modifiers = 0;
};

Heard& heard_by(GLFWwindow* window) {
  return *static_cast<Heard*>(glfwGetWindowUserPointer(window));
}
InputFrame& input_of(GLFWwindow* window) {
  return heard_by(window).input;
}

void listen(GLFWwindow* window) {
  // A click between two pictures counts too.
  glfwSetInputMode(window, GLFW_STICKY_MOUSE_BUTTONS, GLFW_TRUE);
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int modifiers) {
    if (action != GLFW_RELEASE && key >= 0) {
      input_of(w).pressed.push_back(key);
      heard_by(w).modifiers |= modifiers;
    }
    auto& down = input_of(w).down;
    std::erase(down, key);
    if (action != GLFW_RELEASE && key >= 0) down.push_back(key);
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned c) { input_of(w).text.push_back(static_cast<char32_t>(c)); });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double y) { input_of(w).wheel += y; });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    for (int i = 0; i < count; ++i) input_of(w).dropped.emplace_back(paths[i]);
  });
}

void read_pointer(GLFWwindow* window, Heard& heard) {
  InputFrame& input = heard.input;
  int width = 1, height = 1, pixels = 1, rows = 1;
  glfwGetWindowSize(window, &width, &height);
  glfwGetFramebufferSize(window, &pixels, &rows);
  // Where the window's own unit is pixels (X11), the content scale of the desktop is the scale of the text.
  float scale = 1;
  if (pixels == width) glfwGetWindowContentScale(window, &scale, nullptr);
  const double enlarged = std::max(scale, 1.0f);
  glfwGetCursorPos(window, &input.x, &input.y);
  input.x /= enlarged;
  input.y /= enlarged;
  input.width = std::max(width, 1) / enlarged;
  input.height = std::max(height, 1) / enlarged;
  input.pixel_ratio = std::max(pixels, 1) / input.width;
  const auto button = [&](int which) { return glfwGetMouseButton(window, which) == GLFW_PRESS; };
  input.left = button(GLFW_MOUSE_BUTTON_LEFT);
  input.right = button(GLFW_MOUSE_BUTTON_RIGHT);
  input.middle = button(GLFW_MOUSE_BUTTON_MIDDLE);
  const auto key = [&](int a, int b, int modifier) {
    return glfwGetKey(window, a) == GLFW_PRESS || glfwGetKey(window, b) == GLFW_PRESS ||
           (heard.modifiers & modifier) != 0;
  };
  input.ctrl = key(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL, GLFW_MOD_CONTROL);
  input.shift = key(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT, GLFW_MOD_SHIFT);
  input.alt = key(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT, GLFW_MOD_ALT);
  heard.modifiers = 0;
}

// The picture just drawn, before it is shown.
Image picture(const InputFrame& input) {
  return read_framebuffer(static_cast<int>(std::lround(input.width * input.pixel_ratio)),
                          static_cast<int>(std::lround(input.height * input.pixel_ratio)));
}

Banner save_screenshot(const InputFrame& input) {
  const std::string file = free_name("supple", ".png");
  write_png(file, picture(input));
  return {fmt::format("written to {}", file), false};
}

// A film of the window, a picture every thirtieth of a second of wall-clock time, while the app requests one.
class Recorder {
 public:
  void update(App& app, const InputFrame& input) {
    if (!app.filming()) {
      if (!video_) return;
      video_->finish();
      app.say({fmt::format("written to {}", file_), false});
      video_.reset();
      return;
    }
    const Image now = picture(input);
    if (!video_) {
      file_ = free_name("supple", ".mp4");
      video_.emplace(file_, now.width, now.height, rate);
      width_ = now.width;
      height_ = now.height;
      due_ = 0;
    }
    if (now.width != width_ || now.height != height_) {  // a film has one size
      app.stop_filming();
      return;
    }
    for (due_ += input.seconds; due_ > 0; due_ -= 1.0 / rate) video_->add(now);
  }
  void forget() { video_.reset(); }
  void finish() {
    if (video_) video_->finish();
    video_.reset();
  }

 private:
  static constexpr long rate = 30;  // per second
  std::optional<Video> video_;
  std::string file_;
  int width_ = 0, height_ = 0;
  double due_ = 0;
};

// Hidden, its context current.
GLFWwindow* make_window(int samples) {
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_SAMPLES, samples);
  GLFWwindow* window = glfwCreateWindow(1280, 800, "Supple", nullptr, nullptr);
  if (!window)
    throw CapabilityError("the display gives no OpenGL 3.3",
                          "Mesa's software renderer: LIBGL_ALWAYS_SOFTWARE=1 supple view ...");
  glfwMakeContextCurrent(window);
  return window;
}

bool drawn_by_processor() {
  const std::string renderer = gl_description();
  for (const char* name : {"llvmpipe", "softpipe", "swrast"})
    if (renderer.find(name) != std::string::npos) return true;
  return false;
}

// The screen that has most of the window; null where there is none.
GLFWmonitor* screen_of(GLFWwindow* window) {
  int x = 0, y = 0, width = 0, height = 0, count = 0;
  glfwGetWindowPos(window, &x, &y);
  glfwGetWindowSize(window, &width, &height);
  GLFWmonitor** screens = glfwGetMonitors(&count);
  GLFWmonitor* best = nullptr;
  int most = -1;
  for (int k = 0; k < count; ++k) {
    const GLFWvidmode* mode = glfwGetVideoMode(screens[k]);
    if (!mode) continue;
    int left = 0, top = 0;
    glfwGetMonitorPos(screens[k], &left, &top);
    const int common = std::max(0, std::min(x + width, left + mode->width) - std::max(x, left)) *
                       std::max(0, std::min(y + height, top + mode->height) - std::max(y, top));
    if (common <= most) continue;
    most = common;
    best = screens[k];
  }
  return best;
}

// Fills a screen in the mode that it has, and goes back to where the window was.
class FullScreen {
 public:
  void update(GLFWwindow* window, bool wanted) {
    if (wanted == (glfwGetWindowMonitor(window) != nullptr)) return;
    if (!wanted) return glfwSetWindowMonitor(window, nullptr, x_, y_, width_, height_, GLFW_DONT_CARE);
    GLFWmonitor* screen = screen_of(window);
    if (!screen) return;
    glfwGetWindowPos(window, &x_, &y_);
    glfwGetWindowSize(window, &width_, &height_);
    const GLFWvidmode* mode = glfwGetVideoMode(screen);
    glfwSetWindowMonitor(window, screen, 0, 0, mode->width, mode->height, mode->refreshRate);
  }

 private:
  int x_ = 0, y_ = 0, width_ = 1280, height_ = 800;
};

class Session {
 public:
  Session() {
    if (glfwInit() == GLFW_FALSE)
      throw CapabilityError("a window needs a display, and there is none",
                            "supple render FILE -o picture.png needs none; over ssh: ssh -X");
  }
  ~Session() { glfwTerminate(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

}  // namespace

void show_window(const OpenRequest& request, const std::function<bool()>& stop) {
  const Session session;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  GLFWwindow* window = make_window(4);
  // Without a graphics card smooth edges would more than double the time of a picture.
  if (drawn_by_processor()) {
    glfwDestroyWindow(window);
    window = make_window(0);
  }
  glfwShowWindow(window);
  glfwSwapInterval(1);
  Heard heard;
  InputFrame& input = heard.input;
  glfwSetWindowUserPointer(window, &heard);
  listen(window);
  read_pointer(window, heard);
  {
    SimulationSettings dropped;
    dropped.threads = request.settings.threads;
    App app(input.pixel_ratio, dropped);
    app.open(request);
    Recorder recorder;
    FullScreen full_screen;
    double before = glfwGetTime();
    while (glfwWindowShouldClose(window) == GLFW_FALSE && !app.closing() && !stop()) {
      // Sixty pictures a second are enough where the display does not hold the swap back.
      glfwWaitEventsTimeout(std::max(1e-3, 1.0 / 60 - (glfwGetTime() - before)));
      read_pointer(window, heard);
      const double now = glfwGetTime();
      input.seconds = now - std::exchange(before, now);
      app.frame(input);
      full_screen.update(window, app.full_screen());
      try {
        if (app.take_screenshot()) app.say(save_screenshot(input));
        recorder.update(app, input);
      } catch (const Error& error) {
        app.stop_filming();
        recorder.forget();
        app.say({error.report(), true});
      }
      glfwSwapBuffers(window);
      input.wheel = 0;
      input.pressed.clear();
      input.text.clear();
      input.dropped.clear();
    }
    glfwHideWindow(window);
    recorder.finish();
    app.finish();
    // Reading a file cannot be cut short, and nothing of it is to be kept: its thread ends with the program.
    if (app.opening()) std::_Exit(0);
  }
  glfwDestroyWindow(window);
}

}  // namespace supple::view
