#pragma once
// Fewer rows with the same Gram matrix: R with || R x || = || G x || up to || (G - Q Q^T G) x ||, where R = Q^T G and Q
// has orthonormal columns. The target G 1 is in the span of Q, so || G xi - G 1 || is not lowered by more than that
// either.

#include <cstdint>
#include <span>
#include <vector>

namespace supple {

struct CompressedRows {
  int rows = 0;                // of R
  std::vector<double> matrix;  // R, rows x columns, column-major
  double relative_error = 0;  // || G - Q Q^T G ||_F / || G ||_F, from || G ||^2 - || R ||^2 (reliable above about 1e-7)
};

// G: rows x columns, column-major. tolerance bounds relative_error. tolerance 0: exact, the triangular factor of a QR
// decomposition where rows > columns, else G itself. tolerance > 0: randomised range finder (Halko, Martinsson & Tropp,
// SIAM Review 53, 2011, alg. 4.2, in blocks, sparse random signs), then the weakest directions are dropped. Needs about
// 3 min(rows, 2 rank) (rows + columns) doubles besides G. Deterministic for a given seed.
CompressedRows compress_rows(std::span<const double> G, int rows, int columns, double tolerance,
                             std::uint64_t seed = 1);

}  // namespace supple
