#pragma once
// Which commands to simulate next: those with the largest predicted error of a model made of the snapshots so far
// (POD-greedy sampling; B. Haasdonk & M. Ohlberger, ESAIM: M2AN 42, 2008).
//
// The model has all elements. At a candidate it is solved from the nearest known state; what is left of the full
// model's forces there, r, moves the full robot by about
//   d = S r,   S = K^-1 - K^-1 J^T (J K^-1 J^T + C)^-1 J K^-1,
// K the full tangent at that state, J the rows held at a displacement (metric.hpp): one step of Newton's method.
// Candidates are chosen one after the other by the largest part of d, in shape and at the effectors, that those before
// have not: of two neighbours with the same error only one is chosen. Contacts are not among the rows of J: predictions
// in contact with obstacles are too large. Measurements: docs/decisions/0013-sampling.md.

#include <string>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "kernels/base/progress.hpp"

namespace supple {

struct GreedyChoice {
  std::vector<Sample> samples;  // the worst first
  // Mean of |d| over all candidates, relative to the mean displacement: in shape or at the effectors, what is larger. A
  // d far longer than most (next to a fold) is cut to largest_compliance times their median.
  double predicted_error = 0;
};

// Chooses `count` of 4 count candidates, a Latin hypercube whose seed is the recipe's and the number of states. set:
// the states so far, in `folder`. The same bits for any number of threads. Memory: the candidates' displacements.
// Throws RunError if no two states have converged, Interrupted.
GreedyChoice choose_samples(const FullModel& model, const ReductionScene& recipe, const std::string& folder,
                            const SnapshotSet& set, int count, const Progress& progress);

// The first k of an order in which each column of the matrix with this Gram matrix [n][n] has, of all that are left,
// the largest part across those before: Cholesky's factorisation with pivots. Ties: the first.
std::vector<int> pivot_order(std::vector<double> gram, int n, int count);

}  // namespace supple
