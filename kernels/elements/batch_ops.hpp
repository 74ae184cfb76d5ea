#pragma once
// What a batch of reduced robots needs beside point_ops.hpp and matrix products. Layouts, robot-major: F, P and the
// tangent's components are [robot][tile][component][lane], so that F of all robots at one tile is the column-major
// matrix of 288 rows, one column per robot and a column stride of 9 padded(points) that a product G_tile alpha writes.

#include <cmath>

#include "kernels/dense/ldlt.hpp"
#include "kernels/elements/block_stiffness.hpp"
#include "kernels/elements/point_ops.hpp"
#include "kernels/elements/robot_reports.hpp"
#include "kernels/elements/system_factors.hpp"

namespace supple {

// Adds the statuses of one field to each robot's report. Index: robot.
struct PointCountOp {
  const unsigned char* status;  // [robot][padded(points)]
  int points;
  const int* element;  // mesh number of each unit of points
  int points_per_element;
  bool begins;  // the first field: counts start from zero
  PointReport* reports;
  SUPPLE_HD void operator()(int robot) const {
    PointReport report = begins ? PointReport{} : reports[robot];
    const unsigned char* mine = status + static_cast<std::size_t>(robot) * static_cast<std::size_t>(padded(points));
    for (int p = 0; p < points; ++p) {
      report.inverted += mine[p] == static_cast<unsigned char>(PointStatus::inverted);
      if (mine[p] != static_cast<unsigned char>(PointStatus::undefined)) continue;
      if (report.undefined == 0) report.first_undefined = element[p / points_per_element];
      ++report.undefined;
    }
    reports[robot] = report;
  }
};

// A body without points has nothing to report. Index: robot.
struct NoPointsOp {
  PointReport* reports;
  SUPPLE_HD void operator()(int robot) const { reports[robot] = PointReport{}; }
};

// Newton's method judges residuals against the forces before they cancel (PointReport::force_scale): the norm over the
// coordinates of sums of absolute values. They begin with those of the springs. Index: robot * r + coordinate.
struct SpringMagnitudeOp {
  const double* f;  // of the springs alone
  double* magnitude;
  SUPPLE_HD void operator()(int k) const { magnitude[k] = std::abs(f[k]); }
};

// Adds every point's part of the force, |w P : dF/dalpha_j|, of one field. Index: robot * r + j.
struct PointMagnitudeOp {
  int r, tiles;
  const double* G;  // [tile][mode][component][lane]
  const double* P;  // [robot][tile][component][lane]
  double* magnitude;
  SUPPLE_HD void operator()(int k) const {
    const int robot = k / r, j = k % r;
    double sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const double* g =
          G + (static_cast<std::size_t>(tile) * static_cast<std::size_t>(r) + static_cast<std::size_t>(j)) * tile_rows;
      const double* p =
          P + (static_cast<std::size_t>(robot) * static_cast<std::size_t>(tiles) + static_cast<std::size_t>(tile)) *
                  tile_rows;
      for (int l = 0; l < tile_size; ++l) {
        double part = 0;
        for (int c = 0; c < gradient_components; ++c) part += g[c * tile_size + l] * p[c * tile_size + l];
        sum += std::abs(part);
      }
    }
    magnitude[k] += sum;
  }
};

// The norm, or the least that is told from rounding [robots or 1 for all]. Index: robot.
struct ForceScaleOp {
  int r;
  const double* magnitude;
  const double* least;
  int leasts;
  PointReport* reports;
  SUPPLE_HD void operator()(int robot) const {
    double squares = 0;
    for (int j = 0; j < r; ++j) {
      const double size = magnitude[robot * r + j];
      squares += size * size;
    }
    reports[robot].force_scale = std::fmax(std::sqrt(squares), least[leasts > 1 ? robot : 0]);
  }
};

// out += in.
struct AddOp {
  const double* in;
  double* out;
  SUPPLE_HD void operator()(int k) const { out[k] += in[k]; }
};

// What became of a batch of factorisations that may be indefinite. Index: robot.
struct IndefiniteReportOp {
  const LdltReport* found;
  SystemReport* reports;
  SUPPLE_HD void operator()(int robot) const {
    reports[robot] = {found[robot].singular != 0 ? SystemStatus::singular : SystemStatus::ok,
                      found[robot].negative_pivots, 0};
  }
};

