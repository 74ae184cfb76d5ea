#pragma once
// Small dense convex quadratic programs (n <= 64 unknowns, m <= 512 rows):
//   min 1/2 x^T P x + g^T x   subject to   lower <= x <= upper,   row_lower <= C x <= row_upper.
// P is symmetric positive semidefinite (zero, rank deficient and badly conditioned allowed). Ends may be infinite,
// equal ends are an equality. With multipliers z of the bounds and y of the rows the answer satisfies
//   P x + g + z + C^T y = 0,   y_k > 0 only at row_upper_k,   y_k < 0 only at row_lower_k   (z likewise).
// Inverse control: x tensions or pressures, P = W_ea^T W_ea, rows the actuators' displacements; units may be mixed,
// unknowns and rows are scaled inside. Method and guarantees: docs/theory/qp.md.

#include <cstddef>
#include <span>
#include <vector>

namespace supple {

constexpr int max_qp_unknowns = 64;
constexpr int max_qp_rows = 512;

enum class QpStatus {
  solved,
  infeasible,       // QpWorkspace::conflicts() proves it
  unbounded,        // QpWorkspace::direction() leads down for ever
  iteration_limit,  // or the tolerance is out of reach; x is the best point known
  not_convex,       // P has a clearly negative eigenvalue
  not_finite        // NaN or infinity in the data, lower = +infinity or upper = -infinity
};

/// The limit at which a constraint is held.
enum class QpSide : signed char { lower = -1, none = 0, upper = 1 };

/// Views of the data. P: n x n row-major, only the lower triangle is read. C: m x n row-major. Empty bounds or row
/// limits: none. centre (n, empty: the origin) matters only where the minimiser is not unique: the one nearest to the
/// centre is given, distances measured in x_i P_ii^1/2, up to about 1e-6 of the distance.
struct QpProblem {
  int n = 0, m = 0;
  std::span<const double> P, g, lower, upper, C, row_lower, row_upper, centre;
};

/// The solution. active (n bounds, then m rows): in = the constraints to start from (none: cold; any content is
/// allowed), out = those active at the solution. Spans other than x may be empty: not returned, and a cold start
/// without `active`.
struct QpSolution {
  std::span<double> x, bound_multipliers, row_multipliers;
  std::span<QpSide> active;
};

struct QpSettings {
  int max_iterations = 1000;  // changes of the active set and steps, all stages together
  double tolerance = 1e-9;    // on each of the residuals below
};

/// Residuals are relative and without units. Unknowns are scaled by d_i (P_ii^-1/2 where P_ii > 0), rows by
///   r_k = 1 / |C_k diag(d)|;
/// maxima run over all unknowns and constraints.
struct [[nodiscard]] QpReport {
  QpStatus status = QpStatus::solved;
  int iterations = 0;
  double objective = 0;        // 1/2 x^T P x + g^T x, of the x given back
  double stationarity = 0;     // max d |P x + g + z + C^T y| / max d (|P||x| + |g| + |z| + |C|^T|y|)
  double primal = 0;           // max r (violation of the limits) / (max |x / d| + r |limit|)
  double complementarity = 0;  // max |y_k / r_k| / max d (...) times r |C_k x - limit| / (max |x / d| + r |limit|)
  double dual_sign = 0;        // max |y_k / r_k| of a wrong sign / max d (...); wrong signs are given back as 0
};

/// One limit of a proof of infeasibility. constraint: i < n is the bound of x_i, n + k is row k. With weights w > 0 and
/// normals a (unit vectors and rows of C) the limits are infeasible together:
///   sum_upper w a - sum_lower w a = 0   and   sum_upper w limit - sum_lower w limit = -1.
/// No limit can be left out: the others have a common point. A pair lower > upper is reported as its two sides.
struct QpConflict {
  int constraint;
  QpSide side;
  double weight;
};

namespace qp {
struct QpMemory {
  std::size_t conflicts_used = 0, direction_used = 0;
  std::vector<double> numbers, direction;
  std::vector<int> indices;
  std::vector<QpSide> sides;
  std::vector<QpConflict> conflicts;
};
}  // namespace qp

/// Memory for problems up to a size; solving allocates nothing. One per thread.
class QpWorkspace {
 public:
  QpWorkspace(int max_unknowns, int max_rows);
  int max_unknowns() const { return max_unknowns_; }
  int max_rows() const { return max_rows_; }
  /// Of the last solve: the proof of `infeasible`, the ray of `unbounded` (n, largest |entry| 1 in scaled unknowns:
  /// P d = 0, g^T d < 0, and no limit is met along it).
  std::span<const QpConflict> conflicts() const { return std::span(memory_.conflicts).first(memory_.conflicts_used); }
  std::span<const double> direction() const { return std::span(memory_.direction).first(memory_.direction_used); }

 private:
  friend QpReport solve_qp(const QpProblem&, const QpSolution&, QpWorkspace&, const QpSettings&);
  int max_unknowns_, max_rows_;
  qp::QpMemory memory_;
};

/// Deterministic. Where the status is neither `solved` nor `iteration_limit`, x and the multipliers are 0 and `active`
/// is left as it was.
QpReport solve_qp(const QpProblem& problem, const QpSolution& solution, QpWorkspace& workspace,
                  const QpSettings& settings = {});

}  // namespace supple
