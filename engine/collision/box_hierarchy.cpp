#include "engine/collision/box_hierarchy.hpp"

#include <numeric>

namespace supple {

double distance_between(const PaddedBox& a, const PaddedBox& b) {
  Vec3d gap;
  for (int k = 0; k < 3; ++k) gap[k] = std::max({a.lower[k] - b.upper[k], 0.0, b.lower[k] - a.upper[k]});
  return norm(gap);
}

double distance_to_box(const PaddedBox& box, const Vec3d& x) {
  Vec3d gap;
  for (int k = 0; k < 3; ++k) gap[k] = std::max({box.lower[k] - x[k], 0.0, x[k] - box.upper[k]});
  return norm(gap);
}

void BoxHierarchy::build(const std::vector<PaddedBox>& boxes) {
  nodes_.clear();
  if (boxes.empty()) return;
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  centres_.clear();
  for (const PaddedBox& box : boxes)
    centres_.push_back({{box.lower[0] + box.upper[0], box.lower[1] + box.upper[1], box.lower[2] + box.upper[2]}});
  build(0, static_cast<int>(boxes.size()));
  boxes_.resize(nodes_.size());
  refit([&](int item) { return boxes[static_cast<std::size_t>(item)]; });
}

// Halves the items at the median of their centres along the longest side. Returns the index of the new node.
int BoxHierarchy::build(int begin, int end) {
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
  build(begin, middle);
  const int second = build(middle, end);
  nodes_[static_cast<std::size_t>(index)].second = second;
  return index;
}

}  // namespace supple
