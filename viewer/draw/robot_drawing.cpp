#include "viewer/draw/robot_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/extent.hpp"
#include "viewer/draw/constraint_drawing.hpp"
#include "viewer/draw/obstacle_drawing.hpp"
#include "viewer/draw/shapes.hpp"

namespace supple::view {

namespace {

constexpr Colour cable_colour{0.16f, 0.17f, 0.20f, 1}, rod_colour{0.55f, 0.57f, 0.62f, 1},
    effector_colour{0.13f, 0.45f, 0.85f, 1}, goal_colour{0.85f, 0.15f, 0.20f, 1}, edge_colour{0.1f, 0.1f, 0.12f, 0.35f},
    force_colour{0.75f, 0.25f, 0.65f, 1}, unknown_colour{0.6f, 0.6f, 0.6f, 1}, rigid_colour{0.47f, 0.53f, 0.60f, 1},
    label_colour{0.12f, 0.13f, 0.16f, 1};
constexpr float ghost = 0.16f;        // how much is seen of a ghosted body
constexpr double cell_shrink = 0.92;  // of the domain's elements about their centres, so that neighbours part

Vec3d point_of(std::span<const double> y, int point) {
  const auto at = 3 * static_cast<std::size_t>(point);
  return {{y[at], y[at + 1], y[at + 2]}};
}

// Numbers to be coloured, and their scale. Empty: of other things.
struct Scalars {
  std::vector<double> nodes, cells, cavities;  // nodes: of the skins, NaN where there is none
  ColourBar bar;
};

void span_values(Scalars& scalars, const DrawingOptions& options, bool from_zero) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::vector<double>* values : {&scalars.nodes, &scalars.cells, &scalars.cavities})
    for (double value : *values)
      if (std::isfinite(value)) {
        low = std::min(low, value);
        high = std::max(high, value);
      }
  if (!(low <= high)) low = high = 0;
  if (from_zero) low = std::min(low, 0.0);
  scalars.bar.low = options.bar_low.value_or(low);
  scalars.bar.high = options.bar_high.value_or(high);
  if (!(scalars.bar.high > scalars.bar.low)) scalars.bar.high = scalars.bar.low + 1e-12;
}

// Of the cavities, in their order. The bar reaches to what the scene allows, so that a colour means the same in every
// state, or where it allows any pressure to the present ones.
Scalars pressures_of(const RobotShape& shape, const State& state, const DrawingOptions& options) {
  Scalars scalars;
  DrawingOptions ends = options;
  double most = 0, least = 0;
  for (const RobotShape::Cavity& cavity : shape.cavities()) {
    const ActuatorRow& row = shape.robot().actuators[cavity.actuator];
    scalars.cavities.push_back(state.multipliers[cavity.actuator]);
    const bool commanded = commands_force(row.control);
    most = std::max(most, commanded ? std::min(row.range.upper, row.force.upper) : row.force.upper);
    least = std::min(least, commanded       ? std::max(row.range.lower, row.force.lower)
                            : row.has_gas() ? 0
                                            : row.force.lower);
  }
  if (!ends.bar_high && std::isfinite(most)) ends.bar_high = most;
  if (!ends.bar_low && std::isfinite(least)) ends.bar_low = least;
  scalars.bar = {"pressure", "Pa"};
  span_values(scalars, ends, true);
  return scalars;
}

std::vector<double> distances(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  std::vector<double> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = norm(a[i] - b[i]);
  return out;
}

// Strain modes have no elements that could be coloured.
bool by_strain_modes(const RobotShape::Body& body, bool (*of)(LawId)) {
  return body.shape.reduced() && std::ranges::any_of(body.shape.reduced()->fields, [&](const ReducedField& field) {
           return field.strains.count > 0 && of(field.law);
         });
}
bool leaves_membranes_out(const RobotShape& shape) {
  return std::ranges::any_of(shape.bodies(),
                             [](const RobotShape::Body& body) { return by_strain_modes(body, &membrane_law); });
}
bool solids_by_strain_modes(const RobotShape::Body& body) {
  return by_strain_modes(body, &solid);
}

