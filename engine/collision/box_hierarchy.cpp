#include "engine/collision/box_hierarchy.hpp"

#include <numeric>

namespace supple {

double distance_between(const BoundingBox& a, const BoundingBox& b) {
  Vec3d gap;
  for (int k = 0; k < 3; ++k) gap[k] = std::max({a.lower[k] - b.upper[k], 0.0, b.lower[k] - a.upper[k]});
  return norm(gap);
}

void BoxHierarchy::build(const std::vector<BoundingBox>& boxes) {
  nodes_.clear();
  if (boxes.empty()) return;
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  centres_.clear();
  for (const BoundingBox& box : boxes) centres_.push_back(box.lower + box.upper);
  build(boxes, 0, static_cast<int>(boxes.size()));
  refit(boxes);
}

// Halves the items at the median of their centres along the longest side. Returns the index of the new node.
int BoxHierarchy::build(const std::vector<BoundingBox>& boxes, int begin, int end) {
  const int index = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  const auto first = order_.begin() + begin, last = order_.begin() + end;
  if (end - begin == 1) {
    nodes_.back().item = *first;
    return index;
  }
  const auto centre = [&](int i) -> const Vec3d& { return centres_[static_cast<std::size_t>(i)]; };
  BoundingBox bounds{centre(*first), centre(*first)};
  for (auto i = first; i != last; ++i) extend(bounds, centre(*i));
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (bounds.upper[k] - bounds.lower[k] > bounds.upper[axis] - bounds.lower[axis]) axis = k;
  const int middle = begin + (end - begin) / 2;
  std::nth_element(first, order_.begin() + middle, last, [&](int a, int b) {
    const double p = centre(a)[axis], q = centre(b)[axis];
    return p != q ? p < q : a < b;
  });
  build(boxes, begin, middle);
  const int second = build(boxes, middle, end);
  nodes_[static_cast<std::size_t>(index)].second = second;
  return index;
}

void BoxHierarchy::refit(const std::vector<BoundingBox>& boxes) {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& n = nodes_[i];
    if (n.second < 0) {
      n.box = boxes[static_cast<std::size_t>(n.item)];
      continue;
    }
    const BoundingBox &a = nodes_[i + 1].box, &b = nodes_[static_cast<std::size_t>(n.second)].box;
    for (int k = 0; k < 3; ++k) {
      n.box.lower[k] = std::min(a.lower[k], b.lower[k]);
      n.box.upper[k] = std::max(a.upper[k], b.upper[k]);
    }
  }
}

}  // namespace supple
