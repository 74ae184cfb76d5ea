#pragma once
// Columns of a trajectory: what a robot's multipliers and effectors are called there.

#include <span>
#include <string>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/model/sensors.hpp"

namespace supple {

/// Name of the multiplier of an actuator: "tension", "force" or "pressure".
const char* multiplier_name(const ActuatorRow& actuator);
/// "force", or "torque" of what keeps or limits angles; its dimension.
const char* multiplier_name(const ConstraintRow& row);
Dimension multiplier_dimension(const ConstraintRow& row);
/// Whether a constraint of a reduced model is a hard row that all of its modes obey; its force is not known.
bool is_obeyed(const ConstraintRow& row);
/// Columns of a trajectory beyond the places of effectors and probes: how far orientations are turned [deg] and lengths
/// shortened [mm].
std::vector<std::string> extra_columns(const Robot& robot);
std::vector<double> extra_values(const Robot& robot, std::span<const double> y);
/// Columns of the numbers of sensors: "imu acceleration x [m/s^2]"; strains have no unit.
std::vector<std::string> sensor_columns(std::span<const SensorNumber> numbers);
/// Such a value in the unit of its column.
double shown(const SensorNumber& number, double value);

}  // namespace supple
