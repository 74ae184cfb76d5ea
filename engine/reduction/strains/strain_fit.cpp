#include "engine/reduction/strains/strain_fit.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::MatrixXd;
using Row = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int newton_steps = 2, gradient_steps = 150, halvings = 6;
constexpr double gradient_tolerance = 1e-2;  // of its norm at the start
constexpr int chunk_states = 16;             // fixed, so that sums do not depend on threads

// What theta does at some of the states.
class Chunk {
 public:
  Chunk(const ForceSamples& all, int first, int count) : all_(all), first_(first), count_(count) {
    const int n = all.columns, N = count * all.group();
    x_ = all.x.middleCols(static_cast<long>(first) * all.group(), N);
    phi_.resize(feature_count(n), N);
    for (int s = 0; s < N; ++s) strain_features(x_.col(s).data(), n, phi_.col(s).data());
    wanted_ = weigh(all.force.middleCols(static_cast<long>(first) * all.group(), N), /*differences=*/true);
  }

  // Keeps s at theta, and what the forces miss.
  void linearise(const Matrix& theta) {
    s_ = theta * phi_;
    miss_ = missed(theta, s_);
  }
  double cost() const { return miss_.squaredNorm(); }
  double cost_at(const Matrix& theta) const { return missed(theta, theta * phi_).squaredNorm(); }
  double squares_of_states(const Matrix& theta) const {
    const Matrix miss = missed(theta, theta * phi_);
    double sum = 0;
    for (int k = 0; k < count_; ++k)
      if (const double own = all_.own[extent(first_ + k)]; own > 0)
        sum += miss.col(static_cast<long>(k) * all_.group()).squaredNorm() / (own * own);
    return sum;
  }
  // J^T of what the forces miss.
  Matrix gradient(const Matrix& theta) const { return back(theta, miss_); }
  // J^T J d.
  Matrix product(const Matrix& theta, const Matrix& d) const {
    const Matrix ds = d * phi_;
    return back(theta, weigh(forces(d.transpose() * s_ + theta.transpose() * ds), false));
  }

 private:
  Matrix missed(const Matrix& theta, const Matrix& s) const {
    return weigh(forces(theta.transpose() * s), false) - wanted_;
  }
  // (d phi/d x)^T v in newtons, the rows with forces.
  Matrix forces(const Matrix& v) const {
    const int n = all_.columns, r = all_.rows;
    Matrix g = v.topRows(n);
    for (long s = 0; s < g.cols(); ++s) {
      const double *x = x_.col(s).data(), *at = v.col(s).data() + n;
      double* to = g.col(s).data();
      for (int i = 0; i < n; at += ++i) {
        double sum = 0;
        for (int j = 0; j <= i; ++j) {
          sum += at[j] * x[j];
          to[j] += at[j] * x[i];
        }
        to[i] += sum;
      }
    }
    return all_.spread.head(r).cwiseInverse().asDiagonal() * g.topRows(r);
  }
  // o T f of each state, w T (f - f of its state) of its motions; `differences`: f of motions is that
  // already.
  Matrix weigh(const Matrix& f, bool differences) const {
    const int r = all_.rows, per = all_.group();
    Matrix out(r, f.cols());
    for (int k = 0; k < count_; ++k) {
      const Eigen::Map<const Row> T(all_.metric.data() + extent(first_ + k, r, r), r, r);
      Matrix own = f.middleCols(static_cast<long>(k) * per, per);
      for (int m = 1; m < per; ++m) {
        if (!differences) own.col(m) -= own.col(0);
        own.col(m) *= all_.weights[extent(m - 1)];
      }
      own.col(0) *= all_.own[extent(first_ + k)];
      out.middleCols(static_cast<long>(k) * per, per).noalias() = T * own;
    }
    return out;
  }
  // The transpose of all that: rho as weigh() leaves it.
  Matrix back(const Matrix& theta, const Matrix& rho) const {
    const int n = all_.columns, r = all_.rows, per = all_.group();
    Matrix psi(feature_count(n), rho.cols());
    Matrix g = Matrix::Zero(n, per);
    for (int k = 0; k < count_; ++k) {
      const Eigen::Map<const Row> T(all_.metric.data() + extent(first_ + k, r, r), r, r);
      g.topRows(r).noalias() = T.transpose() * rho.middleCols(static_cast<long>(k) * per, per);
      g.col(0) *= all_.own[extent(first_ + k)];
      for (int m = 1; m < per; ++m) {
        g.col(m) *= all_.weights[extent(m - 1)];
        g.col(0) -= g.col(m);
      }
      g.topRows(r) = all_.spread.head(r).cwiseInverse().asDiagonal() * g.topRows(r);
      for (int m = 0; m < per; ++m) {
        const long s = static_cast<long>(k) * per + m;
        feature_rates(x_.col(s).data(), g.col(m).data(), n, psi.col(s).data());
      }
    }
    return s_ * psi.transpose() + (theta * psi) * phi_.transpose();
  }

