#include "engine/model/rods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

double length_of(const RodScene& rod) {
  double length = 0;
  for (std::size_t k = 1; k < rod.points.size(); ++k) length += norm(rod.points[k] - rod.points[k - 1]);
  return length;
}

namespace {

// Sine of the angle between segments of a rod that counts as straight: lengths in files have four digits at least.
constexpr double straight = 1e-3;
constexpr int most_segments = 10000;

double area(const RodScene& rod) {
  return std::numbers::pi * (rod.radius * rod.radius - rod.inner_radius * rod.inner_radius);
}
double second_moment(const RodScene& rod) {
  return std::numbers::pi / 4 * (std::pow(rod.radius, 4) - std::pow(rod.inner_radius, 4));
}

// Nodes on the way from one point to another, without the first.
void add_piece(const Vec3d& from, const Vec3d& to, int segments, std::vector<Vec3d>& nodes) {
  for (int k = 1; k < segments; ++k) nodes.push_back(from + (static_cast<double>(k) / segments) * (to - from));
  nodes.push_back(to);
}

// A node's point before it becomes an entry of the field: gradients by mesh node.
struct RodPoint {
  std::map<int, Vec3d> gradient;
  Mat3d directions;
  double volume = 0;
  int region = 0;
};

// F = I + (a - a0) e_j^T of the segment between two mapped points.
void add_direction(const Interpolation& from, const Interpolation& to, double length, int j, RodPoint& point) {
  const auto add = [&](const Interpolation& end, double sign) {
    for (std::size_t k = 0; k < end.node.size(); ++k)
      point.gradient.try_emplace(end.node[k], Vec3d{{0, 0, 0}}).first->second[j] += sign * end.weight[k] / length;
  };
  add(from, -1);
  add(to, 1);
}

void add_mass(const Interpolation& point, double mass, MassKind kind, FullModel& model) {
  NodeMatrix& matrix = model.mass;
  const auto add = [&](int i, int j, double value) {
    const auto first = matrix.row.begin() + matrix.column_start[extent(std::min(i, j))];
    const auto end = matrix.row.begin() + matrix.column_start[extent(std::min(i, j)) + 1];
    const auto at = std::lower_bound(first, end, std::max(i, j));
    SUPPLE_EXPECT(at != end && *at == std::max(i, j));
    matrix.value[static_cast<std::size_t>(at - matrix.row.begin())] += value;
  };
  double sum = 0;
  for (const double w : point.weight) sum += std::abs(w);
  for (std::size_t a = 0; a < point.node.size(); ++a) {
    if (kind != MassKind::consistent) {  // weights of elements of second order may be negative
      add(point.node[a], point.node[a], mass * std::abs(point.weight[a]) / sum);
      continue;
    }
    for (std::size_t b = 0; b <= a; ++b) add(point.node[a], point.node[b], mass * point.weight[a] * point.weight[b]);
  }
  model.total_mass += mass;
}

// Nodes of a rod: of a straight one as far apart as each other, of a cord with a node at each point of its path.
std::vector<Vec3d> nodes_of(const RodScene& rod, const std::string& what, const PointPlacer& placer) {
  const double length = length_of(rod);
  double spacing = rod.spacing.value_or(0);
  if (!rod.spacing) {
    constexpr int samples = 64;
    for (std::size_t k = 1; k < rod.points.size(); ++k) {
      const Vec3d step = rod.points[k] - rod.points[k - 1];
      for (int i = 0; i < samples; ++i)
        spacing += norm(step) / length / samples *
                   placer.edge_length_at(rod.points[k - 1] + ((i + 0.5) / samples) * step, what, rod.place);
    }
  }
  if (!(length / spacing <= most_segments))
    throw InputError(fmt::format("{} has {:.3g} nodes, at most {} are possible", what, length / spacing, most_segments),
                     "a larger spacing, or none", rod.place);
  const auto segments = [&](double way) { return std::max(1, static_cast<int>(std::round(way / spacing))); };
  std::vector<Vec3d> nodes{rod.points.front()};
  if (rod.bending) {
    if (rod.spacing && segments(length) < 2)
      throw InputError(fmt::format("{} has one segment, and bends where two of them meet", what),
                       "a smaller spacing, or none", rod.place);
    add_piece(rod.points.front(), rod.points.back(), std::max(2, segments(length)), nodes);
  } else {
    for (std::size_t k = 1; k < rod.points.size(); ++k)
      add_piece(rod.points[k - 1], rod.points[k], segments(norm(rod.points[k] - rod.points[k - 1])), nodes);
  }
  return nodes;
}

// Throws where the path has a corner that the rod cannot have.
void check_path(const RodScene& rod, const std::string& what) {
  if (!(length_of(rod) > 2 * rod.radius))
    throw InputError(fmt::format("{} is no longer than it is thick", what), "its points and radius, with their units",
                     rod.place);
  for (std::size_t k = 1; k + 1 < rod.points.size(); ++k) {
    const Vec3d& x = rod.points[k];
    const Vec3d before = normalized(x - rod.points[k - 1]), after = normalized(rod.points[k + 1] - x);
    const double turn = norm(cross(before, after)), cosine = dot(before, after);
    if (rod.bending && (turn > straight || cosine < 0))
      throw InputError(fmt::format("{} turns by {:.3g} degrees at ({:.4g}, {:.4g}, {:.4g}) m, and a rod that resists "
                                   "bending is straight at rest",
                                   what, std::atan2(turn, cosine) * 180 / std::numbers::pi, x[0], x[1], x[2]),
                       "points on a line, or bending = false; rods that meet there are hinged to each other",
                       rod.place);
    if (turn < straight && cosine < 0)
      throw InputError(fmt::format("{} turns back on itself at ({:.4g}, {:.4g}, {:.4g}) m", what, x[0], x[1], x[2]),
                       "one rod of each way", rod.place);
  }
}

void add_rod(const BodyScene& body, std::size_t r, PointPlacer& placer, FullModel& model, std::vector<RodPoint>& points,
             ElementField& field) {
  const RodScene& rod = body.rods[r];
  const std::string what = fmt::format("rod {}", r + 1);
  check_path(rod, what);
  const std::vector<Vec3d> nodes = nodes_of(rod, what, placer);
  const int segments = static_cast<int>(nodes.size()) - 1;
  const int first = placer.add_path(nodes, {}, 0, what, rod.place).first_point;
  model.robot.rods.push_back({first, segments + 1, rod.radius});

  const double A = area(rod), h = length_of(rod) / segments;
  MaterialParameters<double> parameters{};
  parameters.p[0] = rod.young;
  parameters.p[1] = rod.bending ? rod.young * second_moment(rod) / (A * h * h) : 0;
  parameters.p[2] = rod.push ? 0 : rod.buckling;
  field.parameters.push_back(parameters);

  const auto at = [&](int node) -> const Interpolation& { return model.interpolation[extent(first + node)]; };
  for (int node = 0; node <= segments; ++node) {
    const bool held = !placer.moves(first + node), first_moves = node > 0 && placer.moves(first + node - 1),
               next_moves = node < segments && placer.moves(first + node + 1);
    const bool at_end = node == 0 || node == segments;
    // Held in its direction too: what is before the node does not move, at an end as if it continued.
    const bool clamped = rod.bending && held && first_moves != next_moves && (rod.clamped || !at_end);
    RodPoint point;
    point.region = static_cast<int>(r);
    Vec3d direction[2];
    double half = 0;  // of the length of the segments that meet here
    for (int j = 0; j < 2; ++j) {
      const int from = std::clamp(node - 1 + j, 0, segments - 1);  // at an end, its segment twice
      const Vec3d step = nodes[extent(from + 1)] - nodes[extent(from)];
      const double size = norm(step);
      direction[j] = (1 / size) * step;
      if (from == node - 1 + j) half += size / 2;
      if (!clamped || (j == 1) == next_moves) add_direction(at(from), at(from + 1), size, j, point);
    }
    // A clamped rod turns over half a segment, 2/h tan(phi/2) over h/2 twice as much as over a whole one: E I phi^2/h in
    // place of E I phi^2/(2 h). Only the half that moves stretches.
    const double share = clamped ? 0.5 : 1;  // of the volume, that stretches
    point.volume = clamped ? 2 * A * h : A * half;
    const std::vector<int>& around = at(node).node;
    if (rod.bending && rod.clamped && at_end && !held &&
        std::ranges::any_of(around, [&](int n) { return model.node_unknown[extent(n)] < 0; }))
      model.notes.push_back(
          fmt::format("{} ends beside held nodes, not on them: it is hinged at ({:.4g}, {:.4g}, {:.4g}) m", what,
                      nodes[extent(node)][0], nodes[extent(node)][1], nodes[extent(node)][2]));
    point.directions = from_columns(direction[0], direction[1], Vec3d{{share, 0, 0}});
    points.push_back(std::move(point));
    if (rod.density) add_mass(at(node), *rod.density * A * half, body.mass_kind, model);
  }
}

}  // namespace

