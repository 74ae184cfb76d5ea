#pragma once
// Contact with Coulomb friction in constraint space. N = boxes + 3 contacts rows; forces lambda [N] and displacements
// of the rows over a time step w [m] with
//   w = (W + C) lambda + d,   W symmetric positive semidefinite, of any rank, C >= 0 diagonal.
// First the box rows (actuators, joints), each as in box_complementarity.hpp:
//   lambda = lower => w >= 0,   lambda = upper => w <= 0,   else w = 0.
// Then normal, tangent 1, tangent 2 of each contact, w_n the gap and w_t the slip at the end of the step:
//   0 <= lambda_n,   w_n >= 0,   lambda_n w_n = 0,   |lambda_t| <= mu lambda_n,
//   w_t = 0   or   lambda_t = -mu lambda_n w_t / |w_t|.
// mu = 0: no friction; beyond 100, infinity too: 100. Box rows may have units of their own: rows are scaled inside.
//
// The matrix is given as W (N x N), or as V (N x rank) with W = V V^T: for a model of r coordinates,
//   A = L L^T,   V = H L^-T   (forward_solve() of the rows of H).
// A solution exists if some motion opens all gaps wider than mu times their slip (Acary, Cadoux, Lemarechal & Malick,
// ZAMM 91, 2011). With friction w need not be unique; without it w is, lambda where W is regular. Methods, sources and
// measurements: docs/theory/contact.md, docs/decisions/0011*.

#include <cstddef>
#include <span>
#include <vector>

namespace supple {

/// automatic: Gauss-Seidel until, by its rate, Newton's method will be done earlier; then that; and other starts where
/// friction makes both cycle. newton: its own start, at the end a few sweeps against rounding.
enum class ContactMethod { automatic, gauss_seidel, newton };

enum class ContactStatus {
  solved,
  iteration_limit,  // or there is no solution, and friction is to blame; lambda is the best one known
  infeasible,       // no forces open the gaps and hold the box rows (ContactWorkspace::conflict() proves it); lambda is
                    // the answer for contacts and rows softened by 1 % of the diagonal
  not_finite        // NaN or infinity in the data, negative friction, lower > upper
};

/// Views of the data. W: N x N row-major, or V: N x rank row-major and W empty. d: N. compliance (C, N, empty: none):
/// of a contact's tangents equal. lower, upper: boxes, may be infinite, empty: none. friction: contacts.
struct ContactProblem {
  int boxes = 0, contacts = 0, rank = 0;
  std::span<const double> W, V, d, compliance, lower, upper, friction;
};

struct ContactSettings {
  ContactMethod method = ContactMethod::automatic;
  double tolerance = 1e-10;  // on the residual
  /// Where rounding keeps the residual above the tolerance but below this, Newton's method goes no further, nor do
  /// sweeps polish what it found, no other start is tried, nor a proof of infeasibility; the status is iteration_limit
  /// all the same.
  double enough = 0;
  int max_sweeps = 10000;       // of Gauss-Seidel
  int max_newton_steps = 1000;  // fewer of more than 1,400 rows; up to 100 of these again for a proof of infeasibility
  double relaxation = 1;        // of Gauss-Seidel: each new force is taken this far from the one before
};

/// Residuals of the returned lambda. With the scale s = W_ii^-1/2 of a row, where W_ii is the mean of the three rows
/// for a contact and includes C, lambda / s and s w have one unit [J^1/2]. r is the natural map of Alart and Curnier in
/// it (coulomb.hpp), for box rows lambda - clamp(lambda - w).
struct [[nodiscard]] ContactReport {
  ContactStatus status = ContactStatus::solved;
  ContactMethod method = ContactMethod::gauss_seidel;  // that found the answer
  int sweeps = 0, newton_steps = 0;
  double residual = 0;      // max |r| / max |lambda / s|, forces beyond 1e4 max |s d| counting as that
  double displacement = 0;  // max |r| / s over the contacts [m]: gaps, penetration, slip against the law
  double cone = 0;          // max (|lambda_t| - mu lambda_n) / max lambda_n: rounding
  double box = 0;           // max |r| of the box rows / max |lambda / s|
};

/// Of `asked`, those that a problem with so many rows may take: all of 1,000 below 1,400 rows, then as many as have 1e12
/// operations, rows^3 / 3 each; at least 40.
int affordable_newton_steps(int rows, int asked);

/// Memory for problems up to a size; solving allocates nothing. One per thread.
class ContactWorkspace {
 public:
  ContactWorkspace(int max_boxes, int max_contacts);
  int max_boxes() const { return max_boxes_; }
  int max_contacts() const { return max_contacts_; }
  /// Of the last solve that was `infeasible`, N numbers: forces delta on normals and on box rows without a bound
  /// that way, with delta . d < 0 and W delta = 0 up to rounding. Then delta . w < 0 for any lambda, while every
  /// admissible w has delta . w >= 0. Normalised to max |delta_i| = 1.
  std::span<const double> conflict() const { return std::span(conflict_).first(conflict_used_); }

 private:
  friend ContactReport solve_contact(const ContactProblem&, std::span<double>, ContactWorkspace&,
                                     const ContactSettings&);
  int max_boxes_, max_contacts_;
  std::size_t conflict_used_ = 0;
  std::vector<double> numbers_, conflict_;
  std::vector<int> indices_;
};

/// lambda (N): in = start (zeros: cold; anything that is not finite counts as 0), out = solution, in its bounds and
/// cones whatever the status. Deterministic.
ContactReport solve_contact(const ContactProblem& problem, std::span<double> lambda, ContactWorkspace& workspace,
                            const ContactSettings& settings = {});

}  // namespace supple
