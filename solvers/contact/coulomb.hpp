#pragma once
// One contact with Coulomb friction, alone: rows normal, tangent 1, tangent 2, w = W lambda + b with a symmetric 3 x 3
// matrix W. Exact cone and exact law of slip:
//   0 <= lambda_n, w_n >= 0, lambda_n w_n = 0,   |lambda_t| <= mu lambda_n,
//   w_t = 0   or   lambda_t = -mu lambda_n w_t / |w_t|.
// The slip angle is a root of a quartic (Bonnefon & Daviet, "Quartic formulation of Coulomb 3D frictional contact",
// INRIA technical report 0400, 2011).

namespace supple {

// Larger coefficients, infinity too, count as this one: a contact that sticks. An error of a gap counts mu times in the
// natural map below, so much larger ones would only measure rounding.
constexpr double sticking_friction = 1e2;

struct CoulombBlock {
  double nn, n1, n2, t11, t12, t22;  // W
  double l10, l20, l21;              // W + shift I = L D L^T, L with a unit diagonal
  double inverse0, inverse1, inverse2;
  double shift;  // > 0 where W has no factor

  // w: rows of the 3 x 3 matrix, row-major.
  static CoulombBlock of(const double* w);
};

// lambda: in = the present force, out = a solution for b. Where W is singular, or for large friction nearly so, one
// proximal point step W + shift I from the present force, whose fixed points are the solutions for W. Where there are
// several, the slip nearest to the present one. Always ends, with the candidate of the smallest residual.
void solve_coulomb(const CoulombBlock& block, double friction, const double* b, double* lambda);

// Natural map of Alart & Curnier (Computer Methods in Applied Mechanics and Engineering 92, 1991), zero at a solution:
//   r_n = lambda_n - max(0, lambda_n - w_n),   r_t = lambda_t - projection of lambda_t - w_t on the disc of radius
//   mu max(0, lambda_n - w_n).
// lambda and w in one unit. Returns the largest |r|.
double coulomb_residual(const double* lambda, const double* w, double friction);

// lambda_t scaled down to |lambda_t| <= mu lambda_n, lambda_n >= 0.
void project_friction(double friction, double* lambda);

}  // namespace supple
