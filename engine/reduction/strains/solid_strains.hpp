#pragma once
// Solids by modes of their strains (StrainModes): energy 1/2 |s(x)|^2, s quadratic in the coordinates x. For a solid,
// unlike a membrane that hardly stretches, no strain measure is both quadratic and the law's, so s is fitted:
//
// 1. Strains of the law: at each point z in R^6 with W(F) = 1/2 |z|^2,
//      z = c sqrt(w) (sqrt(kappa) tr e, sqrt(2 mu) dev e),   e = U - I (Biot),   kappa, mu those at rest,
//    c the factor that makes it the law's energy. For the corotational law c = 1.
// 2. Their modes S: POD of z over the training states, and of how z changes with x about them. s* = S^T z.
// 3. s = L x + 1/2 x^T Q x by linear least squares on the values and the gradients of s*.
// 4. L and Q by nonlinear least squares on forces (strain_fit.hpp), which decide where a robot comes to rest. A strain
//    that is off by a thousandth is stiff against motions that in truth strain nothing.
//
// The forces that are wanted are those that hold the *projected* full-order states in equilibrium. What a Galerkin model
// is too stiff by, since its modes cannot follow in detail, is so left out (closure): its equilibria are the
// projections themselves, as far as the fit goes. docs/theory/reduction.md#solids-by-strain-modes.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/model/full_model.hpp"
#include "engine/model/reduced_model.hpp"
#include "engine/reduction/elements/selection.hpp"
#include "kernels/base/progress.hpp"

namespace supple {

struct SolidStrainSettings {
  double tolerance = 0;  // share of the strains of step 2, in the norm of energy, that may be left out
  int max_modes = 0;     // 0: any number; as many as the model has columns are taken in any case
  std::uint64_t seed = 1;
};

struct SolidStrains {
  StrainModes modes;
  double ridge = 0;  // fit_forces
  // Displacement by which the wanted forces are missed, by prediction (metric.hpp), relative, root mean square over the
  // states, after step 4.
  double missed = 0;
};

struct SolidStrainFit {
  double tolerance = 0, left_out = 0;
  bool closed = false;              // the forces wanted are those of equilibria, at states that are; else of elements
  int states = 0;                   // whose forces it was fitted to
  double missed = 0;                // as SolidStrains::missed, after step 3
  std::vector<SolidStrains> found;  // from much ridge to little
};

// Whether a robot's equilibria tell the forces that are wanted: no contact and no friction in cables, whose forces
// training snapshots do not hold.
bool closes(const Robot& robot);

// Why a body's solids have no strain modes; empty: they have.
std::string no_solid_strains(const FullModel& model);

// Several fits, of which unseen states choose. elements: the model on a tight integration domain. training: with the
// metric, the multipliers and which states are equilibria. check_stop throws where the user has asked to stop.
SolidStrainFit solid_strains(const ReducedModel& elements, const TrainingStates& training,
                             const SolidStrainSettings& settings, const Progress& progress,
                             const std::function<void()>& check_stop);

// All that `model` has but its solids.
ReducedModel without_solids(const ReducedModel& model);

// The fields of solids of `model` by these modes: one field in the place of the first, the others go.
void use_solid_strains(ReducedModel& model, const StrainModes& modes, double tolerance, double left_out);

}  // namespace supple
