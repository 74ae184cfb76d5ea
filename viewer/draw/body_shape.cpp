#include "viewer/draw/body_shape.hpp"

#include <algorithm>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/model/element_stress.hpp"
#include "engine/model/reduced_shape.hpp"
#include "kernels/base/contract.hpp"

namespace supple::view {

namespace {

// Displacements of every mesh node [nodes][3] of the full model.
std::vector<double> full_displacements(const FullModel& model, std::span<const double> q, std::span<const double> c) {
  std::vector<double> u(3 * model.mesh.nodes.size());
  node_displacements(model, q, c, u);
  return u;
}

Vec3d displaced(const Vec3d& rest, const std::vector<double>& u, std::size_t node) {
  return rest + Vec3d{{u[3 * node], u[3 * node + 1], u[3 * node + 2]}};
}

template <class Nodes>
void place(const ReducedModel& model, const Nodes& nodes, std::span<const double> q, std::span<const double> c,
           std::vector<Vec3d>& out) {
  std::vector<double> u(3 * nodes.rest.size());
  displacements(model, nodes, q, c, u);
  out.resize(nodes.rest.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = displaced(nodes.rest[i], u, i);
}

// Each directed edge once, and once in the other direction; then a volume above zero means that normals point outwards.
bool closes_body(const std::vector<Vec3d>& nodes, const std::vector<std::array<int, 3>>& triangles) {
  std::vector<std::pair<int, int>> edges;
  double volume = 0;
  for (const auto& triangle : triangles) {
    const auto corner = [&](std::size_t k) { return nodes[static_cast<std::size_t>(triangle[k])]; };
    volume += dot(corner(0), cross(corner(1), corner(2))) / 6;
    for (std::size_t k = 0; k < 3; ++k) edges.emplace_back(triangle[k], triangle[(k + 1) % 3]);
  }
  std::ranges::sort(edges);
  if (std::ranges::adjacent_find(edges) != edges.end()) return false;
  return volume > 0 && std::ranges::all_of(edges, [&](const auto& edge) {
           return std::ranges::binary_search(edges, std::pair(edge.second, edge.first));
         });
}

}  // namespace

BodyShape::BodyShape(const FullModel& model) : full_(&model) {
  BoundarySurface boundary = boundary_surface(model.mesh);
  rest_ = std::move(boundary.surface.nodes);
  triangles_ = std::move(boundary.surface.triangles);
  element_ = std::move(boundary.element);
  mesh_node_ = std::move(boundary.mesh_node);
  for (std::size_t a = 0; a < model.robot.actuators.size(); ++a)
    if (model.robot.actuators[a].kind == ActuatorKind::cavity)
      cavities_.push_back({a, model.robot.actuators[a].triangles});
  closed_ = closes_body(rest_, triangles_);
}

BodyShape::BodyShape(const ReducedModel& model)
    : reduced_(&model), rest_(model.skin.rest), triangles_(model.skin.triangles), element_(model.skin.element) {
  for (std::size_t f = 0; f < model.fields.size(); ++f) {
    const ReducedField& field = model.fields[f];
    const int corners = field.corners_per_element();
    if (field.corners.empty()) continue;
    // Elements of a law in two parts are drawn once, with the weights of their points.
    if (field.part == LawPart::mean) continue;
    const KeptElements kept = kept_elements(field);
    const std::size_t first_cell = cells_.size();
    for (const int unit : kept.first) {
      cells_.push_back({static_cast<int>(f), field.element[static_cast<std::size_t>(unit)], 0,
                        static_cast<int>(corner_node_.size()), corners});
      const auto first = field.corners.begin() + static_cast<long>(unit) * corners;
      corner_node_.insert(corner_node_.end(), first, first + corners);
    }
    const double share = field.unit == DomainUnit::point ? 1.0 / field.element_points() : 1;
    for (std::size_t u = 0; u < field.xi.size(); ++u)
      cells_[first_cell + static_cast<std::size_t>(kept.of_unit[u])].weight += share * field.xi[u];
  }
  for (std::size_t a = 0; a < model.walls.size(); ++a)
    if (!model.walls[a].rest.empty()) cavities_.push_back({a, model.walls[a].triangles});
  closed_ = closes_body(rest_, triangles_);
}

BodyShape::BodyShape(Surface skin)
    : rest_(std::move(skin.nodes)), triangles_(std::move(skin.triangles)), closed_(closes_body(rest_, triangles_)) {}

void BodyShape::cell_corners(std::span<const double> q, std::span<const double> c, std::vector<Vec3d>& out) const {
  out.clear();
  if (cells_.empty()) return;
  std::vector<Vec3d> nodes, interior;
  positions(q, c, nodes);
  place(*reduced_, reduced_->interior, q, c, interior);
  nodes.insert(nodes.end(), interior.begin(), interior.end());
  for (int node : corner_node_) out.push_back(nodes[static_cast<std::size_t>(node)]);
}

void BodyShape::wall_corners(const Cavity& cavity, std::span<const double> q, std::span<const double> c,
                             std::vector<Vec3d>& out) const {
  if (reduced_) {
    const ReducedWalls& walls = reduced_->walls[cavity.actuator];
    return place(*reduced_, walls, q, c, out);
  }
  // Mapped points (Interpolation).
  const ActuatorRow& row = full_->robot.actuators[cavity.actuator];
  const std::vector<double> u = full_displacements(*full_, q, c);
  out.clear();
  for (int p = row.first_point; p < row.first_point + row.point_count; ++p) {
    Vec3d x = full_->robot.rest_points[static_cast<std::size_t>(p)];
    const Interpolation& from = full_->interpolation[static_cast<std::size_t>(p)];
    for (std::size_t k = 0; k < from.node.size(); ++k) {
      const Vec3d moved = displaced({{0, 0, 0}}, u, static_cast<std::size_t>(from.node[k]));
      x = x + from.weight[k] * moved;
    }
    out.push_back(x);
  }
}

void BodyShape::positions(std::span<const double> q, std::span<const double> c, std::vector<Vec3d>& out) const {
  if (rigid()) {
    out = rest_;
    return;
  }
  out.resize(rest_.size());
  if (full_) {
    const std::vector<double> u = full_displacements(*full_, q, c);
    for (std::size_t i = 0; i < rest_.size(); ++i)
      out[i] = displaced(rest_[i], u, static_cast<std::size_t>(mesh_node_[i]));
    return;
  }
  place(*reduced_, reduced_->skin, q, c, out);
}

std::vector<double> BodyShape::skin_stress(std::span<const double> q, std::span<const double> c) const {
  SUPPLE_EXPECT(full_ != nullptr);
  const std::vector<double> elements = von_mises(*full_, full_displacements(*full_, q, c));
  std::vector<double> sum(full_->mesh.nodes.size()), volume(full_->mesh.nodes.size()), stress(rest_.size());
  for (const ElementField& field : full_->fields) {
    if (field.part == LawPart::mean || !has_stress(field.law)) continue;
    for (std::size_t e = 0; e < field.element.size(); ++e) {
      double size = 0;
      for (int p = 0; p < field.points_per_element; ++p)
        size += field.volume[e * static_cast<std::size_t>(field.points_per_element) + static_cast<std::size_t>(p)];
      for (int a = 0; a < field.nodes_per_element; ++a) {
        const auto node = static_cast<std::size_t>(
            field.node[e * static_cast<std::size_t>(field.nodes_per_element) + static_cast<std::size_t>(a)]);
        sum[node] += size * elements[static_cast<std::size_t>(field.element[e])];
        volume[node] += size;
      }
    }
  }
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    const auto node = static_cast<std::size_t>(mesh_node_[i]);
    if (volume[node] > 0) stress[i] = sum[node] / volume[node];
  }
  return stress;
}

std::vector<double> BodyShape::cell_stress(std::span<const double> q, std::span<const double> c) const {
  SUPPLE_EXPECT(reduced_ != nullptr);
  return von_mises(*reduced_, q, c);
}

std::vector<double> BodyShape::load(int triangle, const std::array<double, 3>& weights, const Vec3d& force) const {
  SUPPLE_EXPECT(!rigid() && triangle >= 0 && triangle < static_cast<int>(triangles_.size()));
  std::vector<double> load(static_cast<std::size_t>(full_ ? full_->coordinates.nv : reduced_->modes), 0.0);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto node = static_cast<std::size_t>(triangles_[static_cast<std::size_t>(triangle)][k]);
    for (std::size_t i = 0; i < 3; ++i) {
      const double f = weights[k] * force[static_cast<int>(i)];
      if (full_) {
        const int unknown = full_->node_unknown[static_cast<std::size_t>(mesh_node_[node])];
        if (unknown >= 0) load[3 * static_cast<std::size_t>(unknown) + i] += f;
        continue;
      }
      const double* modes = reduced_->skin.modes.data() + (3 * node + i) * load.size();
      for (std::size_t m = 0; m < load.size(); ++m) load[m] += f * modes[m];
    }
  }
  return load;
}

}  // namespace supple::view
