#pragma once
// Multifrontal factorisation A = L S L^T of a sparse symmetric matrix, without pivoting, on one core (Duff & Reid 1983;
// Liu 1992): supernode by supernode, children first, a dense front is assembled from entries of A and from what the
// children left, its own columns are eliminated (front.hpp), and the rest is left for the parent. L is lower triangular
// with a positive diagonal, S diagonal with entries 1 and -1: as many -1 as A has negative eigenvalues (Sylvester). Of a
// positive definite matrix it is Cholesky's factorisation, to the last bit.
//
// Without pivoting, an indefinite matrix may lose digits. By how many is known: the error of the factors is some units
// of rounding of |L| |L|^T (Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem 11.3), whose diagonal is
// A's and twice the squares of L's entries in columns with S = -1. One such square above sparse_most_growth times |A|'s
// diagonal entry of its row ends the factorisation. A stiffness that is negative for a few motions of the whole body
// meets them in its last fronts, where hardly anything grows: squares of at most 0.3 of the diagonal on the diamond
// with 61,652 tetrahedra, whose gravity and cables make nearly all of its tangents indefinite. Where the matrix is nearly
// singular as well (sparse_nearly_singular), digits are scarce, and it is left to pivoting too.
//
// Bits depend on the matrix and the width of a register alone.

#include <cstddef>
#include <memory>
#include <vector>

#include "solvers/sparse/assembly_tree.hpp"
#include "solvers/sparse/direct.hpp"
#include "solvers/sparse/front.hpp"
#include "solvers/sparse/pivot_status.hpp"

namespace supple {

class MultifrontalCholesky {
 public:
  /// Symbolic analysis; the pattern is copied.
  void analyse(const SymmetricPattern& pattern);
  /// Uses an analysis that is shared with others.
  void analyse(std::shared_ptr<const AssemblyTree> tree);
  /// Lower triangle ordered as the pattern. The first call allocates (std::bad_alloc). Vanished: a pivot fell below
  /// `smallest_pivot` of its diagonal entry. Negative: one is, of a matrix that is to be positive, or an
  /// indefinite one is nearly singular or its factors grow too much.
  PivotStatus factor(const double* values, double smallest_pivot, Definiteness kind = Definiteness::positive);
  /// Of the last matrix that was factored: how many eigenvalues are negative.
  int negative_pivots() const { return static_cast<int>(negative_.size()); }
  /// A X = B in place, column-major [n x count]. Needs a factor.
  void solve(double* x, int count);
  /// See SparseDirect; L^-1 B is kept in panels of frontal::W columns, and computed only in supernodes that B reaches.
  void multiply_inverse(const SparseColumns& columns, bool begin, double* products);
  /// Entries of L, zeros of merged columns among them.
  double factor_nonzeros() const;

 private:
  // Rows below a supernode that are neighbours in its parent's front too, in blocks.
  struct Run {
    int row, parent_row, rows;
  };

  // L^-1 B for up to W columns: [n][W], zero but in the supernodes reached.
  struct Panel {
    std::vector<double> rows;
    std::vector<unsigned char> reached;  // [supernodes]
    std::vector<int> column;             // numbers of its columns among all
  };

  frontal::Front front(int s);
  frontal::Front shape(int s) const;  // without its factor
  void find_runs();
  void allocate();
  void assemble(const frontal::Front& front, int s, const double* values);
  void extend_add(int child, int begin, int end, double* target, std::size_t target_ld, int skipped) const;
  bool grows(const frontal::Front& front, int s) const;
  void gather(int s, const std::vector<double>& right);
  void scatter(int s, std::vector<double>& right) const;
  void substitute(Panel& panel, const SparseColumns& columns, int first_column);

  std::shared_ptr<const AssemblyTree> tree_;
  std::vector<Run> runs_;
  std::vector<int> run_start_;
  std::vector<std::ptrdiff_t> factor_start_;
  UpdatePlaces updates_;
  std::vector<double> factor_, columns_;
  std::vector<double> right_, local_;  // [n][frontal::W] right-hand sides, and those of one front
  std::vector<Panel> panels_;
  int panels_used_ = 0, panel_columns_ = 0;
  std::vector<int> supernode_;     // [blocks in the order of elimination]
  std::vector<double> diagonal_;   // [n] of A, in the order of elimination
  std::vector<double> signs_;      // [n] S
  std::vector<int> negative_;      // columns with S = -1, ascending
  std::vector<double> update_[2];  // places: updates_
};

}  // namespace supple
