#include "viewer/gl/renderer.hpp"

#include <algorithm>
#include <cstddef>

namespace supple::view {

namespace {

// Two lamps that go with the camera, light from above, a faint gloss. Colours are sRGB, light adds up in linear space,
// with 2 for the exponent 2.2 between them: powers are most of the work where a processor draws.
constexpr const char* lit_vertex = R"(#version 330 core
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 colour;
uniform mat4 clip;
out vec3 place, direction;
out vec4 tint;
void main() {
  place = position;
  direction = normal;
  tint = colour;
  gl_Position = clip * vec4(position, 1);
})";
constexpr const char* lit_fragment = R"(#version 330 core
in vec3 place, direction;
in vec4 tint;
uniform vec3 eye, right, up;
out vec4 colour;
void main() {
  vec3 v = normalize(eye - place);
  vec3 n = normalize(direction);
  if (!gl_FrontFacing) n = -n;  // by the triangle: near an outline the smooth normal may look away on its front
  vec3 key = normalize(v + 0.6 * up - 0.5 * right), fill = normalize(v + 0.8 * right);
  float light = 0.28 + 0.12 * n.z + 0.55 * max(dot(n, key), 0) + 0.15 * max(dot(n, fill), 0);
  float shine = max(dot(n, normalize(key + v)), 0);
  shine *= shine;
  shine *= shine;
  shine *= shine;
  shine *= shine;
  shine *= shine;  // to the 32nd
  vec3 linear = tint.rgb * tint.rgb * light + 0.12 * shine;
  colour = vec4(sqrt(clamp(linear, 0, 1)), tint.a);
})";

// A segment is a rectangle of `width` pixels; four corners of an instance.
constexpr const char* line_vertex = R"(#version 330 core
layout(location = 0) in vec3 from;
layout(location = 1) in vec3 to;
layout(location = 2) in vec4 colour;
layout(location = 3) in float width;
uniform mat4 clip;
uniform vec2 size;
uniform float ratio;
out vec4 tint;
void main() {
  vec4 a = clip * vec4(from, 1), b = clip * vec4(to, 1);
  vec2 along = (b.xy / b.w - a.xy / a.w) * size;
  float length = length(along);
  along = length > 1e-6 ? along / length : vec2(1, 0);
  vec2 across = vec2(-along.y, along.x) * ((gl_VertexID & 1) == 0 ? 1.0 : -1.0) * width * ratio / size;
  gl_Position = gl_VertexID < 2 ? a : b;
  gl_Position.xy += across * gl_Position.w;
  tint = colour;
})";
constexpr const char* flat_fragment = R"(#version 330 core
in vec4 tint;
out vec4 colour;
void main() { colour = tint; })";

constexpr const char* backdrop_vertex = R"(#version 330 core
uniform vec4 top, bottom;
out vec4 tint;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) * 4 - 1, (gl_VertexID >> 1) * 4 - 1);
  tint = mix(bottom, top, corner.y * 0.5 + 0.5);
  gl_Position = vec4(corner, 1, 1);
})";

std::array<float, 3> floats(const Vec3d& x) {
  return {static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2])};
}

void attribute(GLuint index, int count, std::size_t stride, std::size_t offset, bool per_instance) {
  glEnableVertexAttribArray(index);
  glVertexAttribPointer(index, count, GL_FLOAT, GL_FALSE, static_cast<GLsizei>(stride),
                        reinterpret_cast<const void*>(offset));
  glVertexAttribDivisor(index, per_instance ? 1 : 0);
}

template <class T>
void upload(GLenum target, const std::vector<T>& values) {
  glBufferData(target, static_cast<GLsizeiptr>(values.size() * sizeof(T)), values.data(), GL_STREAM_DRAW);
}

}  // namespace

Renderer::Renderer()
    : lit_(make_program(lit_vertex, lit_fragment)),
      line_(make_program(line_vertex, flat_fragment)),
      backdrop_(make_program(backdrop_vertex, flat_fragment)),
      surface_array_(make_vertex_array()),
      line_array_(make_vertex_array()),
      empty_array_(make_vertex_array()),
      vertices_(make_buffer()),
      indices_(make_buffer()),
      instances_(make_buffer()) {
  glBindVertexArray(surface_array_);
  glBindBuffer(GL_ARRAY_BUFFER, vertices_);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices_);
  attribute(0, 3, sizeof(Vertex), offsetof(Vertex, position), false);
  attribute(1, 3, sizeof(Vertex), offsetof(Vertex, normal), false);
  attribute(2, 4, sizeof(Vertex), offsetof(Vertex, colour), false);
  glBindVertexArray(line_array_);
  glBindBuffer(GL_ARRAY_BUFFER, instances_);
  attribute(0, 3, sizeof(Segment), offsetof(Segment, from), true);
  attribute(1, 3, sizeof(Segment), offsetof(Segment, to), true);
  attribute(2, 4, sizeof(Segment), offsetof(Segment, colour), true);
  attribute(3, 1, sizeof(Segment), offsetof(Segment, width), true);
  glBindVertexArray(0);
}

