#include "engine/mechanics/reduced/strain_forces.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/extent.hpp"
#include "kernels/elements/reduced_tile.hpp"

namespace supple {

namespace {

constexpr int lanes = Lanes<double, SingleTeam>::width;

int padded_modes(int count) {
  return (count + lanes - 1) / lanes * lanes;
}

}  // namespace

void StrainScratch::reserve(int most, int n) {
  s.assign(extent(most), 0.0);
  W.assign(extent(most, n), 0.0);
  columns.assign(extent(rank_rows(n), padded_modes(most)), 0.0);
}

void evaluate_strains(const StrainModes& modes, int n, const double* x, StrainScratch& scratch) {
  const double* q = modes.quadratic.data();
  for (int k = 0; k < modes.count; ++k) {
    const double* L = modes.linear.data() + extent(k, n);
    double* w = scratch.W.data() + extent(k, n);
    double s = 0;
    for (int i = 0; i < n; q += ++i) {
      const double xi = x[i];
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < i; ++j) {
        sum += q[j] * x[j];
        w[j] += q[j] * xi;
      }
      w[i] = L[i] + sum + q[i] * xi;
    }
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < n; ++i) s += x[i] * (L[i] + w[i]);
    scratch.s[extent(k)] = 0.5 * s;
  }
}

double strain_energy(const StrainModes& modes, double scale, const StrainScratch& scratch) {
  double sum = 0;
  for (int k = 0; k < modes.count; ++k) sum += scratch.s[extent(k)] * scratch.s[extent(k)];
  return 0.5 * scale * sum;
}

void add_strain_forces(const StrainModes& modes, int n, int r, double scale, const StrainScratch& scratch, double* f,
                       double* magnitude) {
  for (int k = 0; k < modes.count; ++k) {
    const double* w = scratch.W.data() + extent(k, n);
    const double s = scale * scratch.s[extent(k)];
#pragma omp simd
    for (int i = 0; i < r; ++i) {
      f[i] += w[i] * s;
      magnitude[i] += std::abs(w[i] * s);
    }
  }
}

void add_strain_stiffness(const StrainModes& modes, int n, double scale, StrainScratch& scratch, double* sums,
                          double* geometric) {
  const int length = padded_modes(modes.count);
  const double root = std::sqrt(scale);
  double* columns = scratch.columns.data();
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < modes.count; ++k)
      columns[extent(i, length) + extent(k)] = root * scratch.W[extent(k, n) + extent(i)];
    for (int k = modes.count; k < length; ++k) columns[extent(i, length) + extent(k)] = 0;
  }
  tile_rank_update(SingleTeam{}, n, RankRows{.stride = length, .lanes = length}, columns, columns, sums);
  constexpr int block = 64;  // stays in registers while the modes go by
  const int pairs = n * (n + 1) / 2;
  for (int first = 0; first < pairs; first += block) {
    const int count = std::min(block, pairs - first);
    double sum[block] = {};
    for (int k = 0; k < modes.count; ++k) {
      const double* q = modes.quadratic.data() + extent(k, pairs) + extent(first);
      const double s = scale * scratch.s[extent(k)];
      if (count == block) {
#pragma omp simd
        for (int p = 0; p < block; ++p) sum[p] += s * q[p];
      } else {
        for (int p = 0; p < count; ++p) sum[p] += s * q[p];
      }
    }
    for (int p = 0; p < count; ++p) geometric[first + p] += sum[p];
  }
}

}  // namespace supple
