#include "engine/io/model_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/io/model_data_parts.hpp"
#include "engine/model/on_frame.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/hash.hpp"
#include "kernels/elements/tiles.hpp"

namespace supple {

namespace {

constexpr const char* magic = "supple reduced model";
constexpr int most_motions = 1000, most_strain_modes = 100000;

// Fields that formats before 11 do not tell: of these, the number of points tells what the elements are.
bool of_later_elements(const ReducedField& field) {
  return field.part != LawPart::whole || field.nodes_per_element > 8;
}

// Columns of `parameters` in files: three before laws had more.
std::size_t parameters_of(LawId law) {
  return visit_law(law, [](auto type) { return std::max<std::size_t>(3, type.parameters); });
}

// The oldest format that has what the model has.
int format_of(const ReducedModel& model) {
  const bool membranes = std::any_of(model.fields.begin(), model.fields.end(),
                                     [](const ReducedField& field) { return membrane_law(field.law); });
  const bool cavities = std::any_of(model.robot.actuators.begin(), model.robot.actuators.end(),
                                    [](const ActuatorRow& row) { return row.kind == ActuatorKind::cavity; });
  const Robot& robot = model.robot;
  const bool constraints = !robot.constraints.empty() || !robot.springs.empty() || robot.implicit_velocity != 1 ||
                           robot.implicit_position != 1;
  const bool limits_or_tubes =
      std::any_of(robot.obstacles.begin(), robot.obstacles.end(), [](const PlacedObstacle& placed) {
        return placed.obstacle.shape() == Obstacle::Shape::tube || placed.max_force != unlimited;
      });
  const bool volumes = std::any_of(robot.effectors.begin(), robot.effectors.end(),
                                   [](const Effector& row) { return row.kind == EffectorKind::volume; });
  const bool points = std::any_of(model.fields.begin(), model.fields.end(),
                                  [](const ReducedField& field) { return field.unit == DomainUnit::point; });
  const bool strains =
      std::any_of(model.fields.begin(), model.fields.end(), [](const ReducedField& f) { return f.strains.count > 0; });
  const bool more_elements = std::any_of(model.fields.begin(), model.fields.end(), of_later_elements);
  const bool more_laws = std::any_of(model.fields.begin(), model.fields.end(), [](const ReducedField& field) {
    return field.law > LawId::corotational_membrane;
  });
  const bool gas_or_sensors =
      !robot.sensors.empty() ||
      std::ranges::any_of(robot.actuators, [](const ActuatorRow& row) { return row.has_gas() || row.friction > 0; });
  const bool viscous_or_threads = std::any_of(model.fields.begin(), model.fields.end(), [](const ReducedField& field) {
    return field.viscosity.terms > 0 || field.law == LawId::fibres;
  });
  const bool solid_strains = std::ranges::any_of(
      model.fields, [](const ReducedField& field) { return field.strains.count > 0 && solid(field.law); });
  return robot.pushes > 0             ? 18
         : has_open_parameters(robot) ? 17
         : solid_strains              ? 16
         : !robot.rods.empty()        ? 15
         : viscous_or_threads         ? 14
         : gas_or_sensors             ? 13
         : more_laws                  ? 12
         : more_elements              ? 11
         : model.on_frame             ? 10
         : strains                    ? 9
         : points                     ? 8
         : volumes                    ? 7
         : limits_or_tubes            ? 6
         : constraints                ? 5
         : !robot.obstacles.empty()   ? 4
         : membranes || cavities      ? 3
                                      : 2;
}

// Prescribed motions and the data that they add. A robot without prescribed motions has none of these.
void write_motions(DataSink& file, const ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = model.robot.motions.size();
  if (m == 0) return;
  file.write("/robot/motion_count", static_cast<std::int64_t>(m));
  for (std::size_t i = 0; i < m; ++i) {
    const MotionInput& motion = model.robot.motions[i];
    const std::string at = "/robot/motions/" + entry_name(i);
    file.write(at + "/name", motion.name);
    file.write(at + "/direction", Numbers{motion.direction[0], motion.direction[1], motion.direction[2]}, {3});
    file.write(at + "/range", Numbers{motion.range.lower, motion.range.upper}, {2});
    file.write(at + "/rigid", static_cast<std::int64_t>(motion.rigid));
  }
  file.write("/input_mass", model.input_mass, {m, r});
  file.write("/output_inputs", model.output_inputs, {extent(model.robot.outputs()), m});
}

std::vector<MotionInput> read_motions(const DataSource& file, const Checked& checked) {
  std::vector<MotionInput> motions;
  if (!file.has("/robot/motion_count")) return motions;
  const int count = checked.count("/robot/motion_count", 1, most_motions);
  for (int i = 0; i < count; ++i) {
    const std::string at = "/robot/motions/" + entry_name(static_cast<std::size_t>(i));
    MotionInput motion;
    motion.name = file.read_text(at + "/name");
    const auto direction = checked.doubles(at + "/direction", {3});
    motion.direction = {{direction[0], direction[1], direction[2]}};
    const auto range = file.read_doubles(at + "/range", {2});
    checked.require(range[0] <= range[1], at + "/range", "is reversed");
    motion.range = {range[0], range[1]};
    motion.rigid = checked.count(at + "/rigid", 0, 1) == 1;
    checked.require(!motion.rigid || count == 1, at + "/rigid", "is said of one of several motions");
    motions.push_back(std::move(motion));
  }
  return motions;
}

// What motions add to the model; after its robot and modes.
void read_inputs(const Checked& checked, ReducedModel& model) {
  const std::size_t r = extent(model.modes), m = model.robot.motions.size();
  if (m == 0) return;
  model.input_mass = checked.doubles("/input_mass", {m, r});
  model.output_inputs = checked.doubles("/output_inputs", {extent(model.robot.outputs()), m});
}

void write_strains(DataSink& file, const std::string& at, const StrainModes& strains, int columns) {
  if (strains.count == 0) return;
  const std::size_t count = extent(strains.count);
  file.write(at + "/strain_count", static_cast<std::int64_t>(strains.count));
  file.write(at + "/strain_unit", strains.unit);
  file.write(at + "/strain_linear", strains.linear, {count, extent(columns)});
  file.write(at + "/strain_quadratic", strains.quadratic, {count, extent(columns, columns + 1) / 2});
}

StrainModes read_strains(const DataSource& file, const Checked& checked, const std::string& at,
                         const ReducedField& field, int columns) {
  StrainModes strains;
  if (!file.has(at + "/strain_count")) return strains;
  strains.count = checked.count(at + "/strain_count", 1, most_strain_modes);
  checked.require(membrane_law(field.law) || solid(field.law), at + "/strain_count",
                  "is said of what is neither a membrane nor a solid");
  checked.require(field.element.empty(), at + "/elements", "stand beside strain modes");
  bool stiff = false;
  for (std::size_t g = 0; g < field.parameters.size(); ++g)
    stiff = stiff || ReducedModel::is_sheet(field, static_cast<int>(g));
  checked.require(stiff, at + "/parameters", "have no moduli");
  strains.unit = checked.number(at + "/strain_unit");
  checked.require(strains.unit > 0, at + "/strain_unit", "is not positive");
  const std::size_t count = extent(strains.count);
  strains.linear = checked.doubles(at + "/strain_linear", {count, extent(columns)});
  strains.quadratic = checked.doubles(at + "/strain_quadratic", {count, extent(columns, columns + 1) / 2});
  return strains;
}

void write_field(DataSink& file, const std::string& at, const ReducedField& field, int columns) {
  const auto points = static_cast<std::size_t>(field.points());
  file.write(at + "/name", field.name);
  file.write(at + "/law", static_cast<std::int64_t>(field.law));
  file.write(at + "/total_elements", static_cast<std::int64_t>(field.total_elements));
  file.write(at + "/points_per_element", static_cast<std::int64_t>(field.points_per_element));
  if (field.unit == DomainUnit::point) file.write(at + "/unit", static_cast<std::int64_t>(field.unit));
  if (of_later_elements(field)) {
    file.write(at + "/nodes_per_element", static_cast<std::int64_t>(field.nodes_per_element));
    file.write(at + "/part", static_cast<std::int64_t>(field.part));
  }
  file.write(at + "/tolerance", field.tolerance);
  file.write(at + "/residual", field.residual);
  file.write(at + "/elements", field.element, {field.element.size()});
  file.write(at + "/xi", field.xi, {field.xi.size()});
  file.write(at + "/weight", field.weight, {points});
  file.write(at + "/region", field.region, {points});
  std::vector<double> parameters, edges;
  const std::size_t count = parameters_of(field.law);
  for (const auto& p : field.parameters) parameters.insert(parameters.end(), p.p, p.p + count);
  for (const Mat3d& m : field.edges) edges.insert(edges.end(), m.m, m.m + 9);
  file.write(at + "/parameters", parameters, {field.parameters.size(), count});
  file.write(at + "/edges", edges, {field.edges.size(), 9});
  if (field.viscosity.terms > 0) {
    const std::vector<std::size_t> shape{field.parameters.size(), extent(field.viscosity.terms)};
    file.write(at + "/viscosity", field.viscosity.viscosity, shape);
    file.write(at + "/relaxation_time", field.viscosity.time, shape);
  }
  file.write(at + "/G", std::vector<double>(field.G.begin(), field.G.end()),
             {static_cast<std::size_t>(tile_count(field.points())), static_cast<std::size_t>(columns),
              gradient_components, tile_size});
  write_strains(file, at, field.strains, columns);
}

ReducedField read_field(const DataSource& file, const Checked& checked, const std::string& at, int columns) {
  ReducedField field;
  field.name = file.read_text(at + "/name");
  field.law = static_cast<LawId>(checked.count(at + "/law", 0, static_cast<int>(last_law)));
  field.total_elements = checked.count(at + "/total_elements", 0, 2000000000);
  field.points_per_element = checked.count(at + "/points_per_element", 1, solid(field.law) ? 14 : 1);
  if (file.has(at + "/unit"))
    field.unit = static_cast<DomainUnit>(checked.count(at + "/unit", 0, solid(field.law) ? 1 : 0));
  checked.require(field.unit == DomainUnit::element || field.points_per_element == 1, at + "/points_per_element",
                  "is not that of single points");
  field.nodes_per_element = field.law == LawId::rod                                              ? 0
                            : membrane_law(field.law)                                            ? 3
                            : field.points_per_element == 1 && field.unit == DomainUnit::element ? 4
                                                                                                 : 8;
  if (file.has(at + "/nodes_per_element")) {
    field.nodes_per_element = checked.count(at + "/nodes_per_element", 4, max_element_nodes);
    const int n = field.nodes_per_element;
    checked.require(solid(field.law) && (n == 4 || n == 8 || n == 10 || n == 20), at + "/nodes_per_element",
                    "is that of no element");
    field.part = static_cast<LawPart>(checked.count(at + "/part", 0, 2));
    checked.require(field.points_per_element == (field.unit == DomainUnit::point ? 1 : field.element_points()),
                    at + "/points_per_element", "is not that of these elements");
  }
  field.tolerance = checked.number(at + "/tolerance");
  field.residual = checked.number(at + "/residual");
  field.element = file.read_ints(at + "/elements");
  const auto most_points = [&] {
    std::vector<int> sorted = field.element;
    std::ranges::sort(sorted);
    std::size_t most = 0, run = 0;
    for (std::size_t u = 0; u < sorted.size(); ++u) {
      run = u > 0 && sorted[u] == sorted[u - 1] ? run + 1 : 1;
      most = std::max(most, run);
    }
    return most;
  };
  checked.require(
      field.unit == DomainUnit::element || most_points() <= static_cast<std::size_t>(field.element_points()),
      at + "/elements", "names an element more often than it has points");
  field.xi = checked.doubles(at + "/xi", {field.element.size()});
  const std::size_t points = field.element.size() * static_cast<std::size_t>(field.points_per_element);
  field.weight = checked.doubles(at + "/weight", {points});
  for (double w : field.weight) checked.require(w >= 0, at + "/weight", "holds a negative weight");
  field.region = file.read_ints(at + "/region", {points});
  const auto shape = file.shape(at + "/parameters");
  checked.require(shape.size() == 2 && shape[1] == parameters_of(field.law), at + "/parameters", "has a wrong shape");
  const auto parameters = checked.doubles(at + "/parameters", shape);
  for (std::size_t i = 0; i < shape[0]; ++i) {
    field.parameters.emplace_back();
    std::copy_n(parameters.data() + i * shape[1], shape[1], field.parameters.back().p);
  }
  for (int region : field.region)
    checked.require(region >= 0 && static_cast<std::size_t>(region) < field.parameters.size(), at + "/region",
                    "names a material that is not there");
  const auto edge_shape = file.shape(at + "/edges");
  const bool needs_edges =
      field.law == LawId::corotational_edge_frame || field.law == LawId::corotational_edge_polar || !solid(field.law);
  checked.require(edge_shape.size() == 2 && edge_shape[1] == 9 && edge_shape[0] == (needs_edges ? points : 0),
                  at + "/edges", "has a wrong shape");
  const auto edges = checked.doubles(at + "/edges", edge_shape);
  for (std::size_t i = 0; i < edge_shape[0]; ++i) {
    Mat3d m;
    std::copy_n(edges.begin() + static_cast<long>(9 * i), 9, m.m);
    const Mat3d skew = transpose(m) * m - Mat3d::identity();
    checked.require(!membrane_law(field.law) || dot(skew, skew) < 1e-12, at + "/edges", "holds a frame that is askew");
    checked.require(field.law != LawId::rod || std::abs(skew(0, 0)) + std::abs(skew(1, 1)) < 1e-9, at + "/edges",
                    "holds a direction that is not of length 1");
    checked.require(field.law != LawId::rod || (m(0, 2) > 0 && m(0, 2) <= 1), at + "/edges",
                    "holds a share that is not above 0 and at most 1");
    field.edges.push_back(m);
  }
  if (file.has(at + "/viscosity")) {
    const auto viscous = file.shape(at + "/viscosity");
    checked.require(!needs_edges && field.part != LawPart::mean && viscous.size() == 2 && viscous[1] > 0 &&
                        viscous[1] <= most_viscous_terms && viscous[0] == field.parameters.size(),
                    at + "/viscosity", "has a wrong shape");
    field.viscosity.terms = static_cast<int>(viscous[1]);
    field.viscosity.viscosity = checked.doubles(at + "/viscosity", viscous);
    field.viscosity.time = checked.doubles(at + "/relaxation_time", viscous);
    for (const double x : field.viscosity.viscosity) checked.require(x >= 0, at + "/viscosity", "is negative");
    for (const double x : field.viscosity.time) checked.require(x >= 0, at + "/relaxation_time", "is negative");
  }
  const auto G = checked.doubles(at + "/G", {static_cast<std::size_t>(tile_count(static_cast<int>(points))),
                                             static_cast<std::size_t>(columns), gradient_components, tile_size});
  field.G.assign(G.begin(), G.end());
  field.strains = read_strains(file, checked, at, field, columns);
  return field;
}

void write_provenance(DataSink& file, const ReducedModel& model) {
  const Provenance& p = model.provenance;
  file.write("/provenance/scene_name", p.scene_name);
  file.write("/provenance/scene", p.scene_text);
  file.write("/provenance/scene_hash", hash_hex(p.scene_hash));
  file.write("/provenance/mesh_hash", hash_hex(p.mesh_hash));
  file.write("/provenance/version", p.version);
  file.write("/provenance/mesh", std::vector<int>{p.nodes, p.elements}, {2});
  file.write("/provenance/snapshots", static_cast<std::int64_t>(p.snapshots));
  file.write("/provenance/seed", static_cast<std::int64_t>(p.seed));
  if (!p.forced.empty()) file.write("/provenance/forced", p.forced);
  file.write("/provenance/pod", Numbers{p.pod_tolerance, p.pod_tolerance_squared ? 1.0 : 0.0, p.pod_error}, {3});
  file.write("/provenance/singular_values", model.singular_values, {model.singular_values.size()});
  const ErrorSummary& e = model.errors;
  file.write("/errors/states", std::vector<int>{e.states, e.failed, e.worst_state}, {3});
  if (e.elsewhere > 0) file.write("/errors/elsewhere", static_cast<std::int64_t>(e.elsewhere));
  file.write("/errors/goal", Numbers{e.goal_mean, e.goal_median, e.goal_max}, {3});
  file.write("/errors/shape", Numbers{e.shape_mean, e.shape_median, e.shape_max}, {3});
  file.write("/errors/worst_commands", e.worst_commands, {e.worst_commands.size()});
  if (e.turned_max > 0 || e.strayed_max > 0)
    file.write("/errors/whereabouts", Numbers{e.turned_mean, e.turned_max, e.strayed_mean, e.strayed_max}, {4});
  file.write("/errors/set_count", static_cast<std::int64_t>(e.sets.size()));
  for (std::size_t i = 0; i < e.sets.size(); ++i) {
    file.write("/errors/sets/" + entry_name(i) + "/name", e.sets[i].name);
    file.write("/errors/sets/" + entry_name(i) + "/error", Numbers{e.sets[i].mean, e.sets[i].median, e.sets[i].max},
               {3});
  }
}

void read_provenance(const DataSource& file, const Checked& checked, ReducedModel& model) {
  Provenance& p = model.provenance;
  p.scene_name = file.read_text("/provenance/scene_name");
  p.scene_text = file.read_text("/provenance/scene");
  p.scene_hash = std::strtoull(file.read_text("/provenance/scene_hash").c_str(), nullptr, 16);
  p.mesh_hash = std::strtoull(file.read_text("/provenance/mesh_hash").c_str(), nullptr, 16);
  p.version = file.read_text("/provenance/version");
  const auto mesh = file.read_ints("/provenance/mesh", {2});
  p.nodes = mesh[0];
  p.elements = mesh[1];
  p.snapshots = checked.count("/provenance/snapshots", 0, 2000000000);
  p.seed = static_cast<std::uint64_t>(file.read_int("/provenance/seed"));
  if (file.has("/provenance/forced")) p.forced = file.read_text("/provenance/forced");
  const auto pod = checked.doubles("/provenance/pod", {3});
  p.pod_tolerance = pod[0];
  p.pod_tolerance_squared = pod[1] != 0;
  p.pod_error = pod[2];
  const auto shape_of_values = file.shape("/provenance/singular_values");
  checked.require(shape_of_values.size() == 1, "/provenance/singular_values", "has a wrong shape");
  model.singular_values = checked.doubles("/provenance/singular_values", shape_of_values);
  ErrorSummary& e = model.errors;
  const auto states = file.read_ints("/errors/states", {3});
  e.states = states[0];
  e.failed = states[1];
  e.worst_state = states[2];
  if (file.has("/errors/elsewhere")) e.elsewhere = checked.count("/errors/elsewhere", 0, e.states);
  // Not a number where nothing moved.
  const auto goal = file.read_doubles("/errors/goal", {3}), shape = file.read_doubles("/errors/shape", {3});
  e.goal_mean = goal[0], e.goal_median = goal[1], e.goal_max = goal[2];
  e.shape_mean = shape[0], e.shape_median = shape[1], e.shape_max = shape[2];
  e.worst_commands = file.read_doubles("/errors/worst_commands");
  if (file.has("/errors/whereabouts")) {
    const auto where = file.read_doubles("/errors/whereabouts", {4});
    e.turned_mean = where[0], e.turned_max = where[1], e.strayed_mean = where[2], e.strayed_max = where[3];
  }
  const int sets = checked.count("/errors/set_count", 0, 100000);
  for (int i = 0; i < sets; ++i) {
    const std::string at = "/errors/sets/" + entry_name(static_cast<std::size_t>(i));
    const auto error = file.read_doubles(at + "/error", {3});
    e.sets.push_back({file.read_text(at + "/name"), error[0], error[1], error[2]});
  }
}

// Only where the body's resistance to turning is known.
void write_inertia(DataSink& file, const ReducedModel& model) {
  if (model.second_moments.empty()) return;
  const RigidInertia& rest = model.rest_inertia;
  const std::size_t r = extent(model.modes);
  file.write("/inertia/first", model.first_moments, {r, 9});
  // Pairs of modes k <= j: the others are transposed.
  std::vector<double> second;
  for (std::size_t k = 0; k < r; ++k) {
    const auto from = model.second_moments.begin() + static_cast<std::ptrdiff_t>(9 * (k * r + k));
    second.insert(second.end(), from, from + static_cast<std::ptrdiff_t>(9 * (r - k)));
  }
  file.write("/inertia/second", second, {r * (r + 1) / 2, 9});
  file.write("/inertia/mass", rest.mass);
  file.write("/inertia/centre", std::vector<double>(rest.centre.v, rest.centre.v + 3), {3});
  file.write("/inertia/moments", std::vector<double>(rest.inertia.m, rest.inertia.m + 9), {3, 3});
}

void read_inertia(const DataSource& file, const Checked& checked, ReducedModel& model) {
  if (!file.has("/inertia")) return;
  // Files before format 10 know the body at rest alone.
  const std::size_t r = extent(model.modes);
  if (file.has("/inertia/second")) {
    model.first_moments = checked.doubles("/inertia/first", {r, 9});
    const std::vector<double> second = checked.doubles("/inertia/second", {r * (r + 1) / 2, 9});
    model.second_moments.resize(9 * r * r);
    std::size_t at = 0;
    for (std::size_t k = 0; k < r; ++k)
      for (std::size_t j = k; j < r; ++j, ++at)
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) {
            const double value = second[9 * at + 3 * a + b];
            model.second_moments[9 * (k * r + j) + 3 * a + b] = value;
            model.second_moments[9 * (j * r + k) + 3 * b + a] = value;
          }
  }
  RigidInertia& rest = model.rest_inertia;
  rest.mass = checked.number("/inertia/mass");
  checked.require(rest.mass > 0, "/inertia/mass", "is not positive");
  std::ranges::copy(checked.doubles("/inertia/centre", {3}), rest.centre.v);
  std::ranges::copy(checked.doubles("/inertia/moments", {3, 3}), rest.inertia.m);
  const Mat3d& J = rest.inertia;
  const double size = J(0, 0) + J(1, 1) + J(2, 2);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    checked.require(std::abs(J(i, j) - J(j, i)) <= 1e-12 * std::abs(size), "/inertia/moments", "is not symmetric");
    // No axis has more than the two others together; so none is negative either.
    checked.require(2 * J(i, i) <= size * (1 + 1e-12) && J(i, i) * J(j, j) - J(i, j) * J(i, j) >= -1e-12 * size * size,
                    "/inertia/moments", "is not that of a body");
  }
}

}  // namespace

