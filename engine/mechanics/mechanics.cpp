#include "engine/mechanics/mechanics.hpp"

#include <algorithm>
#include <vector>

#include "kernels/base/extent.hpp"

namespace supple {

double Mechanics::friction(int, int obstacle) const {
  return robot().obstacles[static_cast<std::size_t>(obstacle)].friction;
}

void Mechanics::add_transport(std::span<const double>, std::span<const double>, std::span<const double>,
                              std::span<double>) const {}

void Mechanics::row_compliance(int robot, const PointRows& rows, int known, std::span<double> C) {
  constexpr int columns_at_once = 48;
  const int nv = coordinates().nv, n = rows.rows();
  std::vector<double> X, columns, unit(extent(n), 0.0);
  for (int from = known; from < n; from += columns_at_once) {
    const int count = std::min(columns_at_once, n - from);
    X.assign(extent(count, nv), 0.0);
    for (int i = 0; i < count; ++i) {
      unit[extent(from + i)] = 1;
      add_row_forces(rows, unit, std::span(X).subspan(extent(i, nv), extent(nv)));
      unit[extent(from + i)] = 0;
    }
    solve_robot(robot, X, count);
    columns.resize(extent(count, n));
    multiply_rows(rows, X, count, columns);
    // Both halves of what is new are computed: C gets the one below its diagonal, twice.
    for (int i = 0; i < count; ++i)
      for (int j = 0; j <= from + i; ++j)
        C[extent(from + i, n) + extent(j)] = C[extent(j, n) + extent(from + i)] = columns[extent(i, n) + extent(j)];
  }
}

}  // namespace supple
