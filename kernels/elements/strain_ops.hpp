#pragma once
// Forces and stiffness of a batch of reduced robots whose membranes are modes of their strains,
//   s_k = L_k x + 1/2 x^T Q_k x,   W = ds/dx = L + Q x,   energy sum_k e_k/2 s_k^2,
// e_k a factor of the robot on the moduli of mode k's region (engine/mechanics/reduced/strain_forces.hpp). Beside these
// operations stand products over the batch:
//   W = L + Q x,   K += W^T W + sum_k e_k s_k Q_k.

#include <cmath>
#include <cstddef>

#include "kernels/dense/cholesky.hpp"
#include "kernels/elements/geometric_share.hpp"
#include "kernels/elements/point_stiffness.hpp"
#include "kernels/elements/system_factors.hpp"

namespace supple {

// Factors on the moduli of each mode's region.
template <class S>
struct StrainScale {
  const S* scale;     // [robot][regions], or null: 1
  const int* region;  // [K]
  int regions;
  SUPPLE_INLINE S of(int robot, int k) const {
    return scale == nullptr ? S(1)
                            : scale[static_cast<std::size_t>(robot) * static_cast<std::size_t>(regions) +
                                    static_cast<std::size_t>(region[k])];
  }
};

// strains = e s, and W *= e^1/2. Index: robot * K + k.
template <class S>
struct StrainOp {
  int count, r;
  const S* linear;  // [K][r]
  const S* x;       // [robot][r]
  StrainScale<S> scale;
  S* W;        // [robot][K][r]
  S* strains;  // [robot][K]
  SUPPLE_HD void operator()(int at) const {
    const int robot = at / count, k = at % count;
    const S e = scale.of(robot, k), root = std::sqrt(e);
    const S* L = linear + static_cast<std::size_t>(k) * static_cast<std::size_t>(r);
    const S* a = x + static_cast<std::size_t>(robot) * static_cast<std::size_t>(r);
    S* w = W + static_cast<std::size_t>(at) * static_cast<std::size_t>(r);
    S s = 0;
    for (int i = 0; i < r; ++i) {
      s += a[i] * (L[i] + w[i]);
      w[i] *= root;
    }
    strains[at] = S(0.5) * e * s;
  }
};

// e W_ki s_k, what mode k adds to coordinate i of a robot's forces.
template <class S>
struct StrainParts {
  int count, r;
  StrainScale<S> scale;
  const S* W;        // as StrainOp leaves it
  const S* strains;  // as StrainOp leaves it
  SUPPLE_INLINE S of(int robot, int k, int i) const {
    const std::size_t at =
        static_cast<std::size_t>(robot) * static_cast<std::size_t>(count) + static_cast<std::size_t>(k);
    return W[at * static_cast<std::size_t>(r) + static_cast<std::size_t>(i)] *
           (strains[at] / std::sqrt(scale.of(robot, k)));
  }
};

// f += e W^T s. Index: robot * r + i.
template <class S>
struct StrainForceOp {
  StrainParts<S> parts;
  S* f;  // [robot][r]
  SUPPLE_HD void operator()(int at) const {
    S sum = 0;
    for (int k = 0; k < parts.count; ++k) sum += parts.of(at / parts.r, k, at % parts.r);
    f[at] += sum;
  }
};

// magnitude += sum_k |e W_k^T s_k|, for judging residuals (batch_ops.hpp). Index: robot * r + i.
struct StrainMagnitudeOp {
  StrainParts<double> parts;
  double* magnitude;  // [robot][r]
  SUPPLE_HD void operator()(int at) const {
    double sum = 0;
    for (int k = 0; k < parts.count; ++k) sum += std::abs(parts.of(at / parts.r, k, at % parts.r));
    magnitude[at] += sum;
  }
};

// Of robots whose trial, A with a part of the mass, is not positive: the share of sum_k e_k s_k Q_k that leaves it so,
// and A with that (geometric_share.hpp). By one team for each robot.
template <class S>
struct GeometricShareTeamOp {
  int count, r;
  SystemFactors factors;
  const S* quadratic;  // [K] r x r
  const S* strains;    // [robot][K], as StrainOp leaves them
  const S* K;          // [robot] r x r, lower triangle
  const S* M;          // r x r
  const double* outputs;
  const PointStiffness* points;  // as PointStiffnessOp's, or null
  const int* first_point;
  const int* info;  // [robot] of the trial's factorisation, 0: positive
  S* trial;         // [robot] r x r
  S* A;             // [robot] r x r
  int* weakened;    // [robot] 1: some is left out
  template <class Team>
  SUPPLE_HD void operator()(Team team, int, int robot) const {
    if (team.rank() == 0) weakened[robot] = info[robot] == 0 ? 0 : 1;
    if (info[robot] == 0) return;
    const std::size_t square = static_cast<std::size_t>(r) * static_cast<std::size_t>(r);
    S* tried = trial + static_cast<std::size_t>(robot) * square;
    const S mass = static_cast<S>(factors.mass_of(robot));
    int at = 1;
    for (; at + 1 < geometric_shares; ++at) {
      team.sync();  // all have seen which pivot was not positive
      assemble(team, robot, at, mass * S(trial_mass), tried);
      if (cholesky_factor(team, tried, r, r) == r) break;
    }
    assemble(team, robot, at, mass, A + static_cast<std::size_t>(robot) * square);
  }

 private:
  template <class Team>
  SUPPLE_HD void assemble(Team team, int robot, int at, S inertia, S* a) const {
    const std::size_t square = static_cast<std::size_t>(r) * static_cast<std::size_t>(r);
    const S* k = K + static_cast<std::size_t>(robot) * square;
    const S* s = strains + static_cast<std::size_t>(robot) * static_cast<std::size_t>(count);
    const S lacking = S(1) - S(geometric_share(at)), stiffness = static_cast<S>(factors.stiffness_of(robot));
    for (int row = team.rank(); row < r; row += team.size()) {
      for (int e = row * r; e <= row * (r + 1); ++e) {
        S geometric = 0;
        for (int mode = 0; mode < count; ++mode)
          geometric += s[mode] * quadratic[static_cast<std::size_t>(mode) * square + e];
        a[e] = stiffness * (k[e] - lacking * geometric) + inertia * M[e];
      }
      if (points)
        for (int e = first_point[robot]; e < first_point[robot + 1]; ++e)
          add_point_stiffness_row(points[e], r, outputs, row, a + row * r);
    }
  }
};

}  // namespace supple
