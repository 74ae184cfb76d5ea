#pragma once
// The loop shared by all forward selections: pick a column by its score, add it, fit the weights again without negative
// ones.

#include "solvers/cubature/cubature.hpp"
#include "solvers/cubature/scores.hpp"

namespace supple {

struct GrowLimits {
  double tolerance = 0;  // relative residual to reach
  int max_columns = 0;   // 0 = no limit
};

/// A residual below this is rounding: reached whatever the tolerance asks.
constexpr double residual_floor = 1e-13;

template <class Score>
CubatureStatus grow(PassiveSet& passive, Score& score, const GrowLimits& limits, int columns,
                    std::vector<CubatureStep>& history, const CubatureProgress& progress) {
  enum : char { admissible, chosen, cycled_out, useless };
  std::vector<char> excluded(columns, admissible);
  for (int column : passive.columns()) excluded[column] = chosen;
  const auto admit = [&](char kind) {
    bool any = false;
    for (char& state : excluded)
      if (state == kind) state = admissible, any = true;
    return any;
  };
  for (;;) {
    const double before = passive.relative_residual();
    if (before <= std::max(limits.tolerance, residual_floor)) return CubatureStatus::converged;
    if (limits.max_columns > 0 && passive.size() >= limits.max_columns) return CubatureStatus::column_limit;
    score.update(passive);
    int column = score.best(excluded);
    while (column >= 0 && !passive.append(column)) {
      excluded[column] = useless;
      column = score.best(excluded);
    }
    if (column < 0) {
      if (admit(cycled_out)) continue;
      return CubatureStatus::stalled;
    }
    score.appended(passive);
    excluded[column] = chosen;
    const std::vector<Removal> removals = passive.refit();
    admit(cycled_out);
    for (const Removal& removal : removals) {
      score.removed(removal);
      excluded[removal.column] = cycled_out;
    }
    if (passive.relative_residual() < before) {
      if (!removals.empty()) admit(useless);  // what depended on a column that left may be of use again
    } else {
      // Rounding only: never again, so that the loop ends. The other columns are fitted as well as before.
      for (int k = 0; k < passive.size(); ++k)
        if (passive.columns()[k] == column) {
          score.removed(passive.remove(k));
          for (const Removal& removal : passive.refit()) {
            score.removed(removal);
            excluded[removal.column] = cycled_out;
          }
          break;
        }
      excluded[column] = useless;
      continue;
    }
    history.push_back({passive.size(), passive.relative_residual()});
    if (progress && !progress(passive.size(), passive.relative_residual())) return CubatureStatus::interrupted;
  }
}

}  // namespace supple
