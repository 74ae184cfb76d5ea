#pragma once
// Continuous detection for two simplices whose points move linearly, x(t) = from + t step with t in [0, 1]: the first
// time at which their distance falls to a level. Conservative advancement: with n the unit direction of closest points,
//   distance(t + h) >= min_ij n . (a_i - b_j) + h n . (step_i - step_j)
// so that no time before the least root over i, j can be the one (B. Mirtich, "Impulse-based dynamic simulation", 1996;
// with directions: M. Tang, Y. Kim, D. Manocha, "C2A", ICRA 2009). Where rounding of n spoils that bound, the additive
// one replaces it, distance(t + h) >= distance(t) - h (max_i |step_i - mean| + max_j |step_j - mean|): M. Li,
// D. Kaufman, C. Jiang, "Codimensional incremental potential contact", SIGGRAPH 2021. Neither ever passes a contact.

#include "engine/collision/simplex_distance.hpp"

namespace supple {

struct MovingSimplex {
  int count = 1;
  std::array<Vec3d, 3> from{}, step{};  // m
  Simplex at(double time) const;
};

struct ContactTime {
  // false: the distance stays above the level from the start to time 1, to within rounding of coordinates.
  bool reached = false;
  double time = 1;       // reached: when, before or at the first contact
  ClosestPoints points;  // reached: at that time
  ClosestPoints first;   // at the start
  int iterations = 0;
};

/// The first time in [start, 1] at which the distance is at most level + max(1e-3 (distance at start - level),
/// 1e-6 level), level >= 0; `start` itself if it is there already. The distance is then above the level unless it was
/// not at the start. Where 200 iterations do not suffice: the time they came to, which is before the contact.
ContactTime time_of_contact(const MovingSimplex& a, const MovingSimplex& b, double level, double start = 0);

/// Whether planes across n (of any length) keep them further apart than `distance` at all times in [0, 1].
bool stays_apart(const MovingSimplex& a, const MovingSimplex& b, const Vec3d& n, double distance);

}  // namespace supple