Scalars scalars_of(const RobotShape& shape, const DrawnState& drawn, const std::vector<Vec3d>& places,
                   const DrawingOptions& options) {
  Scalars scalars;
  switch (options.colouring) {
    case Colouring::plain:
      return scalars;
    case Colouring::displacement:
      scalars.nodes = distances(places, shape.rest());
      scalars.bar = {"displacement", "m"};
      break;
    case Colouring::mode:
      scalars.nodes = distances(places, shape.rest());
      scalars.bar = {"mode " + std::to_string(options.mode + 1), "m"};
      break;
    case Colouring::stress:
      scalars.nodes = shape.skin_stress(drawn.state);
      scalars.cells = shape.cell_stress(drawn.state);
      scalars.bar = {leaves_membranes_out(shape) ? "von Mises stress, but of membranes" : "von Mises stress", "Pa"};
      break;
    case Colouring::weight:
      for (const RobotShape::Cell& cell : shape.cells()) scalars.cells.push_back(cell.weight);
      scalars.bar = {"weight of the element", "1"};
      break;
    case Colouring::difference: {
      std::vector<Vec3d> other;
      drawn.other->positions(*drawn.other_state, other);
      scalars.nodes = distances(places, other);
      scalars.bar = {"difference of the two robots", "m"};
      break;
    }
    case Colouring::pressure:
      return pressures_of(shape, drawn.state, options);
  }
  span_values(scalars, options, true);
  return scalars;
}

Vertex vertex_at(const Vec3d& place, const Vec3d& normal, Colour colour) {
  Vertex vertex{{}, {}, colour};
  for (std::size_t k = 0; k < 3; ++k) {
    vertex.position[k] = static_cast<float>(place[static_cast<int>(k)]);
    vertex.normal[k] = static_cast<float>(normal[static_cast<int>(k)]);
  }
  return vertex;
}

void add_surface(const Triangles& triangles, std::span<const Vec3d> places, std::span<const Colour> colours,
                 const Vec3d& offset, Surfaces& surfaces) {
  const std::vector<Vec3d> normals = node_normals(places, triangles);
  const auto first = static_cast<std::uint32_t>(surfaces.vertices.size());
  surfaces.vertices.reserve(surfaces.vertices.size() + places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    surfaces.vertices.push_back(vertex_at(places[i] + offset, normals[i], colours[i]));
  for (const auto& triangle : triangles)
    for (int node : triangle) surfaces.triangles.push_back(first + static_cast<std::uint32_t>(node));
}

// Each triangle with its own normal.
void add_flat_surface(const Triangles& triangles, std::span<const Vec3d> places, std::span<const Colour> colours,
                      const Vec3d& offset, Surfaces& surfaces) {
  for (const auto& triangle : triangles) {
    const auto corner = [&](std::size_t k) { return places[static_cast<std::size_t>(triangle[k])]; };
    const Vec3d across = cross(corner(1) - corner(0), corner(2) - corner(0));
    for (std::size_t k = 0; k < 3; ++k) {
      surfaces.triangles.push_back(static_cast<std::uint32_t>(surfaces.vertices.size()));
      surfaces.vertices.push_back(
          vertex_at(corner(k) + offset, (1 / norm(across)) * across, colours[static_cast<std::size_t>(triangle[k])]));
    }
  }
}

// Walls in the colour of their pressure, which is written in their middle too.
void add_cavities(const RobotShape& shape, const State& state, const Scalars& pressures, const Vec3d& offset,
                  DrawList& list) {
  std::vector<Vec3d> corners;
  for (std::size_t c = 0; c < shape.cavities().size(); ++c) {
    const RobotShape::Cavity& cavity = shape.cavities()[c];
    shape.wall_corners(cavity, state, corners);
    if (corners.empty()) continue;
    const double pressure = pressures.cavities[c];
    add_surface(cavity.triangles, corners, std::vector<Colour>(corners.size(), colour_of(pressures.bar, pressure)),
                offset, list.solid);
    Vec3d middle = offset;
    for (const Vec3d& x : corners) middle = middle + (1.0 / static_cast<double>(corners.size())) * x;
    list.labels.push_back({middle,
                           fmt::format("{} {}", shape.robot().actuators[cavity.actuator].name,
                                       format_quantity(pressure, Dimension::stress)),
                           label_colour});
  }
}

void add_edges(const RobotShape& shape, const std::vector<Vec3d>& places, const Vec3d& offset, DrawList& list) {
  for (const auto& triangle : shape.triangles())
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = triangle[k], b = triangle[(k + 1) % 3];
      if (a > b) continue;  // its neighbour draws it
      list.segments.push_back(segment(places[static_cast<std::size_t>(a)] + offset,
                                      places[static_cast<std::size_t>(b)] + offset, edge_colour, 1));
    }
}

