#pragma once
// Reduced robots at rest, and the derivatives of where they are by what holds them there. An equilibrium q is where a step
// of any length leads nowhere, u(q, p) = 0 with the motion u of a step of implicit Euler, p its commands and parameters:
//   du/dq dq + du/dp dp = 0
// so that all of it is in the derivatives of one step (step_derivative.hpp), of one so long that masses have no part in it.
// docs/theory/derivatives.md.

#include <Eigen/LU>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/derivative/step_derivative.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/mechanics/variations.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/step/step.hpp"

namespace supple {

class Statics {
 public:
  /// Throws InputError where steps have no derivatives (no_derivative), and for obstacles with friction: where a robot
  /// comes to rest on them depends on its way there.
  Statics(std::shared_ptr<const ReducedModel> model, int robots);
  Statics(const Statics&) = delete;
  Statics& operator=(const Statics&) = delete;

  int robots() const { return static_cast<int>(robots_.size()); }
  const ReducedModel& model() const { return *model_; }
  /// For the equilibria to come, which damping has no part in; there are none then. Throws as check_variations().
  void set_variations(const Variations& variations);

  struct Rest {
    std::vector<double> q;       // B x nv
    std::vector<double> forces;  // B x rows
  };
  /// Under commands [B x actuators], cut to their ranges, and generalised forces [B x nv, N] or none; from rest, whatever
  /// was found before. Throws RunError where a robot has no equilibrium, InputError for lists of other sizes or numbers
  /// that are not finite; there is nothing at rest then. `stopped` is called before each robot; true: Interrupted.
  const Rest& solve(std::span<const double> commands, std::span<const double> loads = {},
                    const std::function<bool()>& stopped = {});
  /// Changes with each solve().
  long runs() const { return runs_; }

  /// From derivatives of a scalar by `q` and `forces` (empty: by none of it) those by what solve() was given. Throws
  /// InputError where nothing is at rest, RunError where rows that hold a robot share their forces in more than one way and
  /// the scalar depends on it, or where a robot is about to snap.
  InputGradient pull_back(std::span<const double> q, std::span<const double> forces);
  /// dq by the commands [B][nv x actuators], of a slack cable by one that is pulled, and by loads, the robot's compliance
  /// [B][nv x nv]. Throws as pull_back().
  struct Matrices {
    std::vector<double> commands, loads;
  };
  Matrices matrices();

 private:
  struct AtRest {
    AtRest(const ReducedModel& model, const StepSettings& settings);
    ReducedMechanics mechanics;
    Stepper step;  // from the equilibrium
    StepDerivative derivative;
    State before, after;
    std::vector<double> commands;
    StepMatrices matrices;
    Eigen::PartialPivLU<Eigen::MatrixXd> stiffness;  // of -du/dq
  };
  void solve(int robot, std::span<const double> commands, std::span<const double> load);
  void require_rest() const;
  void forget();

  std::shared_ptr<const ReducedModel> model_;
  std::vector<std::unique_ptr<AtRest>> robots_;
  Rest rest_;
  long runs_ = 0;
};

}  // namespace supple
