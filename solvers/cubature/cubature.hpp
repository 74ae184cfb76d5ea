#pragma once
// Sparse non-negative least squares for hyper-reduction (Goury & Duriez 2018, eq. 21): choose few columns of G and
// weights xi >= 0 with
//   || G xi - y || <= tau || y ||,   y = G 1  unless another target is given.
// Columns are elements, rows are (training state, mode) pairs, best sketched first (sketch_rows.hpp). G is rows x
// columns, column-major, y has `rows` entries. Same bits for any number of threads.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/array/room.hpp"

namespace supple {

class DeviceColumns;  // device_scores.hpp

struct CubatureSettings {
  double tolerance = 0.02;  // tau
  int max_columns = 0;      // 0 = no limit
  bool prune = true;        // backward elimination after the selection, then re-grow; keeps the tolerance
  int regrow_rounds = 2;
  /// The selection continues to selection_fraction * tau before it is pruned back to tau: pruning from a tight set
  /// finds better domains.
  double selection_fraction = 1.0;
  /// G where the products with all of it are taken (device_columns()), for any number of selections from it; null:
  /// here. What is chosen is the same but for rounding.
  std::shared_ptr<DeviceColumns> columns = nullptr;
};

enum class CubatureStatus {
  converged,
  stalled,  // no column with a weight >= 0 lowers the residual any more: the non-negative optimum misses the tolerance
  column_limit,
  interrupted,
};

struct CubatureStep {  // one accepted selection: for the elements-against-residual curve
  int columns = 0;
  double relative_residual = 0;
};

struct [[nodiscard]] Cubature {
  CubatureStatus status = CubatureStatus::converged;
  std::vector<int> columns;      // ascending
  std::vector<double> weights;   // > 0, one per column
  double relative_residual = 0;  // recomputed from G, not from the recurrence
  std::vector<CubatureStep> history;
};

/// `progress(columns, residual)` is called per accepted or removed column and may return false to stop; what is
/// returned then is valid.
using CubatureProgress = std::function<bool(int, double)>;

/// Lawson-Hanson active set on the Gram matrix of the chosen columns in double precision; picks the largest g_i^T r. A
/// column that cycled out is not picked again at once. Per accepted column G is read once. An empty y means G 1.
Cubature select_lawson_hanson(std::span<const double> G, int rows, int columns, const CubatureSettings& settings,
                              const CubatureProgress& progress = {}, std::span<const double> y = {});

/// Non-negative orthogonal least squares: picks the column that lowers the residual most when all weights are fitted
/// again,
///   score_i = (g_i^T r)^2 / (||g_i||^2 - ||Q^T g_i||^2),  Q an orthonormal basis of the chosen columns.
/// Fewer columns than Lawson-Hanson. Keeps Q^T G: (chosen columns) x `columns` doubles. G is read once per accepted
/// column.
Cubature select_nn_ols(std::span<const double> G, int rows, int columns, const CubatureSettings& settings,
                       const CubatureProgress& progress = {}, std::span<const double> y = {});

/// Backward elimination of any selection: remove argmin w_i^2 / (H^-1)_ii with H the Gram matrix of the columns kept,
/// fit again, until the tolerance would be exceeded; then `regrow_rounds` times add some columns by the score above and
/// prune again, as long as that leaves fewer. A selection that misses the tolerance is first grown until it is met.
Cubature prune_and_regrow(std::span<const double> G, int rows, int columns, std::span<const double> y,
                          const Cubature& start, const CubatureSettings& settings,
                          const CubatureProgress& progress = {});

/// Non-negative least-squares weights of the columns that are there, from `start` (one weight > 0 per column); columns
/// whose weight comes out as zero are left out.
Cubature refit_weights(std::span<const double> G, int rows, int columns, std::span<const double> y,
                       std::span<const double> start);

/// G on a device, whole or in chunks of columns, with room kept for the score of select_lawson_hanson without pruning,
/// or of all these selections. Throws CapabilityError where there is none. G must outlive it.
enum class DeviceSelections { lawson_hanson, all };
std::shared_ptr<DeviceColumns> device_columns(const DeviceRoom& room, std::span<const double> G, int rows, int columns,
                                              DeviceSelections selections);

/// G 1, summed in ascending order.
std::vector<double> column_sum(std::span<const double> G, int rows, int columns);

}  // namespace supple
