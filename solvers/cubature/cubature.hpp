#pragma once
// Sparse non-negative least squares for hyper-reduction (paper 001, eq. 21): choose few columns of G and weights xi >= 0 with
//   || G xi - y || <= tau || y ||,   y = G 1 .
// Columns are elements, rows are (training state, mode) pairs.

#include <functional>
#include <span>
#include <vector>

namespace supple {

struct CubatureSettings {
  double tolerance = 0.02;   // tau
  int max_columns = 0;       // 0 = no limit
  bool prune = true;         // backward elimination after the selection, then re-grow; keeps the tolerance
  int regrow_rounds = 2;
};

enum class CubatureStatus { converged, stalled, column_limit, interrupted };

struct CubatureStep {  // one accepted selection: for the elements-against-residual curve
  int columns = 0;
  double relative_residual = 0;
};

struct [[nodiscard]] Cubature {
  CubatureStatus status = CubatureStatus::converged;
  std::vector<int> columns;     // ascending
  std::vector<double> weights;  // > 0, one per column
  double relative_residual = 0; // recomputed from G, not from the recurrence
  std::vector<CubatureStep> history;
};

// G: rows x columns, column-major. `progress(columns, residual)` is called per iteration and may return false to stop.
// Lawson-Hanson active set on the Gram matrix in double precision; a column that cycled out is not picked again at once.
Cubature select_lawson_hanson(std::span<const double> G, int rows, int columns, const CubatureSettings& settings,
                              const std::function<bool(int, double)>& progress = {});

}  // namespace supple
