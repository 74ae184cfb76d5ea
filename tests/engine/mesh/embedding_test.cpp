#include "engine/mesh/embedding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "engine/mesh/generate.hpp"
#include "engine/mesh/geometry.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple::test {
namespace {

double weight_sum(const EmbeddedPoint& point) {
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(point.node_count); ++k) sum += point.weights[k];
  return sum;
}

// A box with its nodes shaken, so that no symmetry helps.
Mesh shaken_box(bool hexahedra) {
  Mesh mesh =
      hexahedra ? box_hexahedra({{0, 0, 0}}, {{1, 1, 1}}, 5, 5, 5) : box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 5, 5, 5);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> shake(-0.03, 0.03);
  for (Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) x[k] += shake(random);
  return mesh;
}

TEST(Embedding, ReproducesPointsInsideAndOutside) {
  for (const bool hexahedra : {false, true}) {
    const Mesh mesh = shaken_box(hexahedra);
    const Embedding embedding(mesh);
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> coordinate(-0.5, 1.5);
    int inside = 0;
    for (int i = 0; i < 500; ++i) {
      const Vec3d x{{coordinate(random), coordinate(random), coordinate(random)}};
      const EmbeddedPoint point = embedding.locate(x);
      EXPECT_NEAR(norm(embedded_position(point, mesh.nodes) - x), 0, 1e-12);
      EXPECT_NEAR(weight_sum(point), 1, 1e-12);
      EXPECT_EQ(point.node_count, hexahedra ? 8 : 4);
      EXPECT_EQ(point.inside, point.distance == 0);
      inside += point.inside ? 1 : 0;
    }
    EXPECT_GT(inside, 30);
    EXPECT_LT(inside, 120);
  }
}

// Distances of a pass over all elements, with the distance to a tetrahedron's closest point found by its faces.
TEST(Embedding, FindsTheNearestTetrahedron) {
  const Mesh mesh = shaken_box(false);
  const Embedding embedding(mesh);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> coordinate(-1, 2);
  for (int i = 0; i < 200; ++i) {
    const Vec3d x{{coordinate(random), coordinate(random), coordinate(random)}};
    const EmbeddedPoint point = embedding.locate(x);
    double least = std::numeric_limits<double>::infinity();
    for (const Face& face : all_faces(mesh)) {
      const auto at = [&](std::size_t k) { return mesh.nodes[static_cast<std::size_t>(face.nodes[k])]; };
      least = std::min(least, distance_to_triangle(x, at(0), at(1), at(2)));
    }
    EXPECT_NEAR(point.distance, point.inside ? 0 : least, 1e-12);
  }
}

// Weights say where on the triangle the point is, and no random point of the triangle is nearer.
TEST(Triangle, NearestPointIsNearest) {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> coordinate(-1, 1), weight(0, 1);
  std::array<int, 3> zeros{};
  for (int i = 0; i < 300; ++i) {
    const auto draw = [&] { return Vec3d{{coordinate(random), coordinate(random), coordinate(random)}}; };
    const Vec3d a = draw(), b = draw(), c = draw(), x = draw();
    const TrianglePoint found = nearest_on_triangle(x, a, b, c);
    const Vec3d& w = found.weights;
    EXPECT_NEAR(norm(w[0] * a + w[1] * b + w[2] * c - found.point), 0, 1e-14);
    ++zeros[static_cast<std::size_t>((w[0] == 0) + (w[1] == 0) + (w[2] == 0))];
    for (int k = 0; k < 100; ++k) {
      const double u = weight(random), v = weight(random) * (1 - u);
      EXPECT_GE(norm(x - (a + u * (b - a) + v * (c - a))), norm(x - found.point) - 1e-14);
    }
    // So far away that all corners seem equally near.
    const double far = norm(nearest_on_triangle(1e25 * x, a, b, c).point);
    EXPECT_LE(far, std::max({norm(a), norm(b), norm(c)}) + 1e-12);
  }
  for (const int count : zeros) EXPECT_GT(count, 20);
}

