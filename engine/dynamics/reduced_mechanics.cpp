#include "engine/dynamics/reduced_mechanics.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/inner_product.hpp"
#include "kernels/points/reduced_tile.hpp"
#include "solvers/dense/symmetric_factor.hpp"

namespace supple {

namespace {

constexpr int lanes = Lanes<double, SingleTeam>::width;

// The points of tile `tile` as a field of its own.
PointField<double> tile_field(const ReducedField& field, int tile) {
  const int first = tile * tile_size;
  return {std::min(tile_size, field.points() - first), field.weight.data() + first, field.region.data() + first,
          field.parameters.data(), field.edges.empty() ? nullptr : field.edges.data() + first};
}

}  // namespace

bool has_four_rows(LawId law) {
  return visit_law(law, [](auto type) { return four_rows_law<decltype(type)>; });
}

std::vector<double> constant_stiffness(const ReducedModel& model) {
  const int r = model.columns();
  std::vector<double> K = model.stiffness;
  for (const ReducedField& field : model.fields) {
    if (!has_four_rows(field.law)) continue;
    AlignedVector<double> scaled(extent(r, tile_rows)), sums(stiffness_sums<double>(r), 0.0);
    for (int tile = 0; tile < tile_count(field.points()); ++tile) {
      const double* G = field.G.data() + extent(tile, r, tile_rows);
      const PointField<double> points = tile_field(field, tile);
      for (int j = 0; j < r; ++j)
        for (int c = 0; c < gradient_components; ++c)
          for (int l = 0; l < tile_size; ++l) {
            const double factor =
                l < points.points ? 2 * points.parameters[points.region[l]].p[0] * points.weight[l] : 0.0;
            const std::size_t k = extent(j, tile_rows) + extent(c, tile_size) + static_cast<std::size_t>(l);
            scaled[k] = factor * G[k];
          }
      tile_rank_update(SingleTeam{}, r, tile_rows, 0, G, scaled.data(), sums.data());
    }
    add_block_sums(SingleTeam{}, r, sums.data(), K.data(), r);
  }
  return K;
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

void add_point_stiffness(const ReducedModel& model, int i, int j, const Mat3d& S, double* A, double* A_c) {
  const int r = model.modes, m = model.motions();
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) {
      const double c = S(k, l);
      const double *left = model.outputs.data() + extent(3 * i + k, r),
                   *right = model.outputs.data() + extent(3 * j + l, r);
      for (int a = 0; a < r; ++a)
        for (int b = 0; b <= a; ++b) A[a * r + b] += c * left[a] * right[b];
      const double* input = model.output_inputs.data() + extent(3 * j + l, m);
      for (int b = 0; b < m; ++b)
        for (int a = 0; a < r; ++a) A_c[b * r + a] += c * left[a] * input[b];
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
  const int first = first_point(model.robot, row);
  visit_row_curvature(model.robot, row, y, lambda, [&](int a, int b, const Mat3d& curvature) {
    add_point_stiffness(model, first + a, first + b, curvature, A, A_c);
  });
}

ReducedMechanics::ReducedMechanics(const ReducedModel& model, int robots)
    : model_(model),
      robots_(robots),
      r_(model.modes),
      m_(model.motions()),
      n_(model.columns()),
      rows_(row_layout(model.robot)),
      constant_stiffness_(constant_stiffness(model)) {
  for (const ReducedField& field : model.fields) {
    bool squares = has_four_rows(field.law);
    for (const MaterialParameters<double>& m : field.parameters) squares = squares && m.p[0] >= 0 && m.p[1] >= 0;
    field_squares_.push_back(squares);
  }
  // At a strain of one, roughly: the stress is the sum of the law's constants.
  for (int j = 0; j < r_; ++j) {
    double unit = 0;
    for (const ReducedField& field : model.fields)
      for (int p = 0; p < field.points(); ++p) {
        const auto& m = field.parameters[static_cast<std::size_t>(field.region[static_cast<std::size_t>(p)])];
        const double* G = field.G.data() + extent(p / tile_size, n_, tile_rows) + extent(j, tile_rows);
        double square = 0;
        for (int c = 0; c < gradient_components; ++c) {
          const double g = G[c * tile_size + p % tile_size];
          square += g * g;
        }
        unit += field.weight[static_cast<std::size_t>(p)] * (std::abs(m.p[0]) + std::abs(m.p[1]) + std::abs(m.p[2])) *
                std::sqrt(square);
      }
    unit_force_ += unit * unit;
  }
  unit_force_ = std::sqrt(unit_force_);
  coordinates_.add(CoordinateBlock::Kind::modes, model.robot.name, r_);
  stiffness_.assign(extent(robots, n_, n_), 0.0);
  geometric_.assign(extent(robots, m_, r_), 0.0);
  system_.assign(extent(robots, r_, r_), 0.0);
  pivots_.assign(extent(robots, r_), 0);
  reports_.resize(static_cast<std::size_t>(robots));
  system_reports_.resize(static_cast<std::size_t>(robots));
  scratch_.resize(static_cast<std::size_t>(std::min(robots, omp_get_max_threads())));
  int polynomial = 0;
  for (const ActuatorRow& actuator : model.robot.actuators) polynomial = std::max(polynomial, actuator.volume.unknowns);
  for (Scratch& s : scratch_) {
    s.F.assign(tile_rows, 0.0);
    s.P.assign(tile_rows, 0.0);
    s.tangent.assign(extent(81, tile_size), 0.0);
    s.X.assign(extent(n_, 4, tile_size), 0.0);
    s.Y.assign(extent(n_, tile_rows), 0.0);
    s.hessian.assign(extent(polynomial, polynomial), 0.0);
    s.magnitude.assign(static_cast<std::size_t>(r_), 0.0);
    s.force_lanes.assign(extent(2, n_, lanes), 0.0);
    s.sums.assign(stiffness_sums<double>(n_), 0.0);
    s.coordinates.assign(extent(n_), 0.0);
  }
}

void ReducedMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) {
  const int ny = model_.robot.outputs();
  for (int b = 0; b < robots_; ++b)
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
}

PointReport ReducedMechanics::robot_forces(const double* x, TangentKind kind, double* f, double* K, Scratch& s) const {
  PointReport report;
  std::fill(f, f + r_, 0.0);
  std::fill(s.magnitude.begin(), s.magnitude.end(), 0.0);
  std::fill(s.force_lanes.begin(), s.force_lanes.end(), 0.0);
  if (kind != TangentKind::none) std::fill(s.sums.begin(), s.sums.end(), 0.0);
  double* const magnitude_lanes = s.force_lanes.data() + extent(n_, lanes);
  const SingleTeam team;
  for (std::size_t field_index = 0; field_index < model_.fields.size(); ++field_index) {
    const ReducedField& field = model_.fields[field_index];
    visit_law(field.law, [&](auto law) {
      using Law = decltype(law);
      for (int tile = 0; tile < tile_count(field.points()); ++tile) {
        const double* G = field.G.data() + extent(tile, n_, tile_rows);
        const PointField<double> points = tile_field(field, tile);
        tile_gradient(team, n_, G, x, s.F.data());
        const TileForces<double> forces{s.P.data(), s.force_lanes.data(), magnitude_lanes};
        bool four = false;
        if constexpr (four_rows_law<Law>)
          if (kind != TangentKind::none) {
            four = true;
            run_tile(StressFourRowOp<Law, double>{points, kind, s.F.data(), s.P.data(), s.status, s.tangent.data()});
            double *X = s.X.data(), *Y = s.Y.data();
            if (kind == TangentKind::safe && field_squares_[field_index]) {
              tile_four_rows<RowForm::squares>(team, n_, G, s.tangent.data(), X, Y, forces);
              tile_rank_update(team, n_, tile_size, 3 * tile_size, X, X, s.sums.data());
            } else {
              tile_four_rows<RowForm::general>(team, n_, G, s.tangent.data(), X, Y, forces);
              tile_rank_update(team, n_, 4 * tile_size, 0, X, Y, s.sums.data());
            }
          }
        if (!four) {
          run_tile(StressOp<Law, double>{points, s.F.data(), s.P.data(), s.status});
          tile_forces(team, n_, G, forces);
          if (kind != TangentKind::none) {
            run_tile(TangentOp<Law, double>{points, kind, s.F.data(), s.tangent.data()});
            tile_tangent_rows(team, n_, G, s.tangent.data(), s.Y.data());
            tile_rank_update(team, n_, tile_rows, 0, G, s.Y.data(), s.sums.data());
          }
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
  add_lanes(team, r_, s.force_lanes.data(), f);
  add_lanes(team, r_, magnitude_lanes, s.magnitude.data());
  if (kind != TangentKind::none) {
    std::copy(constant_stiffness_.begin(), constant_stiffness_.end(), K);
    add_block_sums(team, n_, s.sums.data(), K, n_);
  }
  double scale = 0;
  for (int i = 0; i < r_; ++i) {
    double spring = 0;
    for (int j = 0; j < n_; ++j) spring += model_.stiffness[extent(i, n_) + static_cast<std::size_t>(j)] * x[j];
    f[i] += spring;
    const double magnitude = s.magnitude[static_cast<std::size_t>(i)] + std::abs(spring);
    scale += magnitude * magnitude;
  }
  report.force_scale = std::max(std::sqrt(scale), rounding_strain * unit_force_);
  return report;
}

PointReport ReducedMechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                              std::span<double> f) {
  tangent_ = kind;
  const int threads = static_cast<int>(scratch_.size());
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? omp_get_thread_num() : 0)];
    const double* x = q.data() + extent(b, r_);
    if (n_ > r_) {
      std::copy_n(x, r_, s.coordinates.begin());
      std::copy_n(c.data() + extent(b, m_), m_, s.coordinates.begin() + r_);
      x = s.coordinates.data();
    }
    reports_[static_cast<std::size_t>(b)] =
        robot_forces(x, kind, f.data() + extent(b, r_), stiffness_.data() + extent(b, n_, n_), s);
  }
  PointReport total;
  double scale = 0;
  for (const PointReport& report : reports_) {
    total.inverted += report.inverted;
    total.undefined += report.undefined;
    if (total.first_undefined < 0) total.first_undefined = report.first_undefined;
    scale += report.force_scale * report.force_scale;
  }
  total.force_scale = std::sqrt(scale);
  return total;
}

void ReducedMechanics::external_forces(std::span<double> p) const {
  for (int b = 0; b < robots_; ++b)
    for (int i = 0; i < r_; ++i) {
      const double* g = model_.gravity.data() + extent(i, 3);
      p[extent(b, r_) + static_cast<std::size_t>(i)] =
          g[0] * model_.robot.gravity[0] + g[1] * model_.robot.gravity[1] + g[2] * model_.robot.gravity[2];
    }
}

void ReducedMechanics::inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const {
  const int inputs = v_c.empty() ? 0 : m_;  // without v_c they are at rest
  for (int b = 0; b < robots_; ++b)
    for (int i = 0; i < r_; ++i) {
      const double* row = model_.mass.data() + extent(i, r_);
      const double* x = v.data() + extent(b, r_);
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < r_; ++j) sum += row[j] * x[j];
      for (int k = 0; k < inputs; ++k)
        sum += model_.input_mass[extent(k, r_) + extent(i)] * v_c[extent(b, m_) + extent(k)];
      out[extent(b, r_) + static_cast<std::size_t>(i)] = sum;
    }
}

void ReducedMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  SUPPLE_EXPECT(model_.robot.rayleigh_stiffness == 0 || tangent_ != TangentKind::none);
  inertia(v, v_c, out);
  for (int b = 0; b < robots_; ++b) {
    const double* K = stiffness_.data() + extent(b, n_, n_);
    const double* x = v.data() + extent(b, r_);
    for (int i = 0; i < r_; ++i) {
      double sum = 0;
      for (int j = 0; j < r_; ++j) sum += (j <= i ? K[i * n_ + j] : K[j * n_ + i]) * x[j];
      for (int k = 0; k < n_ - r_; ++k) sum += K[(r_ + k) * n_ + i] * v_c[extent(b, m_) + extent(k)];
      double& value = out[extent(b, r_) + static_cast<std::size_t>(i)];
      value = model_.robot.rayleigh_mass * value + model_.robot.rayleigh_stiffness * sum;
    }
  }
}

