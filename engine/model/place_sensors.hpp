#pragma once
// Sensors of a scene as those of a robot, on its mapped points.

#include "engine/model/place_points.hpp"

namespace supple {

/// Appends the scene's sensors, which follow its actuators. Throws InputError with the place of a sensor.
void place_sensors(const Scene& scene, PointPlacer& placer, Robot& robot);

/// Which collision points each sensor of contact forces has; after these were placed. Throws InputError for one that
/// has none.
void find_contact_sensors(const Scene& scene, FullModel& model);

}  // namespace supple
