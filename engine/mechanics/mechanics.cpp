#include "engine/mechanics/mechanics.hpp"

#include <stdexcept>

#include <algorithm>
#include <cmath>

#include "engine/mechanics/variations.hpp"
#include "kernels/array/mirrored.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

std::span<const PointStiffness> points_of(std::span<const PointStiffness> points, int robot) {
  const auto first = std::ranges::lower_bound(points, robot, {}, &PointStiffness::robot),
             last = std::ranges::upper_bound(points, robot, {}, &PointStiffness::robot);
  return points.subspan(static_cast<std::size_t>(first - points.begin()), static_cast<std::size_t>(last - first));
}

SystemFactors system_factors(const SystemCoefficients& coefficients, const RobotSystem* own) {
  // Robots with their own take the parts of the sum.
  SUPPLE_EXPECT(own == nullptr || coefficients.mass == 0 || coefficients.inertia != 0);
  return {.mass = coefficients.mass,
          .stiffness = coefficients.stiffness,
          .own = own,
          .inertia = coefficients.inertia,
          .implicit = coefficients.implicit,
          .rate = coefficients.rate};
}

const Device& Mechanics::device() const {
  static const Device host = cpu();
  return host;
}

double Mechanics::turn_step(int, std::span<const double>, std::span<const double>, std::span<const double>,
                            std::span<double>) {
  return 1;
}

void Mechanics::begin_viscous_step(double, std::span<const double>) {
  SUPPLE_EXPECT(robot().viscous == 0);
}

void Mechanics::end_viscous_step(double, std::span<const double>, std::span<const double>,
                                 std::span<const unsigned char>, std::span<double>) {
  SUPPLE_EXPECT(robot().viscous == 0);
}

PointReport Mechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                       std::span<double> f) {
  SUPPLE_EXPECT(device().kind == Device::Kind::cpu);
  point_reports_.resize(extent(robots()));
  evaluate_forces(q, c, kind, f, point_reports_);
  PointReport total;
  double scale = 0;
  for (const PointReport& report : point_reports_) {
    total.inverted += report.inverted;
    total.undefined += report.undefined;
    if (total.first_undefined < 0) total.first_undefined = report.first_undefined;
    scale += report.force_scale * report.force_scale;
  }
  total.force_scale = robots() == 1 ? point_reports_.front().force_scale : std::sqrt(scale);
  return total;
}

SystemReport Mechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                               std::span<const double> multipliers) {
  SUPPLE_EXPECT(device().kind == Device::Kind::cpu);
  system_reports_.resize(extent(robots()));
  factor(coefficients, y, multipliers, system_reports_);
  SystemReport worst;
  for (const SystemReport& report : system_reports_) {
    if (worst.status == SystemStatus::ok) worst.status = report.status;
    worst.negative_pivots = std::max(worst.negative_pivots, report.negative_pivots);
    worst.weakened += report.weakened;
  }
  return worst;
}

void Mechanics::find_space(const SystemCoefficients&, const RightSidesTeamOp&, const SpaceTeamOp&, const SpaceTeamOp&,
                           std::span<SystemReport>) {
  SUPPLE_EXPECT(finds_space());
}

void Mechanics::model_changed() {
  throw std::logic_error("these mechanics do not follow a model that changes");
}

void Mechanics::set_variations(Variations) {
  SUPPLE_EXPECT(false);
}

RobotSystem Mechanics::system(int) const {
  return {.density = 1, .a = robot().rayleigh_mass, .b = robot().rayleigh_stiffness};
}

Mechanics::Damped Mechanics::damped() const {
  return {robot().rayleigh_mass != 0, robot().rayleigh_stiffness != 0};
}

double Mechanics::friction(int, int obstacle) const {
  return robot().obstacles[static_cast<std::size_t>(obstacle)].friction;
}

void Mechanics::input_rates(std::span<const int> points, std::span<double> rates) {
  const int motions = static_cast<int>(robot().motions.size()), B = robots();
  const std::size_t outputs = extent(robot().outputs());
  Mirrored<double> q(device(), extent(B, coordinates().nq)), c(device(), extent(B, motions)),
      y(device(), extent(B) * outputs);
  for (int b = 0; b < B; ++b) coordinates().rest(q.host().data() + extent(b, coordinates().nq));
  q.send();
  const auto outputs_at = [&](int moved) {
    std::ranges::fill(c.host(), 0.0);
    if (moved >= 0) c.host()[extent(moved)] = 1;
    c.send();
    evaluate_outputs(q.span(), c.span(), y.span());
    y.fetch();
    synchronize(device());
    return std::vector<double>(y.host().begin(), y.host().begin() + static_cast<std::ptrdiff_t>(outputs));
  };
  const std::vector<double> rest = outputs_at(-1);
  for (int k = 0; k < motions; ++k) {
    const std::vector<double> moved = outputs_at(k);
    for (std::size_t p = 0; p < points.size(); ++p)
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t at = extent(3, points[p]) + i;
        rates[3 * (extent(k) * points.size() + p) + i] = moved[at] - rest[at];
      }
  }
}

void Mechanics::add_turning(const StepMotion&, std::span<double>) const {}

void Mechanics::correct_momentum(const StepMotion&, std::span<double>) const {}

void Mechanics::row_compliance(int robot, const PointRows& rows, int known, std::span<double> C) {
  constexpr int columns_at_once = 48;
  const int nv = coordinates().nv, n = rows.rows();
  std::vector<double> X, columns, unit(extent(n), 0.0);
  for (int from = known; from < n; from += columns_at_once) {
    const int count = std::min(columns_at_once, n - from);
    X.assign(extent(count, nv), 0.0);
    for (int i = 0; i < count; ++i) {
      unit[extent(from + i)] = 1;
      add_row_forces(rows, unit, std::span(X).subspan(extent(i, nv), extent(nv)));
      unit[extent(from + i)] = 0;
    }
    solve_robot(robot, X, count);
    columns.resize(extent(count, n));
    multiply_rows(rows, X, count, columns);
    // Both halves of what is new are computed: C gets the one below its diagonal, twice.
    for (int i = 0; i < count; ++i)
      for (int j = 0; j <= from + i; ++j)
        C[extent(from + i, n) + extent(j)] = C[extent(j, n) + extent(from + i)] = columns[extent(i, n) + extent(j)];
  }
}

}  // namespace supple
