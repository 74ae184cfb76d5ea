#pragma once
// Proper orthogonal decomposition of a snapshot matrix (Goury & Duriez 2018, eqs. 13-15).

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/array/room.hpp"
#include "kernels/base/ranks.hpp"

namespace supple {

enum class PodTruncation {
  root,     // smallest p with sqrt(sum_{i>p} s_i^2 / sum s_i^2) <= tolerance (gives the paper's 34 modes at 1e-3)
  squared,  // smallest p with      sum_{i>p} s_i^2 / sum s_i^2  <= tolerance
};

struct PodSettings {
  double tolerance = 1e-3;
  PodTruncation truncation = PodTruncation::root;
  int max_modes = 0;  // 0 = no limit
  /// Where the QR factors and products of matrices with many rows are computed, panel by panel where there is no room
  /// for all rows; none: here. Singular values agree to some roundings of the largest.
  std::optional<DeviceRoom> device = std::nullopt;
};

struct Pod {
  int rows = 0;   // length of a mode
  int modes = 0;  // p
  std::vector<double>
      basis;  // rows x p, column-major, orthonormal; sign: largest-magnitude entry of each mode positive
  std::vector<double> singular_values;  // descending
  double truncation_error = 0;          // in the sense of `truncation`
};

/// snapshots: rows x count, column-major. Method: S = Q R by panels of rows (TSQR: J. Demmel, L. Grigori, M. Hoemmen &
/// J. Langou, "Communication-optimal parallel and sequential QR and LU factorizations", SISC 2012), R = W diag(s) V^T,
/// Phi = S V / s, re-orthonormalised once (so that Phi^T Phi = I to rounding). Singular values down to 1e-15 of the
/// largest; modes below 1e-12 of it are dropped. Deterministic. Throws InputError if an entry is not finite.
Pod proper_orthogonal_decomposition(std::span<const double> snapshots, int rows, int count,
                                    const PodSettings& settings);

/// The same from a matrix that is never in memory as a whole: blocks of columns, each read once. What a part of the
/// columns leaves behind is S_i V_i = U_i diag(s_i), without the columns that hold less than (1e-6 tolerance)^2 of its
/// sum of squares; a part and the next block, or two parts, are decomposed together (hierarchical approximate POD:
/// C. Himpel, T. Leibner & S. Rave, SISC 2018). What is left out is orthogonal to what is kept, so that it changes
/// singular values and modes in the second order only: kept ones by about 1e-12 for each block. In memory: a block, the
/// columns kept, and the basis. The singular values end where columns were left out.
struct ColumnBlocks {
  int rows = 0;
  std::vector<int> counts;  // columns of each block
  /// Block k, rows x counts[k], column-major; in `storage` or elsewhere.
  std::function<std::span<const double>(int k, std::vector<double>& storage)> read;
};
/// Each of the ranks reads an equal part of the blocks, and parts are joined pairwise on the way to the first: all
/// ranks return the same. The bits depend on how columns are divided, also among ranks.
Pod proper_orthogonal_decomposition(const ColumnBlocks& snapshots, const PodSettings& settings,
                                    const Ranks& ranks = {});

/// max_ij |(Phi^T Phi - I)_ij| for a basis of `modes` columns, rows x modes, column-major.
double orthonormality_defect(std::span<const double> basis, int rows, int modes);

/// The error of keeping p modes, for each p = 0..count: the curve to plot.
std::vector<double> truncation_errors(std::span<const double> singular_values, PodTruncation truncation);

}  // namespace supple
