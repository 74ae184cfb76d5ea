#pragma once
// A linked OpenGL program from two shader sources, and buffers that free themselves.

#include <epoxy/gl.h>

#include <utility>

namespace supple::view {

// Owns one OpenGL name; `Delete` frees it.
template <void (*Delete)(GLuint)>
class GlName {
 public:
  GlName() = default;
  explicit GlName(GLuint name) : name_(name) {}
  ~GlName() {
    if (name_ != 0) Delete(name_);
  }
  GlName(GlName&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlName& operator=(GlName&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  operator GLuint() const { return name_; }

 private:
  GLuint name_ = 0;
};

inline void delete_buffer(GLuint name) {
  glDeleteBuffers(1, &name);
}
inline void delete_array(GLuint name) {
  glDeleteVertexArrays(1, &name);
}
inline void delete_renderbuffer(GLuint name) {
  glDeleteRenderbuffers(1, &name);
}
inline void delete_framebuffer(GLuint name) {
  glDeleteFramebuffers(1, &name);
}
inline void delete_program(GLuint name) {
  glDeleteProgram(name);
}
using Buffer = GlName<delete_buffer>;
using VertexArray = GlName<delete_array>;
using Renderbuffer = GlName<delete_renderbuffer>;
using Framebuffer = GlName<delete_framebuffer>;
using Program = GlName<delete_program>;

Buffer make_buffer();
VertexArray make_vertex_array();
Renderbuffer make_renderbuffer();
Framebuffer make_framebuffer();
// Throws CapabilityError with the compiler's words.
Program make_program(const char* vertex, const char* fragment);

// "" or the first OpenGL error since the last call, "GL_INVALID_OPERATION".
const char* gl_error();

}  // namespace supple::view
