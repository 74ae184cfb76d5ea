// Who may include whom: kernels <- solvers <- engine <- viewer, and what stays out of device-visible headers. The rules
// are plain functions of a source's text, so each is also tried on a text that breaks it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/layering/source_tree.hpp"

namespace supple::layering {
namespace {

using Violations = std::vector<std::string>;

std::string at(const SourceText& source, int line, const std::string& what) {
  return source.path + ":" + std::to_string(line) + ": " + what;
}

std::string quoted(const std::string& text) {
  std::string out(1, '\'');
  return out.append(text).append(1, '\'');
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}
bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Folders that a folder may include from, beside itself; the longest matching key holds. A folder that is not listed
// follows its layer. The engine's scene and mesh link no solver, so their fuzzers do not either.
const std::map<std::string, std::vector<std::string>> allowed = {
    {"kernels", {"kernels"}},
    {"kernels/base", {}},
    {"solvers", {"kernels", "solvers"}},
    {"engine", {"kernels", "solvers", "engine"}},
    {"engine/mesh", {"kernels"}},
    {"engine/scene", {"kernels", "engine/mesh"}},
    {"viewer", {"kernels", "solvers", "engine", "viewer"}},
    {"viewer/draw", {"kernels", "solvers", "engine"}},
};
// What nothing but itself includes, and those above it.
const std::map<std::string, std::vector<std::string>> tops = {
    {"engine/run", {"engine/run", "engine/cli", "viewer"}},
    {"engine/cli", {"engine/cli", "engine/mpi", "viewer/app"}},
    {"viewer/app", {"viewer/app"}}};

bool is_inside(const std::string& path, const std::string& folder) {
  return starts_with(path, folder + "/");
}

Violations include_direction(const SourceText& source) {
  Violations found;
  const std::string here = allowed.count(folder(source.path, 2)) ? folder(source.path, 2) : folder(source.path, 1);
  const auto rule = allowed.find(here);
  if (rule == allowed.end()) return {source.path + ": no layering rule for this folder"};
  for (const Include& include : source.includes) {
    const std::string& target = include.target;
    const bool ours = include.quoted;
    if (ours && target.find('/') == std::string::npos)
      found.push_back(at(source, include.line, quoted(target) + " is no path from the root"));
    if (!ours) continue;
    bool fine = is_inside(target, here);
    for (const std::string& from : rule->second) fine = fine || is_inside(target, from);
    for (const auto& [top, users] : tops) {
      if (!is_inside(target, top)) continue;
      fine = fine &&
             std::any_of(users.begin(), users.end(), [&](const auto& user) { return is_inside(source.path, user); });
    }
    if (!fine) found.push_back(at(source, include.line, here + " may not include " + quoted(target)));
  }
  return found;
}

bool is_device_visible(const std::string& path) {
  static const std::vector<std::string> folders = {"kernels/math", "kernels/materials", "kernels/points",
                                                   "kernels/dense"};
  if (!ends_with(path, ".hpp") && !ends_with(path, ".cuh")) return false;
  for (const std::string& folder : folders)
    if (is_inside(path, folder)) return true;
  return false;
}

// Device-visible headers: the C library's mathematics, sizes and limits, and other such headers; no exceptions, no
// virtual functions, no allocation.
Violations device_headers(const SourceText& source) {
  static const std::set<std::string> standard = {"cmath",  "cstddef",     "cstdint", "cstring", "limits",
                                                 "cfloat", "type_traits", "utility", "array",   "immintrin.h"};
  Violations found;
  if (!is_device_visible(source.path)) return found;
  for (const Include& include : source.includes) {
    const bool ours =
        include.quoted && (is_device_visible(include.target) || include.target == "kernels/base/macros.hpp" ||
                           include.target == "kernels/base/team.hpp" || include.target == "kernels/base/contract.hpp");
    if (!ours && !(standard.count(include.target) && !include.quoted))
      found.push_back(at(source, include.line, quoted(include.target) + " in a device-visible header"));
  }
  static const std::regex word(
      R"(\b(?:(?:throw|try|catch|virtual|new|malloc|dynamic_cast)\b|(?:thrust|Eigen|spdlog|fmt)::|std::(?:vector|string|cout|cerr)\b))");
  std::istringstream lines(source.code);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, word))
      found.push_back(at(source, number, quoted(match[0].str()) + " in a device-visible header"));
  }
  return found;
}

