#pragma once
// The factors of A = stiffness K + mass M, of all robots of a batch or of each where masses and damping differ.

#include "kernels/base/macros.hpp"

namespace supple {

// What a robot has of its own in M and in its damping: a factor on its masses, Rayleigh's coefficients a [1/s] and b [s].
struct RobotSystem {
  double density = 1, a = 0, b = 0;
};

// Of robots with their own: mass = density (inertia + implicit rate a), stiffness = implicit (1 + rate b).
struct SystemFactors {
  double mass = 0, stiffness = 1;    // of all robots
  const RobotSystem* own = nullptr;  // [robots], or null
  double inertia = 0, implicit = 1, rate = 0;
  double share = 1;  // of the mass

  SUPPLE_INLINE double mass_of(int robot) const {
    return share * (own ? own[robot].density * (inertia + implicit * rate * own[robot].a) : mass);
  }
  SUPPLE_INLINE double stiffness_of(int robot) const { return own ? implicit * (1 + rate * own[robot].b) : stiffness; }
};

}  // namespace supple