void add_rods(const BodyScene& body, PointPlacer& placer, FullModel& model) {
  if (body.rods.empty()) return;
  ElementField field;
  field.name = "rods";
  field.law = LawId::rod;
  field.points_per_element = 1;
  std::vector<RodPoint> points;
  for (std::size_t r = 0; r < body.rods.size(); ++r) add_rod(body, r, placer, model, points, field);
  std::size_t most = 0;
  for (const RodPoint& point : points) most = std::max(most, point.gradient.size());
  field.nodes_per_element = static_cast<int>(most);
  int number = model.mesh.element_count();
  for (const ElementField& other : model.fields)
    if (!solid(other.law)) number += other.elements();
  for (const RodPoint& point : points) {
    field.element.push_back(number++);
    field.region.push_back(point.region);
    field.volume.push_back(point.volume);
    field.edges.push_back(point.directions);
    for (const auto& [node, gradient] : point.gradient) {
      field.node.push_back(node);
      field.gradient.insert(field.gradient.end(), gradient.v, gradient.v + 3);
    }
    // Where there are fewer nodes, one of them again, with no share.
    for (std::size_t k = point.gradient.size(); k < most; ++k) {
      field.node.push_back(point.gradient.begin()->first);
      field.gradient.insert(field.gradient.end(), 3, 0.0);
    }
  }
  model.fields.push_back(std::move(field));
}

}  // namespace supple