void write_model_data(const ReducedModel& model, DataSink& file) {
  const int r = model.modes, columns = model.columns();
  file.write("/format", std::string(magic));
  file.write("/format_version", static_cast<std::int64_t>(format_of(model)));
  file.write("/units", std::string("SI: m, kg, s, N, Pa"));
  file.write("/modes", static_cast<std::int64_t>(r));
  if (model.on_frame) file.write("/on_frame", std::int64_t{1});
  write_robot(file, model.robot);
  write_constraints(file, model.robot);
  write_contact(file, model);
  write_sensors(file, model.robot);
  file.write("/field_count", static_cast<std::int64_t>(model.fields.size()));
  for (std::size_t f = 0; f < model.fields.size(); ++f)
    write_field(file, "/fields/" + entry_name(f), model.fields[f], columns);
  file.write("/mass", model.mass, {extent(r), extent(r)});
  file.write("/stiffness", model.stiffness, {extent(columns), extent(columns)});
  file.write("/gravity", model.gravity, {extent(r), 3});
  write_inertia(file, model);
  file.write("/outputs", model.outputs, {extent(model.robot.outputs()), extent(r)});
  write_shape(file, model);
  write_motions(file, model);
  write_parameters(file, model);
  write_provenance(file, model);
}

// The mapped points of a cavity hold the coordinates that its polynomial is of.
void check_cavities(const Checked& checked, const ReducedModel& model) {
  const int r = model.modes, m = model.motions(), n = r + m;
  const auto check = [&](const std::string& at, const auto& row) {
    checked.require(row.volume.unknowns == n, at + "/volume/linear", "has not one number for each coordinate");
    checked.require(row.point_count == (n + 2) / 3, at + "/points", "do not hold the coordinates");
    for (int k = 0; k < 3 * row.point_count; ++k) {
      const int output = 3 * row.first_point + k;
      bool identity = model.robot.rest_points[static_cast<std::size_t>(output / 3)][k % 3] == 0;
      for (int j = 0; j < r; ++j)
        identity = identity && model.outputs[extent(output, r) + static_cast<std::size_t>(j)] == (j == k ? 1.0 : 0.0);
      for (int j = 0; j < m; ++j)
        identity = identity &&
                   model.output_inputs[extent(output, m) + static_cast<std::size_t>(j)] == (r + j == k ? 1.0 : 0.0);
      checked.require(identity, at + "/points", "do not hold the coordinates");
    }
  };
  for (std::size_t i = 0; i < model.robot.actuators.size(); ++i)
    if (model.robot.actuators[i].kind == ActuatorKind::cavity)
      check("/robot/actuators/" + entry_name(i), model.robot.actuators[i]);
  for (std::size_t i = 0; i < model.robot.effectors.size(); ++i)
    if (model.robot.effectors[i].kind == EffectorKind::volume)
      check("/robot/effectors/" + entry_name(i), model.robot.effectors[i]);
}

