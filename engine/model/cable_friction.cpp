#include "engine/model/cable_friction.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/step/row_ops.hpp"

namespace supple {

namespace {

// Direction and length of each segment.
void segments(const ActuatorRow& cable, std::span<const double> points, std::vector<Vec3d>& direction,
              std::vector<double>& length) {
  length.clear();
  direction.clear();
  const int count = cable.point_count;
  for (int j = 0; j + (cable.pull_point ? 0 : 1) < count; ++j) {
    const Vec3d end = j + 1 < count ? point_at(points.data(), j + 1) : *cable.pull_point;
    const Vec3d d = end - point_at(points.data(), j);
    length.push_back(norm(d));
    direction.push_back(length.back() < shortest_segment ? Vec3d{{0, 0, 0}} : (1 / length.back()) * d);
  }
}

double angle_between(const Vec3d& a, const Vec3d& b) {
  return std::atan2(norm(cross(a, b)), dot(a, b));
}

// eta after a sliding of ds.
double slid(double eta, double limit, double ds, double slip_length) {
  if (ds == 0) return eta;
  const double end = ds < 0 ? -limit : limit;
  return end + (eta - end) * std::exp(-std::abs(ds) / slip_length);
}

}  // namespace

CableFriction::CableFriction(const ActuatorRow& cable, const Robot& robot) {
  std::vector<double> rest;
  for (int i = 0; i < cable.point_count; ++i) {
    const Vec3d& x = robot.rest_points[extent(cable.first_point + i)];
    rest.insert(rest.end(), {x[0], x[1], x[2]});
  }
  segments(cable, rest, direction_, rest_length_);
}

void CableFriction::evaluate(const ActuatorRow& cable, std::span<const double> points, std::span<const double> before,
                             bool either_way) {
  SUPPLE_EXPECT(before.size() == extent(cable.history()) && points.size() == extent(3 * cable.point_count));
  segments(cable, points, direction_, length_);
  const std::size_t m = length_.size();
  history_.assign(before.begin(), before.end());
  weight_.assign(m, 1.0);
  stiffness_.assign(m, 0.0);
  double slide = 0;  // of the path beyond the turn
  for (std::size_t k = 1; k < m; ++k) {
    slide += rest_length_[k - 1] - length_[k - 1];
    double* own = history_.data() + extent(numbers) * (k - 1);
    const double limit = cable.friction * angle_between(direction_[k - 1], direction_[k]),
                 start = std::clamp(own[0], -limit, limit), ds = slide - own[1];
    own[0] = slid(start, limit, ds, cable.slip_length);
    // d eta/ds: the chord from the start of the step, which is at least the tangent.
    const double guess = ds != 0 ? ds : own[2];
    double chord = 0;
    if (ds == 0 && either_way)
      chord = (limit + std::abs(start)) / cable.slip_length;
    else if (std::abs(guess) < 1e-9 * cable.slip_length)
      chord = (limit - (guess < 0 ? -start : start)) / cable.slip_length;
    else
      chord = (slid(start, limit, guess, cable.slip_length) - start) / guess;
    own[1] = slide;
    own[2] = ds;
    stiffness_[k] = chord;  // for now, of turn k
  }
  for (std::size_t k = m - 1; k > 0; --k) {
    const double eta = history_[extent(numbers) * (k - 1)];
    weight_[k - 1] = weight_[k] * std::exp(-eta);
    stiffness_[k] *= weight_[k - 1];  // d(T_k - T_{k-1})/ds_k
  }
  // (sum of k gradients)(...)^T is at most k times the sum of (gradient)(gradient)^T.
  double beyond = 0, whole = 0, weighted = 0;
  for (std::size_t j = m; j-- > 0;) {
    const double own = j > 0 ? static_cast<double>(j) * stiffness_[j] : 0.0;
    stiffness_[j] = beyond;
    beyond += own;
    whole += length_[j];
    weighted += weight_[j] * length_[j];
  }
  mean_weight_ = whole > 0 ? weighted / whole : 1;
}

void CableFriction::gradient(const ActuatorRow& cable, std::span<double> out) const {
  SUPPLE_EXPECT(out.size() == extent(3 * cable.point_count));
  std::ranges::fill(out, 0.0);
  // phi = L0 - L: dL/db = d/l at the end b of a segment.
  for (std::size_t j = 0; j < weight_.size(); ++j)
    for (std::size_t c = 0; c < 3; ++c) {
      const double pull = weight_[j] * direction_[j][static_cast<int>(c)];
      out[3 * j + c] += pull;
      if (j + 1 < extent(cable.point_count)) out[3 * (j + 1) + c] -= pull;
    }
}

}  // namespace supple
