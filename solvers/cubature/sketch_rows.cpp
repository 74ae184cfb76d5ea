#include "solvers/cubature/sketch_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {
namespace {

constexpr int copies = 8;  // of each row, a power of two: their scale is exact to a square root

// splitmix64 (S. Vigna): a random number for every counter.
std::uint64_t random_bits(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

RowSketch::RowSketch(int rows, int columns, int sketch_rows, std::uint64_t seed, std::vector<int> listed)
    : columns_(columns),
      rows_(std::min(rows, sketch_rows)),
      listed_(std::move(listed)),
      exact_(rows <= sketch_rows),
      seed_(seed) {
  SUPPLE_EXPECT(rows >= 0 && columns >= 0 && sketch_rows > 0);
  if (listed_.empty()) {
    listed_.resize(static_cast<std::size_t>(columns));
    std::iota(listed_.begin(), listed_.end(), 0);
  }
  matrix_.assign(extent(rows_) * listed_.size(), 0.0);
}

RowSketch::Places RowSketch::places(int first_row, int count) const {
  Places places{std::vector<int>(extent(count, copies)), std::vector<double>(extent(count, copies))};
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < copies; ++k) {
      const std::uint64_t bits = random_bits(seed_ * 0x2545f4914f6cdd1dULL + extent(first_row + i, copies) +
                                             static_cast<std::uint64_t>(k) + 1);
      const std::size_t at = extent(i, copies) + static_cast<std::size_t>(k);
      places.target[at] = static_cast<int>((bits >> 1) % static_cast<std::uint64_t>(rows_));
      places.factor[at] = (bits & 1 ? 1 : -1) / std::sqrt(static_cast<double>(copies));
    }
  return places;
}

RowSketch::Lists RowSketch::lists(int first_row, int count) const {
  SUPPLE_EXPECT(!exact_ || first_row + count <= rows_);
  Lists lists;
  lists.start.assign(extent(rows_ + 1), 0);
  const auto sort = [&](const std::vector<int>& target, const std::vector<double>& factor, int copies_of_row) {
    for (const int t : target) ++lists.start[extent(t + 1)];
    std::partial_sum(lists.start.begin(), lists.start.end(), lists.start.begin());
    std::vector<int> next(lists.start.begin(), lists.start.end() - 1);
    lists.source.resize(target.size());
    lists.factor.resize(target.size());
    for (std::size_t e = 0; e < target.size(); ++e) {
      const std::size_t at = extent(next[extent(target[e])]++);
      lists.source[at] = static_cast<int>(e) / copies_of_row;
      lists.factor[at] = factor[e];
    }
  };
  if (exact_) {
    std::vector<int> target(extent(count));
    std::iota(target.begin(), target.end(), first_row);
    sort(target, std::vector<double>(target.size(), 1.0), 1);
  } else {
    const Places to = places(first_row, count);
    sort(to.target, to.factor, copies);
  }
  return lists;
}

void RowSketch::add(std::span<const double> block, int first_row, int count) {
  SUPPLE_EXPECT(block.size() == extent(count, columns_) && (!exact_ || first_row + count <= rows_));
  const Places to = exact_ ? Places{} : places(first_row, count);
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < listed_.size(); ++c) {
    const double* in = block.data() + extent(listed_[c], count);
    double* out = matrix_.data() + c * extent(rows_);
    if (exact_) {
      std::copy_n(in, count, out + first_row);
      continue;
    }
    for (int i = 0; i < count; ++i)
      for (std::size_t k = extent(i, copies); k < extent(i + 1, copies); ++k) out[to.target[k]] += to.factor[k] * in[i];
  }
}

}  // namespace supple
