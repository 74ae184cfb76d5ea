#include "engine/mechanics/reduced/strain_forces.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "kernels/base/extent.hpp"
#include "kernels/math/lanes.hpp"

namespace supple {

namespace {

using V = Lanes<double, SingleTeam>::type;
constexpr int width = Lanes<double, SingleTeam>::width;
constexpr int group = 4;                                  // modes at a time: their Q stay in the first cache
constexpr int breadth = SUPPLE_SIMD_BYTES == 64 ? 4 : 2;  // vectors of W of each of them in registers

SUPPLE_INLINE V load(const double* from) {
  return *reinterpret_cast<const V*>(from);
}
// One instruction; g++ 12 makes five of the general form.
SUPPLE_INLINE V load(const float* from) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX__)
  return _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
  typedef float Single __attribute__((vector_size(sizeof(float) * width), aligned(sizeof(float)), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Single*>(from), V);
#endif
}
SUPPLE_INLINE void store(double* to, const V& v) {
  *reinterpret_cast<V*>(to) = v;
}

int padded(int count, int unit) {
  return (count + unit - 1) / unit * unit;
}

// `vectors` vectors of W = L + Q x from column `at`, of a group of modes.
template <int vectors, class S>
SUPPLE_INLINE void rates(int n, int row, const double* x, const double* L, const S* Q, int at, double* W) {
  const std::size_t square = extent(n, row);
  V sum[group][vectors];
  SUPPLE_UNROLL for (int k = 0; k < group; ++k) SUPPLE_UNROLL for (int v = 0; v < vectors; ++v) sum[k][v] =
      load(L + extent(k, row) + at + v * width);
  for (int j = 0; j < n; ++j) {
    const double xj = x[j];
    const S* q = Q + extent(j, row) + at;
    SUPPLE_UNROLL for (int k = 0; k < group; ++k) SUPPLE_UNROLL for (int v = 0; v < vectors; ++v) sum[k][v] +=
        xj * load(q + extent(k) * square + v * width);
  }
  SUPPLE_UNROLL for (int k = 0; k < group; ++k) SUPPLE_UNROLL for (int v = 0; v < vectors; ++v)
      store(W + extent(k, row) + at + v * width, sum[k][v]);
}

}  // namespace

int StrainForces::row(int n) {
  return padded(n, width);
}

StrainForces::StrainForces(const StrainModes& modes, int n)
    : n_(n), row_(row(n)), count_(modes.count), padded_(padded(modes.count, group)) {
  linear_.assign(extent(padded_, row_), 0.0);
  const bool single =
      std::ranges::all_of(modes.quadratic, [](double q) { return static_cast<double>(static_cast<float>(q)) == q; });
  if (single)
    single_.assign(extent(padded_, n, row_), 0.0F);
  else
    quadratic_.assign(extent(padded_, n, row_), 0.0);
  const double* q = modes.quadratic.data();
  for (int k = 0; k < count_; ++k) {
    std::copy_n(modes.linear.data() + extent(k, n), n, linear_.data() + extent(k, row_));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j, ++q)
        for (const std::size_t at :
             {extent(k, n, row_) + extent(i, row_) + extent(j), extent(k, n, row_) + extent(j, row_) + extent(i)}) {
          if (single)
            single_[at] = static_cast<float>(*q);
          else
            quadratic_[at] = *q;
        }
  }
}

void StrainForces::reserve(StrainScratch& scratch) const {
  const auto at_least = [](AlignedVector<double>& values, std::size_t size) {
    if (values.size() < size) values.resize(size, 0.0);
  };
  at_least(scratch.W, extent(padded_, row_));
  at_least(scratch.s, extent(padded_));
  for (AlignedVector<double>* values : {&scratch.x, &scratch.f, &scratch.magnitude}) at_least(*values, extent(row_));
  at_least(scratch.K, extent(n_, row_));
}

void StrainForces::evaluate(const double* x, double e, Tangent tangent, StrainScratch& scratch) const {
  std::copy_n(x, n_, scratch.x.begin());
  if (single_.empty())
    evaluate_with(quadratic_.data(), e, tangent, scratch);
  else
    evaluate_with(single_.data(), e, tangent, scratch);
}

