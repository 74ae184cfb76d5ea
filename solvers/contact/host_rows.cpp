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
  SUPPLE_SIMD_SUM(sum)
  for (std::size_t i = 0; i < values.size(); ++i) sum += 0 * values[i];
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

HostRows::HostRows(int n, double* numbers, int* indices) : ld_(padded(n)) {
  for (double** array :
       {&work.y, &work.b, &work.error, &work.right, &work.step_y, &work.step_b, &work.prior, &work.trial})
    *array = numbers, numbers += ld_;
  work.P = numbers, numbers += 3 * ld_;
  work.Q = numbers, numbers += 3 * ld_;
  work.spare = numbers, numbers += 2 * ld_;
  for (double** array : {&matrix_, &left_, &right_, &gram_}) *array = numbers, numbers += extent(n, ld_) + pack_width;
  columns_ = numbers, numbers += extent(n, ld_) + pack_width;
  factors_ = numbers, numbers += 3 * ld_;
  panel_ = numbers;
  work.active = indices;
  pivots_ = indices + n + 1;
  columns_of_slots_ = pivots_ + n;
  place_ = columns_of_slots_ + n;
  std::fill_n(place_, n, -1);
}

std::size_t HostRows::numbers(int n) {
  const int ld = padded(n);
  return extent(19, ld) + 5 * (extent(n, ld) + extent(pack_width)) + extent(pack_width, ld + pack_width);
}

std::size_t HostRows::indices(int n) {
  return extent(4, n) + 1;
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

// to = sum_r factors_r row_r of matrix
void HostRows::combine(const double* factors, int rows, const double* matrix, int ld, int length, double* to) {
  std::fill_n(to, length, 0.0);
  for (int r = 0; r < rows; ++r)
    if (factors[r] != 0) add_scaled(to, factors[r], matrix + r * ld, length);
}

// W = V V^T of the blocks in use and not yet known. Rows of `columns_` are columns of V.
void HostRows::extend_gram(const ScaledContact& p, const NewtonWork& k, int active) {
  const int from = known_;
  for (int a = 0; a < active; ++a) {
    const Block block = block_of(p, k.active[a]);
    if (place_[block.first] >= 0) continue;
    for (int r = 0; r < block.rows; ++r) {
      place_[block.first + r] = known_;
      const double* row = p.row(block.first + r);
      for (int c = 0; c < p.width; ++c) columns_[c * ld_ + known_] = row[c];
      ++known_;
    }
  }
  for (int i = from; i < known_; i += pack_width) {
    const int rows = std::min(pack_width, known_ - i), end = i + rows;
    for (int r = i; r < end; ++r) std::fill_n(gram_ + r * ld_, padded(end), 0.0);
    add_products(gram_ + i * ld_, rows, end, ld_, 1, columns_ + i, ld_, columns_, ld_, p.width);
    for (int r = i; r < end; ++r)
      for (int c = 0; c < r; ++c) gram_[c * ld_ + r] = gram_[r * ld_ + c];
  }
}

// Unknowns: one per slot, or the modes. W is summed once for a problem.
bool HostRows::solve_newton(const ScaledContact& p, const NewtonWork& k, int active) {
  if (p.factored) {
    const double m = active, width = p.width;
    if (m * m * m / 3 > m * width * width + width * width * width / 3) return solve_in_modes(p, k, active);
    extend_gram(p, k, active);
  }
  const int ld = padded(active), stride = p.factored ? ld_ : p.ld, length = p.factored ? known_ : p.n;
  int boxes = 0;  // slots of box rows come first
  for (int a = 0; a < active; ++a) {
    const int slot = k.active[a], row = block_of(p, slot).first;
    boxes += slot < p.boxes;
    columns_of_slots_[a] = p.factored ? place_[row] : row;
    std::copy_n(k.P + 3 * slot, 3, factors_ + 3 * a);
  }
  for (int a = 0; a < active; ++a) {
    const Block block = block_of(p, k.active[a]);
    const double* q = k.Q + 3 * k.active[a];
    combine(q, block.rows, (p.factored ? gram_ : p.matrix) + columns_of_slots_[a] * stride, stride, length, left_);
    double* to = matrix_ + a * ld;
    for (int b = 0; b < boxes; ++b) to[b] = left_[columns_of_slots_[b]] * factors_[3 * b];
    for (int b = boxes; b < active; ++b) {
      const double *w = left_ + columns_of_slots_[b], *P = factors_ + 3 * b;
      to[b] = w[0] * P[0] + w[1] * P[1] + w[2] * P[2];
    }
    std::fill(to + active, to + ld, 0.0);
    to[a] += 1;
    k.trial[a] = 0;
    for (int r = 0; r < block.rows; ++r)
      if (q[r] != 0)
        k.trial[a] += q[r] * (p.factored ? dot(p.row(block.first + r), k.right, p.ld) : k.right[block.first + r]);
  }
  if (!lu_factor(matrix_, active, ld, pivots_, panel_)) return false;
  std::copy_n(k.trial, active, k.right);
  lu_solve(matrix_, active, ld, pivots_, k.right);
  return true;
}

bool HostRows::solve_in_modes(const ScaledContact& p, const NewtonWork& k, int active) {
  const int size = p.width, ld = p.ld;
  for (int a = 0; a < active; ++a) {
    const int slot = k.active[a];
    const Block block = block_of(p, slot);
    combine(k.P + 3 * slot, block.rows, p.row(block.first), ld, ld, left_ + a * ld);
    combine(k.Q + 3 * slot, block.rows, p.row(block.first), ld, ld, right_ + a * ld);
  }
  std::fill_n(matrix_, extent(size, ld), 0.0);
  for (int i = 0; i < size; ++i) matrix_[i * ld + i] = 1;
  add_products(matrix_, size, size, ld, 1, left_, ld, right_, ld, active);
  if (!lu_factor(matrix_, size, ld, pivots_, panel_)) return false;
  lu_solve(matrix_, size, ld, pivots_, k.right);
  for (int a = 0; a < active; ++a) k.trial[a] = dot(right_ + a * ld, k.right, size);
  std::copy_n(k.trial, active, k.right);
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
