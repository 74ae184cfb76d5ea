#include "engine/reduction/elements/training.hpp"

#include "engine/model/parameters.hpp"
#include "engine/model/stretch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/point_ops.hpp"
#include "kernels/elements/reduced_tile.hpp"

namespace supple {

TrainingMatrix training_matrix(const ReducedModel& all, int index, std::span<const double> states, int count,
                               std::span<const double> parameters) {
  const ReducedField& field = all.fields[static_cast<std::size_t>(index)];
  const int r = all.modes, n = all.columns(), length = r + all.motions(),
            elements = static_cast<int>(field.element.size()), tiles = tile_count(field.points()),
            given = static_cast<int>(all.robot.parameters.size());
  SUPPLE_EXPECT(states.size() == extent(count, length) &&
                (parameters.empty() || parameters.size() == extent(count, given)));
  SUPPLE_EXPECT(field.edges.empty() || field.slopes.empty());  // edges would have to be stretched too
  std::vector<std::vector<double>> scale;
  std::vector<RestShape> shape;
  for (int s = 0; s < count && !parameters.empty(); ++s) {
    const std::span<const double> own = parameters.subspan(extent(s, given), extent(given));
    scale.push_back(region_factors(all, own));
    shape.emplace_back(all.robot, own);
  }
  TrainingMatrix matrix;
  matrix.rows = count * r;
  matrix.columns = elements;
  matrix.G.assign(extent(matrix.rows, elements), 0.0);
  // Tiles own their columns where no element straddles two of them: not of 14 points.
  const bool own_columns = tile_size % field.points_per_element == 0;
  visit_law(field.law, [&](auto law) {
    using Law = decltype(law);
#pragma omp parallel for schedule(static) if (own_columns)
    for (int tile = 0; tile < tiles; ++tile) {
      const double* G = field.G.data() + extent(tile, n, tile_rows);
      const int first = tile * tile_size, points = std::min(tile_size, field.points() - first);
      PointField<double> view{points, field.weight.data() + first, field.region.data() + first, field.parameters.data(),
                              field.edges.empty() ? nullptr : field.edges.data() + first};
      const double* slopes = field.slopes.data() + extent(first) * (field.slopes.size() / extent(field.points()));
      AlignedVector<double> F(tile_rows), P(tile_rows);
      unsigned char status[tile_size];
      for (int s = 0; s < count; ++s) {
        if (!scale.empty()) view.scale = scale[extent(s)].data() + all.first_region(field);
        tile_gradient(SingleTeam{}, n, G, states.data() + extent(s, length), F.data());
        if (!field.slopes.empty() && !shape.empty()) enter_shape(shape[extent(s)], slopes, points, F.data());
        const StressOp<Law, double> stress{view, F.data(), P.data(), status};
        run_tile(stress);
        if (!field.slopes.empty() && !shape.empty()) leave_shape(shape[extent(s)], slopes, points, P.data());
        for (int j = 0; j < r; ++j) {
          double sum[tile_size] = {};
          for (int c = 0; c < gradient_components; ++c) {
            const double* g = G + extent(j, tile_rows) + extent(c, tile_size);
            const double* p = P.data() + extent(c, tile_size);
            for (int l = 0; l < tile_size; ++l) sum[l] += g[l] * p[l];
          }
          for (int l = 0; l < points; ++l)
            matrix.G[extent((first + l) / field.points_per_element, matrix.rows) + extent(s, r) +
                     static_cast<std::size_t>(j)] += sum[l];
        }
      }
    }
  });
  return matrix;
}

std::vector<double> project_states(std::span<const double> basis, int nv, int modes, std::span<const double> q,
                                   int count) {
  std::vector<double> alpha(extent(count, modes));
#pragma omp parallel for schedule(static)
  for (int s = 0; s < count; ++s)
    for (int m = 0; m < modes; ++m) {
      double sum = 0;
      for (int i = 0; i < nv; ++i)
        sum += basis[extent(m, nv) + static_cast<std::size_t>(i)] * q[extent(s, nv) + static_cast<std::size_t>(i)];
      alpha[extent(s, modes) + static_cast<std::size_t>(m)] = sum;
    }
  return alpha;
}

std::vector<double> project_states(std::span<const double> basis, int modes, const ColumnBlocks& displacements) {
  std::vector<double> all, storage;
  for (std::size_t k = 0; k < displacements.counts.size(); ++k) {
    const std::vector<double> alpha = project_states(
        basis, displacements.rows, modes, displacements.read(static_cast<int>(k), storage), displacements.counts[k]);
    all.insert(all.end(), alpha.begin(), alpha.end());
  }
  return all;
}

}  // namespace supple
