#include "engine/mechanics/reduced/reduced_mechanics.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "kernels/array/launch.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/each.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"
#include "kernels/elements/batch_ops.hpp"
#include "kernels/elements/turned_ops.hpp"
#include "kernels/elements/viscous_ops.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

constexpr int lanes = Lanes<double, SingleTeam>::width;

// K [columns x columns] += the constant term of the corotational fields' four-row form, of one region or of all (-1).
void add_constant_term(const ReducedModel& model, int region, double* K) {
  const int n = model.columns();
  for (const ReducedField& field : model.fields) {
    if (!has_four_rows(field.law)) continue;
    AlignedVector<double> scaled(extent(rank_rows(n), tile_rows)), sums(stiffness_sums<double>(n), 0.0);
    for (int tile = 0; tile < tile_count(field.points()); ++tile) {
      const double* G = field.G.data() + extent(tile, n, tile_rows);
      const PointField<double> points = tile_field(field, tile, nullptr);
      for (int j = 0; j < n; ++j)
        for (int c = 0; c < gradient_components; ++c)
          for (int l = 0; l < tile_size; ++l) {
            const bool counts =
                l < points.points && (region < 0 || points.region[l] + model.first_region(field) == region);
            const double factor = counts ? 2 * points.parameters[points.region[l]].p[0] * points.weight[l] : 0.0;
            const std::size_t k = extent(j, tile_rows) + extent(c, tile_size) + static_cast<std::size_t>(l);
            scaled[k] = factor * G[k];
          }
      tile_rank_update(SingleTeam{}, n, RankRows{.plus = gradient_components}, G, scaled.data(), sums.data());
    }
    add_block_sums(SingleTeam{}, n, sums.data(), K, n);
  }
}

}  // namespace

PointField<double> tile_field(const ReducedField& field, int tile, const double* scale) {
  const int first = tile * tile_size;
  return {.points = std::min(tile_size, field.points() - first),
          .weight = field.weight.data() + first,
          .region = field.region.data() + first,
          .parameters = field.parameters.data(),
          .edges = field.edges.empty() ? nullptr : field.edges.data() + first,
          .scale = scale};
}

bool has_four_rows(LawId law) {
  return visit_law(law, [](auto type) { return four_rows_law<decltype(type)>; });
}

std::vector<double> constant_stiffness(const ReducedModel& model) {
  std::vector<double> K = model.stiffness;
  add_constant_term(model, -1, K.data());
  return K;
}

std::vector<double> constant_stiffness_by_region(const ReducedModel& model) {
  std::vector<double> terms = model.stiffness;
  const std::size_t size = terms.size();
  terms.resize(size * extent(1 + model.regions()), 0.0);
  for (int region = 0; region < model.regions(); ++region)
    add_constant_term(model, region, terms.data() + size * extent(1 + region));
  return terms;
}

void input_jacobians(const ReducedModel& model, const RowLayout& layout, std::span<const double> gradients,
                     std::span<double> H_c) {
  const int m = model.motions(), n = layout.rows();
  const int robots = m == 0 ? 0 : static_cast<int>(H_c.size() / std::max<std::size_t>(1, extent(n, m)));
  std::fill(H_c.begin(), H_c.end(), 0.0);
  for (int b = 0; b < robots; ++b)
    for (int row = 0; row < n; ++row) {
      const auto at = static_cast<std::size_t>(row);
      const double* g = gradients.data() + extent(b, layout.gradients()) + extent(layout.offset[at]);
      double* h = H_c.data() + extent(b, n, m) + extent(row, m);
      for (int k = 0; k < layout.count[at]; ++k)
        for (int i = 0; i < m; ++i) h[i] += g[k] * model.output_inputs[extent(layout.first[at] + k, m) + extent(i)];
    }
}

void add_point_stiffness(const ReducedModel& model, const PointStiffness& at, double* A, double* A_c) {
  const int r = model.modes, m = model.motions();
  for (int a = 0; a < r; ++a) add_point_stiffness_row(at, r, model.outputs.data(), a, A + extent(a, r));
  for (int k = 0; m > 0 && k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const double* left = model.outputs.data() + extent(3 * at.i + k, r);
      const double* input = model.output_inputs.data() + extent(3 * at.j + l, m);
      for (int b = 0; b < m; ++b)
        for (int a = 0; a < r; ++a) A_c[b * r + a] += at.S(k, l) * left[a] * input[b];
    }
}

