#include "viewer/gl/program.hpp"

#include <fmt/format.h>

#include <string>

#include "kernels/base/error.hpp"

namespace supple::view {

namespace {

[[noreturn]] void refuse(const char* what, const char* words) {
  throw CapabilityError(fmt::format("this OpenGL does not {} the viewer's shaders ({})", what, words),
                        "a newer graphics driver, or Mesa: LIBGL_ALWAYS_SOFTWARE=1");
}

GLuint compile(GLenum kind, const char* source) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 1, &source, nullptr);
  glCompileShader(shader);
  GLint ok = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
  if (ok == 0) {
    char words[1024] = "";
    glGetShaderInfoLog(shader, sizeof words, nullptr, words);
    refuse("compile", words);
  }
  return shader;
}

}  // namespace

Buffer make_buffer() {
  GLuint name = 0;
  glGenBuffers(1, &name);
  return Buffer(name);
}
VertexArray make_vertex_array() {
  GLuint name = 0;
  glGenVertexArrays(1, &name);
  return VertexArray(name);
}
Renderbuffer make_renderbuffer() {
  GLuint name = 0;
  glGenRenderbuffers(1, &name);
  return Renderbuffer(name);
}
Framebuffer make_framebuffer() {
  GLuint name = 0;
  glGenFramebuffers(1, &name);
  return Framebuffer(name);
}

Program make_program(const char* vertex, const char* fragment) {
  Program program(glCreateProgram());
  const GLuint shaders[] = {compile(GL_VERTEX_SHADER, vertex), compile(GL_FRAGMENT_SHADER, fragment)};
  for (const GLuint shader : shaders) glAttachShader(program, shader);
  glLinkProgram(program);
  for (const GLuint shader : shaders) glDeleteShader(shader);
  GLint ok = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &ok);
  if (ok == 0) {
    char words[1024] = "";
    glGetProgramInfoLog(program, sizeof words, nullptr, words);
    refuse("link", words);
  }
  return program;
}

const char* gl_error() {
  const GLenum error = glGetError();
  switch (error) {
    case GL_NO_ERROR:
      return "";
    case GL_INVALID_ENUM:
      return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
      return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
      return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
      return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
      return "GL_OUT_OF_MEMORY";
    default:
      return "an OpenGL error";
  }
}

}  // namespace supple::view
