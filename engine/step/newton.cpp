#include "engine/step/newton.hpp"

#include <algorithm>
#include <utility>

namespace supple {

namespace {

// Beyond so many times the largest residual so far, after so many iterations, it diverges.
constexpr double diverging = 50;
constexpr int diverging_after = 3;

}  // namespace

NewtonControl::Verdict NewtonControl::judge(const ResidualNorms& norms, double violation, int iterations,
                                            const StepSettings& settings) {
  stepped_back_ = halvings_ > 0;
  halvings_ = 0;
  // Relative to the forces at work now and, since they may vanish on the way (a body that is released, a base that has
  // moved on), to those that the step began with, inertia among them.
  if (iterations == 0) first_scale_ = std::max(norms.scale, norms.size);
  force_scale_ = std::max(norms.scale, first_scale_);
  before_ = residual_;
  residual_ = force_scale_ > 0 ? norms.size / force_scale_ : 0;
  if (residual_ <= settings.tolerance && violation <= settings.row_tolerance) return Verdict::converged;
  if (iterations >= settings.max_iterations || (iterations > diverging_after && residual_ > diverging * largest_))
    return Verdict::stopped;
  largest_ = std::max(largest_, residual_);
  if (std::exchange(cut_short_, false) && iterations <= settings.stagnation) least_at_ = iterations;
  // The start is no measure of progress: where only the commands are new, it is an equilibrium.
  if (iterations > 0 && residual_ < 0.5 * least_) {
    least_ = residual_;
    least_at_ = iterations;
  } else if (settings.stagnation > 0 && iterations - least_at_ >= settings.stagnation) {
    return Verdict::stopped;
  }
  return Verdict::go_on;
}

bool NewtonControl::step_back(int iterations, const StepSettings& settings) {
  if (iterations == 0 || halvings_ >= settings.max_halvings) return false;
  ++halvings_;
  return true;
}

}  // namespace supple
