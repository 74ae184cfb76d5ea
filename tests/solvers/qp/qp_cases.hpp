#pragma once
// Random quadratic programs of known kind for the tests of solvers/qp, and a check of the optimality conditions that
// shares nothing with the solver.

#include <limits>
#include <span>
#include <vector>

#include "solvers/qp/qp.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple::test {

constexpr double infinity = std::numeric_limits<double>::infinity();
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::VectorXd;

struct Qp {
  RowMatrix P, C;
  VectorXd g, lower, upper, row_lower, row_upper;

  Qp(int n, int m);  // no objective, no limits
  int n() const { return static_cast<int>(g.size()); }
  int m() const { return static_cast<int>(row_lower.size()); }
  QpProblem view() const;
  double objective(const VectorXd& x) const;
};

struct QpAnswer {
  QpReport report;
  VectorXd x, z, y;  // z of the bounds, y of the rows
  std::vector<QpSide> active;
};

QpAnswer solve(const Qp& qp, QpWorkspace& workspace, std::vector<QpSide> active = {}, const VectorXd& centre = {},
               const QpSettings& settings = {});

// The largest violation of the optimality conditions, each relative to the terms it is summed from.
double kkt_violation(const Qp& qp, const QpAnswer& a);

// How far the limits named are from a contradiction: 0 for a proof, |sum w a| relative to its terms; infinite where the
// weights or the sum of limits have the wrong sign.
double conflict_violation(const Qp& qp, std::span<const QpConflict> conflicts);

enum class QpKind { strict, degenerate, semidefinite, ill_conditioned, equalities, infeasible, unbounded, grazing };

struct QpCases {
  Random random;

  // A^T A with eigenvalues between `least` and 1: every entry accurate to rounding of its row and column.
  RowMatrix positive_semidefinite(int n, int rank, double least);
  // Limits around a point x with a share of them touching it; multipliers of touching limits, some of them zero.
  void limits_around(Qp& qp, const VectorXd& x, double touching, bool equalities, VectorXd& z, VectorXd& y);
  Qp make(QpKind kind, int n, int m);
  // A combination of limits that cannot hold.
  void contradict(Qp& qp);
  // P for a ray that leaves one bound at 1e-7 to 1e-6 of its speed: held there, what is left of it has a curvature of
  // 1e-14 to 1e-12, hardly to be told from rounding.
  VectorXd graze(Qp& qp);
  // Opens the direction v without curvature, along which the objective falls.
  void open(Qp& qp, const VectorXd& v);
};

// The same problem with x_i measured in `unit_i` and row k multiplied by `row_unit_k`.
Qp in_units(const Qp& qp, const VectorXd& unit, const VectorXd& row_unit);

// An answer of in_units() in the units of the problem it came from.
QpAnswer back_from_units(QpAnswer a, const VectorXd& unit, const VectorXd& row_unit);

std::vector<QpConflict> conflicts_back(std::span<const QpConflict> conflicts, const VectorXd& unit,
                                       const VectorXd& row_unit);

}  // namespace supple::test
