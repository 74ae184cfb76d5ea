#include "engine/model/cavity.hpp"

#include <Eigen/Core>
#include <algorithm>

#include "kernels/array/aligned.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Triangles that are multiplied out at once: an inner dimension of 192.
constexpr std::size_t block_triangles = 64;

std::size_t pair_index(int i, int j) {  // i >= j
  return static_cast<std::size_t>(i) * (static_cast<std::size_t>(i) + 1) / 2 + static_cast<std::size_t>(j);
}

std::size_t triple_index(int i, int j, int k) {  // i >= j >= k
  const auto n = static_cast<std::size_t>(i);
  return n * (n + 1) * (n + 2) / 6 + pair_index(j, k);
}

}  // namespace

double cavity_volume(std::span<const double> corners, const Triangles& triangles, double* gradient) {
  if (gradient != nullptr) std::fill(gradient, gradient + corners.size(), 0.0);
  if (triangles.empty()) return 0;
  const auto at = [&](int i) {
    const double* x = corners.data() + 3 * static_cast<std::size_t>(i);
    return Vec3d{{x[0], x[1], x[2]}};
  };
  const Vec3d origin = at(triangles.front()[0]);
  double volume = 0;
  for (const auto& t : triangles) {
    const Vec3d x[3] = {at(t[0]) - origin, at(t[1]) - origin, at(t[2]) - origin};
    volume += dot(x[0], cross(x[1], x[2]));
    if (gradient == nullptr) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d g = (1.0 / 6) * cross(x[(k + 1) % 3], x[(k + 2) % 3]);
      for (int c = 0; c < 3; ++c) gradient[3 * t[k] + c] += g[c];
    }
  }
  return volume / 6;
}

std::size_t cubic_size(int unknowns) {
  return unknowns == 0 ? 0 : triple_index(unknowns - 1, unknowns - 1, unknowns - 1) + 1;
}

double volume_gained(const CavityShape& cavity, std::span<const double> points, std::span<double> gradient) {
  SUPPLE_EXPECT(gradient.empty() || gradient.size() == points.size());
  double* const g = gradient.empty() ? nullptr : gradient.data();
  if (cavity.volume.empty()) return cavity_volume(points, cavity.triangles, g) - cavity.rest_volume;
  if (g != nullptr) std::fill(g + cavity.volume.unknowns, g + gradient.size(), 0.0);
  return cavity.volume.evaluate(points.data(), g);
}

// What cubic_value (kernels/step/row_ops.hpp) finds, in loops as long as a pair of indices allows: of the pairs j >=
// k the products x_j x_k, and U_jk = q_jk + sum_i c_ijk x_i, by which the cubic coefficients are read once, from end to
// end.
double VolumePolynomial::evaluate(const double* x, double* gradient) const {
  thread_local AlignedVector<double> products, sums, unwanted;
  if (gradient == nullptr) {
    unwanted.resize(extent(unknowns));
    gradient = unwanted.data();
  }
  products.resize(quadratic.size());
  sums.assign(quadratic.begin(), quadratic.end());
  double *P = products.data(), *U = sums.data();
  for (int j = 0, p = 0; j < unknowns; ++j)
    for (int k = 0; k <= j; ++k, ++p) P[p] = x[j] * x[k];
  double value = 0;
  for (std::size_t p = 0; p < quadratic.size(); ++p) value += quadratic[p] * P[p];
  const double* c = cubic.data();
  for (int i = 0; i < unknowns; ++i) {
    const int pairs = (i + 1) * (i + 2) / 2;
    const double xi = x[i];
    double sum = 0;
    SUPPLE_SIMD_SUM(sum)
    for (int p = 0; p < pairs; ++p) {
      sum += c[p] * P[p];
      U[p] += xi * c[p];
    }
    c += pairs;
    gradient[i] = linear[extent(i)] + sum;
    value += gradient[i] * xi;
  }
  for (int j = 0; j < unknowns; U += ++j) {
    const double xj = x[j];
    double sum = 0;
    SUPPLE_SIMD_SUM(sum)
    for (int k = 0; k <= j; ++k) {
      sum += U[k] * x[k];
      gradient[k] += U[k] * xj;
    }
    gradient[j] += sum;
  }
  return value;
}

