#include "solvers/qp/qp_batch.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"

namespace supple {
namespace {

// The part of problem b in an array with `size` numbers per problem, shared or empty.
template <class T>
std::span<T> part(std::span<T> all, int b, int size) {
  return all.size() <= extent(size) ? all : all.subspan(extent(b, size), extent(size));
}

[[maybe_unused]] bool shapes_agree(const QpBatchProblem& p, const QpBatchSolution& s, int n, int m, int count) {
  const auto fits = [&](std::size_t size, std::size_t one) { return size == one || size == extent(count) * one; };
  const auto optional = [&](std::size_t size, std::size_t one) { return size == 0 || fits(size, one); };
  const auto wanted = [&](std::size_t size, int one) { return size == 0 || size == extent(count, one); };
  return fits(p.P.size(), extent(n, n)) && fits(p.g.size(), extent(n)) && fits(p.C.size(), extent(m, n)) &&
         optional(p.lower.size(), extent(n)) && optional(p.upper.size(), extent(n)) &&
         optional(p.row_lower.size(), extent(m)) && optional(p.row_upper.size(), extent(m)) &&
         optional(p.centre.size(), extent(n)) && s.x.size() == extent(count, n) &&
         wanted(s.bound_multipliers.size(), n) && wanted(s.row_multipliers.size(), m);
}

}  // namespace

QpBatch::QpBatch(int n, int m, int count, int threads)
    : n_(n), m_(m), count_(count), active_(extent(count, n + m)), reports_(extent(count)) {
  SUPPLE_EXPECT(count >= 0 && threads >= 0);
  const int wanted = threads > 0 ? threads : most_threads();
  workspaces_.reserve(extent(wanted));
  for (int t = 0; t < wanted; ++t) workspaces_.emplace_back(n, m);
}

int QpBatch::solve(const QpBatchProblem& problem, const QpBatchSolution& solution, const QpSettings& settings) {
  SUPPLE_EXPECT(shapes_agree(problem, solution, n_, m_, count_));
  int solved = 0;
#pragma omp parallel for schedule(static) num_threads(static_cast <int>(workspaces_.size())) reduction(+ : solved)
  for (int b = 0; b < count_; ++b) {
    const QpProblem one{.n = n_,
                        .m = m_,
                        .P = part(problem.P, b, n_ * n_),
                        .g = part(problem.g, b, n_),
                        .lower = part(problem.lower, b, n_),
                        .upper = part(problem.upper, b, n_),
                        .C = part(problem.C, b, m_ * n_),
                        .row_lower = part(problem.row_lower, b, m_),
                        .row_upper = part(problem.row_upper, b, m_),
                        .centre = part(problem.centre, b, n_)};
    const QpSolution answer{.x = part(solution.x, b, n_),
                            .bound_multipliers = part(solution.bound_multipliers, b, n_),
                            .row_multipliers = part(solution.row_multipliers, b, m_),
                            .active = part(std::span(active_), b, n_ + m_)};
    QpReport& report = reports_[extent(b)];
    report = solve_qp(one, answer, workspaces_[extent(this_thread())], settings);
    solved += report.status == QpStatus::solved;
  }
  return solved;
}

void QpBatch::forget() {
  std::fill(active_.begin(), active_.end(), QpSide::none);
}

std::span<const QpSide> QpBatch::active(int index) const {
  return part(std::span(active_), index, n_ + m_);
}

}  // namespace supple
