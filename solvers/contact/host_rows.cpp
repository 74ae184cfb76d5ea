#include "solvers/contact/host_rows.hpp"

#include <algorithm>
#include <limits>

#include "kernels/base/extent.hpp"
#include "solvers/dense/general_factor.hpp"

namespace supple::contact {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr int padded(int n) {
  return (n + pack_width - 1) / pack_width * pack_width;
}

bool finite(std::span<const double> values) {
  // One sum: NaN and infinity survive times zero.
  double sum = 0;
  for (const double value : values) sum += 0 * value;
  return sum == 0;
}

bool usable(const ContactProblem& p) {
  for (int i = 0; i < p.boxes; ++i) {
    const double low = p.lower.empty() ? -infinity : p.lower[extent(i)];
    const double high = p.upper.empty() ? infinity : p.upper[extent(i)];
    if (!(low <= high) || low == infinity || high == -infinity) return false;
  }
  const auto positive = [](double value) { return value >= 0; };
  return finite(p.W) && finite(p.V) && finite(p.d) && finite(p.compliance) &&
         std::all_of(p.compliance.begin(), p.compliance.end(), positive) &&
         std::all_of(p.friction.begin(), p.friction.end(), positive);
}

}  // namespace

HostRows::HostRows(int n, double* numbers, int* indices) {
  const int ld = padded(n);
  for (double** array :
       {&work.y, &work.b, &work.error, &work.right, &work.step_y, &work.step_b, &work.prior, &work.trial})
    *array = numbers, numbers += ld;
  work.D = numbers, numbers += 9 * ld;
  matrix_ = numbers, numbers += extent(n, ld);
  left_ = numbers, numbers += extent(n, ld) + pack_width;
  products_ = numbers, numbers += extent(n, ld);
  panel_ = numbers, numbers += extent(pack_width, ld + pack_width);
  work.spare = numbers;
  work.active = indices;
  pivots_ = indices + n + 1;
}

std::size_t HostRows::numbers(int n) {
  const int ld = padded(n);
  return extent(19, ld) + 3 * extent(n, ld) + extent(pack_width) + extent(pack_width, ld + pack_width);
}

std::size_t HostRows::indices(int n) {
  return extent(2, n) + 1;
}

void HostRows::gather(const ScaledContact& p, double factor, const double* x, double* u) const {
  std::fill_n(u, p.ld, 0.0);
  for (int i = 0; i < p.n; ++i)
    if (x[i] != 0) add_scaled(u, factor * x[i], p.row(i), p.ld);
}

void HostRows::apply(const ScaledContact& p, const double* x, double* y) const {
  if (p.factored) {
    gather(p, 1, x, p.u);
    spread(p, p.u, y);
  } else {
    for (int i = 0; i < p.n; ++i) y[i] = dot(p.row(i), x, p.n);
  }
}

bool HostRows::solve_newton(const ScaledContact& p, const NewtonWork& k, int active) {
  const int size = p.factored ? p.width : active, ld = padded(size);
  double* M = matrix_;
  std::fill_n(M, extent(size, ld), 0.0);
  if (p.factored) {
    // I + V_a^T (D V_a)
    for (int a = 0; a < active;) {
      const int i = k.active[a], rows = i < p.boxes ? 1 : 3;
      const double* D = k.D + 9 * i;
      for (int r = 0; r < rows; ++r) {
        double* q = products_ + (a + r) * ld;
        std::copy_n(p.row(i + r), ld, left_ + (a + r) * ld);
        std::fill_n(q, ld, 0.0);
        for (int c = 0; c < rows; ++c)
          if (D[3 * r + c] != 0) add_scaled(q, D[3 * r + c], p.row(i + c), ld);
      }
      a += rows;
    }
    add_products(M, size, size, ld, 1, left_, ld, products_, ld, active);
  } else {
    for (int r = 0; r < active; ++r) {
      const double* W = p.row(k.active[r]);
      double* to = M + r * ld;
      for (int a = 0; a < active;) {
        const int i = k.active[a];
        const double* D = k.D + 9 * i;
        if (i < p.boxes) {
          to[a++] = W[i] * D[0];
        } else {
          for (int c = 0; c < 3; ++c) to[a++] = W[i] * D[c] + W[i + 1] * D[3 + c] + W[i + 2] * D[6 + c];
        }
      }
    }
  }
  for (int i = 0; i < size; ++i) M[i * ld + i] += 1;
  if (!lu_factor(M, size, ld, pivots_, panel_)) return false;
  lu_solve(M, size, ld, pivots_, k.right);
  return true;
}

