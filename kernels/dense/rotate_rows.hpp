#pragma once
// Plane rotations of neighbouring rows, one after the other: what a QR factorisation does when a column leaves.

#include <cstddef>

#include "kernels/base/macros.hpp"

namespace supple {

struct PlaneRotation {
  double c, s;
};

// Rows k and k + 1 of T become (c t_k + s t_k+1, c t_k+1 - s t_k), for k = first ... first + count - 1 in this order.
// T: rows of `columns` entries. Index: a column.
struct RotateRowsOp {
  double* T;
  int columns, first, count;
  const PlaneRotation* rotations;

  SUPPLE_HD void operator()(int i) const {
    double* at = T + static_cast<std::size_t>(first) * static_cast<std::size_t>(columns) + i;
    double upper = *at;
    for (int k = 0; k < count; ++k, at += columns) {
      const double lower = at[columns];
      *at = rotations[k].c * upper + rotations[k].s * lower;
      upper = rotations[k].c * lower - rotations[k].s * upper;
    }
    *at = upper;
  }
};

}  // namespace supple
