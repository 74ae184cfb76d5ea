#include "engine/model/place_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "engine/mesh/boundary.hpp"
#include "engine/mesh/closed_surface.hpp"
#include "engine/mesh/geometry.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/select.hpp"
#include "engine/model/element_fields.hpp"

namespace supple {

namespace {

// det C of a region over that of a ball with the same trace: rounding leaves 1e-30 of nodes in one plane, and a plate a
// thousand times as wide as thick has 1e-5.
constexpr double flattest_region = 1e-12;

// Of free nodes in a point that moves. Points on a held face are a rounding away from it, in files in single precision
// 1e-7 of their coordinates, up to 1e-5 of an element; a force there would move them by as little.
constexpr double least_free_share = 1e-4;

// Of the body's diagonal: a surface further outside is said to be so.
constexpr double rounding_of_files = 1e-6;

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

const Place& place_of(const Region& region, const Place& place) {
  return region.place.file.empty() ? place : region.place;
}

Interpolation interpolation_of(const EmbeddedPoint& point) {
  return {{point.nodes.begin(), point.nodes.begin() + point.node_count},
          {point.weights.begin(), point.weights.begin() + point.node_count}};
}

}  // namespace

Surface placed_surface(const SurfaceScene& scene) {
  Surface surface = read_surface(scene.file);
  transform_surface(surface, scene.unit, scene.transform);
  return surface;
}

PointPlacer::PointPlacer(FullModel& model, double size) : model_(model), embedding_(model.mesh), size_(size) {}

int PointPlacer::push(Interpolation interpolation, const Vec3d& rest) {
  model_.interpolation.push_back(std::move(interpolation));
  model_.robot.rest_points.push_back(rest);
  return static_cast<int>(model_.robot.rest_points.size()) - 1;
}

EmbeddedPoint PointPlacer::locate(const Vec3d& x, const std::string& what, const Place& place) const {
  EmbeddedPoint point = embedding_.locate(x);
  if (point.distance > 0.05 * size_)
    throw InputError(
        fmt::format("{} at ({:.4g}, {:.4g}, {:.4g}) m is {:.3g} m away from the body", what, x[0], x[1], x[2],
                    point.distance),
        "points are in metres after unit, rotation and translation; `supple info` prints the mesh's extent", place);
  return point;
}

int PointPlacer::add(const Vec3d& x, double radius, const std::string& what, const Place& place) {
  const EmbeddedPoint point = locate(x, what, place);
  if (!point.inside && radius == 0) found_outside(what, point.distance);
  if (radius > 0) return push(spread_attachment(model_.mesh, x, radius, place), x);
  return push(interpolation_of(point), x);
}

void PointPlacer::found_outside(const std::string& what, double distance) {
  if (outside_.empty() || outside_.back().what != what) outside_.push_back({what, distance});
}

void PointPlacer::note_outside() const {
  constexpr std::size_t named = 3;
  if (outside_.empty()) return;
  if (outside_.size() == 1) {
    model_.notes.push_back(fmt::format("{} lies {:.3g} mm outside the mesh; it follows the nearest element",
                                       outside_[0].what, 1e3 * outside_[0].distance));
    return;
  }
  std::vector<Outside> worst = outside_;
  std::ranges::stable_sort(worst, std::ranges::greater{}, &Outside::distance);
  std::string names;
  for (std::size_t k = 0; k < std::min(named, worst.size()); ++k)
    names += fmt::format("{}{} by {:.3g} mm", k > 0 ? ", " : "", worst[k].what, 1e3 * worst[k].distance);
  if (worst.size() > named) names += fmt::format(" and {} more", worst.size() - named);
  model_.notes.push_back(
      fmt::format("{} points lie outside the mesh and follow the nearest element: {}", worst.size(), names));
}

PlacedPath PointPlacer::add_path(const std::vector<Vec3d>& points, const std::optional<Vec3d>& end, double radius,
                                 const std::string& what, const Place& place) {
  PlacedPath path;
  path.first_point = static_cast<int>(model_.robot.rest_points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    add(points[k], radius, fmt::format("point {} of {}", k + 1, what), place);
    if (k > 0) path.length += norm(points[k] - points[k - 1]);
  }
  if (end && !points.empty()) path.length += norm(*end - points.back());
  if (!(path.length > 0))
    throw InputError(what + " has no length", "give it a pull_point away from its point, or several points", place);
  return path;
}

double PointPlacer::edge_length_at(const Vec3d& x, const std::string& what, const Place& place) const {
  const int element = locate(x, what, place).element;
  const bool tetrahedron = element < static_cast<int>(model_.mesh.tetrahedra.size());
  return std::cbrt((tetrahedron ? 6 * std::numbers::sqrt2 : 1) * element_volume(model_.mesh, element));
}

PointPlacer::WeightedNodes PointPlacer::weighted(const std::vector<int>& nodes,
                                                 const std::vector<double>& weight_of_node) const {
  double total = 0;
  for (const int node : nodes) total += weight_of_node[static_cast<std::size_t>(node)];
  WeightedNodes result;
  for (const int node : nodes) {
    const double weight = weight_of_node[static_cast<std::size_t>(node)] / total;
    if (weight == 0) continue;
    result.interpolation.node.push_back(node);
    result.interpolation.weight.push_back(weight);
    result.mean = result.mean + weight * model_.mesh.nodes[static_cast<std::size_t>(node)];
  }
  return result;
}

int PointPlacer::add_surface_mean(const Region& region, const std::string& what, const Place& place) {
  const Mesh& mesh = model_.mesh;
  const std::vector<int> nodes = nodes_in(region, mesh);
  std::vector<double> area(mesh.nodes.size(), 0.0);
  double total = 0;
  for (const Face& face : boundary_faces_among(mesh, nodes))
    add_face_shares(mesh.nodes, face, [&](int node, double share) {
      area[static_cast<std::size_t>(node)] += share;
      total += share;
    });
  if (!(total > 0))
    throw InputError(fmt::format("the region of {} holds no face of the body's surface ({} nodes)", what, nodes.size()),
                     "enlarge it or move it to the surface; a face counts when all its nodes are inside",
                     place_of(region, place));
  WeightedNodes mean = weighted(nodes, area);
  return push(std::move(mean.interpolation), mean.mean);
}

PointPlacer::WeightedNodes PointPlacer::weighted_by_volume(const Region& region, const std::string& what,
                                                           const Place& place) {
  const Mesh& mesh = model_.mesh;
  if (node_volume_.empty()) {
    node_volume_.assign(mesh.nodes.size(), 0.0);
    std::array<int, max_element_nodes> nodes{};
    for (int e = 0; e < mesh.element_count(); ++e) {
      const int count = element_nodes(mesh, e, nodes);
      const double share = element_volume(mesh, e) / count;
      for (int a = 0; a < count; ++a)
        node_volume_[static_cast<std::size_t>(nodes[static_cast<std::size_t>(a)])] += share;
    }
  }
  const std::vector<int> nodes = nodes_in(region, mesh);
  if (nodes.empty())
    throw InputError(fmt::format("the region of {} holds no node", what),
                     "move or enlarge it; lengths are in metres after unit, rotation and translation",
                     place_of(region, place));
  return weighted(nodes, node_volume_);
}

int PointPlacer::add_mean(const Region& region, const std::string& what, const Place& place) {
  WeightedNodes mean = weighted_by_volume(region, what, place);
  return push(std::move(mean.interpolation), mean.mean);
}

PointPlacer::Fit PointPlacer::fit_of(const Region& region, const std::string& what, const Place& place) {
  Fit fit{weighted_by_volume(region, what, place), {}, Mat3d::zero()};
  const std::vector<int>& nodes = fit.nodes.interpolation.node;
  Mat3d C = Mat3d::zero();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    fit.r.push_back(model_.mesh.nodes[static_cast<std::size_t>(nodes[i])] - fit.nodes.mean);
    C = C + fit.nodes.interpolation.weight[i] * outer(fit.r[i], fit.r[i]);
  }
  const double size = trace(C) / 3;
  if (nodes.size() < 4 || !(determinant(C) > flattest_region * size * size * size))
    throw InputError(
        fmt::format("the region of {} cannot be told how it turns ({} nodes, all in one plane)", what, nodes.size()),
        "a region with some thickness: at least four nodes that are not in one plane", place_of(region, place));
  fit.inverse_C = inverse(C);
  return fit;
}

