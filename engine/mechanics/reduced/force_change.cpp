// ReducedMechanics: derivatives of the forces of one linearisation (kernels/elements/derivative_ops.hpp), projected as
// forces and stiffness are: out += G^T (D^T G w), J += G^T D G. J of a tile is not symmetric: its lower triangle is the
// product of G and D G, its upper one that of G and D^T G.

#include <algorithm>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"
#include "kernels/elements/derivative_ops.hpp"
#include "kernels/elements/reduced_tile.hpp"

namespace supple {

namespace {

constexpr int width = Lanes<double, SingleTeam>::width;

// to [288] = G x, of the first `lanes` points.
void tile_change(int n, const double* G, const double* x, double* to, int lanes) {
  tile_gradient(SingleTeam{}, n, G, x, to, lanes);
  for (const int c : {0, 4, 8})
    for (int l = 0; l < lanes; ++l) to[c * tile_size + l] -= 1;
}

}  // namespace

template <class OnTile>
void ReducedMechanics::for_each_change(int robot, const double* x, const double* z, double factor, Scratch& s,
                                       const OnTile& on_tile) {
  for (std::size_t index = 0; index < model_.fields.size(); ++index) {
    const ReducedField& field = model_.fields[index];
    visit_law(field.law, [&](auto law) {
      for (int tile = 0; tile < tile_count(field.points()); ++tile) {
        const double* G = field.G.data() + extent(tile, n_, tile_rows);
        const PointField<double> points = tile_points(index, tile, robot, scale_of(robot));
        const int lanes = tile_lanes<double, SingleTeam>(points.points);
        tile_gradient(SingleTeam{}, n_, G, x, s.F.data(), lanes);
        tile_change(n_, G, z, s.before.data(), lanes);
        run_tile(TangentChangeOp<decltype(law), double>{points, factor, s.F.data(), s.before.data(), s.P.data(),
                                                        s.tangent.data()},
                 lanes);
        on_tile(field, G, points, lanes);
      }
    });
  }
}

template <class OnField>
void ReducedMechanics::for_each_strain_change(int robot, const double* x, const double* z, double factor, Scratch& s,
                                              const OnField& on_field) {
  std::size_t at = 0;
  for (const ReducedField& field : model_.fields) {
    if (field.strains.count == 0) continue;
    const double scale = strain_scale(field, scale_of(robot));
    s.field.assign(extent(n_, n_), 0.0);
    s.change.assign(extent(n_), 0.0);
    for (AlignedVector<double>* values : {&s.strains.f, &s.strains.magnitude}) std::ranges::fill(*values, 0.0);
    strain_fields_[at++].add_change(x, z, scale, factor, strain_share_[extent(robot)], s.strains, s.field.data(),
                                    s.change.data());
    on_field(model_.strain_region(field), scale, s.field.data(), s.change.data());
  }
}

void ReducedMechanics::pull_back_forces(const ForceChange& at, std::span<const double> w, std::span<double> out,
                                        std::span<double> by_region) {
  SUPPLE_EXPECT(n_ == r_ && !in_step_);
  std::ranges::fill(by_region, 0.0);
  [[maybe_unused]] const auto threads = static_cast<int>(scratch_.size());  // without OpenMP
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0)];
    const double *x = at.q.data() + extent(b, r_), *z = at.z.data() + extent(b, r_), *own = w.data() + extent(b, r_);
    double *to = out.data() + extent(b, r_), *regions = by_region.data() + extent(b, regions_);
    std::fill_n(to, r_, 0.0);
    std::ranges::fill(s.force_lanes, 0.0);
    for_each_change(
        b, x, z, at.factor, s, [&](const ReducedField& field, const double* G, const auto& points, int lanes) {
          tile_change(n_, G, own, s.motion.data(), lanes);
          for (int l = 0; l < points.points; ++l) {
            const int region = points.region[l];
            double work = 0;
            for (int c = 0; c < gradient_components; ++c)
              work += s.motion[extent(c, tile_size) + extent(l)] * s.P[extent(c, tile_size) + extent(l)];
            regions[model_.first_region(field) + region] += points.scale ? work / points.scale[region] : work;
          }
          run_tile(ChangeProductOp<double>{points.points, true, s.tangent.data(), s.motion.data(), s.F.data()}, lanes);
          tile_forces(SingleTeam{}, n_, G,
                      TileForces<double>{s.F.data(), s.force_lanes.data(), s.force_lanes.data() + extent(n_, width)},
                      lanes);
        });
    add_lanes(SingleTeam{}, r_, s.force_lanes.data(), to);
    std::size_t strains = 0;
    for (const ReducedField& field : model_.fields) {
      if (field.strains.count == 0) continue;
      const double scale = strain_scale(field, scale_of(b));
      regions[model_.strain_region(field)] +=
          strain_fields_[strains++].pull_back(x, z, own, scale, at.factor, strain_share_[extent(b)], s.strains, to) /
          scale;
    }
    for (int i = 0; has_springs_ && i < r_; ++i)
      for (int j = 0; j < r_; ++j) to[j] += model_.stiffness[extent(i, n_) + extent(j)] * own[i];
  }
}

