#include "engine/mesh/read.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>

#include "engine/mesh/cells.hpp"

namespace supple {
namespace {

std::string_view without_leading_space(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  return bytes;
}

std::string ending(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  std::string end = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (char& c : end) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return end;
}

bool looks_like_obj(std::string_view text, const std::string& name) {
  if (ending(name) == "obj") return true;
  for (const char* start : {"v ", "vn ", "vt ", "o ", "g ", "mtllib ", "#"})
    if (text.starts_with(start)) return true;
  return false;
}

}  // namespace

Mesh parse_mesh(std::string_view bytes, const std::string& name) {
  const std::string_view start = without_leading_space(bytes);
  const Place place{name, 0, 0, ""};
  if (start.empty()) throw InputError("the mesh file is empty", "export it again", place);
  if (start.front() == '$') return parse_gmsh(bytes, name);
  if (start.front() == '<') return parse_vtu(bytes, name);
  if (start.starts_with("# vtk")) return parse_legacy_vtk(bytes, name);
  const std::string end = ending(name);
  if (end == "stl" || end == "obj" || start.starts_with("solid"))
    throw InputError("a body needs a volume mesh (this is a surface)",
                     "fill it with tetrahedra first: gmsh can merge an STL, make a volume of it and mesh it in 3D",
                     place);
  throw InputError("the mesh format is not known (it starts with " + quoted(start.substr(0, 20)) + ")",
                   "use gmsh .msh (2.2 or 4.1), .vtu or legacy .vtk; meshio convert in.ext out.vtu makes one", place);
}

Surface parse_surface(std::string_view bytes, const std::string& name) {
  const std::string_view start = without_leading_space(bytes);
  const Place place{name, 0, 0, ""};
  if (start.empty()) throw InputError("the surface file is empty", "export it again", place);
  if (ending(name) == "obj") return parse_obj(bytes, name);
  std::uint32_t triangles = 0;
  if (bytes.size() >= 84) std::memcpy(&triangles, bytes.data() + 80, 4);
  const bool binary = bytes.size() >= 84 && bytes.size() == 84 + 50 * std::size_t{triangles};
  if (binary || start.starts_with("solid")) return parse_stl(bytes, name);
  if (looks_like_obj(start, name)) return parse_obj(bytes, name);
  if (bytes.size() >= 84 && (ending(name) == "stl" || bytes.size() > 84 + 50 * std::size_t{triangles}))
    return parse_stl(bytes, name);
  throw InputError("the surface format is not known (it starts with " + quoted(start.substr(0, 20)) + ")",
                   "use STL or OBJ; meshio convert in.ext out.stl makes one", place);
}

Mesh read_mesh(const std::string& path) {
  return parse_mesh(read_bytes(path, "mesh"), path);
}

Surface read_surface(const std::string& path) {
  return parse_surface(read_bytes(path, "surface"), path);
}

}  // namespace supple