int PointPlacer::add_fit(const Region& region, const std::string& what, const Place& place) {
  const Fit fit = fit_of(region, what, place);
  const int first = static_cast<int>(model_.robot.rest_points.size());
  for (int column = 0; column < 3; ++column) {
    Interpolation interpolation{fit.nodes.interpolation.node, {}};
    for (std::size_t i = 0; i < fit.r.size(); ++i)
      interpolation.weight.push_back(fit.nodes.interpolation.weight[i] * (fit.inverse_C * fit.r[i])[column]);
    Vec3d rest{{0, 0, 0}};
    rest[column] = 1;
    push(std::move(interpolation), rest);
  }
  return first;
}

int PointPlacer::add_fibre(const Vec3d& x, const Vec3d& direction, const std::string& what, const Place& place) {
  const EmbeddedPoint point = locate(x, what, place);
  if (!point.inside) found_outside(what, point.distance);
  const auto gradients = embedding_.gradients(point.element, x);
  Interpolation interpolation{{point.nodes.begin(), point.nodes.begin() + point.node_count}, {}};
  for (std::size_t i = 0; i < interpolation.node.size(); ++i)
    interpolation.weight.push_back(dot(gradients[i], direction));
  return push(std::move(interpolation), direction);
}

int PointPlacer::add(const Vec3d& x, const std::optional<Region>& carrier, const std::string& what,
                     const Place& place) {
  if (!carrier) return add(x, 0.0, what, place);
  const Fit fit = fit_of(*carrier, what, place);
  const Vec3d arm = fit.inverse_C * (x - fit.nodes.mean);
  Interpolation interpolation{fit.nodes.interpolation.node, {}};
  for (std::size_t i = 0; i < fit.r.size(); ++i)
    interpolation.weight.push_back(fit.nodes.interpolation.weight[i] * (1 + dot(arm, fit.r[i])));
  return push(std::move(interpolation), x);
}