template <class S>
void StrainForces::evaluate_with(const S* Q, double e, Tangent tangent, StrainScratch& scratch) const {
  const int n = n_, row = row_, modes = padded_;
  const std::size_t square = extent(n, row);
  const double* const x = scratch.x.data();
  double *const f = scratch.f.data(), *const magnitude = scratch.magnitude.data(), *const K = scratch.K.data();
  for (int first = 0; first < modes; first += group, Q += group * square) {
    const double* L = linear_.data() + extent(first, row);
    double *const W = scratch.W.data() + extent(first, row), *const s = scratch.s.data() + first;
    int at = 0;
    for (; at + breadth * width <= row; at += breadth * width) rates<breadth>(n, row, x, L, Q, at, W);
    for (; at < row; at += width) rates<1>(n, row, x, L, Q, at, W);
    double stress[group];  // e s
    for (int k = 0; k < group; ++k) {
      V sum = V{};
      for (int v = 0; v < row; v += width)
        sum += load(x + v) * (load(L + extent(k, row) + v) + load(W + extent(k, row) + v));
      s[k] = 0.5 * lane_sum<double>(sum);
      stress[k] = e * s[k];
    }
    for (int v = 0; v < row; v += width) {
      V sum = load(f + v), size = load(magnitude + v);
      SUPPLE_UNROLL for (int k = 0; k < group; ++k) {
        const V part = stress[k] * load(W + extent(k, row) + v);
        sum += part;
        size += part < 0.0 ? -part : part;
      }
      store(f + v, sum);
      store(magnitude + v, size);
    }
    if (tangent == Tangent::none) continue;
    const bool adds = first > 0 || tangent == Tangent::add;
    // Columns outside: W stays in registers, and the rows below are one long loop.
    for (int v = 0; v < n; v += width) {
      V w[group];
      SUPPLE_UNROLL for (int k = 0; k < group; ++k) w[k] = e * load(W + extent(k, row) + v);
      const S* q = Q + extent(v, row) + v;
      double* to = K + extent(v, row) + v;
      for (int i = v; i < n; ++i, q += row, to += row) {
        V sum = adds ? load(to) : V{}, second = V{};
        SUPPLE_UNROLL for (int k = 0; k < group; ++k) {
          sum += W[extent(k, row) + extent(i)] * w[k];
          second += stress[k] * load(q + extent(k) * square);
        }
        store(to, sum + second);
      }
    }
  }
}

double StrainForces::pull_back(const double* x, const double* z, const double* w, double e, double factor, double share,
                               StrainScratch& scratch, double* out) const {
  return single_.empty() ? pull_back_with(quadratic_.data(), x, z, w, e, factor, share, scratch, out)
                         : pull_back_with(single_.data(), x, z, w, e, factor, share, scratch, out);
}

