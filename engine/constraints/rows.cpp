#include "engine/constraints/rows.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"

namespace supple {

namespace {

// Below this length [m] a segment has no direction: it exerts no force.
constexpr double shortest_segment = 1e-9;

Vec3d point(std::span<const double> y, int i) {
  const auto k = static_cast<std::size_t>(3 * i);
  return {{y[k], y[k + 1], y[k + 2]}};
}

// Calls visit(i, j, a, b) per segment between its points i and j (local numbers; j = -1: the pull point) at positions a
// and b.
template <class Visitor>
void for_each_segment(const CableRow& cable, std::span<const double> y, Visitor visit) {
  for (int k = 0; k + 1 < cable.point_count; ++k)
    visit(k, k + 1, point(y, cable.first_point + k), point(y, cable.first_point + k + 1));
  if (cable.pull_point)
    visit(cable.point_count - 1, -1, point(y, cable.first_point + cable.point_count - 1), *cable.pull_point);
}

}  // namespace

RowLayout row_layout(const Robot& robot) {
  RowLayout layout;
  int offset = 0;
  for (const CableRow& cable : robot.cables) {
    layout.first.push_back(3 * cable.first_point);
    layout.count.push_back(3 * cable.point_count);
    layout.offset.push_back(offset);
    offset += 3 * cable.point_count;
  }
  layout.offset.push_back(offset);
  return layout;
}

void evaluate_rows(const Robot& robot, const RowLayout& layout, std::span<const double> y, std::span<double> phi,
                   std::span<double> gradients) {
  for (std::size_t row = 0; row < robot.cables.size(); ++row) {
    const CableRow& cable = robot.cables[row];
    double* g = gradients.data() + layout.offset[row];
    std::fill(g, g + layout.count[row], 0.0);
    double length = 0;
    for_each_segment(cable, y, [&](int i, int j, const Vec3d& a, const Vec3d& b) {
      const Vec3d d = b - a;
      const double l = norm(d);
      length += l;
      if (l < shortest_segment) return;
      // dl/db = d/l = -dl/da, and d phi = -dl.
      for (int k = 0; k < 3; ++k) {
        g[3 * i + k] += d[k] / l;
        if (j >= 0) g[3 * j + k] -= d[k] / l;
      }
    });
    phi[row] = cable.rest_length - length;
  }
}

void row_curvature(const Robot& robot, const RowLayout& layout, int row, std::span<const double> y, double lambda,
                   std::span<double> out) {
  const CableRow& cable = robot.cables[static_cast<std::size_t>(row)];
  const int n = layout.count[static_cast<std::size_t>(row)];
  SUPPLE_EXPECT(static_cast<int>(out.size()) >= n * n);
  std::fill(out.begin(), out.begin() + n * n, 0.0);
  for_each_segment(cable, y, [&](int i, int j, const Vec3d& a, const Vec3d& b) {
    const Vec3d d = b - a;
    const double l = norm(d);
    if (l < shortest_segment) return;
    // d^2 l / db^2 = (I - e e^T) / l, e = d/l; the same for a, opposite sign across.
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        const double h = lambda * ((r == c ? 1.0 : 0.0) - d[r] * d[c] / (l * l)) / l;
        out[static_cast<std::size_t>((3 * i + r) * n + 3 * i + c)] += h;
        if (j < 0) continue;
        out[static_cast<std::size_t>((3 * j + r) * n + 3 * j + c)] += h;
        out[static_cast<std::size_t>((3 * i + r) * n + 3 * j + c)] -= h;
        out[static_cast<std::size_t>((3 * j + r) * n + 3 * i + c)] -= h;
      }
  });
}

RowTarget row_target(const CableRow& cable, double command, double previous, double step) {
  RowTarget result;
  double value = std::clamp(command, cable.range.lower, cable.range.upper);
  if (step > 0 && cable.rate < unlimited)
    value = std::clamp(value, previous - cable.rate * step, previous + cable.rate * step);
  result.limited = value != command;
  if (cable.control == CableControl::force) {
    result.lower = result.upper = value;
    return result;
  }
  result.target = value;
  result.lower = cable.bilateral ? cable.force.lower : std::max(0.0, cable.force.lower);
  result.upper = cable.force.upper;
  return result;
}

}  // namespace supple