int PointPlacer::add_node(int node) {
  return push({{node}, {1}}, model_.mesh.nodes[static_cast<std::size_t>(node)]);
}

PointPlacer::Walls PointPlacer::close(Surface& surface, bool turned, const std::string& what,
                                      const Place& place) const {
  const ClosedSurfaceReport report = orient_closed_surface(surface.nodes, surface.triangles);
  if (!report.closed())
    throw InputError(fmt::format("the walls of {} are not closed ({})", what, describe(report, surface.nodes)),
                     "a region or surface with all the walls of the cavity, and nothing else; `supple check` looks at "
                     "the mesh",
                     place);
  if (!turned && report.turned > 0)
    throw InputError(fmt::format("the walls of {} are, or hold, the outside of the body", what),
                     "a region with the walls of one void and nothing else", place);
  Walls walls;
  walls.rest = surface.nodes;
  walls.volume = enclosed_volume(surface.nodes, surface.triangles);
  walls.area = surface_area(surface.nodes, surface.triangles);
  walls.triangles = surface.triangles;
  return walls;
}

PointPlacer::Walls PointPlacer::find_walls(const Region& region, const std::string& what, const Place& place) const {
  const Mesh& mesh = model_.mesh;
  Surface surface;
  std::vector<int> number(mesh.nodes.size(), -1), mesh_node;
  for (auto triangle : triangles_of(boundary_faces_among(mesh, nodes_in(region, mesh)))) {
    for (int& corner : triangle) {
      int& at = number[static_cast<std::size_t>(corner)];
      if (at < 0) {
        at = static_cast<int>(mesh_node.size());
        mesh_node.push_back(corner);
        surface.nodes.push_back(mesh.nodes[static_cast<std::size_t>(corner)]);
      }
      corner = at;
    }
    std::swap(triangle[1], triangle[2]);  // out of the void, into the body
    surface.triangles.push_back(triangle);
  }
  Walls walls = close(surface, false, what, place_of(region, place));
  for (const int node : mesh_node) walls.corners.push_back({{node}, {1}});
  return walls;
}