void add_domain(const RobotShape& shape, const State& state, const Scalars& scalars, const DrawingOptions& options,
                Surfaces& surfaces) {
  std::vector<Vec3d> corners, cell_corners;
  shape.cell_corners(state, corners);
  for (std::size_t c = 0; c < shape.cells().size(); ++c) {
    const RobotShape::Cell& cell = shape.cells()[c];
    const std::span<const Vec3d> own =
        std::span(corners).subspan(static_cast<std::size_t>(cell.first), static_cast<std::size_t>(cell.corners));
    Vec3d centre{{0, 0, 0}};
    for (const Vec3d& x : own) centre = centre + (1.0 / cell.corners) * x;
    cell_corners.clear();
    for (const Vec3d& x : own) cell_corners.push_back(centre + cell_shrink * (x - centre) + options.offset);
    const Colour colour =
        scalars.cells.empty() ? with_alpha(options.body, 1) : colour_of(scalars.bar, scalars.cells[c]);
    add_cell(cell_corners, colour, surfaces);
  }
}

void add_actuators(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list) {
  const double radius = 0.004 * shape.extent();
  const Robot& robot = shape.robot();
  for (std::size_t j = 0; j < robot.actuators.size(); ++j) {
    const ActuatorRow& actuator = robot.actuators[j];
    const Pose axes = shape.axes(actuator.first_point, drawn.state);
    if (actuator.kind == ActuatorKind::force) {
      const double force = drawn.state.multipliers[j];
      const double most = std::max(std::abs(actuator.force.lower), std::abs(actuator.force.upper));
      const double reach = std::isfinite(most) && most > 0 ? force / most : std::clamp(force, -1.0, 1.0);
      const Vec3d at = axes(point_of(drawn.y, actuator.first_point)) + offset;
      add_arrow(at - (0.25 * shape.extent() * reach) * (axes.rotation * actuator.direction), at, radius, force_colour,
                list.solid);
      continue;
    }
    // Colouring::pressure shows cavities; motors turn what is seen.
    if (actuator.kind == ActuatorKind::cavity || actuator.is_motor()) continue;
    std::vector<Vec3d> path;
    for (int k = 0; k < actuator.point_count; ++k)
      path.push_back(axes(point_of(drawn.y, actuator.first_point + k)) + offset);
    if (actuator.pull_point) path.push_back(axes(*actuator.pull_point) + offset);
    add_tube(path, radius, cable_colour, list.solid);
  }
}

void add_rods(const RobotShape& shape, const DrawnState& drawn, const Vec3d& offset, DrawList& list) {
  for (const RodLine& rod : shape.robot().rods) {
    const Pose axes = shape.axes(rod.first_point, drawn.state);
    std::vector<Vec3d> path;
    for (int k = 0; k < rod.point_count; ++k) path.push_back(axes(point_of(drawn.y, rod.first_point + k)) + offset);
    // Thick enough to be seen.
    add_tube(path, std::max(rod.radius, 0.002 * shape.extent()), rod_colour, list.solid);
  }
}