void Renderer::background(const DrawList& list) {
  glDisable(GL_DEPTH_TEST);
  glUseProgram(backdrop_);
  glUniform4fv(glGetUniformLocation(backdrop_, "top"), 1, &list.background_top.r);
  glUniform4fv(glGetUniformLocation(backdrop_, "bottom"), 1, &list.background_bottom.r);
  glBindVertexArray(empty_array_);
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

// Whether all of it lies beyond the near plane: what is cut shows its inside.
bool Renderer::whole(const Surfaces& surfaces) const {
  return std::ranges::all_of(surfaces.vertices, [&](const Vertex& vertex) {
    float z = clip_[14] + clip_[15];
    for (std::size_t k = 0; k < 3; ++k) z += (clip_[4 * k + 2] + clip_[4 * k + 3]) * vertex.position[k];
    return z > 0;
  });
}

void Renderer::surfaces(const Surfaces& surfaces, bool nearest_layer) {
  if (surfaces.triangles.empty()) return;
  // Backs that are not seen are a third of the work where a processor draws.
  if (!surfaces.open && whole(surfaces)) glEnable(GL_CULL_FACE);
  glUseProgram(lit_);
  glUniformMatrix4fv(glGetUniformLocation(lit_, "clip"), 1, GL_FALSE, clip_.data());
  glUniform3fv(glGetUniformLocation(lit_, "eye"), 1, eye_.data());
  glUniform3fv(glGetUniformLocation(lit_, "right"), 1, right_.data());
  glUniform3fv(glGetUniformLocation(lit_, "up"), 1, up_.data());
  glBindVertexArray(surface_array_);
  glBindBuffer(GL_ARRAY_BUFFER, vertices_);
  upload(GL_ARRAY_BUFFER, surfaces.vertices);
  upload(GL_ELEMENT_ARRAY_BUFFER, surfaces.triangles);
  const auto draw = [&] {
    glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(surfaces.triangles.size()), GL_UNSIGNED_INT, nullptr);
  };
  if (nearest_layer) {
    // First its depth, then its colour where the depth is the same.
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    draw();
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  }
  draw();
  glDisable(GL_CULL_FACE);
}

void Renderer::segments(const std::vector<Segment>& segments) {
  if (segments.empty()) return;
  glUseProgram(line_);
  glUniformMatrix4fv(glGetUniformLocation(line_, "clip"), 1, GL_FALSE, clip_.data());
  glUniform2f(glGetUniformLocation(line_, "size"), width_, height_);
  glUniform1f(glGetUniformLocation(line_, "ratio"), ratio_);
  glBindVertexArray(line_array_);
  glBindBuffer(GL_ARRAY_BUFFER, instances_);
  upload(GL_ARRAY_BUFFER, segments);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(segments.size()));
}

void Renderer::draw(const DrawList& list, const Camera& camera, const Viewport& viewport, int x, int y,
                    double pixel_ratio) {
  clip_ = camera.matrix(viewport);
  eye_ = floats(camera.eye());
  right_ = floats(camera.right());
  up_ = floats(camera.up());
  width_ = static_cast<float>(viewport.width);
  height_ = static_cast<float>(viewport.height);
  ratio_ = static_cast<float>(pixel_ratio);
  glViewport(x, y, static_cast<GLsizei>(viewport.width), static_cast<GLsizei>(viewport.height));
  glScissor(x, y, static_cast<GLsizei>(viewport.width), static_cast<GLsizei>(viewport.height));
  glEnable(GL_SCISSOR_TEST);
  glDisable(GL_CULL_FACE);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDepthMask(GL_TRUE);
  glDepthFunc(GL_LEQUAL);
  glClear(GL_DEPTH_BUFFER_BIT);
  glDisable(GL_BLEND);  // where everything is solid: a software renderer is faster without
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  background(list);
  glEnable(GL_DEPTH_TEST);
  surfaces(list.solid);
  glEnable(GL_BLEND);
  segments(list.segments);
  for (const Surfaces& layer : list.see_through) surfaces(layer, true);
  glClear(GL_DEPTH_BUFFER_BIT);
  surfaces(list.on_top_solid);
  segments(list.on_top);
  glDisable(GL_SCISSOR_TEST);
  glDisable(GL_DEPTH_TEST);
  glBindVertexArray(0);
}

}  // namespace supple::view
