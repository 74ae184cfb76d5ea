#pragma once
// Matrices of grids of nodes for the tests of batched factorisations.

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "solvers/sparse/batch_plan.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple::test {

// Nodes of a grid coupled to their neighbours, 3 x 3 blocks.
inline SymmetricPattern grid_pattern(int nx, int ny, int nz) {
  std::vector<std::set<int>> below(static_cast<std::size_t>(nx * ny * nz));
  const auto number = [&](int x, int y, int z) { return (z * ny + y) * nx + x; };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x)
        for (int d = 1; d < 8; ++d) {
          const int X = x + d % 2, Y = y + d / 2 % 2, Z = z + d / 4;
          if (X < nx && Y < ny && Z < nz) below[number(x, y, z)].insert(number(X, Y, Z));
        }
  SymmetricPattern pattern;
  pattern.n = 3 * nx * ny * nz;
  pattern.block = 3;
  pattern.column_start = {0};
  for (int j = 0; j < nx * ny * nz; ++j)
    for (int c = 0; c < 3; ++c) {
      for (int r = c; r < 3; ++r) pattern.row.push_back(3 * j + r);
      for (int i : below[static_cast<std::size_t>(j)])
        for (int r = 0; r < 3; ++r) pattern.row.push_back(3 * i + r);
      pattern.column_start.push_back(pattern.nonzeros());
    }
  return pattern;
}

// Random entries, and diagonals that outweigh them.
inline std::vector<double> positive_values(const SymmetricPattern& pattern, int robots) {
  std::vector<double> values;
  Random random(7);
  for (int b = 0; b < robots; ++b)
    for (int j = 0; j < pattern.n; ++j)
      for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k)
        values.push_back(pattern.row[k] == j ? random.uniform(16, 20) : random.uniform());
  return values;
}

inline std::shared_ptr<const AssemblyTree> analysed(const SymmetricPattern& pattern) {
  return std::make_shared<const AssemblyTree>(assembly_tree(pattern));
}

// As a GPU runs it, one robot after another, in groups of 32.
inline const BatchForm as_on_a_gpu{FrontOrder::by_levels, 32, false};

}  // namespace supple::test
