#pragma once
// The elastica by shooting, for tests and for the cases of bench/validation.

#include <array>
#include <cmath>

namespace supple {

// Elastica: a rod clamped along x with a dead load P downwards at its end, E I theta'' = P cos theta (theta < 0: downwards), theta(0) = 0,
// theta'(L) = 0, as L = 1 and k = P L^2 / E I; returns the tip. Classical Runge-Kutta, bisection on theta'(0).
inline std::array<double, 2> elastica_tip(double k) {
  constexpr int steps = 2000;
  std::array<double, 2> tip{};
  const auto end_curvature = [&](double curvature) {
    double theta = 0, x = 0, z = 0;
    const double h = 1.0 / steps;
    for (int i = 0; i < steps; ++i) {
      double t[5] = {theta}, c[5] = {curvature}, dx = 0, dz = 0;
      const double half[4] = {0, 0.5 * h, 0.5 * h, h}, weight[4] = {h / 6, h / 3, h / 3, h / 6};
      double dt = 0, dc = 0, slope_t = 0, slope_c = 0;
      for (int s = 0; s < 4; ++s) {
        const double ts = t[0] + half[s] * slope_t, cs = c[0] + half[s] * slope_c;
        slope_t = cs;
        slope_c = k * std::cos(ts);
        dt += weight[s] * slope_t;
        dc += weight[s] * slope_c;
        dx += weight[s] * std::cos(ts);
        dz += weight[s] * std::sin(ts);
      }
      theta += dt;
      curvature += dc;
      x += dx;
      z += dz;
    }
    tip = {x, z};
    return curvature;
  };
  // theta is negative (downwards): theta'(0) between -k (all load straight) and 0.
  double low = -k, high = 0;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (end_curvature(middle) > 0 ? high : low) = middle;
  }
  return tip;
}

}  // namespace supple
