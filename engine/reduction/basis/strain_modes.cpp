#include "engine/reduction/basis/strain_modes.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/tiles.hpp"
#include "kernels/materials/corotational_membrane.hpp"
#include "solvers/pod/pod.hpp"

namespace supple {

namespace {

constexpr double unstrained = 1e-9;  // stretches at rest are rounding of the frames

// sqrt(w) (sqrt(mu + lambda), sqrt(mu), 2 sqrt(mu)).
Vec3d energy_weights(double w, const MaterialParameters<double>& m) {
  const double trace = std::sqrt(w * (m.p[0] + m.p[1])), deviator = std::sqrt(w * m.p[0]);
  return {{trace, deviator, 2 * deviator}};
}

Vec3d weighted(const Vec3d& weights, double xx, double yy, double xy) {
  return {{weights[0] * (xx + yy), weights[1] * (xx - yy), weights[2] * xy}};
}

Mat3d deformation(const ElementField& field, int triangle, std::span<const double> u) {
  Mat3d F = Mat3d::identity();
  for (int a = 0; a < 3; ++a) {
    const double* g = field.gradient.data() + extent(triangle, 9) + extent(3 * a);
    const double* at = u.data() + extent(3, field.node[extent(triangle, 3) + extent(a)]);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) F(i, j) += at[i] * g[j];
  }
  return F;
}

// Strains of one state beside the stretches of the law.
struct OffLaw {
  double difference = 0, size = 0, largest = 0;
  void include(const ElementField& field, std::span<const double> u, const double* z) {
    for (int e = 0; e < field.elements(); ++e) {
      CorotationalMembrane::Plane<double> plane;
      if (!CorotationalMembrane::plane(deformation(field, e, u), field.edges[extent(e)], plane)) continue;
      const double xx = plane.stretch.xx - 1, yy = plane.stretch.yy - 1, xy = plane.stretch.xy;
      const Vec3d law = weighted(
          energy_weights(field.volume[extent(e)], field.parameters[extent(field.region[extent(e)])]), xx, yy, xy);
      const Vec3d off = Vec3d{{z[3 * e], z[3 * e + 1], z[3 * e + 2]}} - law;
      difference += dot(off, off);
      size += dot(law, law);
      largest = std::max(largest, std::abs(0.5 * (xx + yy)) + std::hypot(0.5 * (xx - yy), xy));
    }
  }
};

// How a point's z grows with the columns: F_s = [e1 e2] + [g1 g2] x.
struct PointColumns {
  Vec3d e1, e2, weights;
  std::vector<Vec3d> g1, g2;
  PointColumns(const ReducedField& field, int point, int columns)
      : e1(column_of(field.edges[extent(point)], 0)),
        e2(column_of(field.edges[extent(point)], 1)),
        weights(energy_weights(field.weight[extent(point)], field.parameters[extent(field.region[extent(point)])])) {
    for (int m = 0; m < columns; ++m) {
      Mat3d G;
      for (int c = 0; c < gradient_components; ++c)
        G(c / 3, c % 3) = field.G[extent(point / tile_size, columns, tile_rows) + extent(m, tile_rows) +
                                  extent(c, tile_size) + extent(point % tile_size)];
      g1.push_back(G * e1);
      g2.push_back(G * e2);
    }
  }
  Vec3d linear(int i) const {
    const std::size_t k = extent(i);
    return weighted(weights, dot(e1, g1[k]), dot(e2, g2[k]), 0.5 * (dot(e1, g2[k]) + dot(e2, g1[k])));
  }
  Vec3d quadratic(int i, int j) const {
    const std::size_t a = extent(i), b = extent(j);
    return weighted(weights, dot(g1[a], g1[b]), dot(g2[a], g2[b]), 0.5 * (dot(g1[a], g2[b]) + dot(g2[a], g1[b])));
  }
};

}  // namespace

int membrane_field(const FullModel& model) {
  const auto found =
      std::ranges::find_if(model.fields, [](const ElementField& f) { return f.law == LawId::corotational_membrane; });
  return found == model.fields.end() ? -1 : static_cast<int>(found - model.fields.begin());
}

std::vector<double> green_strains(const ElementField& field, std::span<const double> u) {
  SUPPLE_EXPECT(membrane_law(field.law));
  std::vector<double> z;
  z.reserve(extent(3, field.elements()));
  for (int e = 0; e < field.elements(); ++e) {
    const Mat3d F = deformation(field, e, u);
    const Vec3d f1 = F * column_of(field.edges[extent(e)], 0), f2 = F * column_of(field.edges[extent(e)], 1);
    const Vec3d strain =
        weighted(energy_weights(field.volume[extent(e)], field.parameters[extent(field.region[extent(e)])]),
                 0.5 * (dot(f1, f1) - 1), 0.5 * (dot(f2, f2) - 1), 0.5 * dot(f1, f2));
    z.insert(z.end(), strain.v, strain.v + 3);
  }
  return z;
}

