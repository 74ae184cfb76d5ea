#include "engine/mechanics/reduced/reduced_robots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/elements/tiles.hpp"
#include "kernels/math/inner_product.hpp"

namespace supple {

namespace {

// `count` numbers for each robot, or none.
template <class Allowed>
void check(const std::vector<double>& values, int robots, int count, const std::string& what, const std::string& range,
           Allowed allowed) {
  if (values.empty()) return;
  const std::string each = fmt::format("{} for each of the {} robots, or none at all", count, robots);
  if (values.size() != extent(robots, count))
    throw InputError(fmt::format("there are {} values of {} (expected are {})", values.size(), what, each), each);
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]) || !allowed(values[k]))
      throw InputError(fmt::format("robot {} has {} {}", k / extent(count), what, values[k]), range);
}

}  // namespace

ReducedRobots::ReducedRobots(const ReducedModel& model, int robots)
    : model_(model), robots_(robots), r_(model.modes), m_(model.motions()), rows_(row_layout(model.robot)) {
  if (model.on_frame)
    throw InputError(
        fmt::format("'{}' is a free-floating model on a frame, which this does not support yet (robots are "
                    "stepped one by one on a CPU: not on a device, not by `bench`)",
                    model.robot.name),
        "`supple run` on the CPU, or rigid_motion = \"linearised\" in [reduce]");
  coordinates_.add(CoordinateBlock::Kind::modes, model.robot.name, r_);
  read_moduli();
}

void ReducedRobots::read_moduli() {
  // At a strain of one, roughly: the stress is the sum of the law's constants.
  const int n = model_.columns(), regions = model_.regions();
  forces_of_regions_.assign(extent(r_, regions), 0.0);
  for (int j = 0; j < r_; ++j)
    for (const ReducedField& field : model_.fields) {
      const StrainModes& strains = field.strains;
      double linear = 0;
      for (int k = 0; k < strains.count; ++k) linear = std::hypot(linear, strains.linear[extent(k, n) + extent(j)]);
      if (strains.count > 0)
        forces_of_regions_[extent(j, regions) + extent(model_.strain_region(field))] += strains.unit * linear;
      for (int p = 0; p < field.points(); ++p) {
        const int region = field.region[extent(p)];
        const auto& m = field.parameters[extent(region)];
        const double* G = field.G.data() + extent(p / tile_size, n, tile_rows) + extent(j, tile_rows);
        double square = 0;
        for (int c = 0; c < gradient_components; ++c) {
          const double g = G[c * tile_size + p % tile_size];
          square += g * g;
        }
        forces_of_regions_[extent(j, regions) + extent(model_.first_region(field) + region)] +=
            field.weight[extent(p)] * sum_of_moduli(field.law, m) * std::sqrt(square);
      }
    }
  find_rounding_forces();
}

void ReducedRobots::find_rounding_forces() {
  const std::vector<double>& scale = variations_.material_scale;
  const std::size_t regions = extent(model_.regions());
  rounding_forces_.assign(scale.empty() ? 1 : extent(robots_), 0.0);
  for (std::size_t b = 0; b < rounding_forces_.size(); ++b) {
    for (int j = 0; j < r_; ++j) {
      double unit = 0;
      for (std::size_t g = 0; g < regions; ++g)
        unit += (scale.empty() ? 1.0 : scale[b * regions + g]) * forces_of_regions_[extent(j) * regions + g];
      rounding_forces_[b] += unit * unit;
    }
    rounding_forces_[b] = rounding_strain * std::sqrt(rounding_forces_[b]);
  }
}

void ReducedRobots::read_again() {
  ++changes_;
  read_moduli();
}

