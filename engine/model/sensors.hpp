#pragma once
// What the sensors of a robot measure at the end of a step, in SI, without noise, bias and delay
// (engine/run/sensor_readings.hpp).
//
// clang-format off
//   length                     of the path through its points [m]
//   strain                     of the fibre d at a point, f = F d: (f . f - 1)/2 (Green-Lagrange) or |f| - 1 (engineering)
//   pressure, tension, force   the multiplier of an actuator [Pa, N]
//   volume                     of an actuator's cavity [m^3]
//   position                   x, y, z of a point [m]
//   accelerometer              specific force R^T (a - g) [m/s^2], R the rotation of its region (region_rotation())
//   gyroscope                  R_0^T R = exp [h omega]: angular velocity in the axes of the region [rad/s]
//   contact_force              x, y, z of the sum of the forces of obstacles on collision points; sum of the normal
//                              forces; sum of the magnitudes of the tangential ones [N]
// clang-format on
// Motion is that of a step of length h, whatever the integrator: v = (x - x_0)/h and a = (v - v_0)/h with x_0, R_0 and v_0
// of the step before. Implicit Euler's steps have just these velocities.

#include <span>
#include <string>
#include <vector>

#include "engine/model/robot.hpp"
#include "engine/model/state.hpp"

namespace supple {

/// One of the numbers of the sensors of a robot, in the order in which they stand together.
struct SensorNumber {
  std::string name;  // "imu acceleration x"
  int sensor = 0;
  int component = 0;
  Dimension dimension = Dimension::number;
};
std::vector<SensorNumber> sensor_numbers(const Robot& robot);
/// "length", "contact-force", as scenes have it.
std::string_view sensor_word(SensorKind kind);

/// How many numbers a sensor has.
int sensor_size(const Sensor& sensor);
/// How many numbers of a step the next one needs: x and v of an accelerometer, R of a gyroscope.
int sensor_memory(const Sensor& sensor);

/// Of robot b: y [robots x outputs], gravity [m/s^2]. `memory` holds those of the step before and becomes those of this
/// one; h = 0: there was no step, the robot rests there.
void evaluate_sensor(const Robot& robot, const Sensor& sensor, const State& state, std::span<const double> y, int b,
                     const Vec3d& gravity, double h, std::span<double> memory, std::span<double> value);

}  // namespace supple
