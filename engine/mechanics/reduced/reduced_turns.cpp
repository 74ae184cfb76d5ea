// ReducedMechanics: steps of Newton's method in statics by turning (kernels/elements/turned_ops.hpp). Fields that are
// strain modes have no part in the least squares.

#include <algorithm>
#include <cmath>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/element_fields.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "kernels/elements/turned_ops.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

constexpr int lanes = Lanes<double, SingleTeam>::width;

}  // namespace

void ReducedMechanics::factor_turns() {
  // Of membranes and rods alone the least squares would not know how solids turn.
  for (const ReducedField& field : model_.fields)
    if (!has_exact_tangent(field.law) || (solid(field.law) && field.strains.count > 0)) return;
  Scratch& s = scratch_.front();
  const SingleTeam team;
  std::vector<double> matrix(extent(n_, n_), 0.0);
  std::fill(s.sums.begin(), s.sums.end(), 0.0);
  for (const ReducedField& field : model_.fields) {
    if (field.part == LawPart::mean) continue;
    visit_law(field.law, [&](auto law) {
      for (int tile = 0; tile < tile_count(field.points()); ++tile) {
        const double* G = field.G.data() + extent(tile, n_, tile_rows);
        run_tile(TurnWeightOp<decltype(law), double>{tile_field(field, tile, nullptr), s.tangent.data()});
        tile_tangent_rows(team, n_, G, s.tangent.data(), s.Y.data());
        tile_rank_update(team, n_, RankRows{.plus = gradient_components}, G, s.Y.data(), s.sums.data());
      }
    });
  }
  add_block_sums(team, n_, s.sums.data(), matrix.data(), n_);
  double sum = 0;
  for (int i = 0; i < r_; ++i) sum += matrix[extent(i, n_) + extent(i)];
  turn_factor_.resize(extent(r_, r_));
  for (int i = 0; i < r_; ++i)
    for (int j = 0; j <= i; ++j)
      turn_factor_[extent(i, r_) + extent(j)] =
          matrix[extent(i, n_) + extent(j)] + (i == j ? turn_shift * sum / r_ : 0);
  if (cholesky_factor(turn_factor_.data(), r_, r_).status != DenseFactorStatus::ok) turn_factor_.clear();
}

double ReducedMechanics::find_turns(const RobotTurn& step, Scratch& s) const {
  std::fill(s.force_lanes.begin(), s.force_lanes.end(), 0.0);
  const SingleTeam team;
  double largest = 0;
  for (const ReducedField& field : model_.fields) {
    if (field.part == LawPart::mean) continue;
    visit_law(field.law, [&](auto law) {
      for (int tile = 0; tile < tile_count(field.points()); ++tile) {
        const double* G = field.G.data() + extent(tile, n_, tile_rows);
        const PointField<double> points = tile_field(field, tile, nullptr);
        tile_step(G, step, s);
        run_tile(TurnOp<decltype(law), double>{points, s.before.data(), s.motion.data(), s.P.data(), s.turn.data()});
        tile_forces(team, n_, G,
                    TileForces<double>{s.P.data(), s.force_lanes.data(), s.force_lanes.data() + extent(n_, lanes)});
        for (int l = 0; l < points.points; ++l) largest = std::max(largest, s.turn[extent(l)]);
      }
    });
  }
  return largest;
}

double ReducedMechanics::turn_step(int robot, std::span<const double> q, std::span<const double> c,
                                   std::span<const double> dc, std::span<double> dq) {
  RobotTurn& step = turned_[extent(robot)];
  step.taken = false;
  if (turn_factor_.empty()) return 1;
  Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0)];
  const double* x = columns_of(q.data(), c.data(), s);
  step.start.assign(x, x + n_);
  const double* dx = columns_of(dq.data(), dc.data(), s);
  step.motion.assign(dx, dx + n_);
  const double largest = find_turns(step, s);
  if (!(largest >= least_turn)) return 1;
  double share = 1;
  if (largest > most_turn) {
    share = most_turn / largest;
    for (double& x : step.motion) x *= share;
    for (double& x : dq) x *= share;
    (void)find_turns(step, s);
  }
  std::vector<double>& y = step.end;
  y.assign(extent(n_), 0.0);
  add_lanes(SingleTeam{}, r_, s.force_lanes.data(), y.data());
  cholesky_solve(turn_factor_.data(), r_, r_, y.data(), 1, r_);
  if (!std::ranges::all_of(y, [](double value) { return std::isfinite(value); })) return share;
  for (int i = 0; i < r_; ++i) dq[extent(i)] += y[extent(i)];
  for (int i = 0; i < n_; ++i) y[extent(i)] += step.start[extent(i)] + step.motion[extent(i)];
  step.taken = true;
  return share;
}

void ReducedMechanics::tile_step(const double* G, const RobotTurn& step, Scratch& s) const {
  tile_gradient(SingleTeam{}, n_, G, step.start.data(), s.before.data());
  tile_gradient(SingleTeam{}, n_, G, step.motion.data(), s.motion.data());
  for (const int c : {0, 4, 8})
    for (int l = 0; l < tile_size; ++l) s.motion[extent(c, tile_size) + extent(l)] -= 1;
}

bool ReducedMechanics::ends_here(const RobotTurn& step, const double* x) const {
  if (!step.taken) return false;
  double length = 0;
  for (std::size_t i = 0; i < extent(n_); ++i) length = std::max(length, std::abs(step.end[i] - step.start[i]));
  for (std::size_t i = 0; i < extent(n_); ++i)
    if (!(std::abs(x[i] - step.end[i]) <= same_place * length)) return false;
  return true;
}

}  // namespace supple
