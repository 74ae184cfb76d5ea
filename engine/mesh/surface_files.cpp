// STL and Wavefront OBJ.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "engine/mesh/cells.hpp"

namespace supple {
namespace {

struct NodeHash {
  std::size_t operator()(const Vec3d& x) const {
    std::uint64_t hash = 0;
    for (int k = 0; k < 3; ++k) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(x[k])) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

// Gives equal coordinates the same node.
class NodeMerger {
 public:
  explicit NodeMerger(std::vector<Vec3d>& nodes) : nodes_(nodes) {}
  int add(Vec3d x) {
    for (int k = 0; k < 3; ++k) x[k] += 0.0;  // -0 becomes 0
    const auto [at, inserted] = index_.emplace(x, static_cast<int>(nodes_.size()));
    if (inserted) nodes_.push_back(x);
    return at->second;
  }

 private:
  std::vector<Vec3d>& nodes_;
  std::unordered_map<Vec3d, int, NodeHash> index_;
};

void add_triangle(Surface& surface, int a, int b, int c, int& degenerate) {
  if (a == b || b == c || c == a)
    ++degenerate;
  else
    surface.triangles.push_back({a, b, c});
}

Surface finish(Surface surface, int degenerate) {
  if (degenerate > 0)
    surface.notes.push_back("left out " + std::to_string(degenerate) + (degenerate == 1 ? " triangle" : " triangles") +
                            " with two equal corners");
  if (surface.triangles.empty())
    throw InputError("the surface has no triangles", "export it again as STL or OBJ", {surface.name, 0, 0, ""});
  return surface;
}

Surface parse_binary_stl(std::string_view bytes, const std::string& name) {
  Scanner in(bytes, name, 80);
  in.set_text(false);
  constexpr bool swap = std::endian::native == std::endian::big;
  const auto announced = in.binary<std::uint32_t>(swap, "the number of triangles");
  const int n = in.checked_count(announced, "the number of triangles", 50);
  Surface surface;
  surface.name = name;
  NodeMerger merger(surface.nodes);
  int degenerate = 0;
  for (int t = 0; t < n; ++t) {
    in.take(12, "a normal");
    int corners[3];
    for (int& corner : corners) {
      Vec3d x;
      for (int k = 0; k < 3; ++k) x[k] = in.binary<float>(swap, "a corner");
      if (!std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]))
        in.fail("triangle " + std::to_string(t) + " has a coordinate that is not a finite number",
                "export the surface again");
      corner = merger.add(x);
    }
    in.take(2, "the attributes of a triangle");
    add_triangle(surface, corners[0], corners[1], corners[2], degenerate);
  }
  return finish(std::move(surface), degenerate);
}

Surface parse_text_stl(std::string_view bytes, const std::string& name) {
  Scanner in(bytes, name, bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  Surface surface;
  surface.name = name;
  NodeMerger merger(surface.nodes);
  int degenerate = 0;
  const auto expect = [&](const char* word) {
    if (const auto found = in.word(word); found != word)
      in.fail(std::string("expected ") + word + ", found " + quoted(found), "export the surface again, as binary STL");
  };
  while (!in.at_end()) {
    expect("solid");
    // The name is the rest of the line, and may be empty.
    in.line();
    while (in.peek() == "facet") {
      expect("facet"), expect("normal");
      for (int k = 0; k < 3; ++k) in.word("a normal");  // not used, and nan in some files
      expect("outer"), expect("loop");
      int corners[3];
      for (int& corner : corners) {
        expect("vertex");
        const Vec3d x{{in.real("a coordinate"), in.real("a coordinate"), in.real("a coordinate")}};
        corner = merger.add(x);
      }
      expect("endloop"), expect("endfacet");
      add_triangle(surface, corners[0], corners[1], corners[2], degenerate);
    }
    expect("endsolid");
    in.line();
  }
  return finish(std::move(surface), degenerate);
}

}  // namespace

Surface parse_stl(std::string_view bytes, const std::string& name) {
  std::uint32_t triangles = 0;
  if (bytes.size() >= 84) std::memcpy(&triangles, bytes.data() + 80, 4);
  const bool exact = bytes.size() >= 84 && bytes.size() == 84 + 50 * std::size_t{triangles};
  const std::size_t start = std::min(bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF"), bytes.size());
  return !exact && bytes.substr(start).starts_with("solid") ? parse_text_stl(bytes, name)
                                                            : parse_binary_stl(bytes, name);
}

Surface parse_obj(std::string_view bytes, const std::string& name) {
  Scanner in(bytes, name);
  Surface surface;
  surface.name = name;
  int degenerate = 0;
  std::vector<int> corners;
  while (!in.at_end()) {
    const std::size_t start = in.position();
    const std::string_view text = in.line();
    Scanner line(bytes, name, start, start + text.size());
    const std::string_view keyword = line.word("a keyword");
    if (keyword == "v") {
      const Vec3d x{{line.real("a coordinate"), line.real("a coordinate"), line.real("a coordinate")}};
      surface.nodes.push_back(x);
    } else if (keyword == "f") {
      corners.clear();
      while (!line.at_end()) {
        const std::string_view corner = line.word("a corner");
        if (corner.front() == '#') break;
        // v, v/vt, v//vn or v/vt/vn; negative numbers count back from the last vertex.
        Scanner number(bytes, name, line.position() - corner.size(),
                       line.position() - corner.size() + std::min(corner.find('/'), corner.size()));
        const std::int64_t index = number.integer("the number of a vertex");
        const auto n = static_cast<std::int64_t>(surface.nodes.size());
        if (index == 0 || index > n || index < -n)
          number.fail("a face uses vertex " + std::to_string(index) + " (" + std::to_string(n) +
                          " vertices so far, numbered from 1)",
                      "export the surface again");
        corners.push_back(static_cast<int>(index > 0 ? index - 1 : n + index));
      }
      if (corners.size() < 3) line.fail("a face has fewer than three corners", "remove it or export the surface again");
      for (std::size_t k = 2; k < corners.size(); ++k)
        add_triangle(surface, corners[0], corners[k - 1], corners[k], degenerate);
    }
    // Everything else (normals, texture, names, materials, lines) has no bearing on the shape.
  }
  return finish(std::move(surface), degenerate);
}

}  // namespace supple