SystemReport ReducedMechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                                      std::span<const double> multipliers) {
  SUPPLE_EXPECT(tangent_ != TangentKind::none);
  const int ny = model_.robot.outputs(), n = rows_.rows(), threads = static_cast<int>(scratch_.size());
#pragma omp parallel for schedule(static) num_threads(threads) if (robots_ > 1)
  for (int b = 0; b < robots_; ++b) {
    double* A = system_.data() + extent(b, r_, r_);
    const double* K = stiffness_.data() + extent(b, n_, n_);
    double* A_c = geometric_.data() + extent(b, m_, r_);
    std::fill(A_c, A_c + extent(m_, r_), 0.0);
    for (int i = 0; i < r_; ++i)
      for (int j = 0; j <= i; ++j)
        A[i * r_ + j] = coefficients.stiffness * K[i * n_ + j] +
                        coefficients.mass * model_.mass[extent(i, r_) + static_cast<std::size_t>(j)];
    if (coefficients.geometric) {
      Scratch& s = scratch_[static_cast<std::size_t>(robots_ > 1 ? omp_get_thread_num() : 0)];
      for (int row = 0; row < n; ++row)
        add_row_curvature(model_, row, y.subspan(extent(b, ny), extent(ny)),
                          multipliers[extent(b, n) + static_cast<std::size_t>(row)], A, A_c, s.hessian);
    }
    for (const PointStiffness& at : coefficients.points)
      if (at.robot == b) add_point_stiffness(model_, at.i, at.j, at.S, A, A_c);
    const DenseFactorReport report = tangent_ == TangentKind::safe
                                         ? cholesky_factor(A, r_, r_)
                                         : ldlt_factor(A, r_, r_, pivots_.data() + extent(b, r_));
    system_reports_[static_cast<std::size_t>(b)] = {report.status == DenseFactorStatus::ok ? SystemStatus::ok
                                                    : report.status == DenseFactorStatus::singular
                                                        ? SystemStatus::singular
                                                        : SystemStatus::not_positive,
                                                    report.negative_pivots};
  }
  SystemReport worst;
  for (const SystemReport& report : system_reports_) {
    if (worst.status == SystemStatus::ok) worst.status = report.status;
    worst.negative_pivots = std::max(worst.negative_pivots, report.negative_pivots);
  }
  return worst;
}

void ReducedMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                                     std::span<double> H_c) const {
  const int n = layout.rows(), flat = layout.gradients();
  for (int b = 0; b < robots_; ++b)
    for (int row = 0; row < n; ++row) {
      double* h = H.data() + extent(b, n, r_) + extent(row, r_);
      std::fill(h, h + r_, 0.0);
      const double* g = gradients.data() + extent(b, flat) + layout.offset[static_cast<std::size_t>(row)];
      for (int k = 0; k < layout.count[static_cast<std::size_t>(row)]; ++k) {
        const double* output = model_.outputs.data() + extent(layout.first[static_cast<std::size_t>(row)] + k, r_);
        for (int j = 0; j < r_; ++j) h[j] += g[k] * output[j];
      }
    }
  if (m_ > 0) input_jacobians(model_, layout, gradients, H_c);
}

void ReducedMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  SUPPLE_EXPECT(A_c.size() == extent(robots_, m_, r_) && tangent_ != TangentKind::none);
  for (int b = 0; b < robots_; ++b) {
    // K_c lies below the modes' block of K; a rigid motion has none.
    const double* K_c = stiffness_.data() + extent(b, n_, n_) + extent(r_, n_);
    for (int k = 0; k < m_; ++k)
      for (int i = 0; i < r_; ++i) {
        double& value = A_c[extent(b, m_, r_) + extent(k, r_) + extent(i)];
        value = coefficients.mass * model_.input_mass[extent(k, r_) + extent(i)];
        if (n_ > r_) value += coefficients.stiffness * K_c[k * n_ + i];
        if (coefficients.geometric || !coefficients.points.empty())
          value += geometric_[extent(b, m_, r_) + extent(k, r_) + extent(i)];
      }
  }
}