void add_row_curvature(const ReducedModel& model, int row, std::span<const double> y, double lambda, double* A,
                       double* A_c, std::vector<double>& hessian) {
  const int r = model.modes, m = model.motions();
  const auto at = static_cast<std::size_t>(row);
  if (lambda == 0) return;
  if (at < model.robot.actuators.size() && !model.robot.actuators[at].volume.empty()) {
    const ActuatorRow& actuator = model.robot.actuators[at];
    const int n = actuator.volume.unknowns;  // alpha, c
    hessian.resize(extent(n, n));
    double* S = hessian.data();
    actuator.volume.hessian(row_coordinates(actuator, y).data(), S);
    for (int i = 0; i < r; ++i)
      for (int j = 0; j <= i; ++j) A[i * r + j] -= lambda * S[i * n + j];
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < r; ++i) A_c[k * r + i] -= lambda * S[(r + k) * n + i];
    return;
  }
  // Points of a row lie side by side: B = S L of them all, block by block, and then one product.
  const std::size_t actuators = model.robot.actuators.size();
  const int first = first_point(model.robot, row),
            coordinates = 3 * (at < actuators ? model.robot.actuators[at].point_count
                                              : model.robot.constraints[at - actuators].point_count);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  hessian.assign(extent(coordinates, r), 0.0);
  bool curved = false;
  visit_row_curvature(model.robot, row, y, lambda, [&](int a, int b, const Mat3d& S) {
    curved = true;
    for (int k = 0; k < 3; ++k) {
      double* to = hessian.data() + extent(3 * a + k, r);
      const double* from = model.outputs.data() + extent(3 * (first + b), r);
#pragma omp simd
      for (int i = 0; i < r; ++i) to[i] += S(k, 0) * from[i] + S(k, 1) * from[r + i] + S(k, 2) * from[2 * r + i];
    }
  });
  if (!curved) return;
  const Eigen::Map<const RowMajor> B(hessian.data(), coordinates, r),
      L(model.outputs.data() + extent(3 * first, r), coordinates, r);
  Eigen::Map<RowMajor> matrix(A, r, r);
  matrix.triangularView<Eigen::Lower>() += L.transpose() * B;
  if (m == 0) return;
  const Eigen::Map<const RowMajor> L_c(model.output_inputs.data() + extent(3 * first, m), coordinates, m);
  Eigen::Map<RowMajor>(A_c, m, r).noalias() += L_c.transpose() * B;
}

ReducedMechanics::ReducedMechanics(const ReducedModel& model, int robots)
    : ReducedRobots(model, robots), n_(model.columns()), regions_(model.regions()) {
  for (const ReducedField& field : model.fields) {
    bool squares = has_four_rows(field.law);
    for (const MaterialParameters<double>& m : field.parameters) squares = squares && m.p[0] >= 0 && m.p[1] >= 0;
    field_squares_.push_back(squares);
  }
  if (model.robot.viscous > 0)
    for (const ReducedField& field : model.fields) {
      ViscousField& viscous = viscous_.emplace_back();
      if (field.viscosity.terms == 0) continue;
      viscous.held_stress.assign(extent(robots, padded(field.points()), symmetric_components), 0.0);
    }
  read_viscous();
  take_variations();
  stiffness_.assign(extent(robots, n_, n_), 0.0);
  geometric_.assign(extent(robots, m_, r_), 0.0);
  system_.assign(extent(robots, r_, r_), 0.0);
  pivots_.assign(extent(robots, r_), 0);
  scratch_.resize(static_cast<std::size_t>(std::min(robots, most_threads())));
  has_springs_ = std::ranges::any_of(model.stiffness, [](double k) { return k != 0; });
  int strain_modes = 0;
  for (const ReducedField& field : model.fields) {
    has_points_ = has_points_ || field.points() > 0;
    if (field.strains.count == 0) continue;
    strain_fields_.emplace_back(field.strains, n_);
    strain_modes += field.strains.count;
  }
  if (strain_modes > 0) {
    strains_.assign(extent(robots, strain_modes), 0.0);
    strain_geometric_.assign(extent(robots, n_ * (n_ + 1) / 2), 0.0);
    strain_share_.assign(extent(robots), 1.0);
  }
  int polynomial = 0;
  for (const ActuatorRow& actuator : model.robot.actuators) polynomial = std::max(polynomial, actuator.volume.unknowns);
  for (Scratch& s : scratch_) {
    s.F.assign(tile_rows, 0.0);
    s.P.assign(tile_rows, 0.0);
    s.tangent.assign(extent(81, tile_size), 0.0);
    s.X.assign(extent(rank_rows(n_), 4, tile_size), 0.0);
    s.Y.assign(extent(rank_rows(n_), tile_rows), 0.0);
    s.hessian.assign(extent(polynomial, polynomial), 0.0);
    s.magnitude.assign(static_cast<std::size_t>(r_), 0.0);
    s.force_lanes.assign(extent(2, n_, lanes), 0.0);
    s.sums.assign(stiffness_sums<double>(n_), 0.0);
    s.coordinates.assign(extent(n_), 0.0);
    for (const StrainForces& field : strain_fields_) field.reserve(s.strains);
    s.before.assign(tile_rows, 0.0);
    s.motion.assign(tile_rows, 0.0);
    s.turn.assign(tile_size, 0.0);
  }
  turned_.resize(extent(robots));
  factor_turns();
}