TEST(Embedding, TakesTheLowestIndexAmongEquals) {
  const Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 3, 3, 3);
  const Embedding embedding(mesh);
  EXPECT_EQ(embedding.locate({{-1, -1, -1}}).element, 0);  // all six tetrahedra of the corner touch its node
  EXPECT_EQ(embedding.locate({{0, 0, 0}}).element, 0);
  EXPECT_NEAR(embedding.locate({{-1, 0, 0}}).distance, 1, 1e-15);
  const EmbeddedPoint node = embedding.locate(mesh.nodes[21]);
  EXPECT_TRUE(node.inside);
  EXPECT_NEAR(*std::max_element(node.weights.begin(), node.weights.end()), 1, 1e-12);
}

TEST(Embedding, InvertsTheTrilinearMap) {
  const Mesh mesh = shaken_box(true);
  const Embedding embedding(mesh);
  const Vec3d xi{{0.3, -0.7, 0.2}};
  const auto N = trilinear_shape(xi);
  const auto& h = mesh.hexahedra[62];
  Vec3d x{{0, 0, 0}};
  for (std::size_t k = 0; k < 8; ++k) x = x + N[k] * mesh.nodes[static_cast<std::size_t>(h[k])];
  const EmbeddedPoint point = embedding.locate(x);
  EXPECT_EQ(point.element, 62);
  EXPECT_TRUE(point.inside);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(point.weights[k], N[k], 1e-12);
}

// By differences of the weights, inside; and they are those of a field that is x itself, also outside.
TEST(Embedding, GradientsAreThoseOfTheWeights) {
  for (const bool hexahedra : {false, true}) {
    const Mesh mesh = shaken_box(hexahedra);
    const Embedding embedding(mesh);
    for (const Vec3d& x : {Vec3d{{0.31, 0.47, 0.62}}, Vec3d{{0.52, 0.11, 0.83}}, Vec3d{{1.2, 0.4, 0.6}}}) {
      const EmbeddedPoint point = embedding.locate(x);
      const auto gradients = embedding.gradients(point.element, x);
      Mat3d identity = Mat3d::zero();
      for (std::size_t a = 0; a < static_cast<std::size_t>(point.node_count); ++a)
        identity = identity + outer(mesh.nodes[static_cast<std::size_t>(point.nodes[a])], gradients[a]);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) EXPECT_NEAR(identity(i, j), i == j ? 1 : 0, 1e-12);
      if (!point.inside) continue;
      for (int k = 0; k < 3; ++k) {
        const double e = 1e-6;
        Vec3d ahead = x, behind = x;
        ahead[k] += e;
        behind[k] -= e;
        const EmbeddedPoint one = embedding.in_element(point.element, ahead),
                            other = embedding.in_element(point.element, behind);
        for (std::size_t a = 0; a < static_cast<std::size_t>(point.node_count); ++a)
          EXPECT_NEAR((one.weights[a] - other.weights[a]) / (2 * e), gradients[a][k], 1e-8);
      }
    }
  }
}

TEST(Embedding, RefusesUselessInput) {
  const Mesh mesh = shaken_box(false), empty;
  const Embedding embedding(mesh);
  expect_input_error([&] { embedding.locate({{0, std::nan(""), 0}}); }, 0, "not finite");
  expect_input_error([&] { Embedding{empty}; }, 0, "without elements");
}

TEST(Embedding, IsQuickOnALargeMesh) {
  const Mesh mesh = box_tetrahedra({{0, 0, 0}}, {{1, 1, 1}}, 23, 23, 22);  // 69,828 tetrahedra
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> coordinate(-0.2, 1.2);
  std::vector<Vec3d> points(1000);
  for (Vec3d& x : points) x = {{coordinate(random), coordinate(random), coordinate(random)}};
  const auto start = std::chrono::steady_clock::now();
  const Embedding embedding(mesh);
  const auto found = embedding.locate_all(points);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 5) << "0.1 s in a release build on an idle core; the bound leaves room for sanitizers";
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_NEAR(norm(embedded_position(found[i], mesh.nodes) - points[i]), 0, 1e-12);
}

}  // namespace
}  // namespace supple::test
