#include "solvers/qpcc/qpcc.hpp"

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "solvers/qpcc/search.hpp"

namespace supple {
namespace {

[[maybe_unused]] bool shapes_agree(const QpccProblem& p, const QpccSolution& s) {
  const std::size_t n = extent(p.n), m = extent(p.contacts), k = extent(p.rows), all = n + 3 * m;
  const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
  return p.P.size() == all * all && p.g.size() == all && p.C.size() == k * all && p.W.size() == 3 * m * all &&
         p.d.size() == 3 * m && p.friction.size() == m && fits(p.angle.size(), m) && fits(p.lower.size(), n) &&
         fits(p.upper.size(), n) && fits(p.row_lower.size(), k) && fits(p.row_upper.size(), k) && s.x.size() == n &&
         s.lambda.size() == 3 * m && fits(s.pieces.size(), m) && fits(s.active.size(), n + k) &&
         fits(s.bound_multipliers.size(), n) && fits(s.row_multipliers.size(), k);
}

}  // namespace

QpccWorkspace::QpccWorkspace(int max_unknowns, int max_contacts, int max_rows, int max_facets) {
  SUPPLE_EXPECT(qpcc_fits(max_unknowns, max_contacts, max_rows, max_facets));
  SUPPLE_EXPECT(max_facets >= 4 && max_facets <= max_contact_facets);
  search_ = std::make_unique<qpcc::Search>(max_unknowns, max_contacts, max_rows, max_facets);
}
QpccWorkspace::~QpccWorkspace() = default;
QpccWorkspace::QpccWorkspace(QpccWorkspace&&) noexcept = default;

std::span<const QpccConflict> QpccWorkspace::conflicts() const {
  return search_->conflicts();
}

QpccReport solve_qpcc(const QpccProblem& problem, const QpccSolution& solution, QpccWorkspace& workspace,
                      const QpccSettings& settings) {
  SUPPLE_EXPECT(shapes_agree(problem, solution));
  return workspace.search_->solve(problem, solution, settings);
}

void classify_contacts(const QpccProblem& problem, std::span<const double> z, std::span<ContactPiece> pieces,
                       QpccWorkspace& workspace) {
  SUPPLE_EXPECT(z.size() == problem.g.size() && pieces.size() == extent(problem.contacts));
  workspace.search_->classify(problem, z, pieces);
}

}  // namespace supple
