#include "engine/model/stretch.hpp"

#include <algorithm>
#include <cmath>

#include "engine/model/rows.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/tiles.hpp"

namespace supple {

namespace {

// Relative: a length at rest, summed up in another order.
constexpr double same_length = 1e-12;

std::vector<double> flat(const std::vector<Vec3d>& points) {
  std::vector<double> y;
  for (const Vec3d& point : points) y.insert(y.end(), point.v, point.v + 3);
  return y;
}

}  // namespace

std::vector<int> stretches_of(const Robot& robot) {
  std::vector<int> numbers;
  for (std::size_t k = 0; k < robot.parameters.size(); ++k)
    if (robot.parameters[k].kind == ParameterKind::stretch) numbers.push_back(static_cast<int>(k));
  return numbers;
}

double stretched_along(const Parameter& stretch, const Vec3d& X) {
  return std::clamp(dot(stretch.direction, X), stretch.begin, stretch.end) - stretch.about;
}

std::vector<double> stretched_along(const Robot& robot, const Vec3d& X) {
  std::vector<double> along;
  for (const int k : stretches_of(robot)) along.push_back(stretched_along(robot.parameters[extent(k)], X));
  return along;
}

RestShape::RestShape(const Robot& robot, std::span<const double> values) {
  for (const int k : stretches_of(robot)) {
    change_.push_back(values[static_cast<std::size_t>(k)] - 1);
    direction_.push_back(robot.parameters[static_cast<std::size_t>(k)].direction);
  }
}

Vec3d RestShape::shift(const double* along) const {
  Vec3d sum{{0, 0, 0}};
  for (std::size_t k = 0; k < change_.size(); ++k) sum = sum + (change_[k] * along[k]) * direction_[k];
  return sum;
}

Mat3d RestShape::gradient(const double* slope) const {
  Mat3d A = Mat3d::identity();
  for (std::size_t k = 0; k < change_.size(); ++k)
    A = A + change_[k] * outer(direction_[k], Vec3d{{slope[3 * k], slope[3 * k + 1], slope[3 * k + 2]}});
  return A;
}

double RestShape::factor(unsigned subset) const {
  double product = 1;
  for (std::size_t k = 0; k < change_.size(); ++k)
    if ((subset >> k & 1u) != 0) product *= change_[k];
  return product;
}

void set_shape(const Robot& nominal, const RestShape& shape, const std::vector<double>& along, Robot& robot) {
  for (std::size_t p = 0; p < nominal.rest_points.size(); ++p)
    robot.rest_points[p] =
        nominal.rest_points[p] + shape.shift(along.data() + p * static_cast<std::size_t>(shape.stretches()));
  const std::vector<double> before = flat(nominal.rest_points), after = flat(robot.rest_points);
  // Lengths that the scene gives stay; those of the paths at rest are those of the new ones.
  const auto set_length = [&](const auto& from, const std::optional<Vec3d>& end, auto& to) {
    const double length = path_length(before, from.first_point, from.point_count, end, nullptr);
    to.rest_length = std::abs(from.rest_length - length) <= same_length * length
                         ? path_length(after, from.first_point, from.point_count, end, nullptr)
                         : from.rest_length;
  };
  for (std::size_t k = 0; k < nominal.actuators.size(); ++k)
    if (nominal.actuators[k].kind == ActuatorKind::cable)
      set_length(nominal.actuators[k], nominal.actuators[k].pull_point, robot.actuators[k]);
  for (std::size_t k = 0; k < nominal.effectors.size(); ++k)
    if (nominal.effectors[k].kind == EffectorKind::length)
      set_length(nominal.effectors[k], nominal.effectors[k].pull_point, robot.effectors[k]);
  const auto set_rows = [&](const std::vector<ConstraintRow>& from, std::vector<ConstraintRow>& to) {
    for (std::size_t k = 0; k < from.size(); ++k) {
      if (from[k].value == ConstraintRow::Value::length) set_length(from[k], from[k].anchor, to[k]);
      if (from[k].value != ConstraintRow::Value::along || from[k].point_count != 1) continue;
      const auto point = static_cast<std::size_t>(from[k].first_point);
      const Vec3d away = from[k].place - nominal.rest_points[point];
      if (norm(away) <= same_length * norm(from[k].place)) to[k].place = robot.rest_points[point];
    }
  };
  set_rows(nominal.constraints, robot.constraints);
  set_rows(nominal.springs, robot.springs);
}

void add_mass_terms(const RestShape& shape, std::span<const std::vector<double>* const> terms,
                    std::vector<double>& values) {
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const double factor = shape.factor(static_cast<unsigned>(k + 1));
    if (factor != 0)
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += factor * (*terms[k])[i];
  }
}