// What became of a batch of Cholesky factorisations. Index: robot.
struct SystemReportOp {
  const int* info;      // 0, or the number (from 1) of the pivot that is not positive
  const int* weakened;  // GeometricShareTeamOp's, or null
  SystemReport* reports;
  SUPPLE_HD void operator()(int robot) const {
    const bool positive = info[robot] == 0;
    reports[robot] = {positive ? SystemStatus::ok : SystemStatus::not_positive, positive ? 0 : 1,
                      weakened == nullptr ? 0 : weakened[robot]};
  }
};

// out_k = k-th entry of `pattern` repeated.
template <class T>
struct RepeatOp {
  const T* pattern;
  int length;
  T* out;
  SUPPLE_HD void operator()(int k) const { out[k] = pattern[k % length]; }
};

// The same times the factor of the mass.
struct MassRepeatOp {
  SystemFactors factors;
  const double* pattern;
  int length;  // of one robot
  double* out;
  SUPPLE_HD void operator()(int k) const { out[k] = factors.mass_of(k / length) * pattern[k % length]; }
};

// values *= density of each robot. Index: robot * length + entry.
struct DensityOp {
  const RobotSystem* own;
  int length;
  double* values;
  SUPPLE_HD void operator()(int k) const { values[k] *= own[k / length].density; }
};

// out_k = in_k in another precision.
template <class From, class To>
struct CastOp {
  const From* in;
  To* out;
  SUPPLE_HD void operator()(int k) const { out[k] = static_cast<To>(in[k]); }
};

// A = stiffness K + mass M for every robot; M repeats with period `length`.
template <class S>
struct SystemOp {
  SystemFactors factors;
  const S* K;
  const S* M;
  int length;
  S* A;
  SUPPLE_HD void operator()(int k) const {
    const int robot = k / length;
    A[k] = static_cast<S>(factors.stiffness_of(robot)) * K[k] + static_cast<S>(factors.mass_of(robot)) * M[k % length];
  }
};

// Rayleigh damping out = a out + b K v, with out = M v on entry. K: r x r row-major, lower triangle. Index: robot * r +
// row.
template <class S>
struct DampingOp {
  int r;
  RobotSystem all;         // of all robots; densities are in M v already
  const RobotSystem* own;  // [robots], or null
  const S* K;
  const double* v;
  double* out;
  SUPPLE_HD void operator()(int k) const {
    const int i = k % r;
    const double* x = v + (k - i);
    const S* matrix = K + static_cast<std::size_t>(k / r) * static_cast<std::size_t>(r) * static_cast<std::size_t>(r);
    double sum = 0;
    for (int j = 0; j < r; ++j) sum += (j <= i ? matrix[i * r + j] : matrix[j * r + i]) * x[j];
    const RobotSystem& of = own ? own[k / r] : all;
    out[k] = of.a * out[k] + of.b * sum;
  }
};

// The part of a robot's stiffness that no state changes: the first term, and where regions are scaled each further one
// times the robot's factor of its region.
template <class S>
struct ConstantStiffness {
  const S* terms = nullptr;  // [1 + scales][length]; null: none
  int length = 0;            // entries of a matrix
  const S* scale = nullptr;  // [robots][scales]
  int scales = 0;
  SUPPLE_INLINE S entry(int robot, int e) const {
    if (terms == nullptr) return S(0);
    S sum = terms[e];
    for (int g = 0; g < scales; ++g)
      sum += scale[static_cast<std::size_t>(robot) * static_cast<std::size_t>(scales) + static_cast<std::size_t>(g)] *
             terms[static_cast<std::size_t>(1 + g) * static_cast<std::size_t>(length) + static_cast<std::size_t>(e)];
    return sum;
  }
};

// K = the constant part, and where there are sums in single precision these. Index: robot * length + entry.
template <class S>
struct StiffnessSumOp {
  ConstantStiffness<S> constant;
  const float* sums;  // [robot][length] or null
  S* K;
  SUPPLE_HD void operator()(int k) const {
    K[k] = constant.entry(k / constant.length, k % constant.length) + (sums ? static_cast<S>(sums[k]) : S(0));
  }
};

