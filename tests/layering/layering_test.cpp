// Who may include whom: kernels <- solvers <- engine <- viewer and python, and what stays out of device-visible headers. The rules
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

// What each folder may include beside itself: no other folder exists, so none is without a rule, and the list of who
// stands below whom has no cycle. A folder stands for those below it as long as they are not listed themselves.
const std::map<std::string, std::vector<std::string>> allowed = {
    {"kernels/base", {}},
    {"kernels/math", {"kernels/base"}},
    {"kernels/array", {"kernels/base"}},
    {"kernels/materials", {"kernels/math"}},
    {"kernels/dense", {"kernels/base"}},
    {"kernels/fronts", {"kernels/math"}},
    {"kernels/elements", {"kernels/base", "kernels/math", "kernels/materials", "kernels/dense"}},
    {"kernels/step", {"kernels/base", "kernels/array", "kernels/math", "kernels/dense", "kernels/elements"}},
    {"kernels/contact", {"kernels/base", "kernels/math", "kernels/dense", "kernels/step"}},
    {"kernels/cuda",
     {"kernels/base", "kernels/math", "kernels/array", "kernels/materials", "kernels/dense", "kernels/fronts",
      "kernels/elements", "kernels/step", "kernels/contact"}},
    {"kernels/emulation", {}},
    {"solvers/dense", {"kernels"}},
    {"solvers/sparse", {"kernels"}},
    {"solvers/pod", {"kernels", "solvers/dense"}},
    {"solvers/cubature", {"kernels", "solvers/dense"}},
    {"solvers/complementarity", {"kernels", "solvers/dense"}},
    {"solvers/contact", {"kernels", "solvers/dense"}},
    {"solvers/qp", {"kernels", "solvers/dense"}},
    {"solvers/qpcc", {"kernels", "solvers/dense", "solvers/contact", "solvers/qp"}},
    // Neither mesh nor scene links a solver, so their fuzzers do not either.
    {"engine/mesh", {"kernels"}},
    {"engine/scene", {"kernels", "engine/mesh"}},
    {"engine/obstacles", {"kernels", "engine/mesh"}},
    {"engine/collision", {"kernels", "engine/mesh"}},
    {"engine/model", {"kernels", "solvers", "engine/mesh", "engine/scene", "engine/obstacles", "engine/collision"}},
    {"engine/commands", {"kernels", "engine/scene", "engine/model"}},
    {"engine/io", {"kernels", "solvers", "engine/scene", "engine/model"}},
    {"engine/mechanics", {"kernels", "solvers", "engine/model"}},
    {"engine/mechanics/full", {"kernels", "solvers", "engine/model", "engine/mechanics"}},
    {"engine/mechanics/reduced", {"kernels", "solvers", "engine/model", "engine/mechanics"}},
    {"engine/mechanics/assembly",
     {"kernels", "solvers", "engine/mesh", "engine/scene", "engine/collision", "engine/model", "engine/io",
      "engine/mechanics", "engine/mechanics/full", "engine/mechanics/reduced"}},
    {"engine/step",
     {"kernels", "solvers", "engine/collision", "engine/model", "engine/mechanics", "engine/mechanics/reduced"}},
    {"engine/reduction/snapshots",
     {"kernels", "solvers", "engine/scene", "engine/model", "engine/commands", "engine/io", "engine/mechanics",
      "engine/mechanics/full", "engine/step"}},
    {"engine/reduction/basis",
     {"kernels", "solvers", "engine/mesh", "engine/model", "engine/mechanics", "engine/mechanics/full",
      "engine/mechanics/reduced", "engine/reduction/snapshots"}},
    {"engine/reduction/elements", {"kernels", "solvers", "engine/model", "engine/reduction/basis"}},
    {"engine/reduction",
     {"kernels", "solvers", "engine/scene", "engine/model", "engine/commands", "engine/io", "engine/mechanics/full",
      "engine/mechanics/reduced", "engine/mechanics/assembly", "engine/step", "engine/collision",
      "engine/reduction/snapshots", "engine/reduction/basis", "engine/reduction/elements"}},
    {"engine/inverse", {"kernels", "solvers", "engine/scene", "engine/model", "engine/step"}},
    {"engine/derivative",
     {"kernels", "solvers", "engine/model", "engine/mechanics", "engine/mechanics/reduced", "engine/step"}},
    {"engine/control",
     {"kernels", "solvers", "engine/model", "engine/mechanics", "engine/mechanics/reduced", "engine/step",
      "engine/derivative"}},
    {"engine/error", {"kernels", "engine/model", "engine/mechanics/reduced", "engine/step"}},
    {"engine/sofa",
     {"kernels", "solvers", "engine/mesh", "engine/scene", "engine/model", "engine/reduction/basis",
      "engine/reduction/snapshots"}},
    {"engine/measure",
     {"kernels", "solvers", "engine/mesh", "engine/scene", "engine/model", "engine/mechanics/full",
      "engine/mechanics/reduced", "engine/step", "engine/reduction", "engine/inverse"}},
    {"engine/run",
     {"kernels", "engine/mesh", "engine/scene", "engine/collision", "engine/model", "engine/commands", "engine/io",
      "engine/mechanics", "engine/mechanics/full", "engine/mechanics/reduced", "engine/mechanics/assembly",
      "engine/step", "engine/reduction/basis", "engine/inverse"}},
    {"engine/calibration",
     {"kernels", "solvers", "engine/scene", "engine/model", "engine/commands", "engine/mechanics",
      "engine/mechanics/full", "engine/step", "engine/run"}},
    {"engine/runtime", {"kernels", "engine/io", "engine/run"}},
    {"engine/cli/shell", {"kernels", "solvers", "engine/scene", "engine/io"}},
    {"engine/cli/reports",
     {"kernels", "solvers", "engine/mesh", "engine/scene", "engine/collision", "engine/model", "engine/commands",
      "engine/io", "engine/mechanics/full", "engine/mechanics/reduced", "engine/mechanics/assembly", "engine/step",
      "engine/reduction", "engine/reduction/snapshots", "engine/sofa", "engine/measure", "engine/run",
      "engine/cli/shell"}},
    {"engine/cli/verbs",
     {"kernels",
      "solvers",
      "engine/mesh",
      "engine/scene",
      "engine/model",
      "engine/commands",
      "engine/io",
      "engine/mechanics/full",
      "engine/mechanics/reduced",
      "engine/mechanics/assembly",
      "engine/step",
      "engine/reduction",
      "engine/reduction/snapshots",
      "engine/reduction/basis",
      "engine/inverse",
      "engine/sofa",
      "engine/measure",
      "engine/calibration",
      "engine/error",
      "engine/collision",
      "engine/run",
      "engine/cli/shell",
      "engine/cli/reports"}},
    {"engine/cli", {"engine/cli/shell"}},
    {"engine/mpi", {"kernels", "engine/cli/shell"}},
    {"python/wheel", {}},
    {"python/src",
     {"kernels", "engine/mesh", "engine/scene", "engine/model", "engine/commands", "engine/io",
      "engine/mechanics/assembly", "engine/derivative", "engine/control", "engine/error", "engine/reduction",
      "engine/reduction/snapshots", "engine/inverse", "engine/run", "engine/cli/shell", "engine/cli/reports"}},
    {"viewer/draw", {"kernels", "solvers", "engine"}},
    {"viewer/gl", {"kernels", "engine", "viewer/draw"}},
    {"viewer/play", {"kernels", "solvers", "engine", "viewer/draw"}},
    {"viewer/app", {"kernels", "solvers", "engine", "engine/cli", "viewer/draw", "viewer/gl", "viewer/play"}},
};
// What "engine" stands for in the list: all that is a library; the command's verbs are none.
bool is_library(const std::string& path) {
  return path.rfind("engine/cli/", 0) != 0 && path.rfind("engine/mpi/", 0) != 0;
}

