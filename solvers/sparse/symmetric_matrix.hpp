#pragma once
// Symmetric sparse matrix: lower triangle in compressed columns, rows ascending in each column, the diagonal entry
// always present and first. column_start has n + 1 entries. Where unknowns come in blocks of `block` (the components of
// a node), blocks are whole: every column of a block has the same rows below it.

#include <vector>

namespace supple {

struct SymmetricPattern {
  int n = 0;
  int block = 1;  // divides n
  std::vector<int> column_start;
  std::vector<int> row;
  int nonzeros() const { return static_cast<int>(row.size()); }
};

/// y = A x with A given by the pattern and the values of its lower triangle. Serial, fixed order of additions.
void multiply(const SymmetricPattern& pattern, const double* values, const double* x, double* y);

/// Normwise backward error of x as a solution of A x = b: |A x - b| / (|A| |x| + |b|) in the largest norm (Higham,
/// Accuracy and Stability, theorem 7.1). Some roundings where the factor was sound, whatever the condition of A; NaN
/// where x is not a number.
double backward_error(const SymmetricPattern& pattern, const double* values, const double* x, const double* b);

}  // namespace supple
