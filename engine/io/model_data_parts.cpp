#include "engine/io/model_data_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/error.hpp"

namespace supple {

std::string entry_name(std::size_t index) {
  return fmt::format("{:02}", index);
}

std::vector<double> flat_points(const std::vector<Vec3d>& points) {
  std::vector<double> values;
  for (const Vec3d& x : points) values.insert(values.end(), x.v, x.v + 3);
  return values;
}

std::vector<Vec3d> points_of(const std::vector<double>& values) {
  std::vector<Vec3d> points(values.size() / 3);
  for (std::size_t i = 0; i < values.size(); ++i) points[i / 3][static_cast<int>(i % 3)] = values[i];
  return points;
}

void Checked::require(bool condition, const std::string& object, const std::string& problem) const {
  if (!condition)
    throw InputError("'" + object + "' " + problem, "the model file is damaged: reduce again",
                     {file_.path(), 0, 0, ""});
}

std::vector<double> Checked::doubles(const std::string& object, const std::vector<std::size_t>& shape) const {
  auto values = file_.read_doubles(object, shape);
  for (double x : values) require(std::isfinite(x), object, "holds a number that is not finite");
  return values;
}

double Checked::number(const std::string& object) const {
  const double value = file_.read_double(object);
  require(std::isfinite(value), object, "is not a finite number");
  return value;
}

int Checked::count(const std::string& object, int lowest, int highest) const {
  const std::int64_t value = file_.read_int(object);
  require(value >= lowest && value <= highest, object,
          fmt::format("is {}, outside of {} ... {}", value, lowest, highest));
  return static_cast<int>(value);
}

int Checked::word(const std::string& object, std::span<const std::string_view> words) const {
  const std::string text = file_.read_text(object);
  const auto known = std::find(words.begin(), words.end(), text);
  require(known != words.end(), object, "is none that this program knows");
  return static_cast<int>(known - words.begin());
}

void write_triangles(DataSink& file, const std::string& object, const Triangles& triangles) {
  std::vector<int> flat;
  for (const auto& t : triangles) flat.insert(flat.end(), t.begin(), t.end());
  file.write(object, flat, {triangles.size(), 3});
}

}  // namespace supple
