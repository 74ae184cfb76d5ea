#pragma once
// Stiffness between mapped points, as springs and contacts bring it to the system of a reduced robot:
// A += L_i^T S L_j. Every row of A is one work item.

#include <cstddef>

#include "kernels/math/small.hpp"

namespace supple {

// L_i^T S L_j at two mapped points of one robot [N/m]. Where they differ the transpose comes as another entry; where
// not, S is symmetric.
struct PointStiffness {
  int robot = 0, i = 0, j = 0;
  Mat3d S;
};

// Row `a` of A [r x r row-major, lower triangle] += that of L_i^T S L_j; outputs: L [3 points][r].
template <class S>
SUPPLE_INLINE void add_point_stiffness_row(const PointStiffness& at, int r, const double* outputs, int a, S* row) {
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const double* right = outputs + static_cast<std::size_t>(3 * at.j + l) * static_cast<std::size_t>(r);
      const double left =
          at.S(k, l) *
          outputs[static_cast<std::size_t>(3 * at.i + k) * static_cast<std::size_t>(r) + static_cast<std::size_t>(a)];
      for (int b = 0; b <= a; ++b) row[b] += static_cast<S>(left * right[b]);
    }
}

// All entries of a batch, in their order. Index: robot * r + row.
template <class S>
struct PointStiffnessOp {
  int r;
  const double* outputs;
  const PointStiffness* entries;  // ascending robots
  const int* first;               // [robots + 1]: those of robot b are entries first[b] ... first[b + 1] - 1
  S* A;                           // [robot] r x r
  SUPPLE_HD void operator()(int k) const {
    const int robot = k / r, a = k % r;
    S* row = A + static_cast<std::size_t>(k) * static_cast<std::size_t>(r);
    for (int e = first[robot]; e < first[robot + 1]; ++e) add_point_stiffness_row(entries[e], r, outputs, a, row);
  }
};

}  // namespace supple