// With W_k = L_k + Q_k x, b_k = Q_k z, c_k = Q_k w and the products a = W_k z, d = W_k w, g = b_k w:
//   J^T w = e sum_k (d W_k + s_k c_k + factor (d b_k + a c_k + share g W_k)).
// Q is read once for all three.
template <class S>
double StrainForces::pull_back_with(const S* Q, const double* x, const double* z, const double* w, double e,
                                    double factor, double share, StrainScratch& scratch, double* out) const {
  const int row = row_;
  scratch.products.assign(extent(4, row), 0.0);
  double *const W = scratch.products.data(), *const b = W + row, *const c = b + row, *const sum = c + row;
  std::copy_n(x, n_, scratch.x.begin());
  double work = 0;
  for (int k = 0; k < count_; ++k, Q += extent(n_, row)) {
    const double* L = linear_.data() + extent(k, row);
    constexpr int vectors = breadth;
    const auto rows = [&]<int count>(std::integral_constant<int, count>, int at) {
      V of_x[count], of_z[count], of_w[count];
      SUPPLE_UNROLL for (int v = 0; v < count; ++v) {
        of_x[v] = load(L + at + v * width);
        of_z[v] = of_w[v] = V{};
      }
      for (int j = 0; j < n_; ++j) {
        const S* q = Q + extent(j, row) + at;
        SUPPLE_UNROLL for (int v = 0; v < count; ++v) {
          const V value = load(q + v * width);
          of_x[v] += x[j] * value;
          of_z[v] += z[j] * value;
          of_w[v] += w[j] * value;
        }
      }
      SUPPLE_UNROLL for (int v = 0; v < count; ++v) {
        store(W + at + v * width, of_x[v]);
        store(b + at + v * width, of_z[v]);
        store(c + at + v * width, of_w[v]);
      }
    };
    int at = 0;
    for (; at + vectors * width <= row; at += vectors * width) rows(std::integral_constant<int, vectors>{}, at);
    for (; at < row; at += width) rows(std::integral_constant<int, 1>{}, at);
    double s = 0, a = 0, d = 0, g = 0;
#pragma omp simd reduction(+ : s, a, d, g)
    for (int i = 0; i < n_; ++i) {
      s += x[i] * (L[i] + W[i]);
      a += W[i] * z[i];
      d += W[i] * w[i];
      g += b[i] * w[i];
    }
    s *= 0.5;
    work += e * (s * d + factor * (a * d + share * s * g));
    const double of_W = e * (d + factor * share * g), of_b = e * factor * d, of_c = e * (s + factor * a);
#pragma omp simd
    for (int i = 0; i < row; ++i) sum[i] += of_W * W[i] + of_b * b[i] + of_c * c[i];
  }
  for (int i = 0; i < n_; ++i) out[i] += sum[i];
  return work;
}

void StrainForces::add_jacobian(const double* x, const double* z, double e, double factor, double share,
                                StrainScratch& scratch, double* J) const {
  for (AlignedVector<double>* values : {&scratch.f, &scratch.magnitude}) std::ranges::fill(*values, 0.0);
  evaluate(x, e, Tangent::none, scratch);
  if (single_.empty())
    add_jacobian_with(quadratic_.data(), z, e, factor, share, scratch, J);
  else
    add_jacobian_with(single_.data(), z, e, factor, share, scratch, J);
}

// With W_k, a_k and b_k as above,
//   J = e sum_k (W_k (W_k + factor b_k)^T + factor share b_k W_k^T + (s_k + factor a_k) Q_k).
template <class S>
void StrainForces::add_jacobian_with(const S* Q, const double* z, double e, double factor, double share,
                                     StrainScratch& scratch, double* J) const {
  const int row = row_;
  scratch.products.assign(extent(count_ + n_, row), 0.0);
  double *const B = scratch.products.data(), *const sum = B + extent(count_, row);
  for (int k = 0; k < count_; ++k, Q += extent(n_, row)) {
    const double* W = scratch.W.data() + extent(k, row);
    double* b = B + extent(k, row);
    double a = 0;
    for (int i = 0; i < n_; ++i) a += W[i] * z[i];
    const double of_Q = scratch.s[extent(k)] + factor * a;
    for (int i = 0; i < n_; ++i) {
      const S* q = Q + extent(i, row);
      double* to = sum + extent(i, row);
#pragma omp simd
      for (int j = 0; j < row; ++j) {
        const auto value = static_cast<double>(q[j]);
        to[j] += of_Q * value;
        b[j] += z[i] * value;
      }
    }
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Rows = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>;
  const Eigen::OuterStride<> stride(row);
  const Rows W(scratch.W.data(), count_, n_, stride), b(B, count_, n_, stride), of_Q(sum, n_, n_, stride);
  Eigen::Map<RowMajor> out(J, n_, n_);
  RowMajor product = of_Q + W.transpose() * W;
  if (factor != 0) {
    const RowMajor mixed = W.transpose() * b;
    product += factor * mixed + (factor * share) * mixed.transpose();
  }
  out += e * product;
}

void StrainForces::add_geometric(const double* s, double e, double* out) const {
  for (int i = 0; i < n_; out += ++i)
    for (int k = 0; k < count_; ++k) {
      const double stress = e * s[k];
      for (int j = 0; j <= i; ++j) out[j] += stress * quadratic(k, i, j);
    }
}

}  // namespace supple
