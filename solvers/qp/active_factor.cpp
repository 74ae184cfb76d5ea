#include "solvers/qp/active_factor.hpp"

#include <algorithm>
#include <cmath>

namespace supple::qp {

bool ActiveFactor::start(double* A, double shift, double largest_inverse) {
  // Elimination on [A | I] leaves [L^T | L^-1] for A = L L^T; the rows of L^-1 are the columns of J = L^-T.
  start_identity();
  for (int k = 0; k < n; ++k) A[k * ld + k] += shift;
  for (int k = 0; k < n; ++k) {
    double *a = A + k * ld, *j = J + k * ld;
    if (!(a[k] * largest_inverse > 1)) return false;
    const double scale = 1 / std::sqrt(a[k]);
    for (int c = 0; c < ld; ++c) a[c] *= scale, j[c] *= scale;
    for (int i = k + 1; i < n; ++i) {
      const double factor = a[i];
      add_scaled(A + i * ld, -factor, a, ld);
      add_scaled(J + i * ld, -factor, j, ld);
    }
  }
  return dot(J, J, n * ld) <= n * largest_inverse;
}

void ActiveFactor::start_identity() {
  size = 0;
  std::fill(J, J + n * ld, 0.0);
  for (int j = 0; j < n; ++j) J[j * ld + j] = 1;
}

void ActiveFactor::project(const ScaledQp& qp, int k, double* d) const {
  if (k < n) {
    for (int j = 0; j < n; ++j) d[j] = J[j * ld + k];
  } else {
    const double* a = qp.row_of(k);
    for (int j = 0; j < n; ++j) d[j] = dot(J + j * ld, a, ld);
  }
}

double ActiveFactor::square(const double* d, int begin, int end) const {
  double sum = 0;
  for (int j = begin; j < end; ++j) sum += d[j] * d[j];
  return sum;
}

void ActiveFactor::add(int k, const double* d) {
  double* r = R + size * ld;
  std::copy(d, d + size, r);
  constraint[size] = k;
  r[size] = d[size];
  if (size + 1 < n) {
    // v = d2 + sign |d2| e1, J2 (I - v v^T / (|d2| (|d2| + |d2_1|))) has J2^T a_k = -sign |d2| e1.
    const double norm = std::sqrt(square(d, size, n)), signed_norm = std::copysign(norm, d[size]);
    std::copy(d + size, d + n, v + size);
    v[size] += signed_norm;
    const double beta = 1 / (norm * (norm + std::abs(d[size])));
    std::fill(w, w + ld, 0.0);
    for (int j = size; j < n; ++j) add_scaled(w, v[j], J + j * ld, ld);
    for (int j = size; j < n; ++j) add_scaled(J + j * ld, -beta * v[j], w, ld);
    r[size] = -signed_norm;
  }
  ++size;
}

bool ActiveFactor::add_independent(const ScaledQp& qp, int k, double* d, double tolerance) {
  if (size == n) return false;
  project(qp, k, d);
  const double rest = square(d, size, n), all = rest + square(d, 0, size);
  if (!(rest > tolerance * tolerance * all)) return false;
  add(k, d);
  return true;
}

void ActiveFactor::drop(int position) {
  --size;
  for (int j = position; j < size; ++j) {
    std::copy(R + (j + 1) * ld, R + (j + 1) * ld + j + 2, R + j * ld);
    constraint[j] = constraint[j + 1];
  }
  for (int j = position; j < size; ++j) {
    double* r = R + j * ld;
    const double a = r[j], b = r[j + 1], length = std::sqrt(a * a + b * b);
    if (length == 0) continue;
    const double c = a / length, s = b / length;
    r[j] = length;
    for (int k = j + 1; k < size; ++k) {
      double* q = R + k * ld;
      const double upper = q[j], lower = q[j + 1];
      q[j] = c * upper + s * lower;
      q[j + 1] = c * lower - s * upper;
    }
    double *p = J + j * ld, *q = p + ld;
    for (int i = 0; i < ld; ++i) {
      const double first = p[i], second = q[i];
      p[i] = c * first + s * second;
      q[i] = c * second - s * first;
    }
  }
}

void ActiveFactor::solve(double* r) const {
  for (int j = size - 1; j >= 0; --j) {
    const double* column = R + j * ld;
    const double value = r[j] /= column[j];
    for (int i = 0; i < j; ++i) r[i] -= value * column[i];
  }
}

void ActiveFactor::solve_transposed(double* r) const {
  for (int j = 0; j < size; ++j) {
    const double* column = R + j * ld;
    double sum = r[j];
    for (int i = 0; i < j; ++i) sum -= column[i] * r[i];
    r[j] = sum / column[j];
  }
}

}  // namespace supple::qp
