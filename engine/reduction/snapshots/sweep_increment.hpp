#pragma once
// Whether training snapshots that are single time steps (`converged = false`: the sweep of Goury & Duriez, IEEE T-RO
// 2018) come near equilibria. Each increment of the sweep is one step of the scene's time_step, implicit Euler whatever
// the scene's own implicit factors are (snapshots.cpp), and the numerical damping of that step is what makes the body
// settle: of a vibration of angular frequency w a step leaves the fraction rho, the spectral radius of the update
// clang-format off
//   v' (1 + h c + h^2 w^2) = v - h w^2 q,   q' = q + h v',   c = a + b w^2
// clang-format on
// (a, b: Rayleigh damping; below critical damping rho = (1 + h c + h^2 w^2)^-1/2), and from one grid point to the next
// rho^sweep_steps is left. Where that is much, the snapshots, and so the modes, are of vibrations.

#include <optional>
#include <string>

#include "engine/model/full_model.hpp"

namespace supple {

// A vibration of which more than this is left at the next grid point spoils the modes.
inline constexpr double most_vibration_left = 0.5;

// Period [s] of the body's slowest vibration at rest, actuators slack. None where its stiffness is singular.
std::optional<double> lowest_period(const FullModel& model);

// Fraction of a vibration of this period that is left after so many steps of the sweep.
double vibration_left(const Robot& robot, double period, int steps);

// Why the sweep of this recipe does not settle, with the keys to change; "" where it does, or there is none.
std::string unsettled_sweep(const FullModel& model, const ReductionScene& recipe);

}  // namespace supple