void add_effectors(const RobotShape& shape, const DrawnState& drawn, const DrawingOptions& options, DrawList& list) {
  const double radius = 0.013 * shape.extent();
  const Robot& robot = shape.robot();
  for (std::size_t e = 0; e < robot.effectors.size(); ++e) {
    const Effector& effector = robot.effectors[e];
    const Vec3d at = point_of(drawn.y, effector.point) + options.offset;
    if (options.effectors) add_ball(at, radius, effector_colour, list.on_top_solid);
    if (!options.goals || effector.kind != EffectorKind::position || drawn.goals.size() < 3 * (e + 1)) continue;
    if (e < drawn.steered.size() && drawn.steered[e] == 0) continue;
    const Vec3d goal = point_of(drawn.goals, static_cast<int>(e)) + options.offset;
    add_ball(goal, 0.75 * radius, goal_colour, list.on_top_solid);
    list.on_top.push_back(segment(at, goal, goal_colour, 2));
  }
}

}  // namespace

namespace {

// Of the same bodies with the same skins in their own axes, wherever they stand; places in files are rounded.
bool same_skins(const RobotShape& a, const RobotShape& b) {
  const double rounding = 1e-9 * a.extent();
  return std::ranges::equal(a.bodies(), b.bodies(), [&](const RobotShape::Body& mine, const RobotShape::Body& other) {
    return mine.shape.triangles() == other.shape.triangles() &&
           std::ranges::equal(mine.shape.rest(), other.shape.rest(),
                              [&](const Vec3d& x, const Vec3d& y) { return norm(x - y) <= rounding; });
  });
}

}  // namespace

const char* name_of(Colouring colouring) {
  switch (colouring) {
    case Colouring::plain:
      return "plain";
    case Colouring::displacement:
      return "displacement";
    case Colouring::stress:
      return "stress";
    case Colouring::weight:
      return "weight";
    case Colouring::difference:
      return "difference";
    case Colouring::mode:
      return "mode";
    case Colouring::pressure:
      return "pressure";
  }
  return "";
}

std::string lacks(const RobotShape& shape, Colouring colouring, const RobotShape* other) {
  const auto unknown_elements = [](const RobotShape::Body& body) {
    return body.shape.reduced() && body.shape.cells().empty();
  };
  const bool reduced =
      std::ranges::any_of(shape.bodies(), [](const RobotShape::Body& body) { return body.shape.reduced(); });
  if (std::ranges::any_of(shape.bodies(), solids_by_strain_modes) &&
      (colouring == Colouring::stress || colouring == Colouring::weight))
    return "solids by strain modes have no elements to colour (solids = \"elements\" in [reduce])";
  switch (colouring) {
    case Colouring::stress:
      return std::ranges::any_of(shape.bodies(), unknown_elements) ? "this file does not say where its elements are"
                                                                   : "";
    case Colouring::weight:
      if (!reduced) return "a full model has no weights";
      return shape.cells().empty() ? "this file does not say where its elements are" : "";
    case Colouring::difference:
      if (!other) return "there is no second robot (--compare)";
      return same_skins(shape, *other) ? "" : "the two robots have other skins: they were not made from one mesh";
    case Colouring::mode:
      if (shape.reduced()) return "";
      return shape.assembled() ? "several bodies have no modes in common: look at the model of a part"
                               : "a full model has no modes";
    case Colouring::pressure:
      if (!shape.cavities().empty()) return "";
      return std::ranges::any_of(shape.robot().actuators,
                                 [](const ActuatorRow& row) { return row.kind == ActuatorKind::cavity; })
                 ? "this file does not say where the walls of its cavities are: reduce it again"
                 : "this robot has no cavities";
    case Colouring::plain:
    case Colouring::displacement:
      break;
  }
  return "";
}

namespace {

// What is inside it is seen through it.
bool ghostly(const RobotShape::Body& body, const Scalars& scalars, const DrawingOptions& options) {
  if ((options.domain || !scalars.cells.empty()) && !body.shape.cells().empty()) return true;
  return options.colouring == Colouring::pressure && !body.shape.cavities().empty();
}

void add_skin(const RobotShape::Body& body, std::span<const Vec3d> places, const Scalars& scalars,
              const DrawingOptions& options, DrawList& list) {
  const Colour rigid = with_alpha(rigid_colour, options.body.a);
  const bool unknown = !scalars.cells.empty() || !scalars.nodes.empty();
  std::vector<Colour> colours(places.size(), body.shape.rigid() ? rigid : unknown ? unknown_colour : options.body);
  for (std::size_t i = 0; i < places.size() && !scalars.nodes.empty(); ++i)
    if (const double value = scalars.nodes[extent(body.nodes) + i]; std::isfinite(value))
      colours[i] = colour_of(scalars.bar, value);
  const bool see_through = ghostly(body, scalars, options);
  if (see_through)
    for (Colour& colour : colours) colour.a = ghost;
  if (see_through || options.body.a < 1) list.see_through.emplace_back();
  Surfaces& skin = see_through || options.body.a < 1 ? list.see_through.back() : list.solid;
  skin.open = skin.open || !body.shape.closed();
  const auto add = body.shape.rigid() ? add_flat_surface : add_surface;
  add(body.shape.triangles(), places, colours, options.offset, skin);
}

}  // namespace