bool is_model_data(const DataSource& file) {
  return file.has("/format") && file.read_text("/format") == magic;
}

ReducedModel read_model_data(const DataSource& file) {
  const Checked checked(file);
  const std::int64_t version = file.read_int("/format_version");
  if (version < oldest_model_format || version > model_format_version)
    throw InputError(fmt::format("the model file has format {}, this program reads formats {} to {}", version,
                                 oldest_model_format, model_format_version),
                     version > model_format_version
                         ? "use a newer supple"
                         : "make it again: `supple reduce` (its snapshots can be used again) or `supple import-sofa`",
                     {file.path(), 0, 0, ""});
  ReducedModel model;
  model.modes = checked.count("/modes", 1, 10000);
  const int r = model.modes;
  model.robot = read_robot(file, checked);
  read_constraints(file, checked, model.robot);
  read_contact(file, checked, model);
  read_sensors(file, checked, model.robot);
  model.robot.motions = read_motions(file, checked);
  model.on_frame = file.has("/on_frame") && checked.count("/on_frame", 0, 1) == 1;
  checked.require(!model.robot.floating || ((model.on_frame || r >= rigid_mode_count) && model.robot.motions.empty()),
                  "/robot/floating", "is said of a robot that is driven, or has fewer modes than rigid motions");
  checked.require(!model.on_frame || can_be_on_frame(model.robot), "/on_frame",
                  "is said of a robot that something holds or pulls from outside");
  const int columns = model.columns();
  const int fields = checked.count("/field_count", 0, 1000);
  for (int f = 0; f < fields; ++f)
    model.fields.push_back(read_field(file, checked, "/fields/" + entry_name(static_cast<std::size_t>(f)), columns));
  model.robot.viscous = viscous_numbers(model.fields);
  model.mass = checked.doubles("/mass", {extent(r), extent(r)});
  model.stiffness = checked.doubles("/stiffness", {extent(columns), extent(columns)});
  model.gravity = checked.doubles("/gravity", {extent(r), 3});
  read_inertia(file, checked, model);
  checked.require(!model.on_frame || !model.second_moments.empty(), "/on_frame", "is said of a model without inertia");
  model.outputs = checked.doubles("/outputs", {extent(model.robot.outputs()), extent(r)});
  read_shape(file, checked, model);
  read_inputs(checked, model);
  check_cavities(checked, model);
  read_parameters(file, checked, model);
  read_provenance(file, checked, model);
  return model;
}

}  // namespace supple
