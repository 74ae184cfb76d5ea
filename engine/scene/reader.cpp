#include "engine/scene/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <numbers>
#include <system_error>

#include "engine/scene/reader_parts.hpp"
#include "kernels/base/hash.hpp"

namespace supple {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most = 1'000'000'000;  // of any count

void read_mesh(const TableReader& table, BodyScene* body) {
  const SurfaceScene file = read_placed_file(table);
  body->mesh_file = file.file;
  body->mesh_unit = file.unit;
  body->transform = file.transform;
}

// Of a solid.
double read_poisson(const TableReader& table) {
  const double poisson = table.quantity("poisson", 0);
  if (!(poisson > -1 && poisson < 0.5))
    table.fail("poisson", fmt::format("poisson is {:g} (a stable material lies above -1 and below 0.5)", poisson),
               "0.45 to 0.49 for silicone");
  return poisson;
}

void read_elastic_constants(const TableReader& table, std::string_view model, MaterialScene* material) {
  for (const std::string_view name : {"young", "poisson"})
    if (!table.has(name))
      table.fail(name, fmt::format("[[body.material]] has no {} ({} needs it)", name, model),
                 name == "young" ? "young = \"450 kPa\"" : "poisson = 0.45");
  material->young = table.quantity("young", 0);
  material->poisson = read_poisson(table);
}

void read_mooney_rivlin(const TableReader& table, MaterialScene* material) {
  const bool constants = table.has("c01") || table.has("c10") || table.has("d");
  if (!constants) {
    read_elastic_constants(table, "mooney-rivlin without c01, c10 and d", material);
    material->mooney_ratio = table.quantity("mooney_ratio", material->mooney_ratio);
    return;
  }
  refuse(table, "mooney-rivlin with c01, c10 and d", "model", {"young", "poisson", "mooney_ratio"});
  for (const std::string_view name : {"c01", "c10", "d"})
    if (!table.has(name))
      table.fail(name,
                 fmt::format("[[body.material]] has no {} (the constants come all three, or young and poisson)", name),
                 fmt::format("{} = \"100 kPa\"", name));
  material->c01 = table.optional_quantity("c01");
  material->c10 = table.optional_quantity("c10");
  material->d = table.optional_quantity("d");
  if (!(*material->c01 + *material->c10 > 0))
    table.fail("c01", "c01 + c10 is 0 (the material would have no shear stiffness)", "half the shear modulus");
}

// Half the bulk modulus: given, or from Poisson's ratio and the shear modulus at rest.
double read_half_bulk(const TableReader& table, std::string_view model, double shear) {
  if (table.has("d") == table.has("poisson"))
    table.fail(table.has("d") ? "d" : "poisson",
               fmt::format("{} has {} d and poisson (how it resists a change of volume)", model,
                           table.has("d") ? "both" : "neither"),
               "poisson = 0.49");
  if (table.has("d")) return table.quantity("d", 0);
  const double poisson = read_poisson(table);
  return shear * (1 + poisson) / (3 * (1 - 2 * poisson));
}

std::vector<double> read_yeoh(const TableReader& table) {
  if (!table.has("c1")) table.fail("c1", "[[body.material]] has no c1 (Yeoh needs it)", "c1 = \"30 kPa\"");
  const double c1 = table.quantity("c1", 0);
  return {c1, table.quantity("c2", 0), table.quantity("c3", 0), read_half_bulk(table, "Yeoh", 2 * c1)};
}

std::vector<double> read_gent(const TableReader& table) {
  if (!table.has("jm")) table.fail("jm", "[[body.material]] has no jm (Gent needs it)", "jm = 30");
  if (table.has("mu") == table.has("young"))
    table.fail(table.has("mu") ? "mu" : "young",
               fmt::format("Gent has {} mu and young", table.has("mu") ? "both" : "neither"), "mu = \"60 kPa\"");
  if (table.has("young") && !table.has("poisson"))
    table.fail("poisson", "[[body.material]] has young and no poisson", "poisson = 0.49");
  const double mu =
      table.has("mu") ? table.quantity("mu", 0) : table.quantity("young", 0) / (2 * (1 + table.quantity("poisson", 0)));
  return {mu, table.quantity("jm", 0), read_half_bulk(table, "Gent", mu)};
}

std::vector<double> read_ogden(const TableReader& table) {
  std::vector<double> constants;
  double shear = 0;
  for (const std::string term : {"1", "2", "3"}) {
    const std::string mu = "mu" + term, alpha = "alpha" + term;
    if (table.has(mu) != table.has(alpha) || (term == "1" && !table.has(mu)))
      table.fail(table.has(mu) ? mu : alpha, fmt::format("Ogden needs {} and {} together", mu, alpha),
                 "mu1 = \"60 kPa\", alpha1 = 2");
    const double exponent = table.quantity(alpha, 2);
    if (exponent == 0) table.fail(alpha, fmt::format("{} is 0 (such a term has no energy)", alpha), "-8 to 12");
    constants.push_back(table.quantity(mu, 0));
    constants.push_back(exponent);
    shear += constants.end()[-2] * exponent / 2;
  }
  if (!(shear > 0))
    table.fail("mu1", "the sum of mu alpha is not above 0 (the material would have no shear stiffness)",
               "mu and alpha of one sign");
  constants.push_back(read_half_bulk(table, "Ogden", shear));
  return constants;
}

constexpr std::string_view own_constants[] = {"c1",     "c2",  "c3",     "mu",  "jm",    "mu1",
                                              "alpha1", "mu2", "alpha2", "mu3", "alpha3"};

// Constants of other laws are errors.
void refuse_constants(const TableReader& table, std::initializer_list<std::string_view> own) {
  for (const std::string_view key : own_constants)
    if (std::ranges::find(own, key) == own.end()) refuse(table, "this model", "model", {key});
}

MaterialScene read_material(const TableReader& table) {
  MaterialScene material;
  material.place = table.place();
  material.model = table.choice("model", material.model);
  if (material.model != MaterialModel::corotational) refuse(table, "this model", "model", {"rotation"});
  const bool more = material.model > MaterialModel::mooney_rivlin;
  if (more) refuse(table, "this model", "model", {"c01", "c10", "mooney_ratio"});
  if (more && material.model != MaterialModel::gent) refuse(table, "this model", "model", {"young"});
  if (material.model == MaterialModel::yeoh) {
    refuse_constants(table, {"c1", "c2", "c3"});
    material.constants = read_yeoh(table);
  } else if (material.model == MaterialModel::gent) {
    refuse_constants(table, {"mu", "jm"});
    material.constants = read_gent(table);
  } else if (material.model == MaterialModel::ogden) {
    refuse_constants(table, {"mu1", "alpha1", "mu2", "alpha2", "mu3", "alpha3"});
    material.constants = read_ogden(table);
  } else if (material.model == MaterialModel::mooney_rivlin) {
    refuse_constants(table, {});
    read_mooney_rivlin(table, &material);
  } else {
    refuse_constants(table, {});
    refuse(table, "this model", "model", {"c01", "c10", "d", "mooney_ratio"});
    read_elastic_constants(table, "this model", &material);
  }
  material.rotation = table.choice("rotation", material.rotation);
  for (const TableReader& term : table.tables("prony"))
    material.prony.push_back({term.quantity("modulus", 0), term.quantity("time", 0)});
  material.retardation = table.quantity("retardation_time", 0);
  if (material.prony.size() > most_prony_terms)
    table.fail("prony",
               fmt::format("prony has {} terms, at most {} are possible", material.prony.size(), most_prony_terms),
               "one term for each decade of time");
  if ((!material.prony.empty() || material.retardation > 0) && material.rotation != RotationKind::polar)
    table.fail(material.retardation > 0 ? "retardation_time" : "prony",
               "viscosity needs a stress in the axes of the body, which rotations from element edges do not give",
               "rotation = \"polar\"");
  material.density = table.optional_quantity("density");
  if (table.has("region")) material.region = read_region(table.table("region"), "region");
  return material;
}

ThreadScene read_threads(const TableReader& table) {
  ThreadScene threads;
  threads.stiffness = table.quantity("stiffness", 0);
  threads.spacing = table.quantity("spacing", 0);
  threads.push = table.boolean("push", false);
  if (threads.push) refuse(table, "threads that push", "push", {"buckling"});
  threads.buckling = table.quantity("buckling", threads.buckling);
  if (table.has("direction")) {
    refuse(table, "threads with a direction", "direction", {"axis", "centre", "angle"});
    threads.direction = unit_vector(table, "direction", table.vector("direction", {}));
    return threads;
  }
  if (!table.has("angle"))
    table.fail("angle", "threads have neither a direction nor an angle from an axis",
               "direction = [1, 0, 0], or angle = \"85 deg\" with axis and centre");
  threads.axis = unit_vector(table, "axis", table.vector("axis", threads.axis));
  if (table.has("centre")) threads.centre = table.vector("centre", {});
  threads.angle = table.quantity("angle", 0);
  constexpr double right = std::numbers::pi / 2;
  if (!(std::abs(threads.angle) <= right * (1 + 1e-9)))
    table.fail("angle",
               fmt::format("threads at an angle of {:.4g} degrees from their axis (it is -90 to 90 degrees)",
                           threads.angle * 90 / right),
               "with a unit: angle = \"87 deg\"");
  return threads;
}

MembraneScene read_membrane(const TableReader& table) {
  MembraneScene membrane;
  membrane.place = table.place();
  membrane.region = read_region(table, "[[body.membrane]]");
  if (table.has("threads")) {
    refuse(table, "a membrane of threads", "threads", {"thickness", "young", "poisson", "density"});
    membrane.threads = read_threads(table.table("threads"));
    return membrane;
  }
  for (const std::string_view name : {"thickness", "young", "poisson"})
    if (!table.has(name))
      table.fail(name, fmt::format("[[body.membrane]] has no {}", name),
                 name == "thickness" ? "thickness = \"1 mm\""
                 : name == "young"   ? "young = \"450 kPa\""
                                     : "poisson = 0.45");
  membrane.thickness = table.quantity("thickness", 0);
  membrane.young = table.quantity("young", 0);
  membrane.poisson = table.quantity("poisson", 0);
  if (!(membrane.poisson > -1 && membrane.poisson <= 0.5))
    table.fail("poisson",
               fmt::format("poisson is {:g} (a stable material lies above -1 and not above 0.5)", membrane.poisson),
               "0.45 to 0.5 for silicone");
  membrane.density = table.optional_quantity("density");
  return membrane;
}

RodScene read_rod(const TableReader& table) {
  RodScene rod;
  rod.place = table.place();
  for (const std::string_view name : {"points", "radius", "young"})
    if (!table.has(name))
      table.fail(name, fmt::format("[[body.rod]] has no {}", name),
                 name == "points"   ? "points = [[x, y, z], [x, y, z]]"
                 : name == "radius" ? "radius = \"0.5 mm\""
                                    : "young = \"75 GPa\"");
  rod.points = table.vectors("points");
  if (rod.points.size() < 2) table.fail("points", "the rod has one point (it needs two)", "its ends, or more points");
  check_steps(table, "the rod", rod.points);
  rod.radius = table.quantity("radius", 0);
  rod.inner_radius = table.quantity("inner_radius", 0);
  if (!(rod.inner_radius < rod.radius))
    table.fail("inner_radius", "inner_radius is not smaller than radius", "the radius of the bore of a tube; 0: solid");
  rod.young = table.quantity("young", 0);
  rod.density = table.optional_quantity("density");
  rod.bending = table.boolean("bending", true);
  rod.clamped = table.boolean("clamped", true);
  rod.push = table.boolean("push", true);
  if (rod.push) refuse(table, "a rod that pushes", "push", {"buckling"});
  rod.buckling = table.quantity("buckling", rod.buckling);
  rod.spacing = table.optional_quantity("spacing");
  return rod;
}

FixScene read_fix(const TableReader& table) {
  FixScene fix;
  fix.place = table.place();
  fix.region = read_region(table, "[[fix]]");
  fix.stiffness = table.quantity("stiffness", fix.stiffness);
  if (!table.has("motion")) {
    for (const std::string_view name : {"direction", "range"})
      if (table.has(name)) table.fail(name, fmt::format("{} without a motion", name), "motion = \"name of the input\"");
    return fix;
  }
  if (table.has("stiffness"))
    table.fail("stiffness", "a motion cannot have a stiffness (its nodes follow exactly)",
               "one of motion and stiffness");
  fix.motion = table.identifier("motion");
  if (!table.has("direction"))
    table.fail("direction", fmt::format("motion '{}' has no direction", fix.motion), "direction = [0, 0, 1]");
  fix.motion_direction = unit_vector(table, "direction", table.vector("direction", {}));
  fix.motion_range = table.interval("range", fix.motion_range, Dimension::length);
  return fix;
}

void check_mass(const TableReader& table, const BodyScene& body) {
  if (body.mass && body.density)
    table.fail("density", "a body cannot have both mass and density", "mass = the whole, or density");
  const auto dense = [](const MaterialScene& material) { return material.density.has_value(); };
  const auto first = std::find_if(body.materials.begin(), body.materials.end(), dense);
  if (body.mass && first != body.materials.end())
    throw InputError("a material has a density although the body has a mass", "remove one of them", first->place);
  if (!body.mass && !body.density && !std::all_of(body.materials.begin(), body.materials.end(), dense))
    throw InputError("[body] has neither mass nor density", "mass = \"500 g\" or density = \"1000 kg/m^3\"",
                     table.place());
}

BodyScene read_body(const TableReader& table) {
  BodyScene body;
  body.place = table.place();
  if (table.has("name")) body.name = table.identifier("name");
  read_mesh(table.table("mesh"), &body);
  body.mass = table.optional_quantity("mass");
  body.density = table.optional_quantity("density");
  body.mass_kind = table.choice("mass_distribution", body.mass_kind);
  body.order = static_cast<int>(table.integer("order", 2, 2));
  body.dilatation = table.choice("dilatation", body.dilatation);
  body.rayleigh_mass = table.quantity("rayleigh_mass", body.rayleigh_mass);
  body.rayleigh_stiffness = table.quantity("rayleigh_stiffness", body.rayleigh_stiffness);
  for (const TableReader& material : table.tables("material")) body.materials.push_back(read_material(material));
  if (body.materials.empty()) table.fail("material", "[body] has no material", "[[body.material]]");
  for (const TableReader& membrane : table.tables("membrane")) body.membranes.push_back(read_membrane(membrane));
  for (const TableReader& rod : table.tables("rod")) body.rods.push_back(read_rod(rod));
  check_mass(table, body);
  const auto viscous = [](const MaterialScene& m) { return !m.prony.empty() || m.retardation > 0; };
  if (body.rayleigh_stiffness > 0 && std::ranges::any_of(body.materials, viscous))
    table.fail("rayleigh_stiffness",
               "rayleigh_stiffness beside viscous materials (it would multiply the stiffness of their dashpots, which "
               "depends on the time step)",
               "retardation_time in the materials instead");
  return body;
}

PointScene read_point(const TableReader& table) {
  PointScene point;
  point.place = table.place();
  point.name = table.identifier("name");
  point.point = table.vector("point", {});
  if (has_region(table)) point.region = read_region(table, "[[probe]]");
  return point;
}

// With one of these the default is no error.
constexpr std::string_view by_hand[] = {"sampling",           "actuation",       "states",    "states_tolerance",
                                        "converged",          "modes_tolerance", "max_modes", "elements",
                                        "elements_tolerance", "training",        "selection", "goal_error_limit",
                                        "shape_error_limit"};

ReductionScene read_reduction(const TableReader& table) {
  ReductionScene r;
  const auto count = [&](std::string_view name, int fallback) {
    return static_cast<int>(table.integer(name, fallback, most));
  };
  r.place = table.place("sampling");
  r.sampling = table.choice("sampling", r.sampling);
  r.along = read_training_commands(table);
  r.states = count("states", r.states);
  r.states_tolerance = table.optional_quantity("states_tolerance");
  r.sweep_steps = count("sweep_steps", r.sweep_steps);
  r.friction = table.choice("friction", r.friction);
  r.rigid_motion = table.choice("rigid_motion", r.rigid_motion);
  r.friction_place = table.place("friction");
  r.budget = count("budget", r.budget);
  r.corners = table.boolean("corners", r.corners);
  r.converged = table.boolean("converged", r.converged);
  const std::optional<double> modes_tolerance = table.optional_quantity("modes_tolerance");
  r.pod_tolerance = modes_tolerance.value_or(r.pod_tolerance);
  r.pod_tolerance_squared = table.boolean("modes_tolerance_squared", r.pod_tolerance_squared);
  r.max_modes = count("max_modes", r.max_modes);
  r.error = table.optional_quantity("error");
  if (!r.error && std::ranges::none_of(by_hand, [&](std::string_view name) { return table.has(name); }))
    ask_for_default_error(r);
  r.modes_by_error = r.error && !modes_tolerance && r.max_modes == 0;
  r.trajectories = count("trajectories", r.error && !table.has("trajectories") ? default_trajectories : 0);
  r.doublings = static_cast<int>(table.integer("doublings", r.doublings, most_doublings));
  if (std::ldexp(std::max(r.states, r.trajectories), r.doublings) > static_cast<double>(most))
    table.fail("doublings", "there would be more than a thousand million states", "doublings = 1");
  r.pushes = table.quantity("pushes", r.pushes);
  r.contact_modes = count("contact_modes", r.contact_modes);
  r.ecsw_tolerance = table.optional_quantity("elements_tolerance");
  r.elements = count("elements", r.elements);
  r.elements_every = count("elements_every", r.elements_every);
  r.elements_every_place = table.place("elements_every");
  r.membranes = table.choice("membranes", r.membranes);
  r.solids = table.choice("solids", r.solids);
  r.strain_tolerance = table.optional_quantity("strain_tolerance");
  r.max_strain_modes = count("max_strain_modes", r.max_strain_modes);
  r.unit = table.choice("unit", r.unit);
  r.ecsw_acceptance = table.quantity("elements_acceptance", r.ecsw_acceptance);
  for (const std::string_view name :
       {"error", "states_tolerance", "modes_tolerance", "elements_tolerance", "strain_tolerance"})
    if (table.quantity(name, 0) >= 1) table.fail(name, fmt::format("{} is not below 1", name), "0.001 to 0.1");
  if (r.states_tolerance && r.sampling != SamplingKind::greedy)
    table.fail("states_tolerance", "only greedy sampling predicts errors",
               "sampling = \"greedy\", or without this key");
  table.choice("training", 0);
  table.choice("selection", 0);
  r.ecsw_training = table.text("training", r.ecsw_training);
  r.ecsw_selection = table.text("selection", r.ecsw_selection);
  r.seed = static_cast<std::uint64_t>(table.integer("seed", 1, std::numeric_limits<std::int64_t>::max()));
  r.validation_states = count("validation_states", r.validation_states);
  r.goal_error_limit = table.optional_quantity("goal_error_limit");
  r.shape_error_limit = table.optional_quantity("shape_error_limit");
  return r;
}

// One name, one thing: commands, constraints, effectors, probes and sensors are columns of the same tables; obstacles
// stand beside them in messages. Regions may share a motion.
void check_names(const Scene& scene) {
  struct Named {
    std::string_view name;
    const Place* place;
    const FixScene* motion;
  };
  std::vector<Named> names;
  const auto add = [&](std::string_view name, const Place& place, const FixScene* motion) {
    for (const Named& other : names) {
      if (other.name != name) continue;
      const bool same = motion != nullptr && other.motion != nullptr &&
                        motion->motion_direction == other.motion->motion_direction &&
                        motion->motion_range.lower == other.motion->motion_range.lower &&
                        motion->motion_range.upper == other.motion->motion_range.upper;
      if (same) continue;
      throw InputError(motion != nullptr && other.motion != nullptr
                           ? fmt::format("motion '{}' differs from line {}", name, other.place->line)
                           : fmt::format("the name '{}' is taken (line {})", name, other.place->line),
                       motion != nullptr ? "the same direction and range, or another name" : "another name", place);
    }
    names.push_back({name, &place, motion});
  };
  for (const BodyScene& body : scene.bodies)
    for (const FixScene& fix : body.fixes)
      if (!fix.motion.empty()) add(fix.motion, fix.place, &fix);
  for (const ActuatorScene& actuator : scene.actuators) add(actuator.name, actuator.place, nullptr);
  for (const ConstraintScene& constraint : scene.constraints) add(constraint.name, constraint.place, nullptr);
  for (const EffectorScene& effector : scene.effectors) add(effector.name, effector.place, nullptr);
  for (const PointScene& probe : scene.probes) add(probe.name, probe.place, nullptr);
  for (const SensorScene& sensor : scene.sensors) add(sensor.name, sensor.place, nullptr);
  for (const ParameterScene& parameter : scene.parameters) add(parameter.name, parameter.place, nullptr);
  for (const ObstacleScene& obstacle : scene.obstacles) add(obstacle.name, obstacle.place, nullptr);
}

Scene read(const Document& document, const std::string& name) {
  const TableReader table(document, document.root, document.root.at, scene_table("the scene"));
  Scene scene;
  scene.file = name;
  scene.name = table.has("name") ? table.text("name") : fs::path(name).stem().string();
  scene.gravity = table.vector("gravity", scene.gravity);
  scene.time_step = table.quantity("time_step", scene.time_step);
  scene.duration = table.quantity("duration", scene.duration);
  scene.integrator = table.choice("integrator", scene.integrator);
  scene.implicit_velocity = read_implicit_factor(table, "implicit_velocity");
  scene.implicit_position = read_implicit_factor(table, "implicit_position");
  scene.bodies.push_back(read_body(table.table("body")));
  for (const TableReader& fix : table.tables("fix")) scene.bodies.front().fixes.push_back(read_fix(fix));
  for (const TableReader& actuator : table.tables("actuator")) scene.actuators.push_back(read_actuator(actuator));
  for (const TableReader& constraint : table.tables("constraint"))
    scene.constraints.push_back(read_constraint(constraint));
  for (const TableReader& effector : table.tables("effector"))
    scene.effectors.push_back(read_effector(effector, scene.actuators));
  for (const TableReader& probe : table.tables("probe")) {
    scene.probes.push_back(read_point(probe));
    scene.probes.back().set = probe.has("set") ? probe.identifier("set") : "";
  }
  for (const TableReader& sensor : table.tables("sensor"))
    scene.sensors.push_back(read_sensor(sensor, scene.actuators));
  for (const TableReader& parameter : table.tables("parameter"))
    scene.parameters.push_back(read_parameter(parameter, scene.bodies.front()));
  for (const TableReader& obstacle : table.tables("obstacle")) scene.obstacles.push_back(read_obstacle(obstacle));
  if (!scene.obstacles.empty() && scene.implicit_position != 1 && scene.integrator != Integrator::quasi_static)
    table.fail(
        "implicit_position",
        "implicit_position is below 1 in contact with obstacles (a body would end within what it meets at speed)",
        "implicit_position = 1; implicit_velocity may be below");
  if (scene.implicit_position != 1 && scene.integrator != Integrator::quasi_static &&
      std::ranges::any_of(scene.constraints, [](const auto& c) { return c.kind == ConstraintKind::limit; }))
    table.fail("implicit_position",
               "implicit_position is below 1 beside limits (a point would end beyond what it meets at speed)",
               "implicit_position = 1; implicit_velocity may be below");
  if (table.has("contact")) scene.contact = read_contact(table.table("contact"));
  if (table.has("reduce"))
    scene.reduction = read_reduction(table.table("reduce"));
  else
    ask_for_default_error(scene.reduction);
  check_names(scene);
  return scene;
}

// `placed`: the table with the key `file` that names it.
void check_exists(const Document& document, const Node& placed, const std::string& file, std::string_view what,
                  std::initializer_list<std::string_view> endings) {
  std::error_code error;
  const fs::path path = file;
  if (fs::is_regular_file(path, error)) return;
  std::vector<std::string> others;
  for (fs::directory_iterator entry(path.parent_path(), error), end; !error && entry != end; entry.increment(error))
    if (std::find(endings.begin(), endings.end(), entry->path().extension().string()) != endings.end())
      others.push_back(entry->path().filename().string());
  std::sort(others.begin(), others.end());
  const std::string near = nearest_word(path.filename().string(), others);
  throw InputError(
      fmt::format("the {} '{}' does not exist", what, path.string()),
      near.empty() ? "check the path; it starts from the scene file's folder" : fmt::format("file = \"{}\"", near),
      document.place(placed.find("file")->value.at));
}

void check_files_exist(const Document& document, const Scene& scene) {
  check_exists(document, document.root.find("body")->value.find("mesh")->value, scene.bodies.front().mesh_file, "mesh",
               {".msh", ".vtu", ".vtk"});
  const auto check_surfaces = [&](std::string_view list, const auto& owners) {
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (owners[i].surface)
        check_exists(document, document.root.find(list)->value.items[i].find("surface")->value, owners[i].surface->file,
                     "surface", {".stl", ".obj"});
  };
  check_surfaces("actuator", scene.actuators);
  check_surfaces("obstacle", scene.obstacles);
  if (scene.contact.surface)
    check_exists(document, document.root.find("contact")->value.find("surface")->value, scene.contact.surface->file,
                 "surface", {".stl", ".obj"});
}

}  // namespace

