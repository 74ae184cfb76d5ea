// The tree of moving boxes against loops over all of them.
#include "engine/collision/box_hierarchy.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/engine/collision/collision_scenes.hpp"

namespace supple {
namespace {

using collision_tests::Random;
using Pairs = std::set<std::pair<int, int>>;

std::vector<PaddedBox> random_boxes(Random& random, int n) {
  std::vector<PaddedBox> boxes;
  for (int i = 0; i < n; ++i) {
    const Vec3d x = random.point(1), y = x + random.point(0.1);
    BoundingBox box{x, x};
    extend(box, y);
    boxes.push_back(box);
  }
  return boxes;
}

TEST(BoxHierarchy, FindsWhatOverlaps) {
  Random random(1);
  for (const int n : {1, 2, 3, 50, 400}) {
    BoxHierarchy tree, other;
    tree.build(random_boxes(random, n));
    other.build(random_boxes(random, 70));
    // Refitted to places that have nothing to do with those it was built of.
    const std::vector<PaddedBox> a = random_boxes(random, n), b = random_boxes(random, 70);
    tree.refit([&](int item) { return a[static_cast<std::size_t>(item)]; });
    other.refit([&](int item) { return b[static_cast<std::size_t>(item)]; });
    Pairs expected, within, found, found_within;
    double least = HUGE_VAL, near = HUGE_VAL;
    for (int i = 0; i < n; ++i) {
      const PaddedBox& box = a[static_cast<std::size_t>(i)];
      for (int j = 0; j < 70; ++j) {
        if (overlap(box, b[static_cast<std::size_t>(j)])) expected.emplace(i, j);
        least = std::min(least, distance_between(box, b[static_cast<std::size_t>(j)]));
      }
      for (int j = i + 1; j < n; ++j)
        if (overlap(box, a[static_cast<std::size_t>(j)])) within.emplace(i, j);
    }
    tree.pairs(other, [&](int i, int j) { EXPECT_TRUE(found.emplace(i, j).second); });
    tree.pairs_within([&](int i, int j) { EXPECT_TRUE(found_within.emplace(std::min(i, j), std::max(i, j)).second); });
    tree.near_pairs(
        other, [&] { return near; },
        [&](int i, int j) {
          near = std::min(near, distance_between(a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(j)]));
        });
    EXPECT_EQ(found, expected);
    EXPECT_EQ(found_within, within);
    EXPECT_EQ(near, least);
    const Vec3d x = random.point(2);
    double to_box = HUGE_VAL, nearest = HUGE_VAL;
    for (const PaddedBox& box : a) to_box = std::min(to_box, distance_to_box(box, x));
    tree.near_point(
        x, [&] { return nearest; },
        [&](int i) { nearest = std::min(nearest, distance_to_box(a[static_cast<std::size_t>(i)], x)); });
    EXPECT_EQ(nearest, to_box);
  }
}

}  // namespace
}  // namespace supple
