#include "engine/model/dependent_constraints.hpp"

#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "engine/model/rows.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr double smallest_pivot = 1e-10;  // of G, the square of the share that is new

// Entries of H at rest by coordinate, of unit length.
std::map<int, double> unit_row(const FullModel& model, std::span<const double> y, const ConstraintRow& row) {
  std::vector<double> gradient(extent(3 * row.point_count));
  (void)evaluate_constraint(row, y, gradient.data());
  std::map<int, double> entries;
  for (int p = 0; p < row.point_count; ++p) {
    const Interpolation& point = model.interpolation[extent(row.first_point + p)];
    for (std::size_t n = 0; n < point.node.size(); ++n) {
      const int unknown = model.node_unknown[extent(point.node[n])];
      if (unknown < 0) continue;
      for (int k = 0; k < 3; ++k) entries[3 * unknown + k] += point.weight[n] * gradient[extent(3 * p + k)];
    }
  }
  double sum = 0;
  for (const auto& [coordinate, value] : entries) sum += value * value;
  for (auto& [coordinate, value] : entries) value /= sum > 0 ? std::sqrt(sum) : 1;
  return entries;
}

double dot(const std::map<int, double>& a, const std::map<int, double>& b) {
  double sum = 0;
  for (const auto& [coordinate, value] : a)
    if (const auto found = b.find(coordinate); found != b.end()) sum += value * found->second;
  return sum;
}

}  // namespace

int dependent_constraint(const FullModel& model) {
  std::vector<double> y;
  for (const Vec3d& x : model.robot.rest_points) y.insert(y.end(), x.v, x.v + 3);
  std::vector<std::map<int, double>> rows;
  std::vector<std::vector<double>> factor;  // of G = H H^T = L L^T
  for (std::size_t k = 0; k < model.robot.constraints.size(); ++k) {
    const ConstraintRow& row = model.robot.constraints[k];
    if (row.one_sided || row.compliance > 0) continue;
    rows.push_back(unit_row(model, y, row));
    std::vector<double> line;
    double pivot = 1;
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
      double value = dot(rows.back(), rows[i]);
      for (std::size_t j = 0; j < i; ++j) value -= line[j] * factor[i][j];
      line.push_back(value / factor[i][i]);
      pivot -= line.back() * line.back();
    }
    if (pivot < smallest_pivot) return static_cast<int>(k);
    line.push_back(std::sqrt(pivot));
    factor.push_back(std::move(line));
  }
  return -1;
}

}  // namespace supple
