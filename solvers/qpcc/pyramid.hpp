#pragma once
// Coulomb's law of one contact with a polygon in place of the disc, as a union of pieces: forces in a polyhedral cone,
// motions in another. Forces lambda and motions w: normal, tangent 1, tangent 2.
//
// Pieces are numbered: 0 open, 1 stick, 2 + i vertex i, 2 + F + i facet i. With the unit vectors r_i along (1, mu d_i),
// n_i the outward normal of facet i and e_i along it from vertex i to i + 1:
//           forces                  motions
//   open    0                       w_n >= 0
//   stick   cone of all r_i         0
//   vertex  r_i                     w_n = 0, w_t in the cone of -n_{i-1}, -n_i
//   facet   cone of r_i, r_{i+1}    w_n = 0, w_t along -n_i
// Without friction: open, and vertex 0 with r = (1, 0, 0), w_n = 0, w_t free.

#include <array>

#include "solvers/qpcc/qpcc.hpp"

namespace supple::qpcc {

using Vector3 = std::array<double, 3>;

constexpr int open_piece = 0, stick_piece = 1, first_vertex = 2;

inline double dot3(const Vector3& a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// A piece as lambda = S p, E w = 0 (as many equations as unknowns p), and rows a . lambda + b . w >= 0.
struct PieceShape {
  struct Row {
    Vector3 force{}, motion{};
  };
  int size = 0, rows = 0;
  std::array<Vector3, 3> S{}, E{};  // column j of S, row j of E
  std::array<Row, max_contact_facets> row{};
};

class Pyramid {
 public:
  Pyramid() = default;
  Pyramid(int facets, double friction, double angle);

  int facets() const { return facets_; }
  double friction() const { return friction_; }
  bool frictionless() const { return friction_ == 0; }
  int pieces() const { return frictionless() ? 3 : 2 + 2 * facets_; }
  bool exists(int piece) const { return piece >= 0 && piece < pieces() && !(frictionless() && piece == stick_piece); }
  PieceShape shape(int piece) const;

  /// Largest violation of what a piece asks of a force, of a motion; 0 inside.
  double force_distance(int piece, const double* lambda) const;
  double motion_distance(int piece, const double* w) const;
  /// Multipliers (alpha, beta) of (lambda, w) belong to a minimum on the piece if alpha . dlambda + beta . dw >= 0 for
  /// all changes within it: by how much they do not, per length. Forces and motions below the tolerances count as 0.
  double wrong_sign(int piece, const double* lambda, const double* w, const double* alpha, const double* beta,
                    double force_tolerance, double motion_tolerance) const;

 private:
  int facets_ = 4;
  double friction_ = 0;
  double normal_part_ = 1, tangent_part_ = 0;  // of r_i
  double inner_ = 0, inner_norm_ = 1;          // facet: n_i . lambda_t <= inner lambda_n; |(inner, n_i)|
  double half_edge_ = 0;                       // mu sin(pi / F)
  std::array<std::array<double, 2>, max_contact_facets> vertex_{}, normal_{};

  int before(int i) const { return i == 0 ? facets_ - 1 : i - 1; }
  int after(int i) const { return i + 1 == facets_ ? 0 : i + 1; }
  Vector3 ray(int i) const {
    if (frictionless()) return {1, 0, 0};
    return {normal_part_, tangent_part_ * vertex_[i][0], tangent_part_ * vertex_[i][1]};
  }
  double across(int i, const double* v) const { return normal_[i][0] * v[1] + normal_[i][1] * v[2]; }  // n_i . v_t
  double along(int i, const double* v) const { return normal_[i][0] * v[2] - normal_[i][1] * v[1]; }   // e_i . v_t
  double slack(int i, const double* lambda) const { return (inner_ * lambda[0] - across(i, lambda)) / inner_norm_; }
  // lambda = a r_i + b r_{i+1} on facet i: rows that give a and b.
  Vector3 edge_coefficient(int i, bool second) const;
};

ContactPiece piece_of(int number, int facets);
/// -1: unknown, or not a piece of this pyramid.
int number_of(ContactPiece piece, const Pyramid& pyramid);

}  // namespace supple::qpcc