void VolumePolynomial::hessian(const double* x, double* out) const {
  std::fill(out, out + extent(unknowns, unknowns), 0.0);
  const auto add = [&](int a, int b, double value) {
    out[extent(a, unknowns) + extent(b)] += value;
    out[extent(b, unknowns) + extent(a)] += value;
  };
  const double *q = quadratic.data(), *c = cubic.data();
  for (int i = 0; i < unknowns; ++i)
    for (int j = 0; j <= i; ++j) {
      add(i, j, *q++);
      for (int k = 0; k <= j; ++k, ++c) {
        add(i, j, *c * x[k]);
        add(i, k, *c * x[j]);
        add(j, k, *c * x[i]);
      }
    }
}

VolumePolynomial volume_polynomial(std::span<const double> rest, std::span<const double> columns, int unknowns,
                                   const Triangles& triangles) {
  const auto n = static_cast<std::size_t>(unknowns), points = rest.size() / 3;
  SUPPLE_EXPECT(columns.size() == rest.size() * n && !triangles.empty());
  // Rest positions and columns from the mean of the corners: smaller numbers to cancel, the same polynomial.
  Matrix R = Eigen::Map<const Matrix>(rest.data(), static_cast<long>(points), 3);
  R.rowwise() -= R.colwise().mean().eval();
  Matrix L = Eigen::Map<const Matrix>(columns.data(), static_cast<long>(points), static_cast<long>(3 * n));
  L.rowwise() -= L.colwise().mean().eval();
  const auto rest_of = [&](int p) { return Vec3d{{R(p, 0), R(p, 1), R(p, 2)}}; };
  // L.row(p) = [x-components (n), y (n), z (n)] of corner p.
  const auto column = [&](int p, std::size_t i) {
    return Vec3d{{L(p, static_cast<long>(i)), L(p, static_cast<long>(n + i)), L(p, static_cast<long>(2 * n + i))}};
  };

  VolumePolynomial polynomial;
  polynomial.unknowns = unknowns;
  polynomial.linear.assign(n, 0.0);
  polynomial.quadratic.assign(n * (n + 1) / 2, 0.0);
  polynomial.cubic.assign(cubic_size(unknowns), 0.0);
  Matrix S = Matrix::Zero(static_cast<long>(n * n), static_cast<long>(n));  // sum_t (A_i x B_j) . C_k
  Matrix Q = Matrix::Zero(static_cast<long>(n), static_cast<long>(n));
  for (std::size_t first = 0; first < triangles.size(); first += block_triangles) {
    const std::size_t count = std::min(block_triangles, triangles.size() - first);
    Matrix D(static_cast<long>(n * n), static_cast<long>(3 * count)),
        C(static_cast<long>(3 * count), static_cast<long>(n));
    for (std::size_t t = 0; t < count; ++t) {
      const auto& corner = triangles[first + t];
      const Vec3d rests[3] = {rest_of(corner[0]), rest_of(corner[1]), rest_of(corner[2])};
      for (std::size_t i = 0; i < n; ++i) {
        const Vec3d A = column(corner[0], i), B = column(corner[1], i), third = column(corner[2], i);
        polynomial.linear[i] += (dot(A, cross(rests[1], rests[2])) + dot(B, cross(rests[2], rests[0])) +
                                 dot(third, cross(rests[0], rests[1]))) /
                                6;
        for (int c = 0; c < 3; ++c) C(static_cast<long>(3 * t) + c, static_cast<long>(i)) = third[c];
        for (std::size_t j = 0; j < n; ++j) {
          const Vec3d product = cross(A, column(corner[1], j));
          for (int c = 0; c < 3; ++c) D(static_cast<long>(i * n + j), static_cast<long>(3 * t) + c) = product[c];
          // det(A_i, B_j, c) + det(a, B_i, C_j) + det(A_j, b, C_i), each pair of corners once
          Q(static_cast<long>(i), static_cast<long>(j)) +=
              (dot(product, rests[2]) + dot(cross(B, column(corner[2], j)), rests[0]) +
               dot(cross(third, column(corner[0], j)), rests[1])) /
              6;
        }
      }
    }
    S.noalias() += D * C;
  }
  for (int i = 0; i < unknowns; ++i)
    for (int j = 0; j < unknowns; ++j) {
      polynomial.quadratic[pair_index(std::max(i, j), std::min(i, j))] += Q(i, j);
      for (int k = 0; k < unknowns; ++k) {
        std::array<int, 3> sorted{i, j, k};
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        polynomial.cubic[triple_index(sorted[0], sorted[1], sorted[2])] += S(i * unknowns + j, k) / 6;
      }
    }
  return polynomial;
}

}  // namespace supple
