#pragma once
// Direct solution of A x = b for symmetric sparse A: one analysis per pattern, many factorisations, many right-hand
// sides. Orderings are METIS's. Matrices are factored by our multifrontal method without pivoting; those that it
// does not support by MUMPS (sequential) where it is built in, else by Eigen's simplicial LDLt.

#include <memory>
#include <string>
#include <vector>

#include "solvers/sparse/symmetric_matrix.hpp"

namespace supple {

enum class Definiteness {
  positive,    // Cholesky-like, fails on a non-positive pivot
  indefinite,  // may be; negative pivots are counted
};

enum class FactorStatus { ok, singular, not_positive, out_of_memory };

struct [[nodiscard]] FactorReport {
  FactorStatus status = FactorStatus::ok;
  int negative_pivots = 0;  // inertia: number of negative eigenvalues of A
  double factor_nonzeros = 0;
};

/// Columns of a sparse n x count matrix.
struct SparseColumns {
  std::vector<int> start = {0}, row;
  std::vector<double> value;
  int count() const { return static_cast<int>(start.size()) - 1; }
};

/// Not thread-safe: use from one thread at a time (sequential MUMPS allows one per process).
class SparseDirect {
 public:
  virtual ~SparseDirect() = default;
  /// Symbolic analysis. The pattern is copied. Call once per pattern and kind of matrix.
  virtual void analyse(const SymmetricPattern& pattern, Definiteness kind) = 0;
  /// Numerical factorisation of the lower triangle `values`, ordered as the pattern.
  virtual FactorReport factor(const double* values) = 0;
  /// Solves for `count` right-hand sides in place, column-major with leading dimension n. Needs a successful factor().
  virtual void solve(double* x, int count = 1) = 0;
  /// For few sparse columns B that arrive in chunks, the first of them with `begin`: products [new x all] = B_new^T
  /// A^-1 B_all, row-major, in about the time of half of a solve where the factor is touched. False: not supported by
  /// the solver that factored A.
  virtual bool multiply_inverse(const SparseColumns& columns, bool begin, double* products) = 0;
  virtual std::string name() const = 0;
};

/// backend: "auto" or "cholesky" (Cholesky, with a fallback to a solver with pivoting), "mumps", "eigen", "cudss" (LDLt
/// on the first GPU, which also stores its factors). Throws CapabilityError for one that is not built in or has no GPU,
/// InputError for an unknown one.
std::unique_ptr<SparseDirect> make_sparse_direct(const std::string& backend = "auto");

}  // namespace supple
