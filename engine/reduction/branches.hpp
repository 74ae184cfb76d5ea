#pragma once
// Other equilibria under the same commands. A body that buckles or snaps has several stable ones, and which of them is
// found depends on the way there. Where a reduced model is far from the reference equilibrium although its modes can
// show that one, the full model is solved from the reduced state: if it comes to rest next to it, the reduced model has
// found another equilibrium of the robot, and that is what it is compared with.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/parameters.hpp"
#include "engine/reduction/basis/lifting.hpp"
#include "engine/reduction/validate.hpp"

namespace supple {

// From which error in shape another equilibrium is looked for where no error is asked for.
inline constexpr double far_without_asked_error = 0.05;

class Branches {
 public:
  /// far: from the reference, in shape, as a share of the mean displacement of the reference states; another
  /// equilibrium is looked for from there on, and taken where it is nearer to the reduced state than half of that. The
  /// model must outlive this object.
  Branches(const FullModel& full, double far) : full_(full), far_(far) {}

  /// The other equilibrium of reference state s that a reduced state is next to; null: none. u: its displacements
  /// without their lifting [nv, m], basis: the modes [modes][nv].
  const ReferenceStates* next_to(int s, const ReferenceStates& reference, std::span<const double> u,
                                 const State& reduced, std::span<const double> basis);
  /// Whether more of them are looked for, or those that are known are all: a search costs an equilibrium of the full
  /// model.
  void search(bool on) { searching_ = on; }
  /// Of the state, all that were found so far.
  const std::vector<ReferenceStates>& of(int s) const;

 private:
  std::optional<ReferenceStates> solve_from(std::span<const double> u, const State& reduced, const Sample& sample);

  const FullModel& full_;
  double far_;
  bool searching_ = true;
  std::optional<Lifting> lifting_;
  std::optional<ChangingModel<FullModel>> changing_;
  std::unique_ptr<FullMechanics> mechanics_;
  std::map<int, std::vector<ReferenceStates>> found_;  // one state each
  std::map<int, std::size_t> searched_;                // modes of the last model with which none was found
};

}  // namespace supple
