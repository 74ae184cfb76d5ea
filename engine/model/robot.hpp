#pragma once
// What a robot is apart from its mesh: actuators as constraint rows over mapped points, effectors, probes, gravity. The
// same object in the full model and in the reduced one; built once, never changed.
//
// Mapped points: y = y_rest + L q + L_c c, three coordinates each [m]; the model that owns the robot knows L.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/collision/surface_set.hpp"
#include "engine/model/cavity.hpp"
#include "engine/obstacles/obstacle.hpp"
#include "engine/scene/scene.hpp"

namespace supple {

/// A constraint between points of the body, or between points and places fixed in space ([[constraint]]), as one row:
/// value phi(y) [m], multiplier lambda [N], generalised force H^T lambda. With compliance c and damping time d it is a
/// spring,
///   lambda = -(phi + d phi')/c,
/// which becomes the hard phi = 0 for c = 0; a one-sided row has phi >= 0 and lambda >= 0 instead. Source: F. Faure,
/// The Compliant plugin (2012), eqs. 1-3.
///   length  phi = side (L0 - L(y)) of the path through its points; lambda pulls its ends together where side = 1 and
///           pushes them apart where it is -1
///   along   phi = direction . (y - place) of one mapped point, or direction . (y_1 - y_2 - place) of two
///           No direction (0): a hard row of a reduced model that all of its modes obey; its lambda is 0
/// Of joints between bodies of an assembly, at points and at vectors that turn with them (joint_values.hpp):
///   slide   phi = side (y_0 . (y_2 - y_1) - origin): how far point 2 is from point 1 along the vector y_0
///   aligned phi = y_0 . y_1, or (y_0 . y_1 - y_2 . y_3)/2; lambda is a torque [N m]
///   angle   phi = side (angle - origin) [rad] by which y_2 has turned from y_1 about y_0, from -pi to pi
struct ConstraintRow {
  enum class Value { length, along, slide, aligned, angle };
  std::string name;
  Value value = Value::along;
  int first_point = 0;  // consecutive mapped points
  int point_count = 1;
  std::optional<Vec3d> anchor;  // length: end of the path, fixed in space
  double rest_length = 0;       // length: L0 [m]
  double side = 1;              // length, slide, angle
  double origin = 0;            // slide [m], angle [rad]
  Vec3d direction{{0, 0, 0}};   // along: unit vector
  Vec3d place{{0, 0, 0}};       // along [m]
  double compliance = 0;        // c [m/N]
  double damping_time = 0;      // d [s]
  bool one_sided = false;
  /// Whether the constraint ties the body to a place fixed in space.
  bool in_space() const { return value == Value::along ? point_count == 1 : anchor.has_value(); }
};

/// Gas in a cavity, at one temperature, as an ideal gas has it:
///   (p_a + lambda)(V0 + phi + V_d) = p_a (V0 + V_d + n)
/// n is the gas that it has gained since the rest, as volume at the pressure outside [m^3]: the command where the
/// control is `gas`; through the line of a `supply` with the pressure p_s, n' = (p_s - lambda)/R.
struct GasLaw {
  double atmosphere = standard_atmosphere;  // p_a, absolute [Pa]
  double dead_volume = 0;                   // V_d [m^3]
  double resistance = 0;                    // R [Pa s/m^3] of a supply; 0: none
};

/// An actuator as one constraint row: value phi(y), multiplier lambda with generalised force H^T lambda. phi [m],
/// lambda [N]; of a cavity m^3 and Pa.
///   cable   phi = L0 - L(y), positive when shortened; lambda is its tension
///   force   phi = direction . (y - y_rest) of one mapped point (the mean of a region for a load spread over it);
///           lambda is the force along the direction, which does not turn with the body
///   cavity  phi = V(y) - V0 of the closed surface on its points; lambda is the pressure above that outside. In a
///           reduced model phi is a polynomial of the coordinates, which stand among the mapped points (`volume`).
///           With a gas (GasLaw) neither is given, but the amount of gas or the pressure that supplies it
///   motor, linear_motor   phi is the angle [rad] or the travel [m] of a joint between bodies of an assembly (`joint`);
///           lambda is the torque [N m] or force that raises it. A servo has a compliance: lambda = (command - phi)/c
struct ActuatorRow : CavityShape {
  static constexpr double motor_lever = 0.01;  // m: of the points that a motor moves
  std::string name;
  ActuatorKind kind = ActuatorKind::cable;
  int first_point = 0;  // cable: its via-points are consecutive mapped points; force: the loaded point; cavity: its
  int point_count = 0;  // corners, or points that hold the coordinates alpha, c and zeros
  std::optional<Vec3d> pull_point;  // cable: fixed end after the last via-point
  Vec3d direction{{0, 0, 0}};       // force: unit vector
  double rest_length = 0;           // cable: L0 [m]
  ActuatorControl control = ActuatorControl::displacement;
  bool bilateral = false;
  Interval range;  // of the command [m, m^3, N or Pa]
  Interval force;  // of the multiplier [N or Pa]
  double rate = unlimited;
  int samples = 2;
  ConstraintRow joint;                       // motors: slide or angle, with side = 1
  double compliance = 0;                     // motors [rad/(N m), m/N]; 0: none, as of all others
  GasLaw gas;                                // control gas, supply
  double friction = 0;                       // cable: Coulomb's coefficient
  double slip_length = default_slip_length;  // cable [m]
  bool has_gas() const { return control == ActuatorControl::gas || control == ActuatorControl::supply; }
  /// How many numbers it remembers from step to step (State::history):
  ///   supplied cavity      the gas that it has gained, as volume at the pressure outside [m^3]
  ///   cable with friction  three of each turn of its path (engine/model/cable_friction.hpp)
  int history() const {
    if (control == ActuatorControl::supply) return 1;
    return friction > 0 ? 3 * (point_count + (pull_point ? 1 : 0) - 2) : 0;
  }
  bool is_motor() const { return kind == ActuatorKind::motor || kind == ActuatorKind::linear_motor; }
  /// Change of phi per metre of motion of the row's points: the factor from tolerances of lengths to tolerances of phi.
  double size() const {
    return kind == ActuatorKind::cavity ? rest_area : kind == ActuatorKind::motor ? 1 / motor_lever : 1;
  }
};

struct NamedPoint {
  std::string name;
  std::string set;  // probes: reported together
  int point = 0;    // mapped point
};

/// Number of rigid modes of a body: three translations and three rotations.
inline constexpr int rigid_mode_count = 6;

/// An effector, which inverse control steers: rows phi_e(y) that vanish at the goal (engine/model/effectors.hpp), in
/// metres.
///   position     one row direction . (x - goal) for each direction; x a point, or the mean of a region
///   orientation  rows lever * direction . theta, theta the rotation vector from the goal's orientation to the region's
///   length       L0 - L - goal of a cable's path, the length by which it is shortened
///   volume       (V - goal) / A of a cavity, A the area of its walls at rest: the mean distance of the walls to their
///                goal
struct Effector : CavityShape {
  std::string name;
  EffectorKind kind = EffectorKind::position;
  int point = 0;                    // mapped point: where errors are measured, and the place in pictures
  int first_point = 0;              // orientation: three mapped vectors, the columns of the region's
  int point_count = 0;              //   deformation gradient; length: the path's mapped points; volume: as a cavity's
  std::vector<Vec3d> directions;    // position, orientation: unit vectors, at most three
  double lever = 1;                 // orientation: m per radian
  double weight = 1;                // of its rows in the objective; they count squared
  bool exact = false;               // reached exactly or not at all: equality rows
  std::optional<Vec3d> pull_point;  // length: fixed end of the path
  double rest_length = 0;           // length: L0 [m]
  bool scalar() const { return kind == EffectorKind::length || kind == EffectorKind::volume; }
  int rows() const { return scalar() ? 1 : static_cast<int>(directions.size()); }
  /// Number of goal components that are used: the first one, or all three.
  int goal_numbers() const { return scalar() ? 1 : 3; }
};

/// A sensor: it reads, and acts on nothing (engine/model/sensors.hpp).
struct Sensor {
  std::string name;
  SensorKind kind = SensorKind::position;
  /// Consecutive mapped points. length: those of the path; strain: the vector F d; position: one; accelerometer: the
  /// point, then the columns of its region's deformation gradient; gyroscope: these columns; others: none.
  int first_point = 0, point_count = 0;
  std::optional<Vec3d> pull_point;  // length: fixed end of the path
  StrainMeasure measure = StrainMeasure::green_lagrange;
  int actuator = -1;                  // pressure, volume, tension, force
  std::vector<int> collision_points;  // contact_force: counted from the first, ascending
  double noise = 0;                   // standard deviation, in the sensor's unit
  double bias = 0;                    // in the sensor's unit
  double delay = 0;                   // s
  /// Whether its k-th mapped point is a vector, which turns with the body and is not moved.
  bool is_vector(int k) const {
    return kind == SensorKind::strain || kind == SensorKind::gyroscope || (kind == SensorKind::accelerometer && k > 0);
  }
};

/// A prescribed motion: a translation by the input [m] along `direction`, of the nodes of one fixed region or of a
/// frame; or of a frame a rotation by the input [rad] about the axis `direction` through `centre`.
struct MotionInput {
  std::string name;
  Vec3d direction{{0, 0, 0}};
  Interval range;
  /// The motion moves all held nodes and no spring ties the body to its place: it carries the body along without
  /// strain. A rigid motion is the only motion of its robot.
  bool rigid = false;
  bool rotation = false;
  Vec3d centre{{0, 0, 0}};
  /// Where the motion is at rest: 0, or the end of its range that is nearest.
  double rest() const { return std::clamp(0.0, range.lower, range.upper); }
};

/// A number that the model depends on ([[parameter]]): a factor, 1 in the model as its scene stands (parameters.hpp).
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::stiffness;
  Interval range{1, 1};
  int material = -1, membrane = -1;  // stiffness: of which, from 0; both -1: of the whole body
  /// stretch (stretch.hpp): unit vector; what lies between the planes `begin` and `end` along it is stretched about the
  /// plane `about` [m].
  Vec3d direction{{0, 0, 0}};
  double begin = 0, end = 0, about = 0;
  double value = 1;  // that of this model
};

