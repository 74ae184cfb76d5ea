// ReducedMechanics: derivatives of the forces of one linearisation (kernels/elements/derivative_ops.hpp), projected as
// forces and stiffness are: out += G^T (D^T G w), J += G^T (D G).

#include <Eigen/Core>
#include <algorithm>
#include <initializer_list>

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

// on_tile(law, field, G, points, lanes) of each tile, with F in scratch.F and the change of F in scratch.before;
// on_strains(field, forces) of each field that is strain modes.
template <class OnTile, class OnStrains>
void ReducedMechanics::for_each_change(int robot, const double* x, const double* z, Scratch& s, const OnTile& on_tile,
                                       const OnStrains& on_strains) {
  std::size_t strains = 0;
  for (std::size_t index = 0; index < model_.fields.size(); ++index) {
    const ReducedField& field = model_.fields[index];
    if (field.strains.count > 0) {
      on_strains(field, strain_fields_[strains++]);
      continue;
    }
    visit_law(field.law, [&](auto law) {
      for (int tile = 0; tile < tile_count(field.points()); ++tile) {
        const double* G = field.G.data() + extent(tile, n_, tile_rows);
        const PointField<double> points = tile_points(index, tile, robot, scale_of(robot));
        const int lanes = tile_lanes<double, SingleTeam>(points.points);
        tile_gradient(SingleTeam{}, n_, G, x, s.F.data(), lanes);
        tile_change(n_, G, z, s.before.data(), lanes);
        on_tile(law, field, G, points, lanes);
      }
    });
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
    const double factor = 1 + at.rate * system(b).b;
    double *to = out.data() + extent(b, r_), *regions = by_region.data() + extent(b, regions_);
    std::fill_n(to, r_, 0.0);
    std::ranges::fill(s.force_lanes, 0.0);
    const TileForces<double> forces{s.F.data(), s.force_lanes.data(), s.force_lanes.data() + extent(n_, width)};
    const auto on_tile = [&](auto law, const ReducedField& field, const double* G, const auto& points, int lanes) {
      tile_change(n_, G, own, s.motion.data(), lanes);
      run_tile(ChangeProductOp<decltype(law), double>{points, factor, s.F.data(), s.before.data(), s.motion.data(),
                                                      s.P.data(), s.F.data()},
               lanes);
      for (int l = 0; l < points.points; ++l) {
        const int region = points.region[l];
        double work = 0;
        for (int c = 0; c < gradient_components; ++c)
          work += s.motion[extent(c, tile_size) + extent(l)] * s.P[extent(c, tile_size) + extent(l)];
        regions[model_.first_region(field) + region] += points.scale ? work / points.scale[region] : work;
      }
      tile_forces(SingleTeam{}, n_, G, forces, lanes);
    };
    const auto on_strains = [&](const ReducedField& field, const StrainForces& strains) {
      const double scale = strain_scale(field, scale_of(b));
      const double work = strains.pull_back(x, z, own, scale, factor, strain_share_[extent(b)], s.strains, to);
      regions[model_.strain_region(field)] += work / scale;
    };
    for_each_change(b, x, z, s, on_tile, on_strains);
    add_lanes(SingleTeam{}, r_, s.force_lanes.data(), to);
    for (int i = 0; has_springs_ && i < r_; ++i)
      for (int j = 0; j < r_; ++j) to[j] += model_.stiffness[extent(i, n_) + extent(j)] * own[i];
  }
}

void ReducedMechanics::force_jacobian(int robot, const ForceChange& at, std::span<double> J) {
  SUPPLE_EXPECT(n_ == r_ && !in_step_);
  Scratch& s = scratch_.front();
  const double *x = at.q.data() + extent(robot, r_), *z = at.z.data() + extent(robot, r_);
  const double factor = 1 + at.rate * system(robot).b;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor> sum(J.data(), r_, r_);
  sum.setZero();
  if (has_springs_) sum = Eigen::Map<const RowMajor>(model_.stiffness.data(), r_, n_);
  s.changes.resize(extent(n_, tile_rows));
  const auto on_tile = [&](auto law, const ReducedField&, const double* G, const auto& points, int lanes) {
    run_tile(TangentChangeOp<decltype(law), double>{points, factor, s.F.data(), s.before.data(), s.P.data(),
                                                    s.tangent.data()},
             lanes);
    tile_tangent_rows(SingleTeam{}, n_, G, s.tangent.data(), s.changes.data(), lanes);
    for (int c = 0; c < (lanes == tile_size ? 1 : gradient_components); ++c) {
      const int columns = lanes == tile_size ? tile_rows : lanes;
      using Rows = Eigen::Map<const RowMajor, Eigen::Aligned16, Eigen::OuterStride<>>;
      const Rows of_G(G + c * tile_size, n_, columns, Eigen::OuterStride<>(tile_rows)),
          of_change(s.changes.data() + c * tile_size, n_, columns, Eigen::OuterStride<>(tile_rows));
      sum.noalias() += of_G * of_change.transpose();
    }
  };
  const auto on_strains = [&](const ReducedField& field, const StrainForces& strains) {
    strains.add_jacobian(x, z, strain_scale(field, scale_of(robot)), factor, strain_share_[extent(robot)], s.strains,
                         J.data());
  };
  for_each_change(robot, x, z, s, on_tile, on_strains);
}

}  // namespace supple