PointPlacer::Walls PointPlacer::find_walls(Surface surface, const std::string& what, const Place& place) {
  Walls walls = close(surface, true, what, place);
  walls.corners = embed(surface.nodes, what, place);
  return walls;
}

int PointPlacer::add_free(const std::vector<Vec3d>& points, const std::string& what, const Place& place) {
  const std::vector<Interpolation> embedded = embed(points, what, place);
  int added = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!moves(embedded[i])) continue;
    push(embedded[i], points[i]);
    ++added;
  }
  return added;
}

std::vector<Interpolation> PointPlacer::embed(const std::vector<Vec3d>& corners, const std::string& what,
                                              const Place& place) {
  std::vector<Interpolation> embedded;
  double furthest = 0;
  for (const Vec3d& x : corners) {
    const EmbeddedPoint point = locate(x, "a corner of " + what, place);
    furthest = std::max(furthest, point.distance);
    embedded.push_back(interpolation_of(point));
  }
  // Corners of a surface that follows the boundary lie a little to either side of it.
  if (furthest > rounding_of_files * size_)
    model_.notes.push_back(
        fmt::format("corners of {} lie up to {:.3g} mm outside the mesh; they follow the nearest "
                    "elements",
                    what, 1e3 * furthest));
  return embedded;
}

int PointPlacer::add_corners(const Walls& walls) {
  const int first = static_cast<int>(model_.robot.rest_points.size());
  for (std::size_t i = 0; i < walls.corners.size(); ++i) push(walls.corners[i], walls.rest[i]);
  return first;
}

int PointPlacer::add_mean(const Walls& walls) {
  std::vector<double> share(walls.rest.size(), 0.0);
  for (const auto& triangle : walls.triangles) {
    const auto x = [&](std::size_t k) { return walls.rest[static_cast<std::size_t>(triangle[k])]; };
    const double area = norm(cross(x(1) - x(0), x(2) - x(0))) / 2;
    for (const int corner : triangle) share[static_cast<std::size_t>(corner)] += area / 3 / walls.area;
  }
  std::map<int, double> weights;
  Vec3d mean{{0, 0, 0}};
  for (std::size_t i = 0; i < share.size(); ++i) {
    const Interpolation& corner = walls.corners[i];
    for (std::size_t n = 0; n < corner.node.size(); ++n) weights[corner.node[n]] += share[i] * corner.weight[n];
    mean = mean + share[i] * walls.rest[i];
  }
  Interpolation interpolation;
  for (const auto& [node, weight] : weights) {
    interpolation.node.push_back(node);
    interpolation.weight.push_back(weight);
  }
  return push(std::move(interpolation), mean);
}

bool PointPlacer::moves(const Walls& walls) const {
  return std::any_of(walls.corners.begin(), walls.corners.end(), [&](const auto& corner) { return moves(corner); });
}

bool PointPlacer::moves(const Interpolation& point) const {
  double free = 0;
  for (std::size_t n = 0; n < point.node.size(); ++n)
    if (model_.node_unknown[static_cast<std::size_t>(point.node[n])] >= 0) free += std::abs(point.weight[n]);
  return free > least_free_share;
}

}  // namespace supple
