// What a model looks like: the group /skin of a model file, where its kept elements are, and the walls of its cavities.

#include "engine/io/model_data_parts.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

std::string corners_of(std::size_t field) {
  return "/fields/" + entry_name(field) + "/corners";
}

std::string walls_of(std::size_t actuator) {
  return "/walls/" + entry_name(actuator);
}

// [n] indices below `end`; none where the file has none.
std::vector<int> indices(const DataSource& file, const Checked& checked, const std::string& object,
                         const std::vector<std::size_t>& shape, std::size_t end) {
  if (!file.has(object)) return {};
  std::vector<int> values = file.read_ints(object, shape);
  for (const int value : values)
    checked.require(value >= 0 && static_cast<std::size_t>(value) < end, object, "names what is not there");
  return values;
}

std::vector<Vec3d> nodes(const DataSource& file, const Checked& checked, const std::string& object) {
  const auto shape = file.shape(object);
  checked.require(shape.size() == 2 && shape[1] == 3, object, "has a wrong shape");
  return points_of(checked.doubles(object, shape));
}

Triangles read_triangles(const DataSource& file, const Checked& checked, const std::string& object, std::size_t nodes) {
  const auto shape = file.shape(object);
  checked.require(shape.size() == 2 && shape[1] == 3, object, "has a wrong shape");
  const auto flat = indices(file, checked, object, shape, nodes);
  Triangles triangles;
  for (std::size_t t = 0; t < shape[0]; ++t) triangles.push_back({flat[3 * t], flat[3 * t + 1], flat[3 * t + 2]});
  return triangles;
}

}  // namespace

void write_shape(DataSink& file, const ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = model.robot.motions.size();
  const ReducedSkin& skin = model.skin;
  file.write("/skin/rest", flat_points(skin.rest), {skin.rest.size(), 3});
  write_triangles(file, "/skin/triangles", skin.triangles);
  file.write("/skin/modes", skin.modes, {3 * skin.rest.size(), r});
  if (m > 0) file.write("/skin/inputs", skin.inputs, {3 * skin.rest.size(), m});
  if (!skin.mesh_node.empty()) file.write("/skin/mesh_node", skin.mesh_node, {skin.rest.size()});
  if (!skin.element.empty()) file.write("/skin/element", skin.element, {skin.triangles.size()});
  const ReducedInterior& interior = model.interior;
  if (!interior.rest.empty()) {
    file.write("/interior/rest", flat_points(interior.rest), {interior.rest.size(), 3});
    file.write("/interior/modes", interior.modes, {3 * interior.rest.size(), r});
    if (m > 0) file.write("/interior/inputs", interior.inputs, {3 * interior.rest.size(), m});
  }
  for (std::size_t f = 0; f < model.fields.size(); ++f) {
    const ReducedField& field = model.fields[f];
    if (!field.corners.empty())
      file.write(corners_of(f), field.corners, {field.element.size(), extent(field.corners_per_element())});
  }
  for (std::size_t a = 0; a < model.walls.size(); ++a) {
    const ReducedWalls& walls = model.walls[a];
    if (walls.rest.empty()) continue;
    file.write(walls_of(a) + "/rest", flat_points(walls.rest), {walls.rest.size(), 3});
    write_triangles(file, walls_of(a) + "/triangles", walls.triangles);
    file.write(walls_of(a) + "/modes", walls.modes, {3 * walls.rest.size(), r});
    if (m > 0) file.write(walls_of(a) + "/inputs", walls.inputs, {3 * walls.rest.size(), m});
  }
}

void read_shape(const DataSource& file, const Checked& checked, ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = model.robot.motions.size();
  ReducedSkin& skin = model.skin;
  skin.rest = nodes(file, checked, "/skin/rest");
  const std::size_t on_skin = skin.rest.size();
  skin.triangles = read_triangles(file, checked, "/skin/triangles", on_skin);
  skin.modes = checked.doubles("/skin/modes", {3 * on_skin, r});
  if (m > 0) skin.inputs = checked.doubles("/skin/inputs", {3 * on_skin, m});
  // Files written before these were there, and models that know nothing of a mesh, have none of what follows.
  constexpr std::size_t any = std::size_t{1} << 31;
  skin.mesh_node = indices(file, checked, "/skin/mesh_node", {on_skin}, any);
  skin.element = indices(file, checked, "/skin/element", {skin.triangles.size()}, any);
  ReducedInterior& interior = model.interior;
  if (file.has("/interior/rest")) {
    interior.rest = nodes(file, checked, "/interior/rest");
    interior.modes = checked.doubles("/interior/modes", {3 * interior.rest.size(), r});
    if (m > 0) interior.inputs = checked.doubles("/interior/inputs", {3 * interior.rest.size(), m});
  }
  for (std::size_t f = 0; f < model.fields.size(); ++f) {
    ReducedField& field = model.fields[f];
    field.corners = indices(file, checked, corners_of(f), {field.element.size(), extent(field.corners_per_element())},
                            on_skin + interior.rest.size());
  }
  if (!file.has("/walls")) return;
  model.walls.resize(model.robot.actuators.size());
  for (std::size_t a = 0; a < model.walls.size(); ++a) {
    if (!file.has(walls_of(a))) continue;
    ReducedWalls& walls = model.walls[a];
    checked.require(model.robot.actuators[a].kind == ActuatorKind::cavity, walls_of(a), "are walls of no cavity");
    walls.rest = nodes(file, checked, walls_of(a) + "/rest");
    walls.triangles = read_triangles(file, checked, walls_of(a) + "/triangles", walls.rest.size());
    walls.modes = checked.doubles(walls_of(a) + "/modes", {3 * walls.rest.size(), r});
    if (m > 0) walls.inputs = checked.doubles(walls_of(a) + "/inputs", {3 * walls.rest.size(), m});
  }
}

}  // namespace supple