  const ForceSamples& all_;
  int first_, count_;
  Matrix x_, phi_, wanted_, s_, miss_;
};

std::vector<Chunk> chunks_of(const ForceSamples& samples) {
  std::vector<Chunk> chunks;
  for (int first = 0; first < samples.states; first += chunk_states)
    chunks.emplace_back(samples, first, std::min(chunk_states, samples.states - first));
  return chunks;
}

// The sum of part(chunk) over all, in their order.
template <class Part>
auto sum_over(std::vector<Chunk>& chunks, const Part& part) {
  using Value = decltype(part(chunks.front()));
  std::vector<Value> parts(chunks.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t c = 0; c < chunks.size(); ++c) parts[c] = part(chunks[c]);
  Value sum = parts.front();
  for (std::size_t c = 1; c < parts.size(); ++c) sum += parts[c];
  return sum;
}

}  // namespace

void strain_features(const double* x, int columns, double* phi) {
  phi = std::copy_n(x, columns, phi);
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j <= i; ++j) *phi++ = x[i] * x[j];
}

void feature_rates(const double* x, const double* direction, int columns, double* psi) {
  psi = std::copy_n(direction, columns, psi);
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j <= i; ++j) *psi++ = direction[i] * x[j] + x[i] * direction[j];
}

double force_misfit(const ForceSamples& samples, const Matrix& theta) {
  std::vector<Chunk> chunks = chunks_of(samples);
  const auto known = static_cast<double>(std::ranges::count_if(samples.own, [](double o) { return o > 0; }));
  return std::sqrt(sum_over(chunks, [&](const Chunk& chunk) { return chunk.squares_of_states(theta); }) /
                   std::max(1.0, known));
}

Matrix fit_forces(const ForceSamples& samples, const Matrix& start, const Matrix& from, double share,
                  const std::function<void(int, double)>& progress, const std::function<void()>& check_stop) {
  std::vector<Chunk> chunks = chunks_of(samples);
  const double size = start.squaredNorm(), ridge = size > 0 ? share * samples.states / size : 0;
  Matrix theta = from;
  const auto cost_of = [&](const Matrix& at) {
    return sum_over(chunks, [&](const Chunk& chunk) { return chunk.cost_at(at); }) + ridge * (at - start).squaredNorm();
  };
  double cost = cost_of(theta);
  for (int step = 0; step < newton_steps; ++step) {
    (void)sum_over(chunks, [&](Chunk& chunk) {
      chunk.linearise(theta);
      return 0;
    });
    Matrix rest = sum_over(chunks, [&](const Chunk& chunk) { return Matrix(-chunk.gradient(theta)); });
    rest -= ridge * (theta - start);
    Matrix d = Matrix::Zero(theta.rows(), theta.cols()), direction = rest;
    double squares = rest.squaredNorm();
    const double enough = gradient_tolerance * gradient_tolerance * squares;
    for (int k = 0; k < gradient_steps && squares > enough; ++k) {
      check_stop();
      Matrix product = sum_over(chunks, [&](const Chunk& chunk) { return chunk.product(theta, direction); });
      product += ridge * direction;
      const double length = squares / direction.cwiseProduct(product).sum();
      d += length * direction;
      rest -= length * product;
      const double next = rest.squaredNorm();
      direction = rest + next / squares * direction;
      squares = next;
    }
    double length = 1, found = 0;
    for (int k = 0; k < halvings; ++k, length *= 0.5) {
      found = cost_of(theta + length * d);
      if (found < cost) break;
    }
    if (!(found < cost)) break;
    theta += length * d;
    cost = found;
    progress(step + 1, cost);
  }
  return theta;
}

}  // namespace supple
