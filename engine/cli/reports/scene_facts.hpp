#pragma once
// What a scene, a mesh or a model holds: for people and for --json.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/cli/reports/table.hpp"
#include "engine/mesh/check.hpp"
#include "engine/model/full_model.hpp"
#include "engine/scene/units.hpp"

namespace supple::cli {

// unit: metres per unit of the mesh, 0 if unknown (extents are then plain numbers).
Facts mesh_facts(const MeshReport& report, double unit);
nlohmann::ordered_json mesh_json(const MeshReport& report);

Facts scene_facts(const Scene& scene, const FullModel& model);
nlohmann::ordered_json scene_json(const Scene& scene, const FullModel& model);

// "0 mm to 40 mm".
std::string format_range(const Interval& range, Dimension dimension);
// "(0, 0, 125) mm" for metres.
std::string format_point(const Vec3d& x);

}  // namespace supple::cli
