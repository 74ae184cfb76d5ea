#include "engine/mechanics/full/segment_unknowns.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "engine/model/rows.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Free nodes of both ends of a segment, from which on it gets unknowns of its own. Below that the nodes are those of two
// tetrahedra or hexahedra, which the mesh couples for the most part.
constexpr std::size_t many_nodes = 24;

// A row that is a path of segments, or none.
struct Path {
  int first = 0, count = 0;
  std::optional<Vec3d> end;
};
std::optional<Path> path_of(const Robot& robot, int row) {
  const auto actuators = static_cast<int>(robot.actuators.size());
  if (row < actuators) {
    const ActuatorRow& actuator = robot.actuators[extent(row)];
    // Friction along a cable couples its points in other ways too.
    if (actuator.kind != ActuatorKind::cable || actuator.friction > 0) return {};
    return Path{actuator.first_point, actuator.point_count, actuator.pull_point};
  }
  const ConstraintRow& constraint = robot.constraints[extent(row - actuators)];
  if (constraint.value != ConstraintRow::Value::length) return {};
  return Path{constraint.first_point, constraint.point_count, constraint.anchor};
}

// Free nodes that a segment moves with, by their unknowns.
std::map<int, double> weights_of(const FullModel& model, int first, int second) {
  std::map<int, double> weights;
  const auto add = [&](int point, double sign) {
    const Interpolation& at = model.interpolation[extent(point)];
    for (std::size_t n = 0; n < at.node.size(); ++n)
      if (const int unknown = model.node_unknown[extent(at.node[n])]; unknown >= 0)
        weights[unknown] += sign * at.weight[n];
  };
  add(first, -1);
  if (second >= 0) add(second, 1);
  return weights;
}

}  // namespace

std::vector<char> SegmentUnknowns::rows(const FullModel& model) {
  std::vector<char> wide(extent(model.robot.rows()), 0);
  for (int row = 0; row < model.robot.rows(); ++row) {
    const std::optional<Path> path = path_of(model.robot, row);
    for (int k = 0; path && k + (path->end ? 0 : 1) < path->count; ++k) {
      const int next = k + 1 < path->count ? path->first + k + 1 : -1;
      if (weights_of(model, path->first + k, next).size() > many_nodes) wide[extent(row)] = 1;
    }
  }
  return wide;
}

std::vector<SegmentUnknowns::Segment> SegmentUnknowns::list_segments() const {
  std::vector<Segment> segments;
  const std::vector<char> wide = rows(model_);
  for (int row = 0; row < model_.robot.rows(); ++row) {
    if (wide[extent(row)] == 0) continue;
    const Path path = *path_of(model_.robot, row);
    for (int k = 0; k + 1 < path.count; ++k) segments.push_back({row, k, k + 1, 0});
    if (path.end) segments.push_back({row, path.count - 1, -1, 0});
  }
  return segments;
}

SegmentUnknowns::SegmentUnknowns(const FullModel& model, const NodePattern& nodes)
    : model_(model), nodes_(nodes.scalar), segments_(list_segments()) {
  const int free_nodes = nodes_.n / 3;
  std::vector<std::vector<int>> below(extent(free_nodes));  // segments of each node, ascending
  std::vector<std::map<int, double>> weights;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const int first = first_point(model.robot, segments_[s].row);
    const int second = segments_[s].second;
    weights.push_back(weights_of(model, first + segments_[s].first, second < 0 ? -1 : first + second));
    for (const auto& [node, weight] : weights.back()) below[extent(node)].push_back(static_cast<int>(s));
  }
  pattern_.n = nodes_.n + 3 * static_cast<int>(segments_.size());
  pattern_.block = 3;
  pattern_.column_start.push_back(0);
  std::vector<std::map<int, Coupling>> of_segment(segments_.size());
  for (int column = 0; column < nodes_.n; ++column) {
    const auto begin = nodes_.row.begin() + nodes_.column_start[extent(column)],
               end = nodes_.row.begin() + nodes_.column_start[extent(column + 1)];
    pattern_.row.insert(pattern_.row.end(), begin, end);
    const int node = column / 3;
    for (const int s : below[extent(node)]) {
      Coupling& coupling = of_segment[extent(s)][node];
      coupling.weight = weights[extent(s)].at(node);
      coupling.position[column % 3] = pattern_.nonzeros();
      for (int r = 0; r < 3; ++r) pattern_.row.push_back(nodes_.n + 3 * s + r);
    }
    pattern_.column_start.push_back(pattern_.nonzeros());
  }
  for (int column = nodes_.n; column < pattern_.n; ++column) {
    for (int r = column % 3; r < 3; ++r) pattern_.row.push_back(column - column % 3 + r);
    pattern_.column_start.push_back(pattern_.nonzeros());
  }
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    segments_[s].couplings = static_cast<int>(couplings_.size());
    for (const auto& [node, coupling] : of_segment[s]) couplings_.push_back(coupling);
  }
}