bool is_cuda_header(const std::string& target) {
  static const std::regex header(
      R"(^(cuda|cublas|cusolver|cusparse|cudss|curand|cooperative_groups|device_launch|vector_types|nvtx|thrust/|cub/|nv/))");
  return std::regex_search(target, header);
}

// CUDA's headers: device files, the emulated GPU, and in the solvers the wrappers that say so in their name.
Violations cuda_headers(const SourceText& source) {
  Violations found;
  const std::string name = source.path.substr(source.path.find_last_of('/') + 1);
  const bool wrapper =
      starts_with(source.path, "solvers/") && name.find("cuda") != std::string::npos && ends_with(name, ".cpp");
  // Thrust's CPP and OpenMP back ends serve the host side of the primitives.
  const bool primitives = starts_with(source.path, "kernels/") && name == "primitives.cpp";
  if (ends_with(name, ".cu") || ends_with(name, ".cuh") || is_inside(source.path, "kernels/cuda") ||
      is_inside(source.path, "kernels/emulation") || wrapper)
    return found;
  for (const Include& include : source.includes) {
    const bool device_file = ends_with(include.target, ".cuh") || ends_with(include.target, ".cu");
    const bool fine = primitives && starts_with(include.target, "thrust/");
    if (device_file || (!include.quoted && is_cuda_header(include.target) && !fine))
      found.push_back(at(source, include.line, "CUDA header " + quoted(include.target)));
  }
  return found;
}

// What is drawn knows no graphics library, no window and no widgets: it is tested without them.
Violations graphics_headers(const SourceText& source) {
  static const std::regex header(
      R"(^(epoxy|GL|GLES\d?|EGL|GLFW|imgui|backends|X11)/|^(imgui|implot|glfw|glad|glew)\w*\.h)");
  Violations found;
  if (is_inside(source.path, "viewer") && !is_inside(source.path, "viewer/draw")) return found;
  for (const Include& include : source.includes)
    if (std::regex_search(include.target, header))
      found.push_back(at(source, include.line, "graphics header " + quoted(include.target)));
  return found;
}

std::string list(const Violations& violations) {
  std::string text;
  for (const std::string& violation : violations) text += "\n  " + violation;
  return text;
}

class Layering : public testing::Test {
 protected:
  static const std::vector<SourceText>& sources() {
    static const std::vector<SourceText> all =
        read_sources(SUPPLE_SOURCE_DIR, {"kernels", "solvers", "engine", "viewer"});
    return all;
  }
  template <class Rule>
  static Violations check(Rule rule) {
    Violations found;
    for (const SourceText& source : sources())
      for (const std::string& violation : rule(source)) found.push_back(violation);
    return found;
  }
};

TEST_F(Layering, ReadsTheTree) {
  EXPECT_GT(sources().size(), 50u);
}

TEST_F(Layering, IncludesPointDownwards) {
  const Violations found = check(include_direction);
  EXPECT_TRUE(found.empty()) << list(found);
}

TEST_F(Layering, DeviceVisibleHeadersAreBare) {
  const Violations found = check(device_headers);
  EXPECT_TRUE(found.empty()) << list(found);
}

TEST_F(Layering, CudaHeadersStayInDeviceFiles) {
  const Violations found = check(cuda_headers);
  EXPECT_TRUE(found.empty()) << list(found);
}

TEST_F(Layering, GraphicsHeadersStayInTheViewer) {
  const Violations found = check(graphics_headers);
  EXPECT_TRUE(found.empty()) << list(found);
}

// The rules see what they forbid.
int count(Violations (*rule)(const SourceText&), const std::string& path, const std::string& text) {
  return static_cast<int>(rule(parse_source(path, text)).size());
}

