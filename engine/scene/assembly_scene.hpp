#pragma once
// A scene of several bodies: parts that are robots of their own, rigid bodies, and links between their points.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scene/scene.hpp"

namespace supple {

enum class MotionKind { translation, rotation };

/// A prescribed motion of a rigid body.
struct MotionScene {
  std::string name;
  MotionKind kind = MotionKind::translation;
  Vec3d direction{{0, 0, 0}};  // unit vector in the axes of what carries the body; rotation: the axis
  Vec3d centre{{0, 0, 0}};     // rotation: a point of the axis, in the frame of the body [m]
  Interval range;              // m or rad
  Place place;
};

enum class RigidShape { box, sphere, capsule, cylinder, mesh };

struct RigidScene {
  std::string name;
  std::string on;  // rigid body that carries it; "": none
  Vec3d translation{{0, 0, 0}},
      rotation{{0, 0, 0}};  // of its frame in that of its carrier; about x, then y, then z [rad]
  bool held = false;
  std::optional<double> mass;
  /// About the origin of its frame; the axis of capsule and cylinder is z. Without measures: no shape.
  RigidShape shape = RigidShape::box;
  std::optional<Vec3d> size;            // box: edges [m]
  std::optional<double> radius;         // sphere, capsule, cylinder [m]
  double length = 0;                    // cylinder; capsule: of its segment [m]
  std::optional<SurfaceScene> surface;  // mesh: closed
  /// One after the other: each moves what the ones before have moved. None: held, carried along, or free.
  std::vector<MotionScene> motions;
  double friction = 0;   // Coulomb's coefficient against other bodies
  bool collides = true;  // with other bodies
  std::vector<PointScene> points;
  Place place;
  bool has_shape() const { return size || radius || surface; }
  const char* hold() const { return held ? "held" : !motions.empty() ? "driven" : on.empty() ? "free" : "carried"; }
};

struct PartScene {
  std::string name;
  std::string scene, model;  // files; one of them
  std::string on;            // rigid body that carries it; "": fixed in space
  Vec3d translation{{0, 0, 0}}, rotation{{0, 0, 0}};
  double friction = 0;   // Coulomb's coefficient against other bodies
  bool collides = true;  // with other bodies
  /// What of its skin does, in its own axes: faces with all corners in a box or a sphere. All of it otherwise.
  std::optional<Region> touching;
  bool self_contact = false;
  Place place;
};

/// joint: a ball joint. Hinges and sliders have a coordinate, 0 at rest: the angle [rad] or travel [m] of `to` from
/// `from`. A weld leaves nothing free.
enum class LinkKind { joint, distance, limit, hinge, slider, weld };

/// What a joint's motor is told: its coordinate (angle, travel), its effort (torque, force), or a coordinate that it
/// seeks like a spring (servo).
enum class MotorControl { angle, torque, travel, force, servo };

struct MotorScene {
  MotorControl control = MotorControl::servo;
  Interval range;           // of the command
  double rate = unlimited;  // of the command
  Interval effort;          // N m or N
  double stiffness = 0;     // servo [N m/rad, N/m]
  Place place;
};

struct LinkScene {
  std::string name;
  LinkKind kind = LinkKind::joint;
  std::string from, to;          // "part:point"
  std::optional<double> length;  // distance, limit [m]
  double compliance = 0, damping_time = 0;
  ConstraintForm form = ConstraintForm::constraint;
  // Hinge, slider:
  Vec3d axis{{0, 0, 0}};  // unit vector in the axes of `from`
  Interval range;         // of the coordinate
  double stiffness = 0;   // of a spring on the coordinate [N m/rad, N/m]
  double rest = 0;        // where the spring is slack
  double damping = 0;     // [N m s/rad, N s/m]
  std::optional<MotorScene> motor;
  Place place;
  bool joins() const { return kind != LinkKind::distance && kind != LinkKind::limit; }
  bool moves() const { return kind == LinkKind::hinge || kind == LinkKind::slider; }
};

/// "joint", "hinge", ...
std::string_view link_word(LinkKind kind);

/// What inverse control steers: a position or an orientation.
struct BodyEffectorScene {
  EffectorScene effector;  // without a place on the body
  std::string at;          // "body:point"
};

/// How the parts are reduced in this world (engine/reduction/world_reduction.hpp).
struct WorldRecipe {
  int states = 64;             // of the training set, beside corners
  int validation_states = 30;  // unseen
  std::uint64_t seed = 1;
  double error = 0.01;        // mean error asked for
  int max_modes = 0;          // of a part; 0: as the error asks
  TrainingCommands along;     // none: on equilibria
  double force_error = 0.05;  // mean error asked for of the forces between bodies, along the commands
};

struct AssemblyScene {
  std::string file, name;
  Vec3d gravity{{0, 0, -9.81}};
  double time_step = 0.01, duration = 1;
  Integrator integrator = Integrator::implicit_euler;
  double implicit_velocity = 1, implicit_position = 1;  // of all parts
  std::vector<RigidScene> rigids;
  std::vector<PartScene> parts;
  std::vector<LinkScene> links;
  std::vector<BodyEffectorScene> effectors;  // none: those of the parts
  WorldRecipe reduction;
  std::vector<ObstacleScene> obstacles;  // in the world
  ContactScene contact;            // distance of all, 0: see AssemblyRobot; spacing of parts that say none; no region
  std::vector<std::string> files;  // what it was read from
};

// Whether a scene file, or the one in a folder, lists parts or rigid bodies. Throws InputError as read_scene does.
bool is_assembly(const std::string& path);
AssemblyScene read_assembly(const std::string& path);

}  // namespace supple
