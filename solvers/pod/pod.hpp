#pragma once
// Proper orthogonal decomposition of a snapshot matrix (Goury & Duriez 2018, eqs. 13-15).

#include <functional>
#include <span>
#include <vector>

namespace supple {

enum class PodTruncation {
  root,     // smallest p with sqrt(sum_{i>p} s_i^2 / sum s_i^2) <= tolerance (gives the paper's 34 modes at 1e-3)
  squared,  // smallest p with      sum_{i>p} s_i^2 / sum s_i^2  <= tolerance
};

struct PodSettings {
  double tolerance = 1e-3;
  PodTruncation truncation = PodTruncation::root;
  int max_modes = 0;  // 0 = no limit
};

struct Pod {
  int rows = 0;   // length of a mode
  int modes = 0;  // p
  std::vector<double>
      basis;  // rows x p, column-major, orthonormal; sign: largest-magnitude entry of each mode positive
  std::vector<double> singular_values;  // all of them, descending
  double truncation_error = 0;          // in the sense of `truncation`
};

// snapshots: rows x count, column-major. Method: eigenvalues of the Gram matrix (count x count), the basis
// re-orthonormalised once (so that Phi^T Phi = I to rounding), modes whose singular value is below 1e-12 of the largest
// dropped. Singular values of the modes kept are ||S v||; those of the others are roots of eigenvalues and reach down
// to about 1e-8 of the largest. Deterministic. Throws InputError if an entry is not finite.
Pod proper_orthogonal_decomposition(std::span<const double> snapshots, int rows, int count,
                                    const PodSettings& settings);

// The same from a matrix that is never in memory as a whole: blocks of columns, each read about half as many times as
// there are blocks. Two blocks and the basis are held at a time. The bits depend on how columns are divided.
struct ColumnBlocks {
  int rows = 0;
  std::vector<int> counts;  // columns of each block
  // Block k, rows x counts[k], column-major; in `storage` or elsewhere.
  std::function<std::span<const double>(int k, std::vector<double>& storage)> read;
};
Pod proper_orthogonal_decomposition(const ColumnBlocks& snapshots, const PodSettings& settings);

// max_ij |(Phi^T Phi - I)_ij| for a basis of `modes` columns, rows x modes, column-major.
double orthonormality_defect(std::span<const double> basis, int rows, int modes);

// The error of keeping p modes, for each p = 0..count: the curve to plot.
std::vector<double> truncation_errors(std::span<const double> singular_values, PodTruncation truncation);

}  // namespace supple