void ReducedMechanics::force_jacobian(const ForceChange& at, std::span<double> J, std::span<double> by_region) {
  SUPPLE_EXPECT(n_ == r_ && !in_step_);
  std::ranges::fill(by_region, 0.0);
  [[maybe_unused]] const auto threads = static_cast<int>(scratch_.size());  // without OpenMP
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0)];
    const double *x = at.q.data() + extent(b, r_), *z = at.z.data() + extent(b, r_);
    double *const matrix = J.data() + extent(b, r_, r_), *const regions = by_region.data() + extent(b, regions_, r_);
    const SingleTeam team;
    s.transposed.resize(extent(81, tile_size));
    s.upper.assign(s.sums.size(), 0.0);
    s.field.assign(extent(r_, r_), 0.0);
    std::ranges::fill(s.sums, 0.0);
    std::copy_n(model_.stiffness.data(), extent(r_, r_), matrix);
    for_each_change(
        b, x, z, at.factor, s, [&](const ReducedField& field, const double* G, const auto& points, int lanes) {
          for (int g = 0; g < static_cast<int>(field.parameters.size()); ++g) {
            if (std::find(points.region, points.region + points.points, g) == points.region + points.points) continue;
            for (int c = 0; c < gradient_components; ++c)
              for (int l = 0; l < lanes; ++l) {
                const std::size_t k = extent(c, tile_size) + extent(l);
                const bool counts = l < points.points && points.region[l] == g;
                s.F[k] = counts ? (points.scale ? s.P[k] / points.scale[g] : s.P[k]) : 0.0;
              }
            std::ranges::fill(s.force_lanes, 0.0);
            tile_forces(team, n_, G,
                        TileForces<double>{s.F.data(), s.force_lanes.data(), s.force_lanes.data() + extent(n_, width)},
                        lanes);
            add_lanes(team, r_, s.force_lanes.data(), regions + extent(model_.first_region(field) + g, r_));
          }
          const RankRows nine{.plus = gradient_components, .lanes = lanes};
          tile_tangent_rows(team, n_, G, s.tangent.data(), s.Y.data(), lanes);
          tile_rank_update(team, n_, nine, G, s.Y.data(), s.sums.data());
          for (int i = 0; i < 9; ++i)
            for (int j = 0; j < 9; ++j)
              std::copy_n(s.tangent.data() + extent(9 * i + j, tile_size), tile_size,
                          s.transposed.data() + extent(9 * j + i, tile_size));
          tile_tangent_rows(team, n_, G, s.transposed.data(), s.Y.data(), lanes);
          tile_rank_update(team, n_, nine, G, s.Y.data(), s.upper.data());
        });
    std::vector<double> transposed(extent(r_, r_), 0.0);
    if (has_points_) {
      add_block_sums(team, n_, s.sums.data(), matrix, n_);
      add_block_sums(team, n_, s.upper.data(), transposed.data(), n_);
    }
    for (int i = 0; i < r_; ++i)
      for (int j = 0; j < i; ++j) matrix[extent(j, r_) + extent(i)] += transposed[extent(i, r_) + extent(j)];
    for_each_strain_change(b, x, z, at.factor, s, [&](int region, double scale, const double* own, const double* E) {
      for (int i = 0; i < r_ * r_; ++i) matrix[i] += own[i];
      for (int i = 0; i < r_; ++i) regions[extent(region, r_) + extent(i)] += E[i] / scale;
    });
  }
}

}  // namespace supple
