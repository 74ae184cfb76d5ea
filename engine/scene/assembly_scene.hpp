#pragma once
// A scene of several bodies: parts that are robots of their own, rigid bodies, and links between their points.

#include <optional>
#include <string>
#include <vector>

#include "engine/scene/scene.hpp"

namespace supple {

struct RigidScene {
  std::string name;
  Vec3d translation{{0, 0, 0}}, rotation{{0, 0, 0}};  // of its frame; turns about x, then y, then z [rad]
  bool held = false;
  std::optional<double> mass;
  std::optional<Vec3d> size;  // a box about the origin of its frame [m]
  std::string motion;         // "": not driven
  Vec3d direction{{0, 0, 0}};
  Interval range;
  std::vector<PointScene> points;
  Place place;
  const char* hold() const { return held ? "held" : motion.empty() ? "free" : "driven"; }
};

struct PartScene {
  std::string name;
  std::string scene, model;  // files; one of them
  std::string on;            // rigid body that carries it; "": fixed in space
  Vec3d translation{{0, 0, 0}}, rotation{{0, 0, 0}};
  Place place;
};

enum class LinkKind { joint, distance, limit };

struct LinkScene {
  std::string name;
  LinkKind kind = LinkKind::joint;
  std::string from, to;          // "part:point"
  std::optional<double> length;  // distance, limit [m]
  double compliance = 0, damping_time = 0;
  ConstraintForm form = ConstraintForm::constraint;
  Place place;
};

struct AssemblyScene {
  std::string file, name;
  Vec3d gravity{{0, 0, -9.81}};
  double time_step = 0.01, duration = 1;
  Integrator integrator = Integrator::implicit_euler;
  std::vector<RigidScene> rigids;
  std::vector<PartScene> parts;
  std::vector<LinkScene> links;
  std::vector<ObstacleScene> obstacles;  // in the world
  ContactScene contact;                  // distance of all; spacing of parts that say none; no region
  std::vector<std::string> files;        // what it was read from
};

// Whether a scene file, or the one in a folder, lists parts or rigid bodies. Throws InputError as read_scene does.
bool is_assembly(const std::string& path);
AssemblyScene read_assembly(const std::string& path);

}  // namespace supple
