// Public meshes kept beside the source tree; skipped where they are absent.
#include <gtest/gtest.h>

#include <fstream>
#include <numbers>
#include <sstream>

#include "engine/mesh/check.hpp"
#include "engine/mesh/embedding.hpp"
#include "engine/mesh/select.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

const std::string peer = SUPPLE_SOURCE_DIR "/../shared/peer/";

bool absent() {
  return !std::filesystem::exists(peer);
}

#define SKIP_IF_ABSENT() \
  if (absent()) GTEST_SKIP() << "no " << peer

// Rotated by 90 degrees about x, then lifted by 35 mm: as the reference data were made. Millimetres.
Mesh diamond() {
  Mesh mesh = read_mesh(peer + "diamond/diamond_4k_tet.vtu");
  transform_mesh(mesh, 1, {{{std::numbers::pi / 2, 0, 0}}, {{0, 0, 35}}, 1});
  return mesh;
}

TEST(SharedMeshes, HaveTheirKnownSizes) {
  SKIP_IF_ABSENT();
  struct Case {
    const char* file;
    int nodes, tetrahedra;
  };
  for (const auto& [file, nodes, tetrahedra] :
       {Case{"diamond/diamond_4k_tet.vtu", 1628, 4147}, Case{"diamond/diamond_34k_tet.vtu", 8646, 33719},
        Case{"diamond/diamond_70k_tet.vtu", 15553, 70334}, Case{"multigait/full_quadriped_SMALL.vtk", 2509, 8222}}) {
    Mesh mesh = read_mesh(peer + file);
    EXPECT_EQ(mesh.nodes.size(), static_cast<std::size_t>(nodes)) << file;
    const MeshReport report = check_mesh(mesh);
    EXPECT_EQ(report.tetrahedra, tetrahedra) << file;
    EXPECT_EQ(report.flipped, 0) << file;
    EXPECT_GT(report.min_quality, 0) << file;
  }
}

TEST(SharedMeshes, DiamondHasItsKnownVolumeAndClampedNodes) {
  SKIP_IF_ABSENT();
  Mesh mesh = diamond();
  const MeshReport report = check_mesh(mesh);
  EXPECT_NEAR(report.volume / 392356.66557388287, 1, 1e-6);
  EXPECT_NEAR(report.lower[2], -36.956, 1e-4);
  EXPECT_NEAR(report.upper[2], 125.7377, 1e-4);
  EXPECT_EQ(nodes_in_box(mesh, {{-15, -15, -40}}, {{15, 15, 10}}).size(), 58u);
}

// The numbers after "key": in a piece of JSON.
std::vector<double> numbers_of(const std::string& json, std::size_t from, const std::string& key) {
  std::size_t at = json.find("\"" + key + "\"", from);
  at = json.find(':', at) + 1;
  std::string list = json.substr(at, json.find_first_of("]}", at) - at);
  if (list.find('[') == std::string::npos) list = list.substr(0, list.find(','));
  for (char& c : list)
    if (c == '[' || c == ',') c = ' ';
  std::istringstream in(list);
  std::vector<double> numbers;
  for (double x; in >> x;) numbers.push_back(x);
  return numbers;
}

// Where the reference says a point is inside, the located element must give its weights. Points outside may be tied to
// another element by its rule; in the reference's element they must get the reference's weights, and ours may not be
// further away.
TEST(SharedMeshes, CablePointsHaveTheReferenceWeights) {
  SKIP_IF_ABSENT();
  std::ifstream file(peer + "reference/diamond_cable_barycentric.json");
  const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Mesh mesh = diamond();
  const Embedding embedding(mesh);
  const std::size_t case_4k = json.find("\"4k\"");
  ASSERT_NE(case_4k, std::string::npos);
  for (const char* cable : {"north", "west", "south", "east"}) {
    const std::size_t from = json.find(std::string("\"") + cable + "\"", case_4k);
    ASSERT_NE(from, std::string::npos);
    const auto p = numbers_of(json, from, "point"), nodes = numbers_of(json, from, "nodes"),
               weights = numbers_of(json, from, "weights");
    const auto element = numbers_of(json, from, "tet");
    ASSERT_TRUE(p.size() == 3 && nodes.size() == 4 && weights.size() == 4 && element.size() == 1);
    const Vec3d x{{p[0], p[1], p[2]}};
    const EmbeddedPoint theirs = embedding.in_element(static_cast<int>(element[0]), x), ours = embedding.locate(x);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(theirs.nodes[k], static_cast<int>(nodes[k]));
      EXPECT_NEAR(theirs.weights[k], weights[k], 1e-5) << cable;
    }
    const bool inside =
        json.compare(json.find_first_not_of(" ", json.find(':', json.find("\"inside\"", from)) + 1), 4, "true") == 0;
    EXPECT_EQ(ours.inside, inside) << cable;
    for (std::size_t k = 0; inside && k < 4; ++k) EXPECT_NEAR(ours.weights[k], weights[k], 1e-5) << cable;
    EXPECT_NEAR(norm(embedded_position(ours, mesh.nodes) - x), 0, 1e-10);
    EXPECT_LT(ours.distance, 3) << cable;
  }
}

TEST(SharedMeshes, SurfacesAreRead) {
  SKIP_IF_ABSENT();
  for (const char* file : {"diamond/surface.stl", "multigait/quadriped_collision.stl",
                           "multigait/quadriped_Center-cavityREMESHEDlighter.stl"}) {
    const Surface surface = read_surface(peer + file);
    EXPECT_GT(surface.triangles.size(), 100u);
    EXPECT_LT(surface.nodes.size(), surface.triangles.size());
  }
}

}  // namespace
}  // namespace supple::test