bool stays_upright(const Robot& robot, const std::vector<double>& slopes) {
  const std::vector<int> stretches = stretches_of(robot);
  const std::size_t width = 3 * stretches.size();
  for (unsigned corner = 0; corner < 1u << stretches.size(); ++corner) {
    std::vector<double> values(robot.parameters.size(), 1.0);
    for (std::size_t k = 0; k < stretches.size(); ++k) {
      const Interval& range = robot.parameters[extent(stretches[k])].range;
      values[extent(stretches[k])] = (corner >> k & 1u) != 0 ? range.upper : range.lower;
    }
    const RestShape shape(robot, values);
    for (std::size_t at = 0; at < slopes.size(); at += width)
      if (!(determinant(shape.gradient(slopes.data() + at)) > 0)) return false;
  }
  return true;
}

void enter_shape(const RestShape& shape, const double* slope, int points, double* F) {
  for (int p = 0; p < points; ++p) {
    const Mat3d inverse_A = inverse(shape.gradient(slope + extent(p, 3, shape.stretches())));
    Mat3d H;
    for (int c = 0; c < gradient_components; ++c) H[c] = F[c * tile_size + p];
    const Mat3d turned = Mat3d::identity() + (H - Mat3d::identity()) * inverse_A;
    for (int c = 0; c < gradient_components; ++c) F[c * tile_size + p] = turned[c];
  }
}

void leave_shape(const RestShape& shape, const double* slope, int points, double* P) {
  for (int p = 0; p < points; ++p) {
    const Mat3d A = shape.gradient(slope + extent(p, 3, shape.stretches()));
    Mat3d stress;
    for (int c = 0; c < gradient_components; ++c) stress[c] = P[c * tile_size + p];
    const Mat3d pulled = stress * cofactor(A);
    for (int c = 0; c < gradient_components; ++c) P[c * tile_size + p] = pulled[c];
  }
}

void set_shape(const ReducedModel& nominal, const RestShape& shape, ReducedModel& model) {
  const int n = nominal.columns();
  for (std::size_t f = 0; f < nominal.fields.size(); ++f) {
    const ReducedField& from = nominal.fields[f];
    ReducedField& to = model.fields[f];
    for (int p = 0; p < from.points(); ++p) {
      const Mat3d A = shape.gradient(from.slopes.data() + extent(p, 3, shape.stretches())), inverse_A = inverse(A);
      to.weight[extent(p)] = determinant(A) * from.weight[extent(p)];
      if (!from.edges.empty()) to.edges[extent(p)] = A * from.edges[extent(p)];
      for (int j = 0; j < n; ++j) {
        const std::size_t at = extent(p / tile_size, n, tile_rows) + extent(j, tile_rows) + extent(p % tile_size);
        Mat3d H;
        for (int c = 0; c < gradient_components; ++c) H[c] = from.G[at + extent(c, tile_size)];
        H = H * inverse_A;
        for (int c = 0; c < gradient_components; ++c) to.G[at + extent(c, tile_size)] = H[c];
      }
    }
  }
  const StretchedPlaces& places = nominal.stretched;
  const auto move = [&](const std::vector<Vec3d>& from, const std::vector<double>& along, std::vector<Vec3d>& to) {
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = from[i] + shape.shift(along.data() + i * extent(shape.stretches()));
  };
  move(nominal.skin.rest, places.skin, model.skin.rest);
  move(nominal.interior.rest, places.interior, model.interior.rest);
  const auto add = [&](std::vector<double> MassTerm::*part, std::vector<double>& masses) {
    std::vector<const std::vector<double>*> terms;
    for (const MassTerm& term : nominal.mass_terms) terms.push_back(&(term.*part));
    add_mass_terms(shape, terms, masses);
  };
  add(&MassTerm::mass, model.mass);
  add(&MassTerm::input_mass, model.input_mass);
  add(&MassTerm::gravity, model.gravity);
  set_shape(nominal.robot, shape, places.points, model.robot);
}

}  // namespace supple