void ReducedMechanics::read_viscous() {
  step_ = -1;
  for (std::size_t f = 0; f < viscous_.size(); ++f) {
    const ReducedField& field = model_.fields[f];
    if (field.viscosity.terms == 0) continue;
    viscous_[f].of_shape.clear();
    for (const MaterialParameters<double>& m : field.parameters)
      viscous_[f].of_shape.push_back(shape_parameters(field.law, m));
  }
}

void ReducedMechanics::model_changed() {
  read_again();
  read_viscous();
  constant_stiffness_.clear();
  take_variations();
  factor_turns();
}

PointField<double> ReducedMechanics::tile_points(std::size_t field, int tile, int robot, const double* scale) const {
  const ReducedField& own = model_.fields[field];
  PointField<double> points = tile_field(own, tile, scale ? scale + model_.first_region(own) : nullptr);
  if (!in_step_) return points;
  const ViscousField& viscous = viscous_[field];
  if (viscous.held_stress.empty()) return points;
  points.in_step = viscous.of_step.in_step.data();
  points.added = viscous.of_step.added.data();
  points.held_stress =
      viscous.held_stress.data() + extent(robot * tile_count(own.points()) + tile, tile_size, symmetric_components);
  return points;
}

const double* ReducedMechanics::columns_of(const double* alpha, const double* c, Scratch& scratch) const {
  if (n_ == r_) return alpha;
  std::copy_n(alpha, r_, scratch.coordinates.begin());
  std::copy_n(c, m_, scratch.coordinates.begin() + r_);
  return scratch.coordinates.data();
}

void ReducedMechanics::begin_viscous_step(double h, std::span<const double> viscous) {
  SUPPLE_EXPECT(viscous.size() == extent(robots_, model_.robot.viscous));
  in_step_ = true;
  if (step_ != h) {
    step_factor_ = 1;
    for (std::size_t f = 0; f < model_.fields.size(); ++f) {
      const ReducedField& field = model_.fields[f];
      if (field.viscosity.terms == 0) continue;
      viscous_[f].of_step = step_parameters(field.law, field.parameters, field.viscosity, h);
      step_factor_ = std::max(step_factor_, viscous_[f].of_step.factor);
    }
    step_ = h;
  }
  const double* z = viscous.data();
  for (std::size_t f = 0; f < model_.fields.size(); ++f) {
    const ReducedField& field = model_.fields[f];
    if (field.viscosity.terms == 0) continue;
    launch_cpu(robots_ * padded(field.points()),
               HeldStressOp<double>{field.points(), field.viscosity.terms, field.region.data(),
                                    field.viscosity.viscosity.data(), field.viscosity.time.data(), h, z,
                                    extent(model_.robot.viscous), viscous_[f].held_stress.data()});
    z += field.viscosity.numbers(field.points());
  }
}