struct Robot;
/// Whether it has parameters, and all are as the scene has them, so that they may be set.
bool has_open_parameters(const Robot& robot);

/// An obstacle with Coulomb's coefficient of friction against the body. Inverse control keeps the sum of the normal
/// forces on it at or below max_force [N]; forward simulation is not limited.
struct PlacedObstacle {
  std::string name;
  Obstacle obstacle;
  ObstaclePose pose;
  double friction = 0;
  double max_force = unlimited;
};

/// A rod in a body ([[body.rod]]), for display: its nodes are consecutive mapped points.
struct RodLine {
  int first_point = 0, point_count = 0;
  double radius = 0;  // m
};

struct Robot {
  std::string name;
  Vec3d gravity{{0, 0, 0}};
  double time_step = 0.01;
  Integrator integrator = Integrator::implicit_euler;
  double implicit_velocity = 1, implicit_position = 1;  // alpha and beta of a time step (engine/step/step.hpp)
  double rayleigh_mass = 0, rayleigh_stiffness = 0;
  std::vector<Vec3d> rest_points;  // y_rest
  std::vector<ActuatorRow> actuators;
  std::vector<ConstraintRow> constraints;  // their multipliers are unknowns, beside the actuators'
  std::vector<ConstraintRow> springs;      // the same as forces: in f and A, c > 0, not one-sided
  std::vector<Effector> effectors;
  std::vector<NamedPoint> probes;
  std::vector<Sensor> sensors;
  std::vector<RodLine> rods;
  std::vector<MotionInput> motions;
  std::vector<Parameter> parameters;
  /// Collision points are consecutive mapped points, kept at least `contact_distance` [m] from each obstacle. A pair is
  /// a collision point and an obstacle: its index is point * obstacles + obstacle, the point counted from the first.
  std::vector<PlacedObstacle> obstacles;
  int first_collision_point = 0, collision_points = 0;
  double contact_distance = 0;
  /// The largest force by which training states were pushed at a collision point ([reduce] pushes) [N]; 0: not at all.
  double pushes = 0;
  std::uint64_t other_obstacles = 0;  // a hash of obstacles that are not those of its scene (changes.hpp); 0: its own
  /// Bodies of an assembly that may touch each other: their surfaces, the vertices of which are consecutive mapped
  /// points, and Coulomb's coefficient of each. Null: none.
  std::shared_ptr<const SurfaceSet> surfaces;
  std::vector<std::string> surface_names;
  std::vector<double> surface_friction;
  int first_surface_point = 0;
  bool touches() const { return pairs() > 0 || surfaces != nullptr; }
  int pairs() const { return collision_points * static_cast<int>(obstacles.size()); }
  /// Whether a constraint or spring ties the robot to a place in space.
  bool held_in_space() const {
    const auto ties = [](const std::vector<ConstraintRow>& rows) {
      return std::any_of(rows.begin(), rows.end(), [](const ConstraintRow& row) { return row.in_space(); });
    };
    return ties(constraints) || ties(springs);
  }
  /// The body is free-floating: no node of it is fixed, driven or on a spring. Its stiffness is singular, its position
  /// and orientation are free. The basis of a reduced model begins with its six rigid motions, translations first.
  bool floating = false;
  /// Rows of constraint space: those of the actuators, then those of the constraints. Only actuators have commands.
  int rows() const { return static_cast<int>(actuators.size() + constraints.size()); }
  /// Numbers that the points of its viscous materials remember (State::viscous): field by field, body by body.
  int viscous = 0;
  /// Numbers that its actuators remember, in their order.
  int history() const {
    int count = 0;
    for (const ActuatorRow& actuator : actuators) count += actuator.history();
    return count;
  }
  /// A model is strained by all of its motions or by none: a rigid one is alone.
  int straining_motions() const {
    return static_cast<int>(std::count_if(motions.begin(), motions.end(), [](const auto& m) { return !m.rigid; }));
  }
  /// The points of the effectors, then the probes.
  std::vector<NamedPoint> reported_points() const {
    std::vector<NamedPoint> points;
    for (const Effector& effector : effectors) points.push_back({effector.name, "", effector.point});
    points.insert(points.end(), probes.begin(), probes.end());
    return points;
  }
  int outputs() const { return 3 * static_cast<int>(rest_points.size()); }
};

}  // namespace supple
