#pragma once
// Forces of a batch's contacts on a device, one team a robot, by the search that solvers/contact does on the host
// (contact_search.hpp).

#include "kernels/contact/contact_ops.hpp"
#include "kernels/contact/contact_search.hpp"
#include "kernels/contact/team_rows.hpp"

namespace supple {

// Of the robots with contacts that are open and have got rows. scratch [slot]: scratch_length(N, r).
struct ContactSolveTeamOp {
  ContactArrays a;
  contact::SearchLimits limits;
  double* scratch;

  static SUPPLE_INLINE std::size_t scratch_length(int N, int r) {
    const std::size_t all = static_cast<std::size_t>(N);
    const int width = N < r ? N : r;
    return all * (static_cast<std::size_t>(contact::padded_columns(width)) + 10) +
           static_cast<std::size_t>(contact::padded_columns(width)) + all * (sizeof(CoulombBlock) / sizeof(double)) +
           contact::TeamRows<SingleTeam>::numbers(N, width);
  }
  template <class Team>
  SUPPLE_HD void operator()(Team team, int slot, int robot) const {
    ContactFinding& found = a.findings[robot];
    if (a.open[robot] == 0 || found.added == 0 || found.full != 0) return;
    double* memory = scratch + static_cast<std::size_t>(slot) * scratch_length(a.all(), a.r);
    team.sync();  // the robot before is done with the scratch
    contact::ScaledContact p;
    double* forces = a.lambda + ContactArrays::at(robot, a.all());
    place(found.contacts, memory, p);
    contact::TeamRows<Team> rows(team, p.n, p.n < a.r ? p.n : a.r, memory);
    if (!load(rows, robot, forces, p)) {
      if (team.rank() == 0) found.residual = HUGE_VAL;
      return;
    }
    contact::project(rows, p);
    contact::ContactSearch<contact::TeamRows<Team>> search(rows, p, rows.work, limits);
    search.report.last = contact::evaluate(rows, p);
    if (limits.starts > 0) {
      search.run();
    } else {
      search.sweeps(limits.sweeps, limits.relaxation, false);
    }
    rows.each(p.n, [&](int i) { forces[i] = p.lambda[i] * p.scale[i]; });
    // A comparison with NaN is false: the residuals would miss it.
    const bool finite = rows.sum(p.n, [&](int i) { return 0 * (p.lambda[i] * p.scale[i]); }) == 0;
    if (team.rank() != 0) return;
    found.sweeps += search.report.sweeps;
    found.steps += search.report.newton_steps;
    found.residual = finite ? search.report.last.relative() : HUGE_VAL;
    found.displacement = search.report.last.displacement;
  }

 private:
  SUPPLE_HD void place(int contacts, double*& memory, contact::ScaledContact& p) const {
    p.boxes = a.n, p.contacts = contacts, p.n = a.n + 3 * contacts;
    p.factored = a.r < p.n;
    p.width = p.factored ? a.r : p.n;
    p.ld = contact::padded_columns(p.width);
    const auto take = [&](int count) {
      double* taken = memory;
      memory += count;
      return taken;
    };
    p.matrix = take(p.n * p.ld);
    p.scale = take(p.n), p.d = take(p.n), p.compliance = take(p.n), p.lambda = take(p.n), p.w = take(p.n);
    p.lower = take(p.n), p.upper = take(p.n), p.friction = take(p.n), p.diagonal = take(p.n), p.u = take(p.ld);
    p.blocks =
        reinterpret_cast<CoulombBlock*>(take(p.contacts * static_cast<int>(sizeof(CoulombBlock) / sizeof(double))));
  }
  // As load() of solvers/contact/host_rows.hpp. False: numbers that are not finite.
  template <class Rows>
  SUPPLE_HD bool load(Rows& rows, int robot, const double* forces, const contact::ScaledContact& p) const {
    using contact::chained_product;
    const int n = a.n, r = a.r;
    const double *V = a.V + ContactArrays::at(robot, a.all(), r), *d = a.d + ContactArrays::at(robot, a.all()),
                 *lower = a.lower + ContactArrays::at(robot, n), *upper = a.upper + ContactArrays::at(robot, n),
                 *mu = a.mu + ContactArrays::at(robot, a.capacity);
    const auto spring = [&](int i) { return i < n ? a.compliance[i] : 0.0; };
    rows.each(p.n, [&](int i) { p.diagonal[i] = chained_product(V + i * r, V + i * r, r) + spring(i); });
    rows.each(p.n, [&](int i) {
      const double* own = p.diagonal + (i < n ? i : n + (i - n) / 3 * 3);
      const double diagonal = i < n ? own[0] : (own[0] + own[1] + own[2]) / 3;
      p.scale[i] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 1;
      p.d[i] = d[i] * p.scale[i];
      p.compliance[i] = spring(i) * p.scale[i] * p.scale[i];
      p.lower[i] = i < n ? lower[i] / p.scale[i] : -HUGE_VAL;
      p.upper[i] = i < n ? upper[i] / p.scale[i] : HUGE_VAL;
      p.lambda[i] = std::abs(forces[i]) < HUGE_VAL ? forces[i] / p.scale[i] : 0;
    });
    // NaN and infinity survive times zero.
    if (!(rows.sum(p.n, [&](int i) { return 0 * p.diagonal[i]; }) == 0)) return false;
    rows.each(p.n, [&](int i) {
      double* to = p.row(i);
      for (int k = 0; k < p.ld; ++k)
        to[k] = k >= p.width ? 0
                : p.factored ? V[i * r + k] * p.scale[i]
                             : chained_product(V + i * r, V + k * r, r) * (p.scale[i] * p.scale[k]);
      p.diagonal[i] = (p.factored ? chained_product(to, to, p.ld) : to[i]) + p.compliance[i];
    });
    rows.each(p.contacts, [&](int c) {
      p.friction[c] = coulomb::smaller(mu[c], sticking_friction);
      const int i = p.normal(c);
      double w[9];
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k)
          w[3 * j + k] = p.factored ? chained_product(p.row(i + j), p.row(i + k), p.ld) : p.row(i + j)[i + k];
      p.blocks[c] = CoulombBlock::of(w);
    });
    return rows.sum(p.n, [&](int i) { return 0 * (p.diagonal[i] + p.d[i]); }) == 0;
  }
};

}  // namespace supple