bool is_inside(const std::string& path, const std::string& folder) {
  return starts_with(path, folder + "/");
}

// The listed folder that a file belongs to; empty: none.
std::string listed(const std::string& path) {
  for (std::size_t end = path.find_last_of('/'); end != std::string::npos && end > 0;
       end = path.find_last_of('/', end - 1))
    if (allowed.count(path.substr(0, end)) > 0) return path.substr(0, end);
  return {};
}

// The files of the viewer that start its verbs; no other file of it includes the command line.
bool starts_verbs(const std::string& path) {
  return path == "viewer/app/main.cpp" || path.rfind("viewer/app/render.", 0) == 0;
}

bool may_include(const std::string& here, const std::string& target) {
  const std::string there = listed(target);
  if (there == here) return true;
  for (const std::string& from : allowed.at(here)) {
    if (from == there) return true;
    // A layer, or a program's folder that holds nothing of its own.
    const bool whole = from.find('/') == std::string::npos || from == "engine/cli";
    if (whole && is_inside(target, from) && (from != "engine" || is_library(target))) return true;
  }
  return false;
}

Violations include_direction(const SourceText& source) {
  Violations found;
  const std::string here = listed(source.path);
  if (here.empty()) return {source.path + ": no layering rule for this folder"};
  for (const Include& include : source.includes) {
    const std::string& target = include.target;
    if (!include.quoted) continue;
    if (target.find('/') == std::string::npos)
      found.push_back(at(source, include.line, quoted(target) + " is no path from the root"));
    if (!may_include(here, target) ||
        (here == "viewer/app" && is_inside(target, "engine/cli") && !starts_verbs(source.path)))
      found.push_back(at(source, include.line, here + " may not include " + quoted(target)));
  }
  return found;
}

