#include "bench/validation/problem.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <map>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/order.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple::validation {

Mesh box_mesh(const Element& element, const Vec3d& size, const std::array<int, 3>& cells,
              const std::function<Vec3d(const Vec3d&)>& map) {
  Mesh mesh = element.hexahedra ? box_hexahedra({{0, 0, 0}}, size, cells[0], cells[1], cells[2])
                                : box_tetrahedra({{0, 0, 0}}, size, cells[0], cells[1], cells[2]);
  set_order(mesh, element.order);
  for (Vec3d& x : mesh.nodes) x = map(x);
  return mesh;
}

std::string cells_text(const std::array<int, 3>& cells) {
  return fmt::format("{} × {} × {}", cells[0], cells[1], cells[2]);
}

Problem::Problem(const Element& element, Mesh mesh, const Material& material, const Vec3d& gravity, const Chosen& held,
                 const std::function<void(BodyScene&)>& with)
    : young_(material.young) {
  Scene scene;
  scene.name = "case";
  scene.gravity = gravity;
  BodyScene body;
  body.density = material.density;
  body.order = element.order;
  body.dilatation = element.dilatation;
  MaterialScene law;
  law.model = material.model;
  law.young = material.young;
  law.poisson = material.poisson;
  law.constants = material.constants;
  law.prony = material.prony;
  law.retardation = material.retardation;
  body.materials = {law};
  for (const Vec3d& x : mesh.nodes) {
    if (!held(x)) continue;
    FixScene fix;
    fix.region.kind = Region::Kind::sphere;
    fix.region.centre = x;
    fix.region.radius = 0;
    body.fixes.push_back(fix);
  }
  if (with) with(body);
  scene.bodies = {body};
  model_ = std::make_shared<FullModel>(build_full_model(scene, std::move(mesh)));
  load_.assign(extent(model_->coordinates.nv), 0.0);
}

void Problem::hold_along(int axis, double give, const Chosen& chosen) {
  for (const int node : model_->free_nodes) {
    const Vec3d& x = model_->mesh.nodes[extent(node)];
    if (!chosen(x)) continue;
    ConstraintRow row;
    row.name = fmt::format("held {} {}", axis, node);
    row.first_point = static_cast<int>(model_->interpolation.size());
    row.direction[axis] = 1;
    row.place = x;
    // Entries of K are about E times an edge.
    row.compliance = give / (young_ * std::cbrt(model_->total_volume / model_->mesh.element_count()));
    model_->interpolation.push_back({{node}, {1}});
    model_->robot.rest_points.push_back(x);
    model_->robot.springs.push_back(row);
  }
}

void Problem::add_cavity(const Vec3d& centre, const Chosen& chosen) {
  Robot& robot = model_->robot;
  std::vector<Face> walls;
  for (const Face& face : boundary_faces(model_->mesh))
    if (std::ranges::all_of(face.all_nodes(), [&](int node) { return chosen(model_->mesh.nodes[extent(node)]); }))
      walls.push_back(face);
  ActuatorRow cavity;
  cavity.name = "cavity";
  cavity.kind = ActuatorKind::cavity;
  cavity.bilateral = true;
  cavity.first_point = static_cast<int>(robot.rest_points.size());
  std::map<int, int> corners;
  const auto add_point = [&](const Vec3d& x, const Interpolation& interpolation) {
    robot.rest_points.push_back(x);
    model_->interpolation.push_back(interpolation);
    return cavity.point_count++;
  };
  const int middle = add_point(centre, {});
  std::map<std::array<int, 2>, int> edges;  // how often from the first to the second
  for (const auto& [a, b, c] : triangles_of(walls)) {
    std::array<int, 3> triangle{};
    for (int k = 0; const int node : {a, c, b}) {  // walls look out of the body, that is into the cavity
      const auto [it, added] = corners.try_emplace(node, 0);
      if (added) it->second = add_point(model_->mesh.nodes[extent(node)], {{node}, {1}});
      triangle[extent(k++)] = it->second;
    }
    cavity.triangles.push_back(triangle);
    for (std::size_t k = 0; k < 3; ++k) ++edges[{triangle[k], triangle[(k + 1) % 3]}];
    cavity.rest_area += 0.5 * norm(cross(model_->mesh.nodes[extent(b)] - model_->mesh.nodes[extent(a)],
                                         model_->mesh.nodes[extent(c)] - model_->mesh.nodes[extent(a)]));
  }
  for (const auto& [edge, count] : edges)
    if (!edges.contains({edge[1], edge[0]})) cavity.triangles.push_back({edge[1], edge[0], middle});
  std::vector<double> places;
  for (int point = 0; point < cavity.point_count; ++point)
    for (int k = 0; k < 3; ++k) places.push_back(robot.rest_points[extent(cavity.first_point + point)][k]);
  cavity.rest_volume = cavity_volume(places, cavity.triangles, nullptr);
  robot.actuators.push_back(cavity);
}