void draw_robot(const RobotShape& shape, const DrawnState& drawn, const DrawingOptions& options, DrawList& list) {
  std::vector<Vec3d> places;
  shape.positions(drawn.state, places);
  const Scalars scalars = scalars_of(shape, drawn, places, options);
  if (options.colouring != Colouring::plain) list.bars.push_back(scalars.bar);
  if (options.domain || !scalars.cells.empty()) add_domain(shape, drawn.state, scalars, options, list.solid);
  if (options.colouring == Colouring::pressure) add_cavities(shape, drawn.state, scalars, options.offset, list);
  // Before a ghost of the body, which is seen through onto them.
  if (options.obstacles) draw_obstacles(shape, options.offset, list);
  for (const RobotShape::Body& body : shape.bodies())
    add_skin(body, std::span(places).subspan(extent(body.nodes), body.shape.rest().size()), scalars, options, list);
  if (options.edges) add_edges(shape, places, options.offset, list);
  if (options.colouring == Colouring::mode) return;  // nothing else moves with a mode
  if (options.cables) {
    add_actuators(shape, drawn, options.offset, list);
    add_rods(shape, drawn, options.offset, list);
  }
  if (options.constraints) draw_constraints(shape, drawn, options.offset, list);
  if (options.obstacles) {
    draw_contact_forces(shape, drawn, options.offset, list);
    draw_contact_points(shape, drawn, options.offset, list);
  }
  add_effectors(shape, drawn, options, list);
}

void draw_pull(const RobotShape& shape, const Vec3d& from, const Vec3d& to, DrawList& list) {
  add_arrow(from, to, 0.004 * shape.extent(), force_colour, list.on_top_solid);
}

State mode_state(const RobotShape& shape, const State& like, int mode, double size) {
  State state = like;
  const ReducedModel* model = shape.reduced();
  const bool on_frame = model && model->on_frame;
  std::fill(state.q.begin(), on_frame ? state.q.begin() + model->modes : state.q.end(), 0.0);
  if (on_frame) write_pose(model->rest_inertia.centre, {}, state.q.data() + model->modes);
  std::fill(state.motions.begin(), state.motions.end(), 0.0);
  if (!shape.reduced() || mode < 0 || mode >= shape.reduced()->modes) return state;
  double& q = state.q[static_cast<std::size_t>(mode)];
  q = 1;
  std::vector<Vec3d> places;
  shape.positions(state, places);
  const std::vector<double> moved = distances(places, shape.rest());
  const double most = moved.empty() ? 0 : *std::max_element(moved.begin(), moved.end());
  q = most > 0 ? size / most : 0;
  return state;
}

void draw_floor(const Vec3d& centre, double height, double extent, DrawList& list) {
  const double step = std::pow(10, std::floor(std::log10(extent / 2)));  // 1, 10, 100 ... mm
  constexpr int half = 10;
  constexpr Colour colour{0.35f, 0.38f, 0.42f, 0.35f};
  const double x0 = std::round(centre[0] / step) * step, y0 = std::round(centre[1] / step) * step;
  for (int k = -half; k <= half; ++k) {
    const double d = k * step, w = half * step;
    list.segments.push_back(segment({{x0 - w, y0 + d, height}}, {{x0 + w, y0 + d, height}}, colour, 1));
    list.segments.push_back(segment({{x0 + d, y0 - w, height}}, {{x0 + d, y0 + w, height}}, colour, 1));
  }
}

}  // namespace supple::view