std::size_t scaled_memory(int boxes, int contacts) {
  const int n = boxes + 3 * contacts, ld = padded(n);
  return extent(n, ld) + extent(11, ld) + extent(contacts, sizeof(CoulombBlock) / sizeof(double));
}

bool load(const ContactProblem& problem, double*& memory, ScaledContact& p) {
  p.boxes = problem.boxes, p.contacts = problem.contacts, p.n = p.boxes + 3 * p.contacts;
  const int n = p.n;
  p.factored = problem.W.empty() && problem.rank < n;
  p.width = p.factored ? problem.rank : n;
  p.ld = padded(p.width);
  p.matrix = memory, memory += extent(n, p.ld);
  for (double** array :
       {&p.scale, &p.d, &p.compliance, &p.lambda, &p.w, &p.lower, &p.upper, &p.friction, &p.diagonal, &p.u})
    *array = memory, memory += padded(n);
  static_assert(sizeof(CoulombBlock) % sizeof(double) == 0 && alignof(CoulombBlock) == alignof(double));
  p.blocks = new (memory) CoulombBlock[extent(p.contacts)];
  memory += extent(p.contacts, sizeof(CoulombBlock) / sizeof(double));
  if (!usable(problem)) return false;

  const auto entry = [&](int i, int j) {
    if (!problem.W.empty()) return problem.W[extent(i, n) + extent(j)];
    return dot(problem.V.data() + extent(i, problem.rank), problem.V.data() + extent(j, problem.rank), problem.rank);
  };
  const auto spring = [&](int i) { return problem.compliance.empty() ? 0.0 : problem.compliance[extent(i)]; };
  for (int i = 0; i < n; ++i) p.diagonal[i] = entry(i, i) + spring(i);
  for (int c = 0; c < p.contacts; ++c) {
    double* first = p.diagonal + p.normal(c);
    std::fill_n(first, 3, (first[0] + first[1] + first[2]) / 3);
  }
  for (int i = 0; i < n; ++i) {
    p.scale[i] = p.diagonal[i] > 0 ? 1 / std::sqrt(p.diagonal[i]) : 1;
    if (!std::isfinite(p.diagonal[i]) || !std::isfinite(p.scale[i])) return false;
    p.d[i] = problem.d[extent(i)] * p.scale[i];
    p.compliance[i] = spring(i) * p.scale[i] * p.scale[i];
    p.lower[i] = i >= p.boxes || problem.lower.empty() ? -infinity : problem.lower[extent(i)] / p.scale[i];
    p.upper[i] = i >= p.boxes || problem.upper.empty() ? infinity : problem.upper[extent(i)] / p.scale[i];
  }
  for (int i = 0; i < n; ++i) {
    double* to = p.row(i);
    if (p.factored) {
      for (int k = 0; k < p.width; ++k) to[k] = problem.V[extent(i, problem.rank) + extent(k)] * p.scale[i];
    } else {
      for (int j = 0; j < n; ++j)
        to[j] = j < i && problem.W.empty() ? p.row(j)[i] : entry(i, j) * p.scale[i] * p.scale[j];
    }
    std::fill(to + p.width, to + p.ld, 0.0);
    p.diagonal[i] = (p.factored ? dot(to, to, p.ld) : to[i]) + p.compliance[i];
  }
  for (int c = 0; c < p.contacts; ++c) {
    p.friction[c] = std::min(problem.friction[extent(c)], sticking_friction);
    const int i = p.normal(c);
    double w[9];
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        w[3 * a + b] = (p.factored ? dot(p.row(i + a), p.row(i + b), p.ld) : p.row(i + a)[i + b]) +
                       (a == b ? p.compliance[i + a] : 0);
    p.blocks[c] = CoulombBlock::of(w);
  }
  return true;
}

}  // namespace supple::contact
