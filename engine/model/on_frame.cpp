#include "engine/model/on_frame.hpp"

#include <algorithm>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/tiles.hpp"

namespace supple {

namespace {

constexpr std::size_t dropped = rigid_mode_count;

// [rows][r x entries] without the first columns of every row.
void drop_columns(std::vector<double>& values, std::size_t r, std::size_t entries = 1) {
  if (values.empty()) return;
  const std::size_t rows = values.size() / (r * entries);
  std::vector<double> kept;
  kept.reserve(rows * (r - dropped) * entries);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * r * entries);
    kept.insert(kept.end(), begin + static_cast<std::ptrdiff_t>(dropped * entries),
                begin + static_cast<std::ptrdiff_t>(r * entries));
  }
  values = std::move(kept);
}

// The first rows of [r][columns].
void drop_rows(std::vector<double>& values, std::size_t columns) {
  if (values.empty()) return;
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(dropped * columns));
}

// Entry (i, j), i >= j, of packed lower triangles.
std::size_t packed(std::size_t i, std::size_t j) {
  return i * (i + 1) / 2 + j;
}

void drop_from(ReducedField& field, std::size_t r) {
  // Tiles: columns of tile_rows numbers.
  if (!field.G.empty()) {
    const std::size_t tiles = field.G.size() / (r * tile_rows);
    AlignedVector<double> kept;
    for (std::size_t t = 0; t < tiles; ++t)
      kept.insert(kept.end(), field.G.begin() + static_cast<std::ptrdiff_t>((t * r + dropped) * tile_rows),
                  field.G.begin() + static_cast<std::ptrdiff_t>((t + 1) * r * tile_rows));
    field.G = std::move(kept);
  }
  StrainModes& strains = field.strains;
  drop_columns(strains.linear, r);
  std::vector<double> quadratic;
  for (std::size_t k = 0; k < extent(strains.count); ++k)
    for (std::size_t i = dropped; i < r; ++i)
      for (std::size_t j = dropped; j <= i; ++j)
        quadratic.push_back(strains.quadratic[k * packed(r, 0) + packed(i, j)]);
  strains.quadratic = std::move(quadratic);
}

void drop_from(VolumePolynomial& volume) {
  const std::size_t n = extent(volume.unknowns);
  VolumePolynomial kept;
  kept.unknowns = volume.unknowns - rigid_mode_count;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      for (std::size_t k = 0; k <= j; ++k, ++at)
        if (k >= dropped) kept.cubic.push_back(volume.cubic[at]);
  for (std::size_t i = dropped; i < n; ++i) {
    kept.linear.push_back(volume.linear[i]);
    for (std::size_t j = dropped; j <= i; ++j) kept.quadratic.push_back(volume.quadratic[packed(i, j)]);
  }
  volume = std::move(kept);
}

// Polynomials, and the mapped points that hold their unknowns, which are the last ones.
void drop_from_cavities(ReducedModel& model, std::size_t r) {
  int first = -1;
  const auto shrink = [&](auto& row) {
    if (row.volume.empty()) return;
    drop_from(row.volume);
    first = row.first_point;
    row.point_count = (row.volume.unknowns + 2) / 3;
  };
  for (ActuatorRow& row : model.robot.actuators) shrink(row);
  for (Effector& row : model.robot.effectors) shrink(row);
  if (first < 0) return;
  const std::size_t modes = r - dropped, points = extent(first) + (modes + 2) / 3;
  SUPPLE_EXPECT(model.robot.rest_points.size() == extent(first) + (r + 2) / 3);
  model.robot.rest_points.resize(points);
  model.outputs.resize(3 * extent(first) * modes);
  model.outputs.resize(3 * points * modes, 0.0);
  for (std::size_t i = 0; i < modes; ++i) model.outputs[(3 * extent(first) + i) * modes + i] = 1;
}

}  // namespace

bool pulls_from_space(const ActuatorRow& actuator) {
  return actuator.kind == ActuatorKind::force || actuator.pull_point.has_value();
}

bool can_be_on_frame(const Robot& robot) {
  return robot.floating && !robot.held_in_space() && !std::ranges::any_of(robot.actuators, pulls_from_space);
}

ReducedModel put_on_frame(ReducedModel model) {
  SUPPLE_EXPECT(model.robot.floating && !model.on_frame && model.motions() == 0 && !model.second_moments.empty() &&
                model.modes > rigid_mode_count);
  const std::size_t r = extent(model.modes);
  for (ReducedField& field : model.fields) drop_from(field, r);
  for (std::vector<double>* matrix : {&model.mass, &model.stiffness}) {
    drop_rows(*matrix, r);
    drop_columns(*matrix, r);
  }
  drop_rows(model.gravity, 3);
  drop_rows(model.first_moments, 9);
  drop_rows(model.second_moments, 9 * r);
  drop_columns(model.second_moments, r, 9);
  for (std::vector<double>* rows : {&model.outputs, &model.skin.modes, &model.interior.modes}) drop_columns(*rows, r);
  for (ReducedWalls& walls : model.walls) drop_columns(walls.modes, r);
  drop_from_cavities(model, r);
  model.modes -= rigid_mode_count;
  model.on_frame = true;
  return model;
}

}  // namespace supple