void ReducedMechanics::solve(std::span<double> X, int count) {
  for (int b = 0; b < robots_; ++b) solve_robot(b, X.subspan(extent(b, count, r_), extent(count, r_)), count);
}

void ReducedMechanics::solve_robot(int robot, std::span<double> X, int count) {
  const double* A = system_.data() + extent(robot, r_, r_);
  if (tangent_ == TangentKind::safe)
    cholesky_solve(A, r_, r_, X.data(), count, r_);
  else
    ldlt_solve(A, r_, r_, pivots_.data() + extent(robot, r_), X.data(), count, r_);
}

bool ReducedMechanics::root_solve(int robot, std::span<double> X, int count) {
  if (tangent_ != TangentKind::safe) return false;
  forward_solve(system_.data() + extent(robot, r_, r_), r_, r_, X.data(), count, r_);
  return true;
}

void ReducedMechanics::multiply_rows(const PointRows& rows, std::span<const double> X, int count,
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

void ReducedMechanics::add_row_forces(const PointRows& rows, std::span<const double> lambda,
                                      std::span<double> f) const {
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

std::span<const double> ReducedMechanics::stiffness(int robot) const {
  return std::span<const double>(stiffness_).subspan(extent(robot, n_, n_), extent(n_, n_));
}

}  // namespace supple
