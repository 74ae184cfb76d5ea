#include "solvers/qpcc/qpcc_batch.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"

namespace supple {
namespace {

// The part of problem b in an array with `size` numbers per problem, shared or empty.
template <class T>
std::span<T> part(std::span<T> all, int b, std::size_t size) {
  return all.size() <= size ? all : all.subspan(extent(b) * size, size);
}

}  // namespace

QpccBatch::QpccBatch(const QpccBatchSize& size, int threads)
    : size_(size),
      pieces_(extent(size.count, size.contacts)),
      active_(extent(size.count, size.n + size.rows)),
      reports_(extent(size.count)) {
  SUPPLE_EXPECT(size.count >= 0 && threads >= 0);
  const int wanted = threads > 0 ? threads : most_threads();
  workspaces_.reserve(extent(wanted));
  for (int t = 0; t < wanted; ++t) workspaces_.emplace_back(size.n, size.contacts, size.rows, size.facets);
}

int QpccBatch::solve(const QpccBatchProblem& p, const QpccBatchSolution& s, const QpccSettings& settings) {
  const std::size_t n = extent(size_.n), m = extent(size_.contacts), k = extent(size_.rows), all = n + 3 * m;
  SUPPLE_EXPECT(s.x.size() == extent(size_.count) * n && s.lambda.size() == extent(size_.count) * 3 * m);
  int solved = 0;
#pragma omp parallel for schedule(dynamic, 16) num_threads(static_cast <int>(workspaces_.size())) reduction(+ : solved)
  for (int b = 0; b < size_.count; ++b) {
    const QpccProblem one{.n = size_.n,
                          .contacts = size_.contacts,
                          .rows = size_.rows,
                          .facets = size_.facets,
                          .P = part(p.P, b, all * all),
                          .g = part(p.g, b, all),
                          .lower = part(p.lower, b, n),
                          .upper = part(p.upper, b, n),
                          .C = part(p.C, b, k * all),
                          .row_lower = part(p.row_lower, b, k),
                          .row_upper = part(p.row_upper, b, k),
                          .W = part(p.W, b, 3 * m * all),
                          .d = part(p.d, b, 3 * m),
                          .friction = part(p.friction, b, m),
                          .angle = part(p.angle, b, m)};
    const QpccSolution answer{.x = part(s.x, b, n),
                              .lambda = part(s.lambda, b, 3 * m),
                              .pieces = part(std::span(pieces_), b, m),
                              .active = part(std::span(active_), b, n + k),
                              .bound_multipliers = {},
                              .row_multipliers = {}};
    QpccReport& report = reports_[extent(b)];
    report = solve_qpcc(one, answer, workspaces_[extent(this_thread())], settings);
    solved += report.status == QpStatus::solved;
  }
  return solved;
}

void QpccBatch::forget() {
  std::fill(pieces_.begin(), pieces_.end(), ContactPiece{});
  std::fill(active_.begin(), active_.end(), QpSide::none);
}

std::span<const ContactPiece> QpccBatch::pieces(int index) const {
  return part(std::span(pieces_), index, extent(size_.contacts));
}

}  // namespace supple
