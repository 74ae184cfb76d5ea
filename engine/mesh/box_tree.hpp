#pragma once
// Items in a tree of axis-parallel boxes, searched by distance from a point.

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/math/small.hpp"

namespace supple {

struct BoundingBox {
  Vec3d lower, upper;
};

// Makes the bounds hold x as well.
void extend(BoundingBox& bounds, const Vec3d& x);
// 0 inside.
double distance_to_box(const BoundingBox& bounds, const Vec3d& x);

class BoxTree {
 public:
  // One box per item; at least one. The same boxes give the same tree.
  explicit BoxTree(std::vector<BoundingBox> boxes);

  // Of all items.
  const BoundingBox& bounds() const { return nodes_.front().bounds; }

  // visit(item) for every item whose box is not further from x than limit() at the time of the visit, near branches
  // first, in an order that is always the same. Allocates nothing.
  template <class Limit, class Visit>
  void search(const Vec3d& x, Limit limit, Visit visit) const;

 private:
  // Children of a branch: the next node and `second`; leaf: items order_[begin, end).
  struct Node {
    BoundingBox bounds;
    int begin = 0, end = 0, second = -1;
  };
  int build(int begin, int end, const std::vector<Vec3d>& centres);

  std::vector<BoundingBox> boxes_;  // of items
  std::vector<int> order_;
  std::vector<Node> nodes_;
};

template <class Limit, class Visit>
void BoxTree::search(const Vec3d& x, Limit limit, Visit visit) const {
  struct Entry {
    double distance;
    int node;
  };
  // Every branch halves its items, so an int's worth of them is 31 deep; one entry waits per level.
  std::array<Entry, 40> stack;
  std::size_t waiting = 0;
  stack[waiting++] = {distance_to_box(bounds(), x), 0};
  while (waiting > 0) {
    const Entry entry = stack[--waiting];
    if (entry.distance > limit()) continue;
    const Node& node = nodes_[static_cast<std::size_t>(entry.node)];
    if (node.second >= 0) {
      Entry a{distance_to_box(nodes_[static_cast<std::size_t>(entry.node) + 1].bounds, x), entry.node + 1};
      Entry b{distance_to_box(nodes_[static_cast<std::size_t>(node.second)].bounds, x), node.second};
      if (a.distance < b.distance) std::swap(a, b);  // the nearer one is looked at first
      stack[waiting++] = a;
      stack[waiting++] = b;
      continue;
    }
    for (int i = node.begin; i < node.end; ++i) {
      const int item = order_[static_cast<std::size_t>(i)];
      if (distance_to_box(boxes_[static_cast<std::size_t>(item)], x) <= limit()) visit(item);
    }
  }
}

}  // namespace supple
