#include "bench/validation/problem.hpp"

#include <fmt/format.h>

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

Problem::Problem(const Element& element, Mesh mesh, const Material& material, const Vec3d& gravity,
                 const std::function<bool(const Vec3d&)>& held)
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
  body.materials = {law};
  for (const Vec3d& x : mesh.nodes) {
    if (!held(x)) continue;
    FixScene fix;
    fix.region.kind = Region::Kind::sphere;
    fix.region.centre = x;
    fix.region.radius = 0;
    body.fixes.push_back(fix);
  }
  scene.bodies = {body};
  model_ = std::make_shared<FullModel>(build_full_model(scene, std::move(mesh)));
  load_.assign(extent(model_->coordinates.nv), 0.0);
}

void Problem::hold_along(int axis, double give, const std::function<bool(const Vec3d&)>& chosen) {
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

// Nodes of the chosen faces and the integrals of their shape functions [m^2].
std::vector<std::pair<int, double>> Problem::face_shares(const std::function<bool(const Vec3d&)>& chosen) const {
  const Mesh& mesh = model_->mesh;
  std::map<int, double> shares;
  for (const Face& face : boundary_faces(mesh)) {
    if (!std::ranges::all_of(face.all_nodes(), [&](int node) { return chosen(mesh.nodes[extent(node)]); })) continue;
    add_face_shares(mesh.nodes, face, [&](int node, double share) { shares[node] += share; });
  }
  return {shares.begin(), shares.end()};
}

void Problem::load_faces(const Vec3d& force, const std::function<bool(const Vec3d&)>& chosen) {
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
  FullMechanics mechanics(*model_);
  State state = rest_state(mechanics);
  Equilibrium equilibrium(mechanics, {});
  for (int part = 1; part <= parts; ++part) {
    std::vector<double> load = load_;
    for (double& force : load) force *= static_cast<double>(part) / parts;
    equilibrium.set_load(load);
    const EquilibriumReport report = equilibrium.solve(zero_control(mechanics), state);
    if (report.status != StepStatus::ok) throw RunError(describe(report.status), "another mesh");
  }
  std::vector<double> u(3 * model_->mesh.nodes.size());
  node_displacements(*model_, state.q, {}, u);
  return u;
}

void Problem::swing(double time_step, int steps, const std::function<void(double, const std::vector<double>&)>& seen) {
  FullMechanics mechanics(*model_);
  State state = rest_state(mechanics);
  Stepper stepper(
      mechanics,
      {.scheme = StepScheme::newton, .time_step = time_step, .implicit_velocity = 0.5, .implicit_position = 0.5});
  std::vector<double> u(3 * model_->mesh.nodes.size());
  for (int step = 1; step <= steps; ++step) {
    const StepReport report = stepper.step(zero_control(mechanics), state);
    if (report.status != StepStatus::ok) throw RunError(describe(report.status), "another mesh");
    node_displacements(*model_, state.q, {}, u);
    seen(step * time_step, u);
  }
}

Vec3d Problem::displacement(const std::vector<double>& u, const Vec3d& x) const {
  const auto& nodes = model_->mesh.nodes;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (norm(nodes[i] - x) < norm(nodes[nearest] - x)) nearest = i;
  return {{u[3 * nearest], u[3 * nearest + 1], u[3 * nearest + 2]}};
}

Vec3d Problem::mean_displacement(const std::vector<double>& u, const std::function<bool(const Vec3d&)>& chosen) const {
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