void ReducedMechanics::end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                                        std::span<const unsigned char> moved, std::span<double> viscous) {
  SUPPLE_EXPECT(viscous.size() == extent(robots_, model_.robot.viscous));
  in_step_ = false;
  [[maybe_unused]] const auto threads = static_cast<int>(scratch_.size());  // without OpenMP
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    if (!moved.empty() && moved[extent(b)] == 0) continue;
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0)];
    const double* x = columns_of(q.data() + extent(b, r_), c.data() + extent(b, m_), s);
    double* z = viscous.data() + extent(b, model_.robot.viscous);
    for (std::size_t f = 0; f < model_.fields.size(); ++f) {
      const ReducedField& field = model_.fields[f];
      const FieldViscosity& viscosity = field.viscosity;
      if (viscosity.terms == 0) continue;
      visit_law(field.law, [&](auto law) {
        for (int tile = 0; tile < tile_count(field.points()); ++tile) {
          tile_gradient(SingleTeam{}, n_, field.G.data() + extent(tile, n_, tile_rows), x, s.F.data());
          PointField<double> points = tile_field(field, tile, nullptr);
          points.parameters = viscous_[f].of_shape.data();
          run_tile(RelaxOp<decltype(law), double>{points, viscosity.terms, viscosity.viscosity.data(),
                                                  viscosity.time.data(), h, nullptr, s.F.data(),
                                                  z + extent(tile, viscosity.numbers(1)), 0});
        }
      });
      z += viscosity.numbers(field.points());
    }
  }
}

void ReducedMechanics::take_variations() {
  const std::vector<double>& scale = variations_.material_scale;
  // It depends on whether there are factors, not on which.
  if (constant_stiffness_.size() != extent(n_, n_, scale.empty() ? 1 : 1 + regions_))
    constant_stiffness_ = scale.empty() ? constant_stiffness(model_) : constant_stiffness_by_region(model_);
}

void ReducedMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) {
  const int ny = model_.robot.outputs();
  for_each_robot(robots_, [&](int b) {
    for (int i = 0; i < ny; ++i) {
      const double* row = model_.outputs.data() + extent(i, r_);
      const double* a = q.data() + extent(b, r_);
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < r_; ++j) sum += row[j] * a[j];
      double& value = y[extent(b, ny) + static_cast<std::size_t>(i)];
      value = model_.robot.rest_points[static_cast<std::size_t>(i / 3)][i % 3] + sum;
      for (int k = 0; k < m_; ++k)
        value += model_.output_inputs[extent(i, m_) + extent(k)] * c[extent(b, m_) + extent(k)];
    }
  });
}