// Share of what holds at the end of a step. Below a half stiff bodies would not stay bounded.
double read_implicit_factor(const TableReader& table, std::string_view name) {
  const double factor = table.quantity(name, 1);
  if (!(factor >= 0.5 && factor <= 1))
    table.fail(name, fmt::format("{} is {:g} (a step is stable from 0.5 to 1)", name, factor),
               fmt::format("{} = 0.5 or 1", name));
  return factor;
}

std::string scene_file(const std::string& path) {
  std::error_code error;
  const fs::path inside = fs::path(path) / "scene.toml";
  return fs::is_directory(path, error) && fs::exists(inside, error) ? inside.string() : path;
}

Scene read_scene(const Document& document, const std::string& file) {
  refuse_assembly(document, file);
  Scene scene = read(document, file);
  check_files_exist(document, scene);
  return scene;
}

Scene read_scene(const std::string& path) {
  const std::string file = scene_file(path);
  return read_scene(read_document(file), file);
}

Scene parse_scene(std::string_view text, const std::string& name) {
  return read(parse_document(text, name), name);
}

ObstacleFile read_obstacles(const std::string& path) {
  const std::string file = scene_file(path);
  const Document document = read_document(file);
  const Member* member = document.root.find("obstacle");
  if (member == nullptr || member->value.kind != Node::Kind::array || member->value.items.empty())
    throw InputError("the file has no obstacles", "[[obstacle]] tables, as in a scene", {file, 0, 0, ""});
  ObstacleFile found;
  std::string text;
  for (const SourceFile& source : document.files) text += hash_hex(hash_file(source.path));
  for (const Node& item : member->value.items) {
    if (item.kind != Node::Kind::table)
      throw InputError(fmt::format("an obstacle is {}, a table is expected", kind_name(item.kind)),
                       "[[obstacle]] tables, as in a scene", document.place(item.at));
    const ObstacleScene obstacle = read_obstacle(TableReader(document, item, item.at, scene_table("[[obstacle]]")));
    for (const ObstacleScene& other : found.obstacles)
      if (other.name == obstacle.name)
        throw InputError(fmt::format("the name '{}' is taken (line {})", obstacle.name, other.place.line),
                         "another name", obstacle.place);
    if (obstacle.surface) {
      check_exists(document, item.find("surface")->value, obstacle.surface->file, "surface", {".stl", ".obj"});
      text += hash_hex(hash_file(obstacle.surface->file));
    }
    found.obstacles.push_back(obstacle);
  }
  found.hash = hash_text(text);
  return found;
}

