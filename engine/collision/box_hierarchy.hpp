#pragma once
// A tree of axis-parallel boxes whose items move: built once, refitted to new boxes at every call, and traversed in
// pairs. (engine/mesh/box_tree.hpp is for items that stay where they are.)

#include <algorithm>
#include <vector>

#include "engine/mesh/box_tree.hpp"

namespace supple {

/// A box padded with a fourth coordinate, so that its lower and upper ends are whole vectors of the processor.
struct alignas(32) PaddedBox {
  double lower[4] = {0, 0, 0, 0}, upper[4] = {0, 0, 0, 0};
  PaddedBox() = default;
  PaddedBox(const BoundingBox& box) {
    for (int k = 0; k < 3; ++k) {
      lower[k] = box.lower[k];
      upper[k] = box.upper[k];
    }
  }
};

/// Makes `box` hold the other.
inline void join(PaddedBox& box, const PaddedBox& other) {
  for (int k = 0; k < 4; ++k) box.lower[k] = other.lower[k] < box.lower[k] ? other.lower[k] : box.lower[k];
  for (int k = 0; k < 4; ++k) box.upper[k] = other.upper[k] > box.upper[k] ? other.upper[k] : box.upper[k];
}
/// Touching counts.
inline bool overlap(const PaddedBox& a, const PaddedBox& b) {
  return a.lower[0] <= b.upper[0] && b.lower[0] <= a.upper[0] && a.lower[1] <= b.upper[1] && b.lower[1] <= a.upper[1] &&
         a.lower[2] <= b.upper[2] && b.lower[2] <= a.upper[2];
}
/// 0 if they overlap [m].
double distance_between(const PaddedBox& a, const PaddedBox& b);
/// 0 inside [m].
double distance_to_box(const PaddedBox& box, const Vec3d& x);

class BoxHierarchy {
 public:
  BoxHierarchy() = default;
  /// A new tree, halved at medians: the same boxes give the same tree. Allocates only to grow.
  void build(const std::vector<PaddedBox>& boxes);
  /// New boxes for the same items: box_of(item) is a PaddedBox.
  template <class BoxOf>
  void refit(BoxOf box_of) {
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const Node& n = nodes_[i];
      if (n.second < 0) {
        boxes_[i] = box_of(n.item);
        continue;
      }
      boxes_[i] = boxes_[i + 1];
      join(boxes_[i], boxes_[static_cast<std::size_t>(n.second)]);
    }
  }

  bool empty() const { return nodes_.empty(); }
  const PaddedBox& bounds() const { return boxes_.front(); }

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
    int second = -1, item = -1;
  };
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const PaddedBox& box(int i) const { return boxes_[static_cast<std::size_t>(i)]; }
  int build(int begin, int end);
  static double size(const PaddedBox& b) {
    return b.upper[0] - b.lower[0] + b.upper[1] - b.lower[1] + b.upper[2] - b.lower[2];
  }
  // Which of two branches to open: the larger one.
  bool opens_first(int i, const BoxHierarchy& other, int j) const {
    return other.node(j).second < 0 || (node(i).second >= 0 && size(box(i)) >= size(other.box(j)));
  }

  template <class Visit>
  void cross(int i, const BoxHierarchy& other, int j, Visit& visit) const {
    if (!overlap(box(i), other.box(j))) return;
    const Node &a = node(i), &b = other.node(j);
    if (a.second < 0 && b.second < 0) {
      visit(a.item, b.item);
    } else if (opens_first(i, other, j)) {
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
    const bool first = opens_first(i, other, j);
    int p = first ? i + 1 : j + 1, q = first ? a.second : b.second;
    const auto to = [&](int child) {
      return first ? distance_between(box(child), other.box(j)) : distance_between(box(i), other.box(child));
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
    double dp = distance_to_box(box(p), x), dq = distance_to_box(box(q), x);
    if (dq < dp) {
      std::swap(p, q);
      std::swap(dp, dq);
    }
    near_point(p, x, dp, limit, visit);
    near_point(q, x, dq, limit, visit);
  }

  std::vector<Node> nodes_;
  std::vector<PaddedBox> boxes_;  // of the nodes
  std::vector<int> order_;        // while building
  std::vector<Vec3d> centres_;
};

}  // namespace supple
