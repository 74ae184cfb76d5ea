#pragma once
// Equilibria of a scene under all loads that were measured, and how they change with its parameters.

#include <optional>
#include <string>
#include <vector>

#include "engine/calibration/lent_factor.hpp"
#include "engine/calibration/measurements.hpp"
#include "engine/calibration/neighbours.hpp"
#include "engine/model/full_model.hpp"
#include "engine/model/state.hpp"
#include "engine/step/step_settings.hpp"
#include "kernels/base/progress.hpp"

namespace supple {

/// How equilibria change with one parameter, per unit of it; empty: not found.
struct Slope {
  std::vector<std::vector<double>> q;  // [loads][nq]
  std::vector<double> shown;           // [loads][columns] SI
};

struct Equilibria {
  std::vector<State> states;  // [loads]
  std::vector<double> shown;  // [loads][columns] SI
  std::vector<Slope> slopes;  // [neighbours]
};

class LoadedScene {
 public:
  /// Both must outlive this object.
  LoadedScene(const Measurements& measurements, const Progress& progress);

  /// Where equilibria are looked for.
  struct Start {
    const Equilibria* from = nullptr;  // null: from each other and rest
    /// Changes of the parameters since: the slopes tell where to try first. Empty: there.
    std::vector<double> changes;
  };

  /// Equilibria to a relative residual, and their slopes by all neighbours, which have as many unknowns; none where one
  /// of them is not found: failure() has its name then. Throws Interrupted.
  std::optional<Equilibria> solve(const FullModel& model, const std::vector<Neighbour>& neighbours, const Start& start,
                                  double tolerance, const std::string& stage);
  const std::string& failure() const { return failure_; }
  /// Of all calls, those of neighbours too.
  int count() const { return count_; }

 private:
  StepStatus find(int load, const Start& start, double tolerance, const State& near, FullMechanics& own, State& state);

  const Measurements& measurements_;
  const Progress& progress_;
  std::vector<LentFactor> factors_;  // of each thread: a scene's models have one pattern
  std::string failure_;
  int count_ = 0;
};

}  // namespace supple
