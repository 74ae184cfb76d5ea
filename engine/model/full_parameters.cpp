// Of full models, and from scenes and words.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/mesh/geometry.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/parameters.hpp"
#include "engine/model/stretch.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Of all nodes: the sum of the whole matrix.
double mass_of(const NodeMatrix& matrix) {
  double sum = 0;
  for (std::size_t column = 0; column + 1 < matrix.column_start.size(); ++column)
    for (int k = matrix.column_start[column]; k < matrix.column_start[column + 1]; ++k)
      sum += (matrix.row[extent(k)] == static_cast<int>(column) ? 1 : 2) * matrix.value[extent(k)];
  return sum;
}

// What a stretch of the body would have to change and does not.
void check_stretched(const FullModel& model, const Place& place) {
  const auto fail = [&](const char* what) {
    throw InputError(fmt::format("a stretch is not supported of bodies with {}", what), "without it", place);
  };
  const Robot& robot = model.robot;
  if (robot.floating) fail("no fixed part");
  if (!robot.rods.empty()) fail("rods");
  for (const ElementField& field : model.fields)
    if (!solid(field.law)) fail("membranes");
  for (const ActuatorRow& row : robot.actuators) {
    if (row.kind == ActuatorKind::cavity) fail("cavities");
    if (row.friction > 0) fail("cables with friction");
  }
  for (const Effector& row : robot.effectors)
    if (row.kind == EffectorKind::volume || row.kind == EffectorKind::orientation)
      fail(row.kind == EffectorKind::volume ? "effectors that are volumes" : "effectors that are orientations");
  for (const Sensor& sensor : robot.sensors)
    for (int k = 0; k < sensor.point_count; ++k)
      if (sensor.is_vector(k)) fail("sensors of strains or rotations");
}

Parameter placed_stretch(const ParameterScene& from, const FullModel& model) {
  Parameter parameter{.name = from.name, .kind = from.kind, .range = from.range};
  parameter.direction = from.direction;
  double lower = unlimited, upper = -unlimited;
  for (const Vec3d& x : model.mesh.nodes) {
    lower = std::min(lower, dot(from.direction, x));
    upper = std::max(upper, dot(from.direction, x));
  }
  parameter.begin = from.from ? dot(from.direction, *from.from) : lower;
  parameter.end = from.to ? dot(from.direction, *from.to) : upper;
  parameter.about = from.about ? dot(from.direction, *from.about) : (parameter.begin + parameter.end) / 2;
  if (!(parameter.begin < parameter.end))
    throw InputError(
        fmt::format("the stretch '{}' ends where it begins, or before that, along its direction", from.name),
        "`to` beyond `from`, or neither", from.place);
  if (parameter.begin >= upper || parameter.end <= lower)
    throw InputError(fmt::format("the stretch '{}' is not where the body is", from.name),
                     "`from` and `to` in the frame of the scene, or neither", from.place);
  return parameter;
}

// Masses of all subsets of stretches: differences of those at twice the lengths, in which they are linear.
void find_mass_terms(const BodyScene& body, FullModel& model) {
  const std::vector<int> stretches = stretches_of(model.robot);
  std::vector<std::vector<double>> at(std::size_t{1} << stretches.size());
  for (unsigned subset = 0; subset < at.size(); ++subset) {
    std::vector<double> values = nominal_parameters(model.robot);
    for (std::size_t k = 0; k < stretches.size(); ++k)
      if ((subset >> k & 1u) != 0) values[extent(stretches[k])] = 2;
    const RestShape shape(model.robot, values);
    Mesh stretched = model.mesh;
    for (Vec3d& x : stretched.nodes) x = x + shape.shift(stretched_along(model.robot, x).data());
    double mass = 0;
    at[subset] = build_mass(body, model.mesh, stretched, model.fields, mass).value;
  }
  for (unsigned subset = 1; subset < at.size(); ++subset) {
    std::vector<double> term(model.mass.value.size(), 0.0);
    for (unsigned part = 0; part < at.size(); ++part) {
      if ((part & ~subset) != 0) continue;
      const double sign = std::popcount(subset ^ part) % 2 == 0 ? 1 : -1;
      for (std::size_t i = 0; i < term.size(); ++i) term[i] += sign * at[part][i];
    }
    model.mass_terms.push_back(std::move(term));
  }
}

// Between the ends of its ranges a body does not turn inside out if it does not at any of their corners: determinants
// are linear in each stretch.
void check_upright(const FullModel& model, const Place& place) {
  for (const ElementField& field : model.fields)
    if (!stays_upright(model.robot, stretch_slopes(model.robot, model.mesh.nodes, field)))
      throw InputError("the stretches turn the body inside out at some of the ends of their ranges",
                       "narrower ranges, or stretches of different parts", place);
}

}  // namespace

void place_parameters(const Scene& scene, FullModel& model) {
  const Place* stretched = nullptr;
  for (const ParameterScene& from : scene.parameters) {
    if (from.kind == ParameterKind::stretch) {
      stretched = &from.place;
      model.robot.parameters.push_back(placed_stretch(from, model));
      continue;
    }
    Parameter parameter{.name = from.name, .kind = from.kind, .range = from.range};
    parameter.material = from.material - 1;
    parameter.membrane = from.membrane - 1;
    model.robot.parameters.push_back(std::move(parameter));
  }
  if (stretched == nullptr) return;
  if (stretches_of(model.robot).size() > most_stretches)
    throw InputError(fmt::format("the scene has more than {} stretches", most_stretches), "fewer of them", *stretched);
  check_stretched(model, *stretched);
  if (scene.bodies.front().mass_kind == MassKind::lumped && model.mesh.order() == 2)
    throw InputError("a stretch is not supported of masses that are lumped on elements of second order",
                     "mass_distribution = \"consistent\"", *stretched);
  check_upright(model, *stretched);
  find_mass_terms(scene.bodies.front(), model);
}

std::vector<double> parameters_of_words(const Robot& robot, std::span<const std::string> words) {
  std::vector<NamedValue> values;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      throw InputError(
          fmt::format("'{}' is not NAME=FACTOR", word),
          fmt::format("--parameter {}=0.8", robot.parameters.empty() ? "NAME" : robot.parameters.front().name));
    values.push_back({word.substr(0, equals),
                      parse_quantity(word.substr(equals + 1), Dimension::number, {"--parameter", 0, 0, ""})});
  }
  return parameters_by_name(robot, values);
}

void set_parameters(const FullModel& nominal, std::span<const double> values, FullModel& model) {
  take_values(values, model.robot);
  for (std::size_t f = 0; f < nominal.fields.size(); ++f)
    scale_moduli(nominal.robot, values, nominal.fields[f].law, nominal.fields[f].parameters,
                 model.fields[f].parameters);
  model.mass.value = nominal.mass.value;
  if (const RestShape shape(nominal.robot, values); shape.stretches() > 0) set_shape(nominal, shape, model);
  const double density = density_factor(nominal.robot, values);
  for (double& mass : model.mass.value) mass *= density;
  model.total_mass = mass_of(model.mass);
  model.total_volume = 0;
  for (int e = 0; e < model.mesh.element_count(); ++e) model.total_volume += element_volume(model.mesh, e);
}

FullModel at_parameters(const FullModel& nominal, std::span<const double> values) {
  FullModel model = nominal;
  set_parameters(nominal, values, model);
  return model;
}

}  // namespace supple