StrainBasis strain_basis(const FullModel& model, int index, const ColumnBlocks& displacements, const SnapshotSet& set,
                         const StrainSettings& settings) {
  const ElementField& field = model.fields[extent(index)];
  const int length = 3 * field.elements();
  // Blocks of which at least one state is taken.
  struct Part {
    int block, first;  // state
  };
  std::vector<Part> parts;
  ColumnBlocks strains{length, {}, {}};
  for (int block = 0, first = 0; block < static_cast<int>(displacements.counts.size()); ++block) {
    const int end = first + displacements.counts[extent(block)];
    const auto taken = [&](int states) { return (states + settings.every - 1) / settings.every; };  // of the first ones
    if (taken(end) > taken(first)) {
      parts.push_back({block, first});
      strains.counts.push_back(taken(end) - taken(first));
    }
    first = end;
  }
  OffLaw off;
  std::vector<double> q, u(3 * model.mesh.nodes.size());
  strains.read = [&](int k, std::vector<double>& storage) {
    const Part& part = parts[extent(k)];
    const int nv = displacements.rows, count = displacements.counts[extent(part.block)];
    const std::span<const double> states = displacements.read(part.block, q);
    storage.clear();
    for (int s = part.first; s < part.first + count; ++s) {
      if (s % settings.every != 0) continue;
      node_displacements(model, states.subspan(extent(s - part.first, nv), extent(nv)),
                         control_of(model.robot, set.commands[extent(s)]).motions, u);
      const std::vector<double> z = green_strains(field, u);
      off.include(field, u, z.data());
      storage.insert(storage.end(), z.begin(), z.end());
    }
    return std::span<const double>(storage);
  };
  Pod pod = proper_orthogonal_decomposition(
      strains, {.tolerance = settings.tolerance, .truncation = PodTruncation::root, .max_modes = settings.max_modes});
  if (pod.modes == 0 || off.largest < unstrained)
    throw InputError("[reduce] membranes = \"strains\": no training state strains the membranes",
                     "membranes = \"elements\"; check the actuators' ranges");
  StrainBasis basis{
      pod.modes,  std::move(pod.basis), settings.tolerance, pod.truncation_error, std::sqrt(off.difference / off.size),
      off.largest};
  if (!(basis.off_law <= largest_off_law))
    throw InputError(
        fmt::format("[reduce] membranes = \"strains\": the membranes stretch too much, by up to {:.3g} % (strain modes "
                    "are of Green strains, which are {:.2g} % away from the membrane's law over the training states)",
                    100 * basis.largest, 100 * basis.off_law),
        "membranes = \"elements\"");
  return basis;
}

void use_strain_modes(ReducedModel& all, int index, const StrainBasis& basis) {
  ReducedField& field = all.fields[extent(index)];
  const int n = all.columns(), triangles = field.total_elements;
  const std::size_t pairs = extent(n, n + 1) / 2;
  SUPPLE_EXPECT(membrane_law(field.law) && field.units() == triangles &&
                basis.vectors.size() == extent(basis.modes, 3, triangles));
  StrainModes strains;
  strains.count = basis.modes;
  strains.linear.assign(extent(basis.modes, n), 0.0);
  strains.quadratic.assign(extent(basis.modes) * pairs, 0.0);
  for (std::size_t p = 0; p < extent(triangles); ++p) {
    const auto& m = field.parameters[extent(field.region[p])];
    strains.unit += field.weight[p] * (2 * m.p[0] + m.p[1]);  // |z|^2 at E_11 = 1
  }
  strains.unit = std::sqrt(strains.unit);
  using Matrix = Eigen::MatrixXd;
  const Eigen::Map<const Matrix> S(basis.vectors.data(), 3 * triangles, basis.modes);
  const int rigid = all.robot.floating ? rigid_mode_count : 0;  // whose linear part is rounding
  constexpr int block = 512;                                    // triangles
  for (int first = 0; first < triangles; first += block) {
    const int count = std::min(block, triangles - first);
    std::vector<PointColumns> points;
    for (int p = first; p < first + count; ++p) points.emplace_back(field, p, n);
    const auto S_block = S.middleRows(3 * first, 3 * count);
    // A thread owns row i: S^T of the points' linear part, then of their quadratic one.
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; ++i) {
      Matrix z(3 * count, 2 + i);
      for (int p = 0; p < count; ++p)
        for (int j = -1; j <= i; ++j) {
          const Vec3d part = j < 0 ? points[extent(p)].linear(i) : points[extent(p)].quadratic(i, j);
          for (int c = 0; c < 3; ++c) z(3 * p + c, 1 + j) = part[c];
        }
      const Matrix s = S_block.transpose() * z;
      for (int k = 0; k < basis.modes; ++k) {
        if (i >= rigid) strains.linear[extent(k, n) + extent(i)] += s(k, 0);
        double* const Q = strains.quadratic.data() + extent(k) * pairs + extent(i, i + 1) / 2;
        for (int j = 0; j <= i; ++j) Q[j] += s(k, 1 + j);
      }
    }
  }
  become_strain_modes(field, std::move(strains), basis.tolerance, basis.left_out);
}

void become_strain_modes(ReducedField& field, StrainModes modes, double tolerance, double left_out) {
  field.strains = std::move(modes);
  field.tolerance = tolerance;
  field.residual = left_out;
  field.element.clear();
  field.corners.clear();
  field.xi.clear();
  field.weight.clear();
  field.region.clear();
  field.edges.clear();
  field.G.clear();
}

}  // namespace supple