void check_variations(const ReducedModel& model, int robots, const Variations& variations) {
  check(variations.gravity, robots, 3, "gravity", "finite numbers [m/s^2]", [](double) { return true; });
  check(variations.material_scale, robots, model.regions(), "material_scale", "factors above 0",
        [](double value) { return value > 0; });
  for (const ReducedField& field : model.fields) {
    if (field.strains.count == 0 || variations.material_scale.empty()) continue;
    const std::size_t first = extent(model.strain_region(field));
    for (int b = 0; b < robots; ++b)
      for (std::size_t g = first + 1; g < extent(model.first_region(field)) + field.parameters.size(); ++g)
        if (model.is_sheet(field, static_cast<int>(g) - model.first_region(field)) &&
            variations.material_scale[extent(b, model.regions()) + g] !=
                variations.material_scale[extent(b, model.regions()) + first])
          throw InputError(
              fmt::format("robot {} has different material_scale for its {} (their strains are modes in common)", b,
                          solid(field.law) ? "materials" : "membranes"),
              fmt::format("one factor for all of them, or a model reduced with [reduce] {} = \"elements\"",
                          solid(field.law) ? "solids" : "membranes"));
  }
  check(variations.friction, robots, static_cast<int>(model.robot.obstacles.size()), "friction",
        "coefficients of 0 or more", [](double value) { return value >= 0; });
  check(variations.density, robots, 1, "density", "factors above 0", [](double value) { return value > 0; });
  const auto damping = [&](const std::vector<double>& values, const char* name, const char* unit) {
    check(values, robots, 1, name, unit, [](double value) { return value >= 0; });
  };
  damping(variations.rayleigh_mass, "rayleigh_mass", "coefficients of 0 or more [1/s]");
  damping(variations.rayleigh_stiffness, "rayleigh_stiffness", "coefficients of 0 or more [s]");
  if (model.robot.viscous > 0 && std::ranges::any_of(variations.rayleigh_stiffness, [](double b) { return b > 0; }))
    throw InputError("stiffness damping beside viscous materials would multiply the stiffness of their dashpots",
                     "rayleigh_stiffness of 0");
}

void ReducedRobots::set_variations(Variations variations) {
  check_variations(model_, robots_, variations);
  variations_ = std::move(variations);
  ++changes_;
  ++factorisations_;  // what was made with other masses or moduli is not of these robots
  systems_.clear();
  const auto &density = variations_.density, &a = variations_.rayleigh_mass, &b = variations_.rayleigh_stiffness;
  for (std::size_t k = 0; k < extent(robots_) && !(density.empty() && a.empty() && b.empty()); ++k)
    systems_.push_back({density.empty() ? 1 : density[k], a.empty() ? model_.robot.rayleigh_mass : a[k],
                        b.empty() ? model_.robot.rayleigh_stiffness : b[k]});
  find_rounding_forces();
  take_variations();
}

RobotSystem ReducedRobots::system(int robot) const {
  return systems_.empty() ? Mechanics::system(robot) : systems_[extent(robot)];
}

Mechanics::Damped ReducedRobots::damped() const {
  if (systems_.empty()) return Mechanics::damped();
  return {std::ranges::any_of(systems_, [](const RobotSystem& system) { return system.a != 0; }),
          std::ranges::any_of(systems_, [](const RobotSystem& system) { return system.b != 0; })};
}

void ReducedRobots::external_forces(std::span<double> p) const {
  for (int b = 0; b < robots_; ++b) {
    const double* own =
        variations_.gravity.empty() ? model_.robot.gravity.v : variations_.gravity.data() + extent(b, 3);
    const double density = system(b).density;
    for (int i = 0; i < r_; ++i) {
      const double* g = model_.gravity.data() + extent(i, 3);
      p[extent(b, r_) + extent(i)] = density * (g[0] * own[0] + g[1] * own[1] + g[2] * own[2]);
    }
  }
}

double ReducedRobots::friction(int robot, int obstacle) const {
  const auto k = static_cast<std::size_t>(obstacle);
  const std::vector<PlacedObstacle>& obstacles = model_.robot.obstacles;
  return variations_.friction.empty() ? obstacles[k].friction
                                      : variations_.friction[extent(robot, static_cast<int>(obstacles.size())) + k];
}

void ReducedRobots::multiply_rows(const PointRows& rows, std::span<const double> X, int count,
                                  std::span<double> out) const {
  for (int j = 0; j < count; ++j) {
    const double* x = X.data() + extent(j, r_);
    for (int p = 0; p < rows.points(); ++p) {
      const auto at = static_cast<std::size_t>(p);
      Vec3d y;
      for (int k = 0; k < 3; ++k)
        y[k] = fast_inner_product(model_.outputs.data() + extent(3 * rows.point[at] + k, r_), x, r_);
      const Vec3d value = rows.frame[at] * y;
      for (int i = 0; i < 3; ++i) out[extent(j, rows.rows()) + extent(3 * p + i)] = value[i];
    }
  }
}

void ReducedRobots::add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const {
  for (int p = 0; p < rows.points(); ++p) {
    const double* l = lambda.data() + extent(3, p);
    if (l[0] == 0 && l[1] == 0 && l[2] == 0) continue;
    const auto at = static_cast<std::size_t>(p);
    const Vec3d force = transpose(rows.frame[at]) * Vec3d{{l[0], l[1], l[2]}};
    for (int k = 0; k < 3; ++k) {
      const double* output = model_.outputs.data() + extent(3 * rows.point[at] + k, r_);
#pragma omp simd
      for (int j = 0; j < r_; ++j) f[static_cast<std::size_t>(j)] += force[k] * output[j];
    }
  }
}

}  // namespace supple
