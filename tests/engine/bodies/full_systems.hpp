#pragma once
// Systems of a full model at several deformed states, as its steps have them: for tests and measurements of solvers
// that take many matrices of one pattern.

#include <string>
#include <vector>

#include "engine/mechanics/mechanics.hpp"
#include "solvers/sparse/symmetric_matrix.hpp"

namespace supple::test {

struct FullSystems {
  SymmetricPattern pattern;
  std::vector<double> values;  // [robots][nonzeros]
  std::vector<double> right;   // [robots][count][n], newton
};

// Every robot strained by `strain` in its own way, roughly; rows with forces of 1 N, so that their geometric stiffness
// is there.
FullSystems full_systems(const std::string& scene, int robots, int right_sides, TangentKind tangent, double strain);

}  // namespace supple::test
