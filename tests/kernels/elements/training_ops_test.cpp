// The ops of training data on every device against their definitions.

#include "kernels/elements/training_ops.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "tests/devices.hpp"

namespace supple {
namespace {

std::vector<double> random(int count) {
  static std::mt19937_64 generator(5);
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(static_cast<double>(generator() >> 11) * 0x1.0p-52 - 1);
  return values;
}

template <class T>
Array<T> on(const Device& device, const std::vector<T>& values) {
  return Array<T>(device, std::span<const T>(values));
}

// Sums of `terms` products of numbers below one.
void expect_near(const Array<double>& found, const std::vector<double>& expected, int terms) {
  std::vector<double> values(found.size());
  found.download(values);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t k = 0; k < values.size(); ++k)
    ASSERT_NEAR(values[k], expected[k], terms * std::numeric_limits<double>::epsilon()) << k;
}

class TrainingOps : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TrainingOps, test::every_device(), test::device_name);

TEST_P(TrainingOps, ForcesOfUnits) {
  for (const int points_per_unit : {1, 8}) {
    constexpr int states = 3, modes = 5, columns = 7;  // two columns more than modes: driven regions
    const int units = points_per_unit == 1 ? 45 : 9, points = units * points_per_unit, tiles = tile_count(points);
    const std::vector<double> G = random(tiles * columns * tile_rows), P = random(states * tiles * tile_rows);
    std::vector<double> expected;
    for (int u = 0; u < units; ++u)
      for (int s = 0; s < states; ++s)
        for (int j = 0; j < modes; ++j) {
          double sum = 0;
          for (int p = u * points_per_unit; p < (u + 1) * points_per_unit; ++p)
            for (int c = 0; c < 9; ++c)
              sum += G[static_cast<std::size_t>(((p / 32 * columns + j) * 9 + c) * 32 + p % 32)] *
                     P[static_cast<std::size_t>(((s * tiles + p / 32) * 9 + c) * 32 + p % 32)];
          expected.push_back(sum);
        }
    const Array<double> G_there = on(GetParam(), G), P_there = on(GetParam(), P);
    Array<double> out(GetParam(), expected.size());
    launch(GetParam(), states * units,
           UnitForceOp{states, modes, columns, units, points_per_unit, G_there.data(), P_there.data(), out.data()});
    expect_near(out, expected, 9 * points_per_unit);
  }
}

TEST_P(TrainingOps, RowsGoIntoASketch) {
  constexpr int rows = 6, sketch_rows = 4, block_columns = 5;
  const std::vector<double> block = random(rows * block_columns), before = random(3 * sketch_rows), factor = random(7);
  const std::vector<int> start{0, 2, 2, 6, 7}, source{5, 0, 1, 1, 3, 4, 2}, column{4, 0, 2};
  std::vector<double> expected = before;
  for (int c = 0; c < 3; ++c)
    for (int t = 0; t < sketch_rows; ++t)
      for (int e = start[static_cast<std::size_t>(t)]; e < start[static_cast<std::size_t>(t) + 1]; ++e)
        expected[static_cast<std::size_t>(c * sketch_rows + t)] +=
            factor[static_cast<std::size_t>(e)] *
            block[static_cast<std::size_t>(column[static_cast<std::size_t>(c)] * rows +
                                           source[static_cast<std::size_t>(e)])];
  const Array<int> starts = on(GetParam(), start), sources = on(GetParam(), source), columns = on(GetParam(), column);
  const Array<double> factors = on(GetParam(), factor), there = on(GetParam(), block);
  Array<double> out = on(GetParam(), before);
  launch(GetParam(), 3 * sketch_rows,
         SketchOp{rows, sketch_rows, starts.data(), sources.data(), factors.data(), columns.data(), there.data(),
                  out.data()});
  expect_near(out, expected, 5);
}

}  // namespace
}  // namespace supple
