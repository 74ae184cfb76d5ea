#include "engine/mesh/box_tree.hpp"

#include <numeric>

#include "kernels/base/contract.hpp"

namespace supple {

void extend(BoundingBox& bounds, const Vec3d& x) {
  for (int k = 0; k < 3; ++k) {
    bounds.lower[k] = std::min(bounds.lower[k], x[k]);
    bounds.upper[k] = std::max(bounds.upper[k], x[k]);
  }
}

double distance_to_box(const BoundingBox& bounds, const Vec3d& x) {
  Vec3d gap;
  for (int k = 0; k < 3; ++k) gap[k] = std::max({bounds.lower[k] - x[k], 0.0, x[k] - bounds.upper[k]});
  return norm(gap);
}

BoxTree::BoxTree(std::vector<BoundingBox> boxes) : boxes_(std::move(boxes)), order_(boxes_.size()) {
  SUPPLE_EXPECT(!boxes_.empty());
  std::vector<Vec3d> centres;
  centres.reserve(boxes_.size());
  for (const BoundingBox& box : boxes_) centres.push_back(0.5 * (box.lower + box.upper));
  std::iota(order_.begin(), order_.end(), 0);
  build(0, static_cast<int>(boxes_.size()), centres);
}

// Halves the items at the median of their centres along the longest side. Returns the index of the new node.
int BoxTree::build(int begin, int end, const std::vector<Vec3d>& centres) {
  const int index = static_cast<int>(nodes_.size());
  nodes_.emplace_back();
  BoundingBox bounds = boxes_[static_cast<std::size_t>(order_[static_cast<std::size_t>(begin)])];
  for (int i = begin; i < end; ++i) {
    const BoundingBox& other = boxes_[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])];
    extend(bounds, other.lower);
    extend(bounds, other.upper);
  }
  int second = -1;
  if (end - begin > 8) {
    int axis = 0;
    for (int k = 1; k < 3; ++k)
      if (bounds.upper[k] - bounds.lower[k] > bounds.upper[axis] - bounds.lower[axis]) axis = k;
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](int a, int b) {
      const double p = centres[static_cast<std::size_t>(a)][axis], q = centres[static_cast<std::size_t>(b)][axis];
      return p != q ? p < q : a < b;
    });
    build(begin, middle, centres);
    second = build(middle, end, centres);
  }
  nodes_[static_cast<std::size_t>(index)] = {bounds, begin, end, second};
  return index;
}

}  // namespace supple
