#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/mesh/check.hpp"
#include "engine/mesh/embedding.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/select.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/model/full_model.hpp"
#include "solvers/complementarity/box_complementarity.hpp"

namespace supple {

namespace {

// Weights w_i = k_i (a + b . (x_i - x)) over the nodes within `radius`, k the bump (1 - d^2/r^2)^2, with sum w = 1 and
// sum w (x_i - x) = 0: the spread point follows every linear field exactly, rigid motions among them.
Interpolation spread_attachment(const Mesh& mesh, const Vec3d& x, double radius, const Place& place) {
  Interpolation result;
  std::vector<double> bump;
  for (int node : nodes_in_sphere(mesh, x, radius)) {
    const Vec3d d = mesh.nodes[static_cast<std::size_t>(node)] - x;
    const double s = 1 - dot(d, d) / (radius * radius);
    if (s <= 0) continue;
    result.node.push_back(node);
    bump.push_back(s * s);
  }
  double M[4][5] = {};
  for (std::size_t n = 0; n < bump.size(); ++n) {
    const Vec3d d = (1 / radius) * (mesh.nodes[static_cast<std::size_t>(result.node[n])] - x);
    const double b[4] = {1, d[0], d[1], d[2]};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) M[i][j] += bump[n] * b[i] * b[j];
  }
  M[0][4] = 1;
  const double scale = M[0][0];
  for (int i = 0; i < 4; ++i) {
    int pivot = i;
    for (int r = i + 1; r < 4; ++r)
      if (std::abs(M[r][i]) > std::abs(M[pivot][i])) pivot = r;
    if (bump.size() < 4 || !(std::abs(M[pivot][i]) > 1e-6 * scale))
      throw InputError(
          fmt::format("the nodes within {:.4g} m of the attachment do not surround it ({} nodes)", radius, bump.size()),
          "enlarge attachment_radius to two or three edge lengths of the mesh, or leave it out", place);
    std::swap_ranges(M[i], M[i] + 5, M[pivot]);
    for (int r = 0; r < 4; ++r) {
      if (r == i) continue;
      const double factor = M[r][i] / M[i][i];
      for (int c = i; c < 5; ++c) M[r][c] -= factor * M[i][c];
    }
  }
  for (std::size_t n = 0; n < bump.size(); ++n) {
    const Vec3d d = (1 / radius) * (mesh.nodes[static_cast<std::size_t>(result.node[n])] - x);
    result.weight.push_back(
        bump[n] * (M[0][4] / M[0][0] + M[1][4] / M[1][1] * d[0] + M[2][4] / M[2][2] * d[1] + M[3][4] / M[3][3] * d[2]));
  }
  return result;
}

class PointPlacer {
 public:
  PointPlacer(FullModel& model, double size) : model_(model), embedding_(model.mesh), size_(size) {}

  // Adds a mapped point at x; returns its number.
  int add(const Vec3d& x, double radius, const std::string& what, const Place& place) {
    const EmbeddedPoint point = embedding_.locate(x);
    if (point.distance > 0.05 * size_)
      throw InputError(
          fmt::format("{} at ({:.4g}, {:.4g}, {:.4g}) m is {:.3g} m away from the body", what, x[0], x[1], x[2],
                      point.distance),
          "points are in metres after unit, rotation and translation; `supple info` prints the mesh's extent", place);
    if (!point.inside && radius == 0)
      model_.notes.push_back(fmt::format("{} lies {:.3g} mm outside the mesh; it follows the nearest element", what,
                                         1e3 * point.distance));
    Interpolation interpolation;
    if (radius > 0) {
      interpolation = spread_attachment(model_.mesh, x, radius, place);
    } else {
      for (int k = 0; k < point.node_count; ++k) {
        interpolation.node.push_back(point.nodes[static_cast<std::size_t>(k)]);
        interpolation.weight.push_back(point.weights[static_cast<std::size_t>(k)]);
      }
    }
    model_.interpolation.push_back(std::move(interpolation));
    model_.robot.rest_points.push_back(x);
    return static_cast<int>(model_.robot.rest_points.size()) - 1;
  }

