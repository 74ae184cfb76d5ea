#pragma once
// What training data of the hyper-reduction need beside batch_ops.hpp, point_ops.hpp and matrix products. States take
// the place of robots: F and P are [state][tile][component][lane].

#include "kernels/elements/tiles.hpp"

namespace supple {

// Generalised force of each unit (an element, or a point of one) in each state: out is column-major, a column of
// states x modes numbers for each unit,
//   out[unit][state][mode] = sum over the unit's points of G_p^T P_p,  points and components in order.
// Index: state * units + unit.
struct UnitForceOp {
  int states, modes, columns, units, points_per_unit;
  const double* G;  // [tile][columns][component][lane], the modes first
  const double* P;
  double* out;

  SUPPLE_HD void operator()(int k) const {
    const int state = k / units, unit = k % units, tiles = tile_count(units * points_per_unit);
    const std::size_t tile_length = static_cast<std::size_t>(columns) * tile_rows;
    const double* stress = P + static_cast<std::size_t>(state) * static_cast<std::size_t>(tiles) * tile_rows;
    double* force =
        out + (static_cast<std::size_t>(unit) * static_cast<std::size_t>(states) + static_cast<std::size_t>(state)) *
                  static_cast<std::size_t>(modes);
    for (int j = 0; j < modes; ++j) {
      double total = 0;
      for (int q = 0; q < points_per_unit; ++q) {
        const int point = unit * points_per_unit + q, lane = point % tile_size;
        const std::size_t tile = static_cast<std::size_t>(point / tile_size);
        const double* g = G + tile * tile_length + static_cast<std::size_t>(j) * tile_rows + lane;
        const double* p = stress + tile * tile_rows + lane;
        double sum = 0;
        for (int c = 0; c < gradient_components; ++c) sum += g[c * tile_size] * p[c * tile_size];
        total += sum;
      }
      force[j] = total;
    }
  }
};

// Rows of a block added to those of a sketch (solvers/cubature/sketch_rows.hpp), gathered: row t takes the entries
// [start[t], start[t + 1]) in their order. Index: column of the sketch * its rows + t.
struct SketchOp {
  int rows, sketch_rows;
  const int* start;      // [sketch_rows + 1]
  const int* source;     // rows of the block
  const double* factor;  // with which they are added
  const int* column;     // of the block, for each of the sketch
  const double* block;   // column-major, `rows` long
  double* out;           // column-major, `sketch_rows` long

  SUPPLE_HD void operator()(int k) const {
    const int t = k % sketch_rows;
    const double* in = block + static_cast<std::size_t>(column[k / sketch_rows]) * static_cast<std::size_t>(rows);
    double sum = out[k];
    for (int e = start[t]; e < start[t + 1]; ++e) sum += factor[e] * in[source[e]];
    out[k] = sum;
  }
};

}  // namespace supple
