#include "engine/cli/reports/scene_facts.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/robot_facts.hpp"
#include "engine/commands/actuation.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/rods.hpp"
#include "engine/run/drive.hpp"

namespace supple::cli {

namespace {

std::string format_elements(int tetrahedra, int hexahedra, int order) {
  const char* const of = order == 1 ? "" : " of second order";
  if (hexahedra == 0) return fmt::format("{} tetrahedra{}", tetrahedra, of);
  if (tetrahedra == 0) return fmt::format("{} hexahedra{}", hexahedra, of);
  return fmt::format("{} tetrahedra, {} hexahedra{}", tetrahedra, hexahedra, of);
}

std::string format_material(const MaterialScene& material) {
  static constexpr const char* names[] = {
      "corotational", "St Venant-Kirchhoff", "stable neo-Hookean", "Mooney-Rivlin", "Yeoh", "Gent", "Ogden"};
  std::string text = names[static_cast<int>(material.model)];
  if (material.young > 0)
    text +=
        fmt::format(", Young {}, Poisson {:.4g}", format_quantity(material.young, Dimension::stress), material.poisson);
  if (material.c01) text += fmt::format(", C01 {}", format_quantity(*material.c01, Dimension::stress));
  if (material.c10) text += fmt::format(", C10 {}", format_quantity(*material.c10, Dimension::stress));
  if (material.d) text += fmt::format(", D {}", format_quantity(*material.d, Dimension::stress));
  if (!material.constants.empty()) {
    const MaterialParameters<double> m = law_parameters(material);
    visit_law(law_of(material), [&](auto law) {
      using Law = decltype(law);
      if constexpr (solid_law<Law>)
        text += fmt::format(", shear modulus {}, bulk modulus {} at rest",
                            format_quantity(Law::shear_modulus(m), Dimension::stress),
                            format_quantity(Law::bulk_modulus(m), Dimension::stress));
    });
    if (material.model == MaterialModel::gent) text += fmt::format(", locks at I1 - 3 = {:.4g}", m.p[1]);
  }
  for (const PronyTerm& term : material.prony)
    text += fmt::format(", relaxes {:.4g} of its shear modulus in {}", term.modulus,
                        format_quantity(term.time, Dimension::time));
  if (material.retardation > 0)
    text += fmt::format(", retardation {}", format_quantity(material.retardation, Dimension::time));
  if (material.density) text += fmt::format(", density {}", format_quantity(*material.density, Dimension::density));
  return text;
}

// Triangles and area [m^2] of membrane m.
std::pair<int, double> covered(const FullModel& model, const BodyScene& body, std::size_t m) {
  int triangles = 0;
  double volume = 0;
  for (const ElementField& field : model.fields) {
    if (!membrane_law(field.law)) continue;
    for (std::size_t e = 0; e < field.element.size(); ++e) {
      if (field.region[e] != static_cast<int>(m)) continue;
      ++triangles;
      volume += field.volume[e];
    }
  }
  const MembraneScene& membrane = body.membranes[m];
  return {triangles, volume / (membrane.threads ? membrane.threads->spacing : membrane.thickness)};
}

std::string format_membrane(const MembraneScene& membrane, int triangles, double area) {
  if (const auto& threads = membrane.threads)
    return fmt::format(
        "{} triangles, {:.4g} cm^2, threads of {} every {}, {}{}", triangles, 1e4 * area,
        format_quantity(threads->stiffness, Dimension::force), format_quantity(threads->spacing, Dimension::length),
        threads->direction ? fmt::format("along ({:.3g}, {:.3g}, {:.3g})", (*threads->direction)[0],
                                         (*threads->direction)[1], (*threads->direction)[2])
                           : fmt::format("wound at {}", format_quantity(threads->angle, Dimension::angle)),
        threads->push ? ", pushing too" : "");
  return fmt::format("{} triangles, {:.4g} cm^2, {} thick, Young {}, Poisson {:.4g}{}", triangles, 1e4 * area,
                     format_quantity(membrane.thickness, Dimension::length),
                     format_quantity(membrane.young, Dimension::stress), membrane.poisson,
                     membrane.density ? ", density " + format_quantity(*membrane.density, Dimension::density) : "");
}

std::string format_rod(const RodScene& rod, int segments) {
  const double length = length_of(rod);
  return fmt::format("{}{} long, radius {}{}, Young {}{}, {} segments of {}", rod.push ? "" : "cord, ",
                     format_quantity(length, Dimension::length), format_quantity(rod.radius, Dimension::length),
                     rod.inner_radius > 0 ? ", bore " + format_quantity(rod.inner_radius, Dimension::length) : "",
                     format_quantity(rod.young, Dimension::stress),
                     rod.density ? ", density " + format_quantity(*rod.density, Dimension::density) : "", segments,
                     format_quantity(length / segments, Dimension::length));
}

void extent(const Mesh& mesh, Vec3d& lower, Vec3d& upper) {
  lower = upper = mesh.nodes.front();
  for (const Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
}

std::string format_box(const Vec3d& lower, const Vec3d& upper, double scale, const char* unit) {
  const Vec3d a = scale * lower, b = scale * upper;
  return fmt::format("x {:.4g} to {:.4g}, y {:.4g} to {:.4g}, z {:.4g} to {:.4g}{}", a[0], b[0], a[1], b[1], a[2], b[2],
                     unit);
}

nlohmann::ordered_json range_json(const Interval& range) {
  const auto end = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  };
  return {end(range.lower), end(range.upper)};
}

}  // namespace

std::string format_range(const Interval& range, Dimension dimension) {
  return fmt::format("{} to {}", format_quantity(range.lower, dimension), format_quantity(range.upper, dimension));
}

std::string format_point(const Vec3d& x) {
  // + 0.0: no "-0".
  const auto mm = [](double value) { return std::abs(value) < 5e-9 ? 0.0 : 1e3 * value; };
  return fmt::format("({:.5g}, {:.5g}, {:.5g}) mm", mm(x[0]), mm(x[1]), mm(x[2]));
}

Facts mesh_facts(const MeshReport& report, double unit) {
  const bool known = unit > 0;
  Facts facts{{"nodes", fmt::format("{}", report.nodes)},
              {"elements", format_elements(report.tetrahedra, report.hexahedra, report.order)},
              {"extent", known ? format_box(report.lower, report.upper, 1e3 * unit, " mm")
                               : format_box(report.lower, report.upper, 1, " in the file's unit")},
              {"volume", known ? fmt::format("{:.4g} cm^3", 1e6 * unit * unit * unit * report.volume)
                               : fmt::format("{:.4g} in the cube of the file's unit", report.volume)},
              {"boundary", fmt::format("{} faces", report.boundary_faces)},
              {"parts", fmt::format("{}", report.components)},
              {"quality", fmt::format("at least {:.3f} (element {}), {} below 0.05", report.min_quality,
                                      report.worst_element, report.slivers)}};
  return facts;
}

nlohmann::ordered_json mesh_json(const MeshReport& report) {
  return {{"nodes", report.nodes},
          {"elements", report.tetrahedra + report.hexahedra},
          {"tetrahedra", report.tetrahedra},
          {"hexahedra", report.hexahedra},
          {"order", report.order},
          {"lower", vector_json(report.lower)},
          {"upper", vector_json(report.upper)},
          {"volume", report.volume},
          {"boundary_faces", report.boundary_faces},
          {"components", report.components},
          {"min_quality", report.min_quality},
          {"worst_element", report.worst_element},
          {"slivers", report.slivers},
          {"notes", report.notes}};
}

Facts scene_facts(const Scene& scene, const FullModel& model) {
  const BodyScene& body = scene.bodies.front();
  const Robot& robot = model.robot;
  Vec3d lower, upper;
  extent(model.mesh, lower, upper);
  Facts facts{{"robot", scene.name},
              {"mesh", std::filesystem::path(body.mesh_file).filename().string()},
              {"nodes", fmt::format("{}, {} of them held or driven", model.mesh.nodes.size(),
                                    model.mesh.nodes.size() - model.free_nodes.size())},
              {"elements", format_elements(static_cast<int>(model.mesh.tetrahedra.size()),
                                           static_cast<int>(model.mesh.hexahedra.size()), model.mesh.order())},
              {"unknowns", fmt::format("{}", model.coordinates.nv)},
              {"extent", format_box(lower, upper, 1e3, " mm")},
              {"volume", fmt::format("{:.4g} cm^3", 1e6 * model.total_volume)},
              {"mass", format_quantity(model.total_mass, Dimension::mass)}};
  std::string text;
  for (const MaterialScene& material : body.materials)
    text += fmt::format("{}{}", text.empty() ? "" : "\n", format_material(material));
  facts.emplace_back(body.materials.size() > 1 ? "materials" : "material", text);
  for (std::size_t m = 0; m < body.membranes.size(); ++m) {
    const auto [triangles, area] = covered(model, body, m);
    facts.emplace_back("membrane", format_membrane(body.membranes[m], triangles, area));
  }
  for (std::size_t r = 0; r < body.rods.size(); ++r)
    facts.emplace_back("rod", format_rod(body.rods[r], robot.rods[r].point_count - 1));
  const Vec3d& g = scene.gravity;
  facts.emplace_back("gravity", fmt::format("({:.4g}, {:.4g}, {:.4g}) m/s^2", g[0], g[1], g[2]));
  facts.emplace_back("time step", step_text(robot, scene.time_step, scene.integrator));
  std::vector<std::vector<std::string>> rows;
  const std::vector<Input> inputs = inputs_of(robot);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    rows.push_back({input.name,
                    input.motion ? describe(robot.motions[i - robot.actuators.size()]) : describe(robot.actuators[i]),
                    format_range(input.range, input.dimension)});
  }
  const auto lines = [](std::string table) {
    if (!table.empty()) table.pop_back();
    return table;
  };
  facts.emplace_back("actuators", rows.empty() ? "none" : lines(format_table(rows)));
  rows = constraints_table(robot);
  if (!rows.empty()) facts.emplace_back("constraints", lines(format_table(rows)));
  rows.clear();
  for (const Effector& effector : robot.effectors) rows.push_back(effector_cells(robot, effector));
  facts.emplace_back("effectors", rows.empty() ? "none" : lines(format_table(rows)));
  rows.clear();
  for (const NamedPoint& probe : robot.probes)
    rows.push_back({probe.name,
                    fmt::format("at {}", format_point(robot.rest_points[static_cast<std::size_t>(probe.point)])),
                    probe.set.empty() ? "" : fmt::format("in set {}", probe.set)});
  if (!rows.empty()) facts.emplace_back("probes", lines(format_table(rows)));
  rows.clear();
  for (const Sensor& sensor : robot.sensors) rows.push_back(sensor_cells(robot, sensor));
  if (!rows.empty()) facts.emplace_back("sensors", lines(format_table(rows)));
  rows.clear();
  for (const Parameter& parameter : robot.parameters) rows.push_back(parameter_cells(parameter));
  if (!rows.empty()) facts.emplace_back("parameters", lines(format_table(rows)));
  rows.clear();
  for (const PlacedObstacle& obstacle : robot.obstacles) rows.push_back(obstacle_cells(obstacle));
  if (!rows.empty()) facts.emplace_back("obstacles", lines(format_table(rows)));
  if (robot.collision_points > 0) facts.emplace_back("contact", contact_text(robot));
  for (const std::string& note : model.notes) facts.emplace_back("note", note);
  return facts;
}