PointReport ReducedMechanics::robot_forces(int robot, const double* x, TangentKind kind, const RobotTurn* step,
                                           double* f, double* K, Scratch& s) {
  PointReport report;
  const bool scaled = !variations_.material_scale.empty();
  const double* scale = scale_of(robot);
  std::fill(f, f + r_, 0.0);
  std::fill(s.magnitude.begin(), s.magnitude.end(), 0.0);
  if (has_points_) std::fill(s.force_lanes.begin(), s.force_lanes.end(), 0.0);
  if (kind != TangentKind::none && has_points_) std::fill(s.sums.begin(), s.sums.end(), 0.0);
  double* const magnitude_lanes = s.force_lanes.data() + extent(n_, lanes);
  const SingleTeam team;
  for (std::size_t field_index = 0; field_index < model_.fields.size(); ++field_index) {
    const ReducedField& field = model_.fields[field_index];
    visit_law(field.law, [&](auto law) {
      using Law = decltype(law);
      for (int tile = 0; tile < tile_count(field.points()); ++tile) {
        const double* G = field.G.data() + extent(tile, n_, tile_rows);
        const PointField<double> points = tile_points(field_index, tile, robot, scale);
        const int lanes = tile_lanes<double, SingleTeam>(points.points);
        tile_gradient(team, n_, G, x, s.F.data(), lanes);
        const TileForces<double> forces{s.P.data(), s.force_lanes.data(), magnitude_lanes};
        const RankRows nine{.plus = gradient_components, .lanes = lanes};
        bool four = false;
        if constexpr (four_rows_law<Law>)
          if (kind != TangentKind::none) {
            four = true;
            run_tile(StressFourRowOp<Law, double>{points, kind, s.F.data(), s.P.data(), s.status, s.tangent.data()},
                     lanes);
            double *X = s.X.data(), *Y = s.Y.data();
            if (kind == TangentKind::safe && field_squares_[field_index]) {
              tile_four_rows<RowForm::squares>(team, n_, G, s.tangent.data(), X, Y, forces, lanes);
              tile_rank_update(team, n_, RankRows{.plus = 1, .minus = 3, .lanes = lanes}, X, X, s.sums.data());
            } else {
              tile_four_rows<RowForm::general>(team, n_, G, s.tangent.data(), X, Y, forces, lanes);
              tile_rank_update(team, n_, RankRows{.plus = 4, .lanes = lanes}, X, Y, s.sums.data());
            }
            if (points.held_stress) {
              run_tile(ViscousTangentOp<Law, double>{points, kind, s.F.data(), s.tangent.data()}, lanes);
              tile_tangent_rows(team, n_, G, s.tangent.data(), s.Y.data(), lanes);
              tile_rank_update(team, n_, nine, G, s.Y.data(), s.sums.data());
            }
          }
        if (!four) {
          run_tile(StressOp<Law, double>{points, s.F.data(), s.P.data(), s.status}, lanes);
          tile_forces(team, n_, G, forces, lanes);
          if (kind != TangentKind::none) {
            run_tile(TangentOp<Law, double>{points, kind, s.F.data(), s.tangent.data()}, lanes);
            tile_tangent_rows(team, n_, G, s.tangent.data(), s.Y.data(), lanes);
            tile_rank_update(team, n_, nine, G, s.Y.data(), s.sums.data());
          }
        }
        if (step && kind == TangentKind::exact) {
          tile_step(G, *step, s);
          run_tile(LinearStressOp<Law, double>{points, s.F.data(), s.before.data(), s.motion.data(), s.tangent.data()},
                   lanes);
          tile_tangent_rows(team, n_, G, s.tangent.data(), s.Y.data(), lanes);
          tile_rank_update(team, n_, nine, G, s.Y.data(), s.sums.data());
        }
        for (int l = 0; l < points.points; ++l) {
          const auto status = static_cast<PointStatus>(s.status[l]);
          if (status == PointStatus::inverted) ++report.inverted;
          if (status == PointStatus::undefined && report.undefined++ == 0)
            report.first_undefined =
                field.element[static_cast<std::size_t>((tile * tile_size + l) / field.points_per_element)];
        }
      }
    });
  }
  if (has_points_) {
    add_lanes(team, r_, s.force_lanes.data(), f);
    add_lanes(team, r_, magnitude_lanes, s.magnitude.data());
  }
  if (!strain_fields_.empty()) add_strain_fields(robot, x, kind, scale, f, s);
  if (kind != TangentKind::none) {
    const ConstantStiffness<double> constant{constant_stiffness_.data(), n_ * n_, scale, regions_};
    if (scaled)
      for (int e = 0; e < constant.length; ++e) K[e] = constant.entry(0, e);
    else
      std::copy(constant_stiffness_.begin(), constant_stiffness_.end(), K);
    if (has_points_) add_block_sums(team, n_, s.sums.data(), K, n_);
    if (!strain_fields_.empty())
      for (int i = 0; i < n_; ++i) {
        const double* row = s.strains.K.data() + extent(i, StrainForces::row(n_));
        double* to = K + extent(i, n_);
#pragma omp simd
        for (int j = 0; j <= i; ++j) to[j] += row[j];
      }
  }
  double squares = 0;
  for (int i = 0; i < r_; ++i) {
    double spring = 0;
    for (int j = 0; has_springs_ && j < n_; ++j)
      spring += model_.stiffness[extent(i, n_) + static_cast<std::size_t>(j)] * x[j];
    f[i] += spring;
    const double magnitude = s.magnitude[static_cast<std::size_t>(i)] + std::abs(spring);
    squares += magnitude * magnitude;
  }
  report.force_scale =
      std::max(std::sqrt(squares), rounding_forces()[scaled ? extent(robot) : 0] * (in_step_ ? step_factor_ : 1));
  return report;
}

void ReducedMechanics::add_strain_fields(int robot, const double* x, TangentKind kind, const double* scale, double* f,
                                         Scratch& s) {
  StrainScratch& strains = s.strains;
  const bool keeps = kind != TangentKind::none;
  StrainForces::Tangent tangent = keeps ? StrainForces::Tangent::set : StrainForces::Tangent::none;
  for (AlignedVector<double>* values : {&strains.f, &strains.magnitude}) std::ranges::fill(*values, 0.0);
  double* kept = strains_.data() + extent(robot) * (strains_.size() / extent(robots_));
  std::size_t at = 0;
  for (const ReducedField& field : model_.fields) {
    if (field.strains.count == 0) continue;
    strain_fields_[at++].evaluate(x, strain_scale(field, scale), tangent, strains);
    if (!keeps) continue;
    kept = std::copy_n(strains.s.begin(), field.strains.count, kept);
    tangent = StrainForces::Tangent::add;
  }
  for (int i = 0; i < r_; ++i) {
    f[i] += strains.f[extent(i)];
    s.magnitude[extent(i)] += strains.magnitude[extent(i)];
  }
}

