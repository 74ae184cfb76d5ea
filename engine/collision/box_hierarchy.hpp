#pragma once
// A tree of axis-parallel boxes whose items move: built once, refitted to new boxes at every call, and traversed in
// pairs. (engine/mesh/box_tree.hpp is for items that stay where they are.)

#include <algorithm>
#include <vector>

#include "engine/mesh/box_tree.hpp"

namespace supple {

/// Touching counts.
inline bool overlap(const BoundingBox& a, const BoundingBox& b) {
  return a.lower[0] <= b.upper[0] && b.lower[0] <= a.upper[0] && a.lower[1] <= b.upper[1] && b.lower[1] <= a.upper[1] &&
         a.lower[2] <= b.upper[2] && b.lower[2] <= a.upper[2];
}
/// 0 if they overlap [m].
double distance_between(const BoundingBox& a, const BoundingBox& b);

class BoxHierarchy {
 public:
  BoxHierarchy() = default;
  /// A new tree, halved at medians: the same boxes give the same tree. Allocates only to grow.
  void build(const std::vector<BoundingBox>& boxes);
  /// New boxes for the same items.
  void refit(const std::vector<BoundingBox>& boxes);

  bool empty() const { return nodes_.empty(); }
  const BoundingBox& bounds() const { return nodes_.front().box; }

  /// visit(item, other item) for all pairs whose boxes overlap.
  template <class Visit>
  void pairs(const BoxHierarchy& other, Visit visit) const {
    if (!empty() && !other.empty()) cross(0, other, 0, visit);
  }
  /// visit(item, item) once for every pair of different items whose boxes overlap.
  template <class Visit>
  void pairs_within(Visit visit) const {
    if (!empty()) within(0, visit);
  }
  /// visit(item, other item) for all pairs of boxes that are not further apart than limit() at the time, near ones
  /// first.
  template <class Limit, class Visit>
  void near_pairs(const BoxHierarchy& other, Limit limit, Visit visit) const {
    if (!empty() && !other.empty()) near(0, other, 0, distance_between(bounds(), other.bounds()), limit, visit);
  }
  /// visit(item) for all boxes that are not further from x than limit() at the time, near ones first.
  template <class Limit, class Visit>
  void near_point(const Vec3d& x, Limit limit, Visit visit) const {
    if (!empty()) near_point(0, x, distance_to_box(bounds(), x), limit, visit);
  }

 private:
  // Branch: its first child is the next node, `second` the other. Leaf: `item`. Children come after their parents.
  struct Node {
    BoundingBox box;
    int second = -1, item = -1;
  };
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  int build(const std::vector<BoundingBox>& boxes, int begin, int end);
  static double size(const Node& n) {
    return n.box.upper[0] - n.box.lower[0] + n.box.upper[1] - n.box.lower[1] + n.box.upper[2] - n.box.lower[2];
  }
  // Which of two branches to open: the larger one.
  static bool opens_first(const Node& a, const Node& b) {
    return b.second < 0 || (a.second >= 0 && size(a) >= size(b));
  }

  template <class Visit>
  void cross(int i, const BoxHierarchy& other, int j, Visit& visit) const {
    const Node &a = node(i), &b = other.node(j);
    if (!overlap(a.box, b.box)) return;
    if (a.second < 0 && b.second < 0) {
      visit(a.item, b.item);
    } else if (opens_first(a, b)) {
      cross(i + 1, other, j, visit);
      cross(a.second, other, j, visit);
    } else {
      cross(i, other, j + 1, visit);
      cross(i, other, b.second, visit);
    }
  }
  template <class Visit>
  void within(int i, Visit& visit) const {
    const int second = node(i).second;
    if (second < 0) return;
    within(i + 1, visit);
    within(second, visit);
    cross(i + 1, *this, second, visit);
  }
  template <class Limit, class Visit>
  void near(int i, const BoxHierarchy& other, int j, double distance, Limit& limit, Visit& visit) const {
    const Node &a = node(i), &b = other.node(j);
    if (distance > limit()) return;
    if (a.second < 0 && b.second < 0) {
      visit(a.item, b.item);
      return;
    }
    const bool first = opens_first(a, b);
    int p = first ? i + 1 : j + 1, q = first ? a.second : b.second;
    const auto to = [&](int child) {
      return first ? distance_between(node(child).box, b.box) : distance_between(a.box, other.node(child).box);
    };
    double dp = to(p), dq = to(q);
    if (dq < dp) {
      std::swap(p, q);
      std::swap(dp, dq);
    }
    near(first ? p : i, other, first ? j : p, dp, limit, visit);
    near(first ? q : i, other, first ? j : q, dq, limit, visit);
  }
  template <class Limit, class Visit>
  void near_point(int i, const Vec3d& x, double distance, Limit& limit, Visit& visit) const {
    if (distance > limit()) return;
    const Node& a = node(i);
    if (a.second < 0) {
      visit(a.item);
      return;
    }
    int p = i + 1, q = a.second;
    double dp = distance_to_box(node(p).box, x), dq = distance_to_box(node(q).box, x);
    if (dq < dp) {
      std::swap(p, q);
      std::swap(dp, dq);
    }
    near_point(p, x, dp, limit, visit);
    near_point(q, x, dq, limit, visit);
  }

  std::vector<Node> nodes_;
  std::vector<int> order_;  // while building
  std::vector<Vec3d> centres_;
};

}  // namespace supple
