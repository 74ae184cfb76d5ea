// What a model looks like: the group /skin of a model file, and where its kept elements are.

#include "engine/reduction/model_file_parts.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

std::string corners_of(std::size_t field) {
  return "/fields/" + entry_name(field) + "/corners";
}

// [n] indices below `end`; none where the file has none.
std::vector<int> indices(const Hdf5File& file, const Checked& checked, const std::string& object,
                         const std::vector<std::size_t>& shape, std::size_t end) {
  if (!file.has(object)) return {};
  std::vector<int> values = file.read_ints(object, shape);
  for (const int value : values)
    checked.require(value >= 0 && static_cast<std::size_t>(value) < end, object, "names what is not there");
  return values;
}

std::vector<Vec3d> nodes(const Hdf5File& file, const Checked& checked, const std::string& object) {
  const auto shape = file.shape(object);
  checked.require(shape.size() == 2 && shape[1] == 3, object, "has a wrong shape");
  return points_of(checked.doubles(object, shape));
}

}  // namespace

void write_shape(Hdf5File& file, const ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = model.robot.motions.size();
  const ReducedSkin& skin = model.skin;
  file.write("/skin/rest", flat_points(skin.rest), {skin.rest.size(), 3});
  std::vector<int> triangles;
  for (const auto& t : skin.triangles) triangles.insert(triangles.end(), t.begin(), t.end());
  file.write("/skin/triangles", triangles, {skin.triangles.size(), 3});
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
}

void read_shape(const Hdf5File& file, const Checked& checked, ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = model.robot.motions.size();
  ReducedSkin& skin = model.skin;
  skin.rest = nodes(file, checked, "/skin/rest");
  const std::size_t on_skin = skin.rest.size();
  const auto shape = file.shape("/skin/triangles");
  checked.require(shape.size() == 2 && shape[1] == 3, "/skin/triangles", "has a wrong shape");
  const auto triangles = indices(file, checked, "/skin/triangles", shape, on_skin);
  for (std::size_t t = 0; t < shape[0]; ++t)
    skin.triangles.push_back({triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]});
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
}

}  // namespace supple
