#pragma once
// Parts of model_file.cpp: checked reading, the robot as a group of the file, and what it looks like.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/data_file.hpp"
#include "engine/model/reduced_model.hpp"

namespace supple {

using Numbers = std::vector<double>;

/// "00", "01", ...: an entry of a list.
std::string entry_name(std::size_t index);

/// [n][3]
std::vector<double> flat_points(const std::vector<Vec3d>& points);
std::vector<Vec3d> points_of(const std::vector<double>& values);
/// [triangles x 3]
void write_triangles(DataSink& file, const std::string& object, const Triangles& triangles);

/// Reads values and checks them, as a damaged or foreign file would fail first.
class Checked {
 public:
  explicit Checked(const DataSource& file) : file_(file) {}
  void require(bool condition, const std::string& object, const std::string& problem) const;
  std::vector<double> doubles(const std::string& object, const std::vector<std::size_t>& shape) const;
  double number(const std::string& object) const;
  int count(const std::string& object, int lowest, int highest) const;
  /// A text among `words`; its number.
  int word(const std::string& object, std::span<const std::string_view> words) const;

 private:
  const DataSource& file_;
};

void write_robot(DataSink& file, const Robot& robot);
/// Reads a robot. Throws InputError for inconsistent data.
Robot read_robot(const DataSource& file, const Checked& checked);

/// Constraints, springs and the implicit factors; nothing for a robot without them. Read after the robot's mapped
/// points.
void write_constraints(DataSink& file, const Robot& robot);
void read_constraints(const DataSource& file, const Checked& checked, Robot& robot);

/// Obstacles and collision points; nothing for a robot without obstacles. Read after the robot's mapped points.
void write_contact(DataSink& file, const ReducedModel& model);
void read_contact(const DataSource& file, const Checked& checked, ReducedModel& model);

/// Sensors; nothing for a robot without them. Read after what they measure.
void write_sensors(DataSink& file, const Robot& robot);
void read_sensors(const DataSource& file, const Checked& checked, Robot& robot);

/// Parameters of a model as its scene stands; nothing for a robot without them, or at other values, which it keeps.
void write_parameters(DataSink& file, const ReducedModel& model);
/// After everything else.
void read_parameters(const DataSource& file, const Checked& checked, ReducedModel& model);

/// Skin, interior and the corners of the kept elements.
void write_shape(DataSink& file, const ReducedModel& model);
/// After the model's modes, motions and fields.
void read_shape(const DataSource& file, const Checked& checked, ReducedModel& model);

}  // namespace supple