// Entries of S a team needs as scratch: of CPU threads X and Y, or Y alone, and the sums of K; of a GPU block_scratch.
enum class TeamKind { cpu, gpu };
template <class S>
SUPPLE_INLINE constexpr std::size_t stiffness_scratch(TangentRows rows, int r, TeamKind team) {
  if (team == TeamKind::gpu) return block_scratch<S>(rows, r);
  return static_cast<std::size_t>(rank_rows(r)) * (rows == TangentRows::four ? 2 * 4 * tile_size : tile_rows) +
         stiffness_sums<S>(r);
}

// Projected stiffness of one robot by one team: K (+)= sum over the tiles of a field of G^T (w dP/dF) G, tiles in
// order. K begins with its constant part, or the sum is added to its present value. Two fields: two launches.
template <class S, TangentRows rows>
struct ReducedStiffnessTeamOp {
  static constexpr std::size_t block_memory = stage_bytes;
  int r, points;
  const S* G;        // [tile][mode][component][lane]
  const S* tangent;  // StressFourRowOp's or TangentOp's components of every robot
  bool begins;
  ConstantStiffness<S> constant;
  S* K;                        // [robot] r x r row-major, lower triangle
  S* scratch;                  // [slot][scratch_length]
  std::size_t scratch_length;  // at least stiffness_scratch<S>(rows, r, kind of Team)

  template <class Team>
  SUPPLE_HD void operator()(Team team, int slot, int robot) const {
    S* k = K + static_cast<std::size_t>(robot) * static_cast<std::size_t>(r) * static_cast<std::size_t>(r);
    S* mine = scratch + static_cast<std::size_t>(slot) * scratch_length;
    if (begins)
      for (int e = team.rank(); e < r * r; e += team.size()) k[e] = constant.entry(robot, e);
    if constexpr (requires { team.memory; })
      of_block(team, robot, mine, k);
    else
      of_threads(team, robot, mine, k);
  }

 private:
  static constexpr int components = rows == TangentRows::four ? four_row_components : 81;
  SUPPLE_INLINE const S* gradients(int tile) const {
    return G + static_cast<std::size_t>(tile) * static_cast<std::size_t>(r) * tile_rows;
  }
  SUPPLE_INLINE const S* tangents(int robot, int tile) const {
    return tangent + (static_cast<std::size_t>(robot) * static_cast<std::size_t>(tile_count(points)) +
                      static_cast<std::size_t>(tile)) *
                         (components * tile_size);
  }

  template <class Team>
  SUPPLE_HD void of_threads(Team team, int robot, S* X, S* k) const {
    const auto kept = static_cast<std::size_t>(rank_rows(r));
    S* Y = X + kept * (4 * tile_size);
    S* sums = X + kept * (rows == TangentRows::four ? 2 * 4 * tile_size : tile_rows);
    for (std::size_t e = team.rank(); e < stiffness_sums<S>(r); e += team.size()) sums[e] = S(0);
    team.sync();
    for (int tile = 0; tile < tile_count(points); ++tile) {
      const S *g = gradients(tile), *t = tangents(robot, tile);
      const int lanes = tile_lanes<S, Team>(points - tile * tile_size);
      if constexpr (rows == TangentRows::four) {
        tile_four_rows<RowForm::general>(team, r, g, t, X, Y, NoForces{}, lanes);
        tile_rank_update(team, r, RankRows{.plus = 4, .lanes = lanes}, X, Y, sums);
      } else {
        tile_tangent_rows(team, r, g, t, X, lanes);
        tile_rank_update(team, r, RankRows{.plus = gradient_components, .lanes = lanes}, g, X, sums);
      }
    }
    add_block_sums(team, r, sums, k, r);
  }

  template <class Team>
  SUPPLE_HD void of_block(Team team, int robot, S* sums, S* k) const {
    const RowStage stage = row_stage<S>(rows, r);
    S* X = stage.in_scratch ? sums + block_sums(r) : reinterpret_cast<S*>(team.memory);
    S* Y = X + stage.size;
    for (std::size_t e = team.rank(); e < block_sums(r); e += team.size()) sums[e] = S(0);
    team.sync();
    // Points of weight zero at the end of the last tile add nothing.
    for (int p = 0; p < points; p += stage.points) {
      const int tile = p / tile_size;
      stage_rows<rows>(team, r, gradients(tile), tangents(robot, tile), p % tile_size, stage, X, Y);
      add_staged_rows(team, r, row_kinds(rows) * stage.points, stage, X, Y, sums);
    }
    add_square_sums(team, r, sums, k);
  }
};

}  // namespace supple
