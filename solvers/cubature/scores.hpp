#pragma once
// Which column to add next. A score is told of every change of the passive set and answers with the best admissible
// column.

#include <vector>

#include "solvers/cubature/passive_set.hpp"

namespace supple {

/// Of all columns, before any is chosen: ||g_i||^2, and what mu_i must exceed to be positive beyond rounding.
std::vector<double> squared_lengths(const ColumnMatrix& G);
std::vector<double> score_thresholds(const std::vector<double>& squared, const double* y, int rows);
/// The admissible column with the largest score whose mu is positive beyond rounding; -1 if there is none. Ties: the
/// first. left: ||g_i||^2 - ||Q^T g_i||^2.
int best_gradient(const std::vector<double>& mu, const std::vector<double>& threshold,
                  const std::vector<char>& excluded);
int best_orthogonal(const std::vector<double>& mu, const std::vector<double>& left, const std::vector<double>& squared,
                    const std::vector<double>& threshold, const std::vector<char>& excluded);

/// Lawson-Hanson: the largest mu_i = g_i^T r.
class GradientScore {
 public:
  GradientScore(const ColumnMatrix& G, const double* y);
  void update(const PassiveSet& passive);  // mu from the present residual
  void appended(const PassiveSet&) {}
  void removed(const Removal&) {}
  int best(const std::vector<char>& excluded) const { return best_gradient(mu_, threshold_, excluded); }

 private:
  ColumnMatrix G_;
  std::vector<double> mu_, threshold_;
};

/// Orthogonal least squares: mu_i^2 / (||g_i||^2 - ||Q^T g_i||^2), rows of T = Q^T G kept.
class OrthogonalScore {
 public:
  OrthogonalScore(const ColumnMatrix& G, const double* y);
  void rebuild(const PassiveSet& passive);
  void update(const PassiveSet& passive);
  void appended(const PassiveSet& passive);  // call before the set changes again
  void removed(const Removal& removal);
  int best(const std::vector<char>& excluded) const {
    return best_orthogonal(mu_, left_, squared_, threshold_, excluded);
  }

 private:
  ColumnMatrix G_;
  std::vector<double> mu_, threshold_, target_, squared_, left_;
  std::vector<std::vector<double>> T_;
};

}  // namespace supple
