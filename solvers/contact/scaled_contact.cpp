#include "solvers/contact/scaled_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/extent.hpp"
#include "solvers/dense/pack.hpp"

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

std::size_t ScaledContact::memory(int boxes, int contacts) {
  const int n = boxes + 3 * contacts, ld = padded(n);
  return extent(n, ld) + extent(11, ld) + extent(contacts, sizeof(CoulombBlock) / sizeof(double));
}

bool ScaledContact::load(const ContactProblem& p, double*& memory) {
  boxes = p.boxes, contacts = p.contacts, n = boxes + 3 * contacts;
  factored = p.W.empty() && p.rank < n;
  width = factored ? p.rank : n;
  ld = padded(width);
  matrix = memory, memory += extent(n, ld);
  for (double** array : {&scale, &d, &compliance, &lambda, &w, &lower, &upper, &friction, &diagonal, &u})
    *array = memory, memory += padded(n);
  static_assert(sizeof(CoulombBlock) % sizeof(double) == 0 && alignof(CoulombBlock) == alignof(double));
  blocks = new (memory) CoulombBlock[extent(contacts)];
  memory += extent(contacts, sizeof(CoulombBlock) / sizeof(double));
  if (!usable(p)) return false;

  const auto entry = [&](int i, int j) {
    if (!p.W.empty()) return p.W[extent(i, n) + extent(j)];
    return dot(p.V.data() + extent(i, p.rank), p.V.data() + extent(j, p.rank), p.rank);
  };
  const auto spring = [&](int i) { return p.compliance.empty() ? 0.0 : p.compliance[extent(i)]; };
  for (int i = 0; i < n; ++i) diagonal[i] = entry(i, i) + spring(i);
  for (int c = 0; c < contacts; ++c) {
    double* first = diagonal + normal(c);
    std::fill_n(first, 3, (first[0] + first[1] + first[2]) / 3);
  }
  for (int i = 0; i < n; ++i) {
    scale[i] = diagonal[i] > 0 ? 1 / std::sqrt(diagonal[i]) : 1;
    if (!std::isfinite(diagonal[i]) || !std::isfinite(scale[i])) return false;
    d[i] = p.d[extent(i)] * scale[i];
    compliance[i] = spring(i) * scale[i] * scale[i];
    lower[i] = i >= boxes || p.lower.empty() ? -infinity : p.lower[extent(i)] / scale[i];
    upper[i] = i >= boxes || p.upper.empty() ? infinity : p.upper[extent(i)] / scale[i];
  }
  for (int i = 0; i < n; ++i) {
    double* to = row(i);
    if (factored) {
      for (int k = 0; k < width; ++k) to[k] = p.V[extent(i, p.rank) + extent(k)] * scale[i];
    } else {
      for (int j = 0; j < n; ++j) to[j] = j < i && p.W.empty() ? row(j)[i] : entry(i, j) * scale[i] * scale[j];
    }
    std::fill(to + width, to + ld, 0.0);
    diagonal[i] = (factored ? dot(to, to, ld) : to[i]) + compliance[i];
  }
  for (int c = 0; c < contacts; ++c) {
    friction[c] = std::min(p.friction[extent(c)], sticking_friction);
    const int i = normal(c);
    double w[9];
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        w[3 * a + b] =
            (factored ? dot(row(i + a), row(i + b), ld) : row(i + a)[i + b]) + (a == b ? compliance[i + a] : 0);
    blocks[c] = CoulombBlock::of(w);
  }
  return true;
}

void ScaledContact::apply(const double* x, double* y) const {
  if (factored) {
    std::fill_n(u, ld, 0.0);
    for (int i = 0; i < n; ++i)
      if (x[i] != 0) add_scaled(u, x[i], row(i), ld);
    for (int i = 0; i < n; ++i) y[i] = dot(row(i), u, ld);
  } else {
    for (int i = 0; i < n; ++i) y[i] = dot(row(i), x, n);
  }
}

Residuals ScaledContact::evaluate() const {
  apply(lambda, w);
  Residuals r;
  for (int i = 0; i < n; ++i) {
    w[i] += compliance[i] * lambda[i] + d[i];
    r.force = std::max(r.force, std::abs(lambda[i]));
    r.load = std::max(r.load, std::abs(d[i]));
  }
  for (int i = 0; i < boxes; ++i) {
    if (lambda[i] == lower[i] || lambda[i] == upper[i]) r.load = std::max(r.load, std::abs(lambda[i]));
    r.box = std::max(r.box, std::abs(lambda[i] - std::min(std::max(lambda[i] - w[i], lower[i]), upper[i])));
  }
  r.all = r.box;
  for (int c = 0; c < contacts; ++c) {
    const int i = normal(c);
    const double here = coulomb_residual(lambda + i, w + i, friction[c]);
    r.all = std::max(r.all, here);
    r.displacement = std::max(r.displacement, here / scale[i]);
  }
  return r;
}

void ScaledContact::project() const {
  for (int i = 0; i < boxes; ++i) lambda[i] = std::min(std::max(lambda[i], lower[i]), upper[i]);
  for (int c = 0; c < contacts; ++c) project_friction(friction[c], lambda + normal(c));
}

}  // namespace supple::contact
