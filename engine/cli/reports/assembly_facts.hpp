#pragma once
// What a scene of several bodies holds: for people and for --json.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/cli/reports/table.hpp"
#include "engine/mechanics/assembly/assembly_robot.hpp"

namespace supple::cli {

// Bodies that intersect at rest, and frames that fall without anything to fall on.
std::vector<std::string> notes_on_bodies(const AssemblyRobot& robot);
// notes: those on the bodies.
Facts assembly_facts(const AssemblyRobot& robot, const std::vector<std::string>& notes);
nlohmann::ordered_json assembly_json(const AssemblyRobot& robot, const std::vector<std::string>& notes);

}  // namespace supple::cli