nlohmann::ordered_json scene_json(const Scene& scene, const FullModel& model) {
  Vec3d lower, upper;
  extent(model.mesh, lower, upper);
  nlohmann::ordered_json json{{"name", scene.name},
                              {"nodes", model.mesh.nodes.size()},
                              {"fixed_nodes", model.mesh.nodes.size() - model.free_nodes.size()},
                              {"elements", model.mesh.element_count()},
                              {"tetrahedra", model.mesh.tetrahedra.size()},
                              {"hexahedra", model.mesh.hexahedra.size()},
                              {"order", model.mesh.order()},
                              {"unknowns", model.coordinates.nv},
                              {"lower", vector_json(lower)},
                              {"upper", vector_json(upper)},
                              {"volume", model.total_volume},
                              {"mass", model.total_mass},
                              {"time_step", scene.time_step},
                              {"integrator", integrator_name(scene.integrator)},
                              {"implicit_velocity", scene.implicit_velocity},
                              {"implicit_position", scene.implicit_position}};
  json["membranes"] = nlohmann::ordered_json::array();
  const BodyScene& body = scene.bodies.front();
  for (std::size_t m = 0; m < body.membranes.size(); ++m) {
    const auto [triangles, area] = covered(model, body, m);
    json["membranes"].push_back({{"triangles", triangles}, {"area", area}, {"thickness", body.membranes[m].thickness}});
  }
  json["rods"] = nlohmann::ordered_json::array();
  for (const RodLine& rod : model.robot.rods)
    json["rods"].push_back({{"segments", rod.point_count - 1}, {"radius", rod.radius}});
  json["actuators"] = nlohmann::ordered_json::array();
  const Robot& robot = model.robot;
  const std::vector<Input> inputs = inputs_of(robot);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    nlohmann::ordered_json entry{
        {"name", inputs[i].name}, {"unit", si_unit(inputs[i].dimension)}, {"range", range_json(inputs[i].range)}};
    entry.update(inputs[i].motion ? nlohmann::ordered_json{{"type", "motion"}} : actuator_json(robot.actuators[i]));
    json["actuators"].push_back(std::move(entry));
  }
  json["constraints"] = constraints_json(robot);
  json["effectors"] = json["probes"] = nlohmann::ordered_json::array();
  for (const Effector& effector : robot.effectors) json["effectors"].push_back(effector_json(robot, effector));
  for (const NamedPoint& probe : robot.probes)
    json["probes"].push_back(
        {{"name", probe.name}, {"point", vector_json(robot.rest_points[static_cast<std::size_t>(probe.point)])}});
  json["sensors"] = nlohmann::ordered_json::array();
  for (const Sensor& sensor : robot.sensors) json["sensors"].push_back(sensor_json(robot, sensor));
  for (const Parameter& parameter : robot.parameters) json["parameters"].push_back(parameter_json(parameter));
  json["obstacles"] = nlohmann::ordered_json::array();
  for (const PlacedObstacle& obstacle : robot.obstacles) json["obstacles"].push_back(obstacle_json(obstacle));
  json["contact"] = contact_json(robot);
  json["notes"] = model.notes;
  return json;
}

}  // namespace supple::cli