void Problem::touch(const PlacedObstacle& obstacle, const Chosen& chosen) {
  Robot& robot = model_->robot;
  robot.obstacles = {obstacle};
  robot.first_collision_point = static_cast<int>(robot.rest_points.size());
  for (const int node : model_->free_nodes) {
    const Vec3d& x = model_->mesh.nodes[extent(node)];
    if (!chosen(x)) continue;
    model_->interpolation.push_back({{node}, {1}});
    robot.rest_points.push_back(x);
    ++robot.collision_points;
  }
}

std::vector<std::pair<int, double>> Problem::face_shares(const Chosen& chosen) const {
  const Mesh& mesh = model_->mesh;
  std::map<int, double> shares;
  for (const Face& face : boundary_faces(mesh)) {
    if (!std::ranges::all_of(face.all_nodes(), [&](int node) { return chosen(mesh.nodes[extent(node)]); })) continue;
    add_face_shares(mesh.nodes, face, [&](int node, double share) { shares[node] += share; });
  }
  return {shares.begin(), shares.end()};
}

void Problem::load_faces(const Vec3d& force, const Chosen& chosen) {
  const auto shares = face_shares(chosen);
  double area = 0;
  for (const auto& [node, share] : shares) area += share;
  if (!(area > 0)) throw RunError("no face is loaded", "a predicate that holds on the mesh's own coordinates");
  for (const auto& [node, share] : shares) {
    const int unknown = model_->node_unknown[extent(node)];
    for (int k = 0; k < 3 && unknown >= 0; ++k) load_[extent(3 * unknown + k)] += share / area * force[k];
  }
}

std::vector<double> Problem::solve(int parts) {
  Statics statics(*this);
  std::vector<double> u;
  for (int part = 1; part <= parts; ++part) {
    std::vector<double> load = load_;
    for (double& force : load) force *= static_cast<double>(part) / parts;
    u = statics.solve(load);
  }
  return u;
}

Statics::Statics(const Problem& problem)
    : model_(problem.model()), mechanics_(model_), state_(rest_state(mechanics_)), equilibrium_(mechanics_, {}) {}

std::vector<double> Statics::solve(std::span<const double> load, const std::vector<double>& commands) {
  Control control = zero_control(mechanics_);
  if (!commands.empty()) control.commands = commands;
  equilibrium_.set_load(load);
  const EquilibriumReport report = equilibrium_.solve(control, state_);
  if (report.status != StepStatus::ok) throw RunError(describe(report.status), "another mesh");
  std::vector<double> u(3 * model_.mesh.nodes.size());
  node_displacements(model_, state_.q, {}, u);
  return u;
}

void Problem::swing(double time_step, int steps, const Seen& seen, const std::function<Vec3d(const Vec3d&)>& velocity) {
  FullMechanics mechanics(*model_);
  State state = rest_state(mechanics);
  for (std::size_t i = 0; i < model_->free_nodes.size() && velocity; ++i) {
    const Vec3d v = velocity(model_->mesh.nodes[extent(model_->free_nodes[i])]);
    for (int k = 0; k < 3; ++k) state.v[3 * i + extent(k)] = v[k];
  }
  const double implicit = model_->robot.viscous > 0 ? 1 : 0.5;
  Stepper stepper(mechanics, {.scheme = StepScheme::newton,
                              .time_step = time_step,
                              .implicit_velocity = implicit,
                              .implicit_position = implicit});
  stepper.set_load(load_);
  std::vector<double> u(3 * model_->mesh.nodes.size());
  for (int step = 1; step <= steps; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    if (report.status != StepStatus::ok) throw RunError(describe(report.status), "another mesh");
    node_displacements(*model_, state.q, {}, u);
    seen(step * time_step, u);
  }
}

double Problem::steps_per_second(double time_step) const {
  FullMechanics mechanics(*model_);
  State state = rest_state(mechanics);
  Stepper stepper(mechanics, {.time_step = time_step});
  stepper.set_load(load_);
  const auto step = [&] {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    if (report.status != StepStatus::ok) throw RunError(describe(report.status), "another mesh");
  };
  for (int k = 0; k < 3; ++k) step();  // the first one analyses the matrix
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double seconds = 0;
  int steps = 0;
  for (; seconds < 0.3 || steps < 3; ++steps) {
    step();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return steps / seconds;
}

Vec3d Problem::displacement(const std::vector<double>& u, const Vec3d& x) const {
  const auto& nodes = model_->mesh.nodes;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (norm(nodes[i] - x) < norm(nodes[nearest] - x)) nearest = i;
  return {{u[3 * nearest], u[3 * nearest + 1], u[3 * nearest + 2]}};
}

Vec3d Problem::mean_displacement(const std::vector<double>& u, const Chosen& chosen) const {
  Vec3d sum{{0, 0, 0}};
  double area = 0;
  for (const auto& [node, share] : face_shares(chosen)) {
    for (int k = 0; k < 3; ++k) sum[k] += share * u[extent(3 * node + k)];
    area += share;
  }
  if (!(area > 0)) throw RunError("no face is measured", "a predicate that holds on the mesh's own coordinates");
  return (1 / area) * sum;
}

}  // namespace supple::validation