int SegmentUnknowns::assemble(std::span<const double> A0, std::span<const double> y,
                              std::span<const double> multipliers, std::vector<double>& values) const {
  values.assign(pattern_.row.size(), 0.0);
  for (int column = 0; column < nodes_.n; ++column) {
    const int begin = nodes_.column_start[extent(column)], end = nodes_.column_start[extent(column + 1)];
    std::copy(A0.begin() + begin, A0.begin() + end, values.begin() + pattern_.column_start[extent(column)]);
  }
  int own = 0;
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Segment& segment = segments_[s];
    // kappa P, of a segment without a force zero.
    Mat3d S = Mat3d::zero();
    if (!multipliers.empty())
      visit_row_curvature(model_.robot, segment.row, y, multipliers[extent(segment.row)],
                          [&](int j, int k, const Mat3d& block) {
                            if (segment.second >= 0 && j == segment.first && k == segment.second) S = -1.0 * block;
                            if (segment.second < 0 && j == segment.first) S = S + block;
                          });
    const double kappa = 0.5 * trace(S);
    const bool pulls = kappa > 0;
    if (pulls) own += 3;
    for (int c = 0; c < 3; ++c)
      values[extent(pattern_.column_start[extent(nodes_.n) + 3 * s + extent(c)])] = pulls ? -1 : 1;
    if (kappa == 0) continue;
    const Mat3d G = (std::sqrt(std::abs(kappa)) / kappa) * S;
    const int end = s + 1 < segments_.size() ? segments_[s + 1].couplings : static_cast<int>(couplings_.size());
    for (int k = segment.couplings; k < end; ++k) {
      const Coupling& coupling = couplings_[extent(k)];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) values[extent(coupling.position[c] + r)] = coupling.weight * G(r, c);
    }
  }
  return own;
}

std::size_t SegmentUnknowns::bytes() const {
  const std::size_t indices =
      nodes_.column_start.size() + nodes_.row.size() + pattern_.column_start.size() + pattern_.row.size();
  return indices * sizeof(int) + couplings_.size() * sizeof(Coupling) + segments_.size() * sizeof(Segment);
}

void SegmentUnknowns::solve(SparseDirect& factor, std::span<double> X, int count) {
  const auto n = extent(nodes_.n), all = extent(pattern_.n);
  extended_.assign(extent(count) * all, 0.0);
  for (std::size_t j = 0; j < extent(count); ++j)
    std::copy_n(X.begin() + static_cast<std::ptrdiff_t>(j * n), n,
                extended_.begin() + static_cast<std::ptrdiff_t>(j * all));
  factor.solve(extended_.data(), count);
  for (std::size_t j = 0; j < extent(count); ++j)
    std::copy_n(extended_.begin() + static_cast<std::ptrdiff_t>(j * all), n,
                X.begin() + static_cast<std::ptrdiff_t>(j * n));
}

}  // namespace supple
