#include "engine/reduction/more_states.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Paths visit neighbours one after the other, so that every second column spans the box too.
ColumnBlocks every_second(ColumnBlocks all) {
  std::vector<int> counts;
  for (const int count : all.counts) counts.push_back((count + 1) / 2);
  const std::size_t rows = extent(all.rows);
  return {all.rows, counts, [all = std::move(all), counts, rows](int k, std::vector<double>& storage) {
            std::vector<double> own;
            const std::span<const double> block = all.read(k, own);
            std::vector<double> kept(extent(counts[extent(k)]) * rows);
            for (std::size_t c = 0; c < extent(counts[extent(k)]); ++c)
              std::ranges::copy(block.subspan(2 * c * rows, rows), kept.begin() + static_cast<long>(c * rows));
            storage = std::move(kept);
            return std::span<const double>(storage);
          }};
}

}  // namespace

double error_of_more_states(const FullModel& full, const ColumnBlocks& displacements, const ReductionScene& recipe,
                            const ReferenceStates& unseen, double error, int doublings,
                            const std::optional<DeviceRoom>& device) {
  const SnapshotBasis half = snapshot_basis(full, every_second(displacements), recipe, {}, device);
  const double before = projection_error(half.vectors, half.modes, unseen);
  return before > error ? error * std::pow(error / before, doublings) : error;
}

}  // namespace supple
