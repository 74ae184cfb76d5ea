#pragma once
// What the stages of a step find about each robot, where the robot is computed.

namespace supple {

// What the points found.
struct PointReport {
  int inverted = 0;          // points with det F <= 0
  int undefined = 0;         // points where the law has no value: the result must not be used
  int first_undefined = -1;  // element (mesh number) of the first of them, when known
  // Norm of the element forces before they cancel [N], at least those of a strain of rounding_strain everywhere:
  // residuals are judged against it.
  double force_scale = 0;
};

enum class SystemStatus : int { ok, singular, not_positive, out_of_memory };

// What became of a system matrix.
struct SystemReport {
  SystemStatus status = SystemStatus::ok;
  int negative_pivots = 0;
  int weakened = 0;  // 1: the safe tangent lacks some geometric stiffness of strain modes (geometric_share.hpp)
};

enum class RobotStatus : int { ok, undefined_points, singular, not_positive, out_of_memory, not_finite };

// How a robot fared up to constraint space.
struct RobotFinding {
  RobotStatus status = RobotStatus::ok;
  PointReport points;
  SystemReport system;
};

}  // namespace supple
