#pragma once
// The quadratic programs of inverse control alone, for `supple bench`: n actuators that lead three effector rows round
// a closed path, forces and displacements limited, each program started from the one before.

#include "engine/reduction/validate.hpp"

namespace supple::cli {

struct ProgramRate : Rate {
  double residual = 0;  // largest of any condition of optimality, relative (solvers/qp/qp.hpp)
};

// `batch` programs at once on `threads` threads; a step is one solve of all. The status is rows_unsolved if any has no
// answer. The hash is of the last answers.
ProgramRate measure_programs(int unknowns, int batch, int threads, int steps, double seconds);

}  // namespace supple::cli
