#pragma once
// Quadratic programs with contact for tests, and an oracle that shares nothing with the search but solve_qp(): the law
// of each piece written out again, all unknowns kept, no scaling, every combination of pieces.

#include <functional>
#include <vector>

#include "solvers/qpcc/qpcc.hpp"
#include "tests/solvers/qp/qp_cases.hpp"

namespace supple::test {

struct QpccCase {
  int n = 0, contacts = 0, rows = 0, facets = 8;
  RowMatrix P, C, W;
  VectorXd g, lower, upper, row_lower, row_upper, d, friction, angle;
  double range = 1;  // of the objective: its value at rest, above its lowest conceivable one

  QpccCase(int unknowns, int contacts, int rows, int facets);  // no objective, no limits, no friction
  int all() const { return n + 3 * contacts; }
  QpccProblem view() const;
  double objective(const VectorXd& z) const { return 0.5 * z.dot(P * z) + g.dot(z); }
};

struct QpccAnswer {
  QpccReport report;
  VectorXd x, lambda;
  std::vector<ContactPiece> pieces;
  std::vector<QpSide> active;
  VectorXd z() const;
};

QpccAnswer solve(const QpccCase& c, QpccWorkspace& workspace, const QpccSettings& settings = {},
                 std::vector<ContactPiece> pieces = {}, VectorXd x = {}, std::vector<QpSide> active = {});

// All pieces of a contact.
std::vector<ContactPiece> pieces_of(const QpccCase& c, int contact);

// How far z is from the laws and limits: distances of forces and motions to a piece and of values to limits, relative
// to the terms they are summed from.
double violation(const QpccCase& c, const VectorXd& z);

// The quadratic program on given pieces with all unknowns; its answer's z, empty where there is none.
VectorXd solve_on_pieces(const QpccCase& c, const std::vector<ContactPiece>& pieces);

// The lowest point of all combinations of pieces; of those that `near` z (within the tolerance of violation()) if
// given. Empty: none is feasible.
VectorXd enumerate(const QpccCase& c, const VectorXd* near = nullptr, double tolerance = 1e-7);

struct RandomQpcc {
  int unknowns = 4, contacts = 2, effectors = 3, facets = 4;
  int rank = 0;         // 0: full
  double friction = 1;  // largest coefficient; every eighth is 3 where it is not 0
  bool row_limits = false;
  bool repeated = false;  // half of the contacts repeat the first
  bool resting = false;   // no gaps, no slip, no goal: everything touches at rest
  bool integers = false;  // entries of V -1, 0 or 1: ties and dependent rows
};

// A linear elastic body of `rank` modes, V V^T the compliance of actuators, contacts and effectors together; gaps of
// both signs; objective |displacement of the effectors - goal|^2 + 1e-3 of the actuators' energy.
QpccCase random_qpcc(Random& random, const RandomQpcc& r);

// Of the kinds above as trial varies, up to 6 unknowns and `most` contacts.
QpccCase mixed_qpcc(Random& random, int trial, int most);

// The same problem with x_i in units of its own; the forces and displacements of each contact in units whose quotient
// is the same for all contacts, as that of newton and metre.
struct QpccUnits {
  VectorXd unknowns, displacements;  // z = unknowns * z', w' = displacements * w
};
QpccUnits random_units(Random& random, const QpccCase& c, double decades);
QpccCase in_units(const QpccCase& c, const QpccUnits& units);

}  // namespace supple::test
