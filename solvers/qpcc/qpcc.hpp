#pragma once
// Quadratic programs with contact: inverse control of a robot that touches obstacles. Unknowns z = (x [n], lambda [3
// m]), lambda the forces of m contacts, each normal, tangent 1, tangent 2:
//   min 1/2 z^T P z + g^T z,   lower <= x <= upper,   row_lower <= C z <= row_upper,
// and with w = W z + d (w_n the gap, w_t the slip) for each contact
//   0 <= lambda_n, w_n >= 0, lambda_n w_n = 0,   lambda_t in the polygon with vertices mu lambda_n d_i,
//   -w_t . lambda_t >= -w_t . v for all v in the polygon (maximal dissipation).
// The polygon has `facets` vertices on the circle of Coulomb's law, d_i at angle + 2 pi i / facets from tangent 1. mu =
// 0: lambda_t = 0, w_t free; beyond 100: 100. P is symmetric positive semidefinite. x and lambda may have any units.
//
// Each contact is in one of a few pieces, on which its law is linear; on one piece for every contact the problem is a
// convex quadratic program (qp.hpp). The search goes from piece to neighbouring piece and never uphill: a local
// minimum, with what proves it. Method, proofs: docs/theory/qpcc.md.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "solvers/qp/qp.hpp"

namespace supple {

constexpr int max_qpcc_combinations = 256;  // of pieces through one point
constexpr int max_contact_facets = 32;

/// Whether a problem is within the limits of qp.hpp: 9 unknowns, 9 rows and 8 facets leave room for 18 contacts.
constexpr bool qpcc_fits(int n, int contacts, int rows, int facets) {
  return n + 3 * contacts + 1 <= max_qp_unknowns && 2 * (n + rows) + (facets + 3) * contacts <= max_qp_rows;
}

/// open: lambda = 0. stick: w = 0. vertex i: slips, lambda_t = mu lambda_n d_i. facet i: slips at right angles to the
/// edge from vertex i to i + 1, lambda_t on it. Without friction: open and vertex 0 only.
enum class ContactMode : signed char { unknown, open, stick, vertex, facet };
struct ContactPiece {
  ContactMode mode = ContactMode::unknown;
  signed char index = 0;
  bool operator==(const ContactPiece&) const = default;
};

/// Views of the data, row-major, N = n + 3 contacts. P: N x N, only the lower triangle is read. C: rows x N. W: 3
/// contacts x N. Empty bounds or row limits: none; empty angle: 0 (else one per contact [rad]; where a contact slips
/// with a vertex against the slip, the pyramid makes no error).
struct QpccProblem {
  int n = 0, contacts = 0, rows = 0, facets = 8;
  std::span<const double> P, g, lower, upper, C, row_lower, row_upper, W, d, friction, angle;
};

/// x (n): in = where forces are looked for if the pieces are not known (not finite: 0), out = the answer. lambda (3
/// contacts): out. pieces: in = start, those of the answer before or of classify_contacts(); any `unknown` among them,
/// or an empty span: cold. active (n bounds, then rows): as in QpSolution. Multipliers too; spans of them may be empty.
struct QpccSolution {
  std::span<double> x, lambda;
  std::span<ContactPiece> pieces;
  std::span<QpSide> active;
  std::span<double> bound_multipliers, row_multipliers;
};

struct QpccSettings {
  int max_programs = 2000;  // quadratic programs, all starts together
  int rescues = 6;          // further starts while none has led to a feasible point
  int starts = 0;           // further starts: forces at random x, random pieces; the lowest answer is given
  std::uint64_t seed = 1;   // of those
  double tolerance = 1e-8;  // on each of the residuals below
};

/// Certificate of a solution. strong: one set of multipliers is right for every piece that contains the point.
/// enumerated: on no combination of those pieces is a lower point. Both: a local minimum. none: not proved.
enum class QpccCertificate { none, strong, enumerated };

/// Residuals without units. Forces and displacements of a contact are scaled by the mean of its diagonal of W, x by
/// P_ii^-1/2.
struct [[nodiscard]] QpccReport {
  /// As in qp.hpp. infeasible: no piece that was tried has a feasible point; QpccWorkspace::conflicts() names the
  /// limits that make the piece with the least violation infeasible (none: it would need forces beyond 1e6 times the
  /// load). iteration_limit: also an answer that could not be proved; x is the best one.
  QpStatus status = QpStatus::solved;
  QpccCertificate certificate = QpccCertificate::none;
  int programs = 0;            // quadratic programs solved
  int pivots = 0;              // changes of piece that were kept
  int qp_iterations = 0;       // of all programs
  int biactive = 0;            // contacts whose point lies in more than one piece
  int starts = 0;              // that ended at a feasible point
  double objective = 0;        // 1/2 z^T P z + g^T z
  double stationarity = 0;     // on the piece: gradient of the Lagrangian and signs, of the terms it is summed from
  double feasibility = 0;      // violation of bounds and rows, of the terms
  double complementarity = 0;  // distance of (lambda, w) to the piece, of the largest force and of the terms of w
  double cone = 0;             // distance of lambda to the pyramid, of the largest force
};

/// One limit of an infeasible set: constraint i < n is the bound of x_i, n + k is row k, n + rows + c the law of
/// contact c on its piece (weights of its rows added; without sign). Without the laws of the contacts, which hold on
/// one piece only, it is a proof as in QpConflict.
struct QpccConflict {
  int constraint;
  QpSide side;
  double weight;
};

namespace qpcc {
class Search;
}

/// Memory for problems up to a size; solving allocates nothing. One per thread.
class QpccWorkspace {
 public:
  QpccWorkspace(int max_unknowns, int max_contacts, int max_rows, int max_facets = 8);
  ~QpccWorkspace();
  QpccWorkspace(QpccWorkspace&&) noexcept;
  /// Of the last solve that was `infeasible`.
  std::span<const QpccConflict> conflicts() const;

 private:
  friend QpccReport solve_qpcc(const QpccProblem&, const QpccSolution&, QpccWorkspace&, const QpccSettings&);
  friend void classify_contacts(const QpccProblem&, std::span<const double>, std::span<ContactPiece>, QpccWorkspace&);
  std::unique_ptr<qpcc::Search> search_;
};

/// Deterministic. Where the status is neither `solved` nor `iteration_limit`, x, lambda and the multipliers are 0,
/// pieces and active are left as they were.
QpccReport solve_qpcc(const QpccProblem& problem, const QpccSolution& solution, QpccWorkspace& workspace,
                      const QpccSettings& settings = {});

/// The piece nearest to a point z (N) for each contact: of an answer, or of a forward solution with the exact cone.
void classify_contacts(const QpccProblem& problem, std::span<const double> z, std::span<ContactPiece> pieces,
                       QpccWorkspace& workspace);

}  // namespace supple
