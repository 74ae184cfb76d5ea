#pragma once
// Names and texts of a robot's actuators, effectors and obstacles of every kind, as the reports and --json have them.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/run/trajectory_columns.hpp"

namespace supple::cli {

nlohmann::ordered_json vector_json(const Vec3d& x);
// "cable, length pulled, pushes too"; "force along (0, 0, 1), commanded".
std::string describe(const ActuatorRow& actuator);
std::string describe(const MotionInput& motion);
nlohmann::ordered_json actuator_json(const ActuatorRow& actuator);

// Cells of a table, a line for each row of constraints and springs: name, what it is, spring or hard.
std::vector<std::vector<std::string>> constraints_table(const Robot& robot);
nlohmann::ordered_json constraints_json(const Robot& robot);
// "10 ms, implicit-euler", with the implicit factors where they are not 1.
std::string step_text(const Robot& robot, double time_step, Integrator integrator);

// Cells of a table: name, what it is, where it is at rest.
std::vector<std::string> effector_cells(const Robot& robot, const Effector& effector);
nlohmann::ordered_json effector_json(const Robot& robot, const Effector& effector);
// Where effector `e` is for one robot's mapped points y: "(0, 0, 125) mm, 3 mm from rest".
std::string effector_text(const Robot& robot, int e, std::span<const double> y);

// Cells of a table: name, what it measures, its errors.
std::vector<std::string> sensor_cells(const Robot& robot, const Sensor& sensor);
nlohmann::ordered_json sensor_json(const Robot& robot, const Sensor& sensor);
// Name of each sensor to its reading, a number or a list, SI; readings of one robot.
nlohmann::ordered_json sensors_json(const Robot& robot, std::span<const double> readings);

// Cells of a table: name, what it is a factor on, its range.
std::vector<std::string> parameter_cells(const Parameter& parameter);
nlohmann::ordered_json parameter_json(const Parameter& parameter);

// Cells of a table: name, what it is, where it is, its friction.
std::vector<std::string> obstacle_cells(const PlacedObstacle& obstacle);
nlohmann::ordered_json obstacle_json(const PlacedObstacle& obstacle);
// "117 points, contact distance 0.5 mm".
std::string contact_text(const Robot& robot);
nlohmann::ordered_json contact_json(const Robot& robot);

}  // namespace supple::cli
