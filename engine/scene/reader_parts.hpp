#pragma once
// Parts of the scene reader (reader.cpp): regions, directions, actuators, constraints, effectors, sensors, obstacles. Errors:
// InputError at the key.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scene/table_reader.hpp"

namespace supple {

struct RigidScene;  // assembly_scene.hpp
struct LinkScene;
struct BodyEffectorScene;

// Fails at the first of `names` that the table has: it means nothing to `owner`, which `chosen_by` chose.
void refuse(const TableReader& table, std::string_view owner, std::string_view chosen_by,
            std::initializer_list<std::string_view> names);

// Keys actuation and variation of [reduce].
TrainingCommands read_training_commands(const TableReader& table);

bool has_region(const TableReader& table);
// Exactly one of box, sphere and group.
Region read_region(const TableReader& table, std::string_view title);

// v with length 1, its bits unchanged where it has that already. Fails at `key` if v has no direction.
Vec3d unit_vector(const TableReader& table, std::string_view key, const Vec3d& v);

// Unit vectors, at most three and independent of each other.
std::vector<Vec3d> read_directions(const TableReader& table, std::vector<Vec3d> fallback);

// points, pull_point (under the name `end`) and attachment_radius of a path. `what`: "cable 'a'".
struct Path {
  std::vector<Vec3d> points;
  std::optional<Vec3d> end;
  double attachment_radius = 0;
};
Path read_path(const TableReader& table, const std::string& what, std::string_view end);
// Throws where two points of a path that follow each other are the same.
void check_steps(const TableReader& table, const std::string& what, const std::vector<Vec3d>& points);
// That of the length `name`: its own, or that of the actuator which `cable` names.
Path read_length_path(const TableReader& table, const std::vector<ActuatorScene>& actuators, const std::string& name);

// The actuator of this kind that the text of `key` names; `measure`: what it has and others have not; `otherwise`: what
// may stand in its place.
const ActuatorScene& named_actuator(const TableReader& table, const std::vector<ActuatorScene>& actuators,
                                    std::string_view key, ActuatorKind kind, std::string_view measure,
                                    const char* otherwise);

// {file, unit, scale, rotation, translation} of a mesh or a surface.
SurfaceScene read_placed_file(const TableReader& table);

// implicit_velocity or implicit_position of the scene, from 0.5 to 1.
double read_implicit_factor(const TableReader& table, std::string_view name);

ActuatorScene read_actuator(const TableReader& table);
ConstraintScene read_constraint(const TableReader& table);
// `actuators`: those whose paths or cavities it may be that of.
EffectorScene read_effector(const TableReader& table, const std::vector<ActuatorScene>& actuators);
// Of the actuators that were read before.
SensorScene read_sensor(const TableReader& table, const std::vector<ActuatorScene>& actuators);

// Of the body that was read before.
ParameterScene read_parameter(const TableReader& table, const BodyScene& body);

// Throws where the document lists several bodies (assembly_scene.hpp).
void refuse_assembly(const Document& document, const std::string& file);

ObstacleScene read_obstacle(const TableReader& table);
ContactScene read_contact(const TableReader& table);

RigidScene read_rigid(const TableReader& table);
BodyEffectorScene read_body_effector(const TableReader& table);
LinkScene read_link(const TableReader& table);

}  // namespace supple
