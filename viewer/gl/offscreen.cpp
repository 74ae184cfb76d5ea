#include "viewer/gl/offscreen.hpp"

#include <epoxy/egl.h>
#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

constexpr const char* remedy =
    "Mesa's software renderer: apt-get install libegl1 libgl1-mesa-dri (scripts/setup.sh --viewer)";

EGLDisplay open_display() {
  const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const std::string known = extensions != nullptr ? extensions : "";
  EGLDisplay display = EGL_NO_DISPLAY;
  if (known.find("EGL_MESA_platform_surfaceless") != std::string::npos &&
      known.find("EGL_EXT_platform_base") != std::string::npos)
    display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (display == EGL_NO_DISPLAY) display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
  if (display == EGL_NO_DISPLAY || eglInitialize(display, nullptr, nullptr) == EGL_FALSE)
    throw CapabilityError("pictures need EGL, which this machine does not have", remedy);
  return display;
}

}  // namespace

OffscreenContext::OffscreenContext() {
  display_ = open_display();
  const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  eglBindAPI(EGL_OPENGL_API);
  eglChooseConfig(display_, wanted, &config, 1, &count);
  const EGLint version[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  context_ = count > 0 ? eglCreateContext(display_, config, EGL_NO_CONTEXT, version) : EGL_NO_CONTEXT;
  if (context_ == EGL_NO_CONTEXT || eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_FALSE) {
    eglTerminate(display_);
    throw CapabilityError("pictures need OpenGL 3.3, which this machine does not have", remedy);
  }
}

OffscreenContext::~OffscreenContext() {
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

std::string gl_description() {
  return fmt::format("{}, OpenGL {}", reinterpret_cast<const char*>(glGetString(GL_RENDERER)),
                     reinterpret_cast<const char*>(glGetString(GL_VERSION)));
}

OffscreenTarget::OffscreenTarget(int width, int height, int samples)
    : width_(width),
      height_(height),
      colour_(make_renderbuffer()),
      depth_(make_renderbuffer()),
      plain_colour_(make_renderbuffer()),
      drawn_(make_framebuffer()),
      plain_(make_framebuffer()) {
  GLint most = 0;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  if (samples > most) samples = most;
  const auto storage = [&](GLuint name, GLenum format, int count) {
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, count, format, width, height);
  };
  storage(colour_, GL_RGBA8, samples);
  storage(depth_, GL_DEPTH_COMPONENT24, samples);
  storage(plain_colour_, GL_RGBA8, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, plain_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, plain_colour_);
  glBindFramebuffer(GL_FRAMEBUFFER, drawn_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    throw CapabilityError(fmt::format("this OpenGL draws no picture of {} x {} pixels", width, height),
                          "a smaller --size");
}

void OffscreenTarget::bind() const {
  glBindFramebuffer(GL_FRAMEBUFFER, drawn_);
}

Image read_framebuffer(int width, int height) {
  const auto row = 3 * static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
  std::vector<std::uint8_t> upside_down(row * rows);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, upside_down.data());
  Image image{width, height, std::vector<std::uint8_t>(row * rows)};
  for (std::size_t y = 0; y < rows; ++y)
    std::copy_n(upside_down.begin() + static_cast<long>(row * (rows - 1 - y)), row,
                image.rgb.begin() + static_cast<long>(row * y));
  return image;
}

Image OffscreenTarget::read() const {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, drawn_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, plain_);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, plain_);
  Image image = read_framebuffer(width_, height_);
  glBindFramebuffer(GL_FRAMEBUFFER, drawn_);
  return image;
}

}  // namespace supple::view
