#pragma once
// What a reduction chooses modes and elements by: equilibria of the validation set, some of those it was trained on,
// and trajectories. The test set, which the model is judged by in the end, is none of it.

#include <vector>

#include "engine/reduction/basis/model_basis.hpp"
#include "engine/reduction/model_errors.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {

/// Errors in motion, from rest, where displacements are small, may be so many times those of equilibria.
inline constexpr double motion_to_equilibria = 2;

/// Errors as shares of what they may be.
struct ErrorShares {
  double equilibria = 0;  // of the validation set
  double motion = 0;      // along the trajectories
  double trained = 0;     // equilibria that the model was trained on
  double largest() const;
};

class ValidationSet {
 public:
  /// The model must outlive this object.
  explicit ValidationSet(const FullModel& full) : full_(full) {}

  ReferenceStates equilibria;
  /// At most 60 of the equilibria of the training set, evenly over it, in the place of earlier ones.
  void take_trained(const TrainingSet& training, const AskedError& asked);
  /// Three trajectories of 120 steps, unless they are there; none of a free-floating body. Returns how many of them the
  /// full model did not follow to their end: these are left out.
  int drive(std::uint64_t seed, const Progress& progress);
  /// Branches::search of all equilibria.
  void search_branches(bool on) const;
  bool has_trajectories() const { return !trajectories_.empty(); }

  /// errors: the model's on `equilibria`. aim: the share of the error asked for that is aimed at in equilibria; in
  /// motion it is a half. Of equilibria that the model was trained on all that was asked for is allowed: where it finds
  /// none, or one that is not the robot's, it lacks modes or elements.
  ErrorShares shares(const ReducedModel& model, std::span<const double> basis, const ErrorSummary& errors,
                     const AskedError& asked, double aim) const;

 private:
  const FullModel& full_;
  ReferenceStates trained_;
  std::vector<UnseenPath> trajectories_;
};

}  // namespace supple
