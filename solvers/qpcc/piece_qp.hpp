#pragma once
// The convex quadratic program on one piece per contact. Where the pieces' equations are regular in the forces, these
// are eliminated (lambda = L x + l) and the program is one in x; otherwise it keeps them as unknowns. `relaxed`:
// minimises, in place of the objective, the t >= 0 by which all limits are relaxed (bounds by t, rows by t |C_k|, in
// scaled unknowns).

#include <vector>

#include "solvers/qpcc/scaled_qpcc.hpp"

namespace supple::qpcc {

/// A point on its pieces, scaled, with multipliers as in qp.hpp (bounds z, rows y) and pyramid.hpp (alpha, beta).
struct PiecePoint {
  QpStatus status;
  double *z, *w, *alpha, *beta, *bound, *row;  // all, 3m, 3m, 3m, n, k
  double* motion_size;                         // m: of the terms of w
  unsigned char* piece;                        // m
  QpSide *active, *contact_active;             // n + k; m x facets
  double objective, objective_size;            // and the sum of its |terms|
  double relaxation;                           // t
  double largest_x;                            // max |x|
  double force_size;                           // force, or a small share of the load
  double load;                                 // the largest terms of w without lambda
  double force;                                // max |lambda|
  double multiplier_size;                      // of the terms of alpha and of beta
  double gradient, limits;                     // residuals: stationarity in x, feasibility
};

class PieceQp {
 public:
  PieceQp(const ScaledQpcc& problem, int max_unknowns, int max_contacts, int max_rows, int max_facets);
  static std::size_t point_numbers(int n, int m, int k) { return extent(2, n) + extent(13, m) + extent(k); }
  static std::size_t numbers(int n, int m, int k, int facets);

  void use(Room room);  // memory for the problem's present size
  /// On point.piece, from point.active and contact_active; fills the rest. centre (n): of relaxed programs.
  void solve(PiecePoint& point, bool relaxed, const double* centre);
  /// Of the last program, which was infeasible.
  int conflicts(std::span<QpccConflict> found) const;

  int programs = 0, iterations = 0;

 private:
  const ScaledQpcc& q_;
  QpWorkspace workspace_;
  std::vector<PieceShape> shapes_;
  std::vector<int> first_, pivots_;  // of a contact's p; of the factors
  std::vector<QpSide> sides_;
  int forces_ = 0, width_ = 0, rows_ = 0;  // p; of the program: unknowns, rows
  bool kept_ = false, relaxed_ = false;
  double *K_, *panel_, *p_, *L_, *l_, *motion_, *PL_, *Pl_;
  double *P_, *g_, *lower_, *upper_, *C_, *row_lower_, *row_upper_, *x_, *bound_, *row_, *centre_, *eta_;
  int limit_rows_ = 0;              // relaxed: of the bounds and rows; else k
  std::vector<int> limit_of_;       // constraint that a limit row stands for
  std::vector<QpSide> limit_side_;  // and its side

  void lay_out(const unsigned char* piece);
  bool eliminate();
  void keep_forces();
  void reduce_objective();
  struct Terms {
    double curvature = 0, slope = 0;
  };
  Terms terms(int i) const;
  void clear_rounding();
  void restore_convexity();
  void add_row(double low, double high);
  double* next_row() { return C_ + extent(rows_, width_); }
  void add_limit(int constraint, QpSide side, double sign, const double* row, double limit, double size);
  void build(const double* centre);
  QpReport run(PiecePoint& point);
  void take_point(PiecePoint& point);
  void take_multipliers(PiecePoint& point);
  double equation_error(const PiecePoint& point) const;
  void measure(PiecePoint& point);
};

}  // namespace supple::qpcc
