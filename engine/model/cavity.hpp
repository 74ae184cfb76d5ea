#pragma once
// Volume of a closed triangulated surface whose corners are mapped points, and the same as a polynomial of a reduced
// model's coordinates.
//
// clang-format off
//   V = 1/6 sum_t x1 . (x2 x x3)    dV/dx1 = 1/6 (x2 x x3)    d^2V/dx1 dx2 = -1/6 [x3]x    d^2V/dx1 dx3 = 1/6 [x2]x
// clang-format on
// cyclically, triangles oriented outwards. A pressure p does the work p dV: forces p dV/dx on the corners, exactly p
// times the area vector of the deformed surface, and the stiffness -p d^2V/dx^2, symmetric for a closed surface
// whatever its shape. x from any common origin gives the same; the first corner is taken.

#include <array>
#include <span>
#include <vector>

#include "kernels/math/small.hpp"

namespace supple {

using Triangles = std::vector<std::array<int, 3>>;  // numbers of corners

// corners: [3 n], metres. gradient [3 n] unless null.
double cavity_volume(std::span<const double> corners, const Triangles& triangles, double* gradient);

// Calls visit(i, j, B) for 3x3 blocks B that add up to d^2V/dx_i dx_j; both (i, j) and (j, i) come, i != j.
template <class Visitor>
void visit_cavity_curvature(std::span<const double> corners, const Triangles& triangles, Visitor visit) {
  const auto at = [&](int i) {
    const double* x = corners.data() + 3 * static_cast<std::size_t>(i);
    return Vec3d{{x[0], x[1], x[2]}};
  };
  if (triangles.empty()) return;
  const Vec3d origin = at(triangles.front()[0]);
  for (const auto& t : triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const int i = t[k], j = t[(k + 1) % 3];
      const Vec3d x = (1.0 / 6) * (at(t[(k + 2) % 3]) - origin);
      // -[x]x for (i, j), its transpose for (j, i)
      Mat3d block = Mat3d::zero();
      block(0, 1) = x[2];
      block(0, 2) = -x[1];
      block(1, 0) = -x[2];
      block(1, 2) = x[0];
      block(2, 0) = x[1];
      block(2, 1) = -x[0];
      visit(i, j, block);
      visit(j, i, transpose(block));
    }
}

// V(x) - V(0) for corners = rest + columns x: exactly a cubic polynomial, sums over i >= j >= k of
//   linear[i] x_i + quadratic[ij] x_i x_j + cubic[ijk] x_i x_j x_k
// in that order of the packed triples. A translation of all corners changes no coefficient. Made in 6 n^3 flop a
// triangle, evaluated in 2/3 n^3: worth it for the tens of modes of a reduced model, not for hundreds.
struct VolumePolynomial {
  int unknowns = 0;
  std::vector<double> linear, quadratic, cubic;  // [n], [n (n + 1)/2], [n (n + 1)(n + 2)/6]; m^3 per unit of x

  bool empty() const { return unknowns == 0; }
  // Value; gradient [n] unless null. 4/6 n^3 flop. A thread's first call allocates its scratch.
  double evaluate(const double* x, double* gradient) const;
  // d^2V/dx^2 [n x n], row-major, both triangles.
  void hessian(const double* x, double* out) const;
};

std::size_t cubic_size(int unknowns);

// A cavity of a robot, by the corners of its walls or, in a reduced model, by its polynomial.
struct CavityShape {
  Triangles triangles;      // outwards, of its corners
  VolumePolynomial volume;  // instead of triangles
  double rest_volume = 0;   // V0 [m^3]
  double rest_area = 0;     // m^2
};
// V - V0 at its mapped points: its corners, or points that hold the polynomial's unknowns and zeros. gradient [points]
// or empty.
double volume_gained(const CavityShape& cavity, std::span<const double> points, std::span<double> gradient);

// rest [3 points], columns [3 points][unknowns] row-major.
VolumePolynomial volume_polynomial(std::span<const double> rest, std::span<const double> columns, int unknowns,
                                   const Triangles& triangles);

}  // namespace supple
