#pragma once
// Quadratic programs with known optimal values: W. Hock and K. Schittkowski, "Test Examples for Nonlinear Programming
// Codes" (Springer, 1981), K. Schittkowski, "More Test Examples" (1987) for number 268; also in the collection of Maros
// and Meszaros. `constant` is the part of the objective that 1/2 x^T P x + g^T x lacks.

#include <vector>

#include "tests/solvers/qp/qp_cases.hpp"

namespace supple::test {

struct PublishedQp {
  const char* name;
  Qp qp;
  double constant, optimum;
};

std::vector<PublishedQp> published_problems();

}  // namespace supple::test
