#pragma once
// Equilibria of models that differ by little, beside one that is known: how a robot at rest changes with its parameters.
//
// With r(q) the imbalance of the model in the state that was found (rounding, or what its tolerance leaves) and r'(q) that
// of a neighbour, what is looked for is the neighbour's state with the same imbalance: r'(q + d) = r(q). d is so small
// that forces are linear in it, and the factor A of the model nearly that of the neighbour. Where no multiplier depends on
// d, GMRES with A as preconditioner finds it in two or three solutions (as Anderson's method: H. F. Walker, P. Ni,
// Anderson acceleration for fixed-point iterations, SIAM Journal on Numerical Analysis 49, 2011), of all neighbours at
// once and without a tangent of theirs. Otherwise Newton's method does, with that factor or its own.

#include <memory>
#include <optional>
#include <vector>

#include "engine/calibration/lent_factor.hpp"
#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/full_model.hpp"
#include "engine/model/state.hpp"

namespace supple {

/// A model with one parameter changed by `step`, of which nothing but numbers is different: `relative_step` of its size.
struct Neighbour {
  FullModel model;
  double step = 0;
};

/// Whether equilibria of the neighbours are found by themselves and compared, both to 1e-9: of free-floating bodies, and
/// where cables rub, whose forces depend on how they came to rest.
bool compares_equilibria(const Robot& robot);

/// Of a parameter's size: forces where the robot is have roundings of 1e-15, equilibria errors of 1e-9.
double relative_step(const Robot& robot);

/// Mechanics of a model and of its neighbours, for one thread: memory for each of them, and one factor.
class Neighbourhood {
 public:
  /// All must outlive this object.
  Neighbourhood(const FullModel& model, const std::vector<Neighbour>& neighbours, LentFactor& factor);
  FullMechanics& own() { return *own_; }
  /// Before another equilibrium of own() is looked for.
  void forget() { factor_.forget(); }
  FullMechanics& beside(std::size_t neighbour) { return *beside_[neighbour]; }
  /// Of all neighbours, beside an equilibrium that own() has found last; none: not found.
  std::vector<std::optional<State>> equilibria(const Control& control, const State& state);

 private:
  bool forces_are_given(const Robot& neighbour, const State& state) const;
  void solve_together(const std::vector<double>& load, const State& state, std::vector<std::optional<State>>& found);

  const std::vector<Neighbour>& neighbours_;
  LentFactor& factor_;
  std::unique_ptr<FullMechanics> own_;
  std::vector<std::unique_ptr<FullMechanics>> beside_;
};

}  // namespace supple
