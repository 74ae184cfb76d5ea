#include "engine/reduction/snapshots/sweep_increment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/model/element_fields.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

std::optional<double> lowest_period(const FullModel& model) {
  constexpr int iterations = 20;
  constexpr double settled = 1e-4;  // relative change of w^2
  FullMechanics mechanics(model);
  const Robot& robot = model.robot;
  const int nv = model.coordinates.nv;
  const std::vector<double> q(extent(nv), 0.0), c(robot.motions.size(), 0.0), multipliers(extent(robot.rows()), 0.0);
  std::vector<double> f(q.size()), y(extent(robot.outputs())), x(q.size()), Mx(q.size());
  const bool exact =
      std::ranges::all_of(model.fields, [](const ElementField& field) { return has_exact_tangent(field.law); });
  mechanics.evaluate_outputs(q, c, y);
  (void)mechanics.evaluate_forces(q, c, exact ? TangentKind::exact : TangentKind::safe, f);
  const SystemReport system = mechanics.factor({.mass = 0, .stiffness = 1}, y, multipliers);
  if (system.status != SystemStatus::ok || system.negative_pivots > 0) return std::nullopt;
  // Inverse iteration x <- K^-1 M x, w^2 = x^T K x / x^T M x, from a shape that is orthogonal to none of the slow ones.
  for (int i = 0; i < nv; ++i) x[extent(i)] = 1 + 0.3 * std::sin(1.7 * i);
  double square = 0;
  for (int k = 0; k < iterations; ++k) {
    mechanics.inertia(x, c, Mx);
    std::vector<double> next = Mx;
    mechanics.solve(next, 1);
    const double energy = inner_product(next.data(), Mx.data(), nv);  // next^T K next
    mechanics.inertia(next, c, Mx);
    const double before = square, mass = inner_product(next.data(), Mx.data(), nv);
    if (!(energy > 0) || !(mass > 0)) return std::nullopt;
    square = energy / mass;
    const double scale = 1 / std::sqrt(mass);
    for (int i = 0; i < nv; ++i) x[extent(i)] = scale * next[extent(i)];
    if (std::abs(square - before) <= settled * square) break;
  }
  return 2 * std::numbers::pi / std::sqrt(square);
}

double vibration_left(const Robot& robot, double period, int steps) {
  const double h = robot.time_step, w = 2 * std::numbers::pi / period,
               hc = h * (robot.rayleigh_mass + robot.rayleigh_stiffness * w * w), A = 1 + hc + h * h * w * w;
  const double trace = (2 + hc) / A, determinant = 1 / A;
  const std::complex<double> root = std::sqrt(std::complex<double>(trace * trace / 4 - determinant));
  return std::pow(std::max(std::abs(trace / 2 + root), std::abs(trace / 2 - root)), steps);
}

std::string unsettled_sweep(const FullModel& model, const ReductionScene& recipe) {
  if (recipe.converged || shaken_in_time(model.robot) || recipe.sampling != SamplingKind::grid) return "";
  const std::optional<double> period = lowest_period(model);
  if (!period) return "";
  const double left = vibration_left(model.robot, *period, recipe.sweep_steps);
  if (left <= most_vibration_left) return "";
  // Steps that leave no more, if the increment stays, and an increment that does, if their number stays.
  const double steps = recipe.sweep_steps * std::log(most_vibration_left) / std::log(left);
  double longer = model.robot.time_step;
  Robot robot = model.robot;
  for (int k = 0; k < 60 && vibration_left(robot, *period, recipe.sweep_steps) > most_vibration_left; ++k)
    robot.time_step = longer *= 1.25;
  const auto time = [](double seconds) { return format_quantity(seconds, Dimension::time); };
  std::string remedy = "converged = true in [reduce]";
  if (left < 1 && steps < 1e4) remedy += fmt::format(", sweep_steps = {:.0f} there", std::ceil(steps));
  remedy += fmt::format(", or a time_step of about {:.2g} s", longer);
  return fmt::format(
      "with converged = false each training snapshot is one time step of {}, too short against the body's slowest "
      "vibration, of a period of about {}: {:.0f} % of a vibration is left from one grid point to the next ({} steps), "
      "and the modes become those of vibrations, not of equilibria; try {}",
      time(model.robot.time_step), time(*period), 100 * left, recipe.sweep_steps, remedy);
}

}  // namespace supple
