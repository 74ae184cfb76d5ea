#pragma once
// OpenGL without a window: a context by EGL, needing no display, and a framebuffer whose pixels can be read.

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/gl/program.hpp"

namespace supple::view {

// A context of OpenGL 3.3 core, current in this thread while it lives. Throws CapabilityError.
class OffscreenContext {
 public:
  OffscreenContext();
  ~OffscreenContext();
  OffscreenContext(const OffscreenContext&) = delete;
  OffscreenContext& operator=(const OffscreenContext&) = delete;

 private:
  void* display_ = nullptr;
  void* context_ = nullptr;
};

// "llvmpipe (LLVM 15.0.6, 512 bits), OpenGL 4.5": of the current context.
std::string gl_description();

struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // rows from the top
};

class OffscreenTarget {
 public:
  // samples: of antialiasing, 0 = none.
  OffscreenTarget(int width, int height, int samples = 4);
  void bind() const;
  Image read() const;
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  int width_, height_;
  Renderbuffer colour_, depth_, plain_colour_;
  Framebuffer drawn_, plain_;  // plain: resolved, one sample
};

// Pixels of the framebuffer that is bound for reading; it must have one sample, or be a window's.
Image read_framebuffer(int width, int height);

// Throws InputError if it cannot be written.
void write_png(const std::string& path, const Image& image);
// Throws InputError: no file, no picture.
Image read_png(const std::string& path);

}  // namespace supple::view