void check_reducible(const Scene& scene) {
  const auto finite = [](const Interval& range) { return std::isfinite(range.lower) && std::isfinite(range.upper); };
  bool driven = !scene.actuators.empty();
  for (const ActuatorScene& actuator : scene.actuators)
    if (!finite(actuator.range))
      throw InputError(fmt::format("the range of '{}' is unlimited (a reduction samples all of it)", actuator.name),
                       commands_force(actuator.control) ? "range = [0, \"5 N\"]" : "range = [0, \"40 mm\"]",
                       actuator.place);
  for (const BodyScene& body : scene.bodies)
    for (const FixScene& fix : body.fixes) {
      if (fix.motion.empty()) continue;
      driven = true;
      if (!finite(fix.motion_range))
        throw InputError(fmt::format("the range of '{}' is unlimited (a reduction samples all of it)", fix.motion),
                         "range = [\"-10 mm\", \"10 mm\"]", fix.place);
    }
  const Place whole{scene.file, 0, 0, ""};
  if (!driven) throw InputError("the scene has no actuator (there is nothing to sample)", "[[actuator]]", whole);
  if (scene.effectors.empty())
    throw InputError("the scene has no effector (the error of a reduced model is measured there)", "[[effector]]",
                     whole);
}

}  // namespace supple
