#pragma once
// Newton's method for one robot of a step (step.hpp): when it has converged, when to step back, when to stop.

#include <limits>

#include "engine/step/step_settings.hpp"

namespace supple {

// The forces of an evaluation [N].
struct ResidualNorms {
  double size = 0;   // |r + H^T lambda|
  double scale = 0;  // the forces at work
};

class NewtonControl {
 public:
  enum class Verdict { go_on, converged, stopped };

  void begin() { *this = {}; }
  // Of an evaluation after so many factorisations of the step; violation: of the rows' laws [m].
  Verdict judge(const ResidualNorms& norms, double violation, int iterations, const StepSettings& settings);
  // The motion of this iteration was cut short: the next residual is no measure of progress, the first few times.
  void cut_short() { cut_short_ = true; }
  // Of one that led to points without stress. False: it cannot, or not again.
  bool step_back(int iterations, const StepSettings& settings);
  // Whether the last iteration was good enough to keep its factor. One that stepped back had none of its own: with the
  // other robots of a batch it was factored where it has no stress.
  bool keeps_factor(const StepSettings& settings) const {
    return !stepped_back_ && residual_ < settings.keep_factor_below * before_;
  }

  double residual() const { return residual_; }  // relative
  double force_scale() const { return force_scale_; }

 private:
  double residual_ = 0, before_ = 0, force_scale_ = 0, first_scale_ = 0, largest_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  int least_at_ = 0, halvings_ = 0;
  bool cut_short_ = false;     // before the next evaluation
  bool stepped_back_ = false;  // before the last evaluation
};

}  // namespace supple