void ReducedMechanics::find_geometric(int robot) {
  const std::size_t pairs = extent(n_, n_ + 1) / 2;
  double* const geometric = strain_geometric_.data() + extent(robot) * pairs;
  std::fill_n(geometric, pairs, 0.0);
  const double* s = strains_.data() + extent(robot) * (strains_.size() / extent(robots_));
  std::size_t at = 0;
  for (const ReducedField& field : model_.fields) {
    if (field.strains.count == 0) continue;
    strain_fields_[at++].add_geometric(s, strain_scale(field, scale_of(robot)), geometric);
    s += field.strains.count;
  }
}

void ReducedMechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                       std::span<double> f, std::span<PointReport> found) {
  if (kind != TangentKind::none) tangent_ = kind;
  [[maybe_unused]] const auto threads = static_cast<int>(scratch_.size());  // without OpenMP
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? this_thread() : 0)];
    const double* x = columns_of(q.data() + extent(b, r_), c.data() + extent(b, m_), s);
    RobotTurn& step = turned_[extent(b)];
    const bool here = ends_here(step, x);
    if (kind != TangentKind::none) step.taken = false;
    found[extent(b)] = robot_forces(b, x, kind, here ? &step : nullptr, f.data() + extent(b, r_),
                                    stiffness_.data() + extent(b, n_, n_), s);
  }
}

void ReducedMechanics::inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const {
  const int inputs = v_c.empty() ? 0 : m_;  // without v_c they are at rest
  for_each_robot(robots_, [&](int b) {
    const double density = system(b).density;
    for (int i = 0; i < r_; ++i) {
      const double* row = model_.mass.data() + extent(i, r_);
      const double* x = v.data() + extent(b, r_);
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < r_; ++j) sum += row[j] * x[j];
      for (int k = 0; k < inputs; ++k)
        sum += model_.input_mass[extent(k, r_) + extent(i)] * v_c[extent(b, m_) + extent(k)];
      out[extent(b, r_) + static_cast<std::size_t>(i)] = density * sum;
    }
  });
}

void ReducedMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  SUPPLE_EXPECT(!damped().by_stiffness || tangent_ != TangentKind::none);
  inertia(v, v_c, out);
  for_each_robot(robots_, [&](int b) {
    const double* K = stiffness_.data() + extent(b, n_, n_);
    const double* x = v.data() + extent(b, r_);
    double* sums = out.data() + extent(b, r_);
    const RobotSystem own = system(b);
    const double factor = own.b;
    for (int i = 0; i < r_; ++i) sums[i] *= own.a;
    for (int i = 0; i < r_; ++i) {  // of K the lower triangle, by rows
      const double* row = K + extent(i, n_);
      const double from = factor * x[i];
      double sum = row[i] * x[i];
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < i; ++j) sum += row[j] * x[j];
#pragma omp simd
      for (int j = 0; j < i; ++j) sums[j] += row[j] * from;
      sums[i] += factor * sum;
    }
    for (int k = 0; k < n_ - r_; ++k) {
      const double from = factor * v_c[extent(b, m_) + extent(k)];
      for (int i = 0; i < r_; ++i) sums[i] += K[(r_ + k) * n_ + i] * from;
    }
  });
}

void ReducedMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                                     std::span<double> H_c) const {
  const int n = layout.rows(), flat = layout.gradients();
  for_each_robot(robots_, [&](int b) {
    for (int row = 0; row < n; ++row) {
      double* h = H.data() + extent(b, n, r_) + extent(row, r_);
      std::fill(h, h + r_, 0.0);
      const double* g = gradients.data() + extent(b, flat) + layout.offset[static_cast<std::size_t>(row)];
      for (int k = 0; k < layout.count[static_cast<std::size_t>(row)]; ++k) {
        const double* output = model_.outputs.data() + extent(layout.first[static_cast<std::size_t>(row)] + k, r_);
        for (int j = 0; j < r_; ++j) h[j] += g[k] * output[j];
      }
    }
  });
  if (m_ > 0) input_jacobians(model_, layout, gradients, H_c);
}

std::span<const double> ReducedMechanics::stiffness(int robot) const {
  return std::span<const double>(stiffness_).subspan(extent(robot, n_, n_), extent(n_, n_));
}

}  // namespace supple