bool is_device_visible(const std::string& path) {
  static const std::vector<std::string> folders = {"kernels/math",    "kernels/materials", "kernels/elements",
                                                   "kernels/contact", "kernels/step",      "kernels/dense",
                                                   "kernels/fronts"};
  if (!ends_with(path, ".hpp") && !ends_with(path, ".cuh")) return false;
  if (path == "kernels/array/view.hpp") return true;
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
        read_sources(SUPPLE_SOURCE_DIR, {"kernels", "solvers", "engine", "python", "viewer"});
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

TEST_F(Layering, NoFolderStandsAboveItself) {
  // Folders below each, by walking the list: a layer stands for all of its folders.
  std::map<std::string, std::set<std::string>> below;
  for (const auto& [here, from] : allowed)
    for (const auto& [there, _] : allowed)
      if (there != here && may_include(here, there + "/a.hpp")) below[here].insert(there);
  for (bool grown = true; grown;) {
    grown = false;
    for (auto& [here, folders] : below)
      for (const std::string& there : std::set<std::string>(folders))
        for (const std::string& further : below[there]) grown = folders.insert(further).second || grown;
  }
  for (const auto& [here, folders] : below) EXPECT_EQ(folders.count(here), 0u) << here;
}

TEST_F(Layering, EveryFolderIsListed) {
  std::set<std::string> used;
  for (const SourceText& source : sources()) used.insert(listed(source.path));
  for (const auto& [here, _] : allowed) EXPECT_EQ(used.count(here), 1u) << here << " holds no source";
}

TEST(LayeringRules, Direction) {
  EXPECT_EQ(count(include_direction, "kernels/math/a.hpp", "#include \"kernels/base/macros.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "kernels/math/a.hpp", "#include \"solvers/pod/pod.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "kernels/base/a.hpp", "#include \"kernels/math/small.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "solvers/pod/a.cpp", "#include \"engine/mesh/mesh.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/scene/a.cpp", "#include \"engine/mesh/mesh.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/mesh/a.cpp", "#include \"engine/scene/scene.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/scene/a.cpp", "#include \"solvers/pod/pod.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"engine/cli/verbs/session.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/cli/verbs/a.cpp", "#include \"engine/cli/verbs/session.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/run/a.cpp", "#include \"engine/step/step.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/run/a.cpp", "#include \"engine/cli/shell/options.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/run/a.cpp", "#include \"viewer/play/player.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/inverse/a.cpp", "#include \"engine/run/drive.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/play/a.cpp", "#include \"engine/run/drive.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"viewer/app/main.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/cli/verbs/a.cpp", "#include \"viewer/draw/camera.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"engine/mesh/mesh.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/draw/camera.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/gl/renderer.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/play/player.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"viewer/app/window.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/draw/a.cpp", "#include \"engine/cli/verbs/session.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "viewer/play/a.cpp", "#include \"viewer/draw/series.hpp\"\n"), 0);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"tests/engine/bodies/peer.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"bench/bench.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "#include \"full_model.hpp\"\n"), 2);
  EXPECT_EQ(count(include_direction, "engine/step/a.cpp", "#include \"engine/mechanics/full/full_mechanics.hpp\"\n"),
            1);
  EXPECT_EQ(count(include_direction, "engine/mechanics/a.cpp", "#include \"engine/step/step.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/cli/reports/a.cpp", "#include \"engine/cli/verbs/session.hpp\"\n"), 1);
  EXPECT_EQ(count(include_direction, "engine/cli/shell/a.cpp", "#include \"engine/cli/reports/table.hpp\"\n"), 1);
  for (const char* file : {"viewer/app/main.cpp", "viewer/app/render.cpp", "viewer/app/render.hpp"})
    EXPECT_EQ(count(include_direction, file, "#include \"engine/cli/verbs/view.hpp\"\n"), 0) << file;
  for (const char* file : {"viewer/app/a.cpp", "viewer/play/a.cpp", "viewer/draw/a.cpp", "viewer/gl/a.cpp"})
    EXPECT_EQ(count(include_direction, file, "#include \"engine/cli/shell/interrupt.hpp\"\n"), 1) << file;
  EXPECT_EQ(count(include_direction, "engine/new/a.cpp", ""), 1);
  EXPECT_EQ(count(include_direction, "engine/model/a.cpp", "// #include \"viewer/app/main.hpp\"\n"), 0);
}

TEST(LayeringRules, DeviceHeaders) {
  const std::string path = "kernels/elements/a.hpp";
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
  EXPECT_EQ(count(cuda_headers, "kernels/elements/a.hpp", "#include <thrust/sort.h>\n"), 1);
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