 private:
  FullModel& model_;
  Embedding embedding_;
  double size_;
};

void fix_nodes(const BodyScene& body, FullModel& model) {
  const std::size_t n = model.mesh.nodes.size();
  std::vector<bool> held(n, false);
  std::vector<double> spring(n, 0.0);
  model.node_motion.assign(n, -1);
  for (const FixScene& fix : body.fixes) {
    const std::vector<int> nodes = nodes_in(fix.region, model.mesh);
    const Place& place = fix.region.place.file.empty() ? fix.place : fix.region.place;
    if (nodes.empty())
      throw InputError("this fixed region holds no node",
                       "move or enlarge it; lengths are in metres after unit, rotation and translation", place);
    std::vector<MotionInput>& motions = model.robot.motions;
    int motion = -1;
    if (!fix.motion.empty()) {
      const double length = norm(fix.motion_direction);
      if (!(length > 0)) throw InputError("a moving region needs a direction", "direction = [1, 0, 0]", place);
      // Regions that name the same motion move together.
      const auto known =
          std::find_if(motions.begin(), motions.end(), [&](const MotionInput& m) { return m.name == fix.motion; });
      motion = static_cast<int>(known - motions.begin());
      if (known == motions.end())
        motions.push_back({fix.motion, (1 / length) * fix.motion_direction, fix.motion_range});
    }
    for (int node : nodes) {
      const auto i = static_cast<std::size_t>(node);
      if (fix.stiffness < unlimited) {
        spring[i] += fix.stiffness;
      } else {
        held[i] = true;
        model.node_motion[i] = motion;
      }
    }
  }
  model.node_unknown.assign(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    if (held[i]) continue;
    model.node_unknown[i] = static_cast<int>(model.free_nodes.size());
    model.free_nodes.push_back(static_cast<int>(i));
    model.node_spring.push_back(spring[i]);
  }
  if (model.free_nodes.empty())
    throw InputError("every node of the body is fixed", "make the fixed regions smaller", body.place);
  model.coordinates.add(CoordinateBlock::Kind::nodes, body.name, 3 * static_cast<int>(model.free_nodes.size()));
}

void add_cable(const ActuatorScene& scene, PointPlacer& placer, Robot& robot) {
  ActuatorRow row;
  row.name = scene.name;
  row.first_point = static_cast<int>(robot.rest_points.size());
  row.point_count = static_cast<int>(scene.points.size());
  row.pull_point = scene.pull_point;
  row.control = scene.control;
  row.bilateral = scene.bilateral;
  row.range = scene.range;
  row.force = scene.force;
  row.rate = scene.rate;
  row.samples = scene.samples;
  for (std::size_t k = 0; k < scene.points.size(); ++k) {
    placer.add(scene.points[k], scene.attachment_radius, fmt::format("point {} of cable '{}'", k + 1, scene.name),
               scene.place);
    if (k > 0) row.rest_length += norm(scene.points[k] - scene.points[k - 1]);
  }
  if (scene.pull_point) row.rest_length += norm(*scene.pull_point - scene.points.back());
  if (!(row.rest_length > 0))
    throw InputError(fmt::format("cable '{}' has no length", scene.name),
                     "give it a pull_point away from its point, or several points", scene.place);
  robot.actuators.push_back(std::move(row));
}

}  // namespace

FullModel build_full_model(const Scene& scene, Mesh mesh) {
  if (scene.bodies.size() != 1)
    throw InputError("a scene needs exactly one body so far", "one [body] table", {scene.file, 0, 0, ""});
  const BodyScene& body = scene.bodies.front();
  FullModel model;
  transform_mesh(mesh, body.mesh_unit, body.transform);
  const MeshReport report = check_mesh(mesh);
  model.notes = report.notes;
  model.mesh = std::move(mesh);
  model.total_volume = report.volume;

  Robot& robot = model.robot;
  robot.name = scene.name;
  robot.gravity = scene.gravity;
  robot.time_step = scene.time_step;
  robot.integrator = scene.integrator;
  robot.rayleigh_mass = body.rayleigh_mass;
  robot.rayleigh_stiffness = body.rayleigh_stiffness;
  fix_nodes(body, model);
  if (scene.integrator == Integrator::quasi_static && body.fixes.empty())
    throw InputError("a quasi-static robot must be held somewhere (its equilibrium is not unique)",
                     "add a [[fix]] region", body.place);
  model.fields = build_element_fields(body, model.mesh);
  for (const ElementField& field : model.fields)
    if (scene.integrator != Integrator::implicit_euler && !has_exact_tangent(field.law))
      throw InputError("Newton's method needs the exact tangent, which rotations from element edges do not have",
                       "rotation = \"polar\", or integrator = \"implicit-euler\"", body.materials.front().place);
  model.mass = build_mass(body, model.mesh, model.total_mass);

  PointPlacer placer(model, norm(report.upper - report.lower));
  if (scene.actuators.size() > static_cast<std::size_t>(max_box_complementarity))
    throw InputError(fmt::format("the scene has {} actuators, at most {} are possible", scene.actuators.size(),
                                 max_box_complementarity),
                     "fewer actuators", scene.actuators.back().place);
  for (const ActuatorScene& cable : scene.actuators) add_cable(cable, placer, robot);
  for (const EffectorScene& effector : scene.effectors) {
    Effector row;
    row.name = effector.name;
    row.point = placer.add(*effector.point, 0, "effector '" + effector.name + "'", effector.place);
    row.directions = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
    robot.effectors.push_back(std::move(row));
  }
  for (const PointScene& probe : scene.probes)
    robot.probes.push_back(
        {probe.name, probe.set, placer.add(probe.point, 0, "probe '" + probe.name + "'", probe.place)});
  return model;
}

FullModel build_full_model(const Scene& scene) {
  if (scene.bodies.size() != 1)
    throw InputError("a scene needs exactly one body so far", "one [body] table", {scene.file, 0, 0, ""});
  return build_full_model(scene, read_mesh(scene.bodies.front().mesh_file));
}

}  // namespace supple