TEST(LayeringRules, Direction) {
  EXPECT_EQ(count(include_direction, "kernels/math/a.hpp", "#include \"kernels/base/macros.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "kernels/math/a.hpp", "#include \"solvers/pod/pod.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "kernels/base/a.hpp", "#include \"kernels/math/small.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "solvers/pod/a.cpp", "#include \"engine/mesh/mesh.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/scene/a.cpp", "#include \"engine/mesh/mesh.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/mesh/a.cpp", "#include \"engine/scene/scene.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/scene/a.cpp", "#include \"solvers/pod/pod.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"engine/cli/verbs.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/cli/a.cpp", "#include \"engine/cli/verbs.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/run/a.cpp", "#include \"engine/dynamics/step.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/run/a.cpp", "#include \"engine/cli/options.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/run/a.cpp", "#include \"viewer/play/player.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/inverse/a.cpp", "#include \"engine/run/drive.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/play/a.cpp", "#include \"engine/run/drive.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"viewer/app/main.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/cli/a.cpp", "#include \"viewer/draw/camera.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"engine/mesh/mesh.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/draw/camera.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/gl/renderer.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/play/player.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/app/window.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"engine/cli/verbs.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/play/a.cpp", "#include \"viewer/draw/series.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"tests/engine/peer.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"bench/bench.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"full_model.hpp\"\n"), 2);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "// #include \"viewer/app/main.hpp\"\n"), 0);
}

TEST(LayeringRules, DeviceHeaders) {
  const std::string path = "kernels/points/a.hpp";
  EXPECT_EQ(count(device_headers, path, "#include <cmath>\n#include \"kernels/math/small.hpp\"\nint renewed;\n"), 0);
  EXPECT_EQ(count(device_headers, path, "#include <Eigen/Dense>\n"), 1);
  EXPECT_EQ(count(device_headers, path, "#include <iostream>\n"), 1);
  EXPECT_EQ(count(device_headers, path, "#include \"kernels/base/error.hpp\"\n"), 1);
  EXPECT_EQ(count(device_headers, path, "void f() { throw 1; }\n"), 1);
  EXPECT_EQ(count(device_headers, path, "// never throws: throw\n/* try\n catch */ const char* s = \"virtual\";\n"), 0);
  EXPECT_EQ(count(device_headers, "kernels/base/a.hpp", "#include <string>\n"), 0);
}

TEST(LayeringRules, CudaHeaders) {
  EXPECT_EQ(count(cuda_headers, "engine/model/a.cpp", "#include <cuda_runtime.h>\n"), 1);
  EXPECT_EQ(count(cuda_headers, "kernels/points/a.hpp", "#include <thrust/sort.h>\n"), 1);
  EXPECT_EQ(count(cuda_headers, "engine/model/a.cpp", "#include \"kernels/cuda/launch.cuh\"\n"), 1);
  EXPECT_EQ(count(cuda_headers, "kernels/array/device.cpp", "#include <cuda_runtime_api.h>\n"), 1);
  EXPECT_EQ(count(cuda_headers, "kernels/emulation/a.cpp", "#include <cuda_runtime_api.h>\n"), 0);
  EXPECT_EQ(count(cuda_headers, "kernels/cuda/a.cu", "#include <cuda_runtime.h>\n"), 0);
  EXPECT_EQ(count(cuda_headers, "solvers/dense/cholesky_cuda.cpp", "#include <cusolverDn.h>\n"), 0);
  EXPECT_EQ(count(cuda_headers, "solvers/dense/cholesky.cpp", "#include <cusolverDn.h>\n"), 1);
}

TEST(LayeringRules, GraphicsHeaders) {
  for (const char* target :
       {"<epoxy/gl.h>", "<GLFW/glfw3.h>", "<imgui.h>", "\"imgui_impl_opengl3.h\"", "<EGL/egl.h>"}) {
    const std::string text = std::string("#include ") + target + "\n";
    EXPECT_EQ(count(graphics_headers, "viewer/draw/a.cpp", text), 1) << target;
    EXPECT_EQ(count(graphics_headers, "engine/cli/a.cpp", text), 1) << target;
    EXPECT_EQ(count(graphics_headers, "viewer/gl/a.cpp", text), 0) << target;
    EXPECT_EQ(count(graphics_headers, "viewer/app/a.cpp", text), 0) << target;
  }
  EXPECT_EQ(count(graphics_headers, "viewer/draw/a.cpp", "#include \"viewer/draw/gizmo.hpp\"\n"), 0);
}

}  // namespace
}  // namespace supple::layering
