#pragma once
// Where the contacts are for a given x: the forward problem with the pyramid's law.

#include <vector>

#include "solvers/contact/contact.hpp"
#include "solvers/qpcc/scaled_qpcc.hpp"

namespace supple::qpcc {

class ForwardPieces {
 public:
  ForwardPieces(const ScaledQpcc& problem, int max_contacts);
  static std::size_t numbers(int m) { return extent(9 * m, m) + extent(7 * m); }
  void use(Room room);
  /// Pieces of the forces at x (n, scaled): solve_contact() with the exact cone, then Gauss-Seidel sweeps with the
  /// pyramids, contact after contact each on the piece that obeys its law best.
  void find(const double* x, unsigned char* piece);

 private:
  const ScaledQpcc& q_;
  ContactWorkspace workspace_;
  double *W_, *d_, *lambda_, *friction_;

  double local_force(int c, int piece, const double* w, const double* free, double* lambda) const;
  bool sweep(unsigned char* piece);
};

}  // namespace supple::qpcc
