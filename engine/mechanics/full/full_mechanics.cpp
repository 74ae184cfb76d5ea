#include "engine/mechanics/full/full_mechanics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/model/element_fields.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Sets of mesh nodes that rows couple: by the curvature of each segment of a cable or a constraint, unless it has unknowns
// of its own (segment_unknowns.hpp), and of each triangle of a cavity; by the stiffness of a spring. With all points of
// each cable coupled, the factors of a trunk of eight cables through twenty points each had five times the entries.
std::vector<std::vector<int>> coupled_by_rows(const FullModel& model, const std::vector<char>& apart) {
  std::vector<std::vector<int>> sets;
  const auto add = [&](const auto& points, int first) {
    std::vector<int> nodes;
    for (const int point : points) {
      const Interpolation& interpolation = model.interpolation[static_cast<std::size_t>(first + point)];
      nodes.insert(nodes.end(), interpolation.node.begin(), interpolation.node.end());
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    sets.push_back(std::move(nodes));
  };
  const auto add_all = [&](int first, int count) {
    std::vector<int> points(static_cast<std::size_t>(count));
    std::iota(points.begin(), points.end(), 0);
    add(points, first);
  };
  const auto add_path = [&](int first, int count) {
    if (count == 1) add_all(first, 1);
    for (int k = 1; k < count; ++k) add_all(first + k - 1, 2);
  };
  std::size_t row = 0;
  for (const ActuatorRow& actuator : model.robot.actuators) {
    if (apart[row++] == 0 && actuator.kind == ActuatorKind::cable) add_path(actuator.first_point, actuator.point_count);
    for (const auto& triangle : actuator.triangles) add(triangle, actuator.first_point);
  }
  for (const ConstraintRow& constraint : model.robot.constraints)
    if (apart[row++] == 0 && constraint.value == ConstraintRow::Value::length)
      add_path(constraint.first_point, constraint.point_count);
  for (const ConstraintRow& spring : model.robot.springs) add_all(spring.first_point, spring.point_count);
  return sets;
}

}  // namespace

FullMechanics::FullMechanics(const FullModel& model, const std::string& backend)
    : FullMechanics(model, [backend] { return make_sparse_direct(backend); }) {}

FullMechanics::FullMechanics(const FullModel& model, MakeSolver make_solver, EvaluateElements evaluate)
    : model_(model),
      make_solver_(std::move(make_solver)),
      rows_(row_layout(model.robot)),
      evaluate_(std::move(evaluate)) {
  apart_ = SegmentUnknowns::rows(model);
  pattern_ = build_node_pattern(model, coupled_by_rows(model, apart_));
  if (std::ranges::any_of(apart_, [](char apart) { return apart != 0; }))
    segments_ = std::make_unique<SegmentUnknowns>(model, pattern_);
  block_offset_ = element_block_offsets(model);
  if (!evaluate_) elements_ = std::make_unique<FullElements>(model, pattern_, cpu(), 1);
  read_model();
  u_.assign(3 * model.mesh.nodes.size(), 0.0);
  magnitude_.assign(static_cast<std::size_t>(model.coordinates.nv), 0.0);
}

// What the model's masses and moduli make of it.
void FullMechanics::read_model() {
  mass_.assign(pattern_.row.size(), 0.0);
  for (int column = 0; column < static_cast<int>(model_.mesh.nodes.size()); ++column)
    for (int k = model_.mass.column_start[static_cast<std::size_t>(column)];
         k < model_.mass.column_start[static_cast<std::size_t>(column) + 1]; ++k) {
      int i = model_.node_unknown[static_cast<std::size_t>(model_.mass.row[static_cast<std::size_t>(k)])];
      int j = model_.node_unknown[static_cast<std::size_t>(column)];
      if (i < 0 || j < 0) continue;
      if (i < j) std::swap(i, j);
      mass_[static_cast<std::size_t>(pattern_.find(i, j))] = model_.mass.value[static_cast<std::size_t>(k)];
    }
  // At a strain of one, roughly: the stress is the sum of the law's moduli.
  std::vector<double> unit(model_.free_nodes.size(), 0.0);
  for (const ElementField& field : model_.fields)
    for (int p = 0; p < field.points(); ++p) {
      const auto& m = field.parameters[static_cast<std::size_t>(field.region[static_cast<std::size_t>(p)])];
      const double stress = sum_of_moduli(field.law, m);
      for (int a = 0; a < field.nodes_per_element; ++a) {
        const int e = p / field.points_per_element;
        const int unknown = model_.node_unknown[static_cast<std::size_t>(
            field.node[static_cast<std::size_t>(e * field.nodes_per_element + a)])];
        const double* g = field.gradient.data() + extent(p, field.nodes_per_element, 3) + extent(3, a);
        if (unknown >= 0)
          unit[static_cast<std::size_t>(unknown)] +=
              stress * field.volume[static_cast<std::size_t>(p)] * norm(Vec3d{{g[0], g[1], g[2]}});
      }
    }
  unit_force_ = 0;
  for (const double force : unit) unit_force_ += force * force;
  unit_force_ = std::sqrt(unit_force_);
}

void FullMechanics::model_changed() {
  SUPPLE_EXPECT(!evaluate_);
  ++changes_;
  read_model();
  elements_->parameters_changed();
  turned_.reset();
}

std::size_t FullMechanics::bytes() const {
  const auto of = [](const auto&... list) { return (std::size_t{0} + ... + (list.size() * sizeof(list[0]))); };
  const std::size_t sum = of(mass_, magnitude_, u_, pattern_.column_start, pattern_.row, pattern_.contribution_start,
                             pattern_.source, pattern_.scalar.column_start, pattern_.scalar.row);
  const std::size_t nodes = pattern_.scalar.row.size();
  // Of the stiffness and of the system, which lies beside its nodes' part.
  const std::size_t values = 2 * nodes + (segments_ ? pattern().row.size() : 0);
  const std::size_t blocks =
      evaluate_ && !model_.robot.motions.empty() ? 9 * static_cast<std::size_t>(block_offset_.back()) : 0;
  return sum + sizeof(double) * (values + blocks) + (elements_ ? elements_->bytes() : 0) +
         (segments_ ? segments_->bytes() : 0);
}

std::span<const double> FullMechanics::weighted_stress(int field) const {
  SUPPLE_EXPECT(!evaluate_);
  const Array<double>& P = elements_->weighted_stress(field);
  return {P.data(), P.size()};
}

void FullMechanics::evaluate_outputs(std::span<const double> q, std::span<const double> c, std::span<double> y) {
  node_displacements(model_, q, c, u_);
  for (std::size_t p = 0; p < model_.interpolation.size(); ++p) {
    const Interpolation& interpolation = model_.interpolation[p];
    for (std::size_t k = 0; k < 3; ++k) {
      double sum = model_.robot.rest_points[p][static_cast<int>(k)];
      for (std::size_t n = 0; n < interpolation.node.size(); ++n)
        sum += interpolation.weight[n] * u_[3 * static_cast<std::size_t>(interpolation.node[n]) + k];
      y[3 * p + k] = sum;
    }
  }
}

void FullMechanics::evaluate_forces(std::span<const double> q, std::span<const double> c, TangentKind kind,
                                    std::span<double> f, std::span<PointReport> found) {
  node_displacements(model_, q, c, u_);
  const bool tangent = kind != TangentKind::none;
  if (tangent) stiffness_.resize(pattern_.scalar.row.size());
  PointReport report;
  if (!evaluate_) {
    elements_->evaluate(1, u_.data(), kind, f.data(), magnitude_.data(), stiffness_.data(), {&report, 1});
  } else {
    const bool blocks = tangent && !model_.robot.motions.empty();
    if (blocks) element_blocks_.resize(9 * static_cast<std::size_t>(block_offset_.back()));
    report = evaluate_(u_.data(), kind,
                       {f.data(), magnitude_.data(), stiffness_.data(), blocks ? element_blocks_.data() : nullptr});
  }
  if (turned_ && tangent) {
    const bool inputs = !model_.robot.motions.empty();
    if (kind == TangentKind::exact && turned_->ends_at(u_))
      elements_->add_linear_stress(u_.data(), stiffness_.data(),
                                   !inputs     ? nullptr
                                   : evaluate_ ? element_blocks_.data()
                                               : elements_->blocks());
    turned_->forget();
  }
  double scale = 0;
  for (std::size_t i = 0; i < magnitude_.size(); ++i) {
    const double spring = model_.node_spring[i / 3] * q[i];
    f[i] += spring;
    const double size = magnitude_[i] + std::abs(spring);
    scale += size * size;
  }
  report.force_scale =
      std::max(std::sqrt(scale), rounding_strain * unit_force_ * (elements_ ? elements_->step_factor() : 1));
  if (tangent) {
    tangent_ = kind;
    const int free_nodes = static_cast<int>(model_.free_nodes.size());
    for (int i = 0; i < free_nodes; ++i)
      for (int k = 0; k < 3; ++k)
        stiffness_[static_cast<std::size_t>(pattern_.scalar.column_start[static_cast<std::size_t>(3 * i + k)])] +=
            model_.node_spring[static_cast<std::size_t>(i)];
  }
  found[0] = report;
}

double FullMechanics::turn_step(int, std::span<const double> q, std::span<const double> c, std::span<const double> dc,
                                std::span<double> dq) {
  const auto exact = [](const ElementField& field) { return has_exact_tangent(field.law); };
  if (!std::ranges::all_of(model_.fields, exact)) return 1;
  if (!elements_) elements_ = std::make_unique<FullElements>(model_, pattern_, cpu(), 1);  // beside evaluate_
  if (!turned_) turned_ = std::make_unique<TurnedStep>(model_, pattern_, *elements_);
  du_.resize(u_.size());
  node_displacements(model_, q, c, u_);
  node_displacements(model_, dq, dc, du_);
  return turned_->take(u_, du_, dq);
}

void FullMechanics::begin_viscous_step(double h, std::span<const double> viscous) {
  if (evaluate_)
    throw CapabilityError("states that several robots step together cannot be of viscous materials in time",
                          "equilibria (converged = true), or --device cpu");
  elements_->begin_viscous_step(h, viscous);
}

void FullMechanics::end_viscous_step(double h, std::span<const double> q, std::span<const double> c,
                                     std::span<const unsigned char> moved, std::span<double> viscous) {
  if (evaluate_) return;  // in statics, where nothing asks for what they remember
  node_displacements(model_, q, c, u_);
  elements_->end_viscous_step(h, u_.data(), moved, viscous);
}

double FullMechanics::friction(int robot, int obstacle) const {
  return friction_ ? Mechanics::friction(robot, obstacle) : 0;
}

void FullMechanics::external_forces(std::span<double> p) const {
  std::fill(p.begin(), p.end(), 0.0);
  const auto add = [&](int node, double mass) {
    const int unknown = model_.node_unknown[static_cast<std::size_t>(node)];
    if (unknown < 0) return;
    for (int k = 0; k < 3; ++k) p[static_cast<std::size_t>(3 * unknown + k)] += mass * model_.robot.gravity[k];
  };
  for (int column = 0; column < static_cast<int>(model_.mesh.nodes.size()); ++column)
    for (int k = model_.mass.column_start[static_cast<std::size_t>(column)];
         k < model_.mass.column_start[static_cast<std::size_t>(column) + 1]; ++k) {
      const int row = model_.mass.row[static_cast<std::size_t>(k)];
      add(row, model_.mass.value[static_cast<std::size_t>(k)]);
      if (row != column) add(column, model_.mass.value[static_cast<std::size_t>(k)]);
    }
}

void FullMechanics::inertia(std::span<const double> v, std::span<const double> v_c, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  const auto velocity = [&](int node, int k) {
    const int unknown = model_.node_unknown[static_cast<std::size_t>(node)],
              motion = model_.node_motion[static_cast<std::size_t>(node)];
    if (unknown >= 0) return v[static_cast<std::size_t>(3 * unknown + k)];
    if (motion >= 0 && !v_c.empty())
      return v_c[static_cast<std::size_t>(motion)] *
             model_.robot.motions[static_cast<std::size_t>(motion)].direction[k];
    return 0.0;
  };
  const auto add = [&](int node, int other, double mass) {
    const int unknown = model_.node_unknown[static_cast<std::size_t>(node)];
    if (unknown < 0) return;
    for (int k = 0; k < 3; ++k) out[static_cast<std::size_t>(3 * unknown + k)] += mass * velocity(other, k);
  };
  for (int column = 0; column < static_cast<int>(model_.mesh.nodes.size()); ++column)
    for (int k = model_.mass.column_start[static_cast<std::size_t>(column)];
         k < model_.mass.column_start[static_cast<std::size_t>(column) + 1]; ++k) {
      const int row = model_.mass.row[static_cast<std::size_t>(k)];
      add(row, column, model_.mass.value[static_cast<std::size_t>(k)]);
      if (row != column) add(column, row, model_.mass.value[static_cast<std::size_t>(k)]);
    }
}

void FullMechanics::damping(std::span<const double> v, std::span<const double> v_c, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  if (model_.robot.rayleigh_mass != 0) {
    inertia(v, v_c, out);
    for (double& x : out) x *= model_.robot.rayleigh_mass;
  }
  if (model_.robot.rayleigh_stiffness != 0) {
    SUPPLE_EXPECT(tangent_ != TangentKind::none);
    std::vector<double> product(v.size());
    multiply(pattern_.scalar, stiffness_.data(), v.data(), product.data());
    add_prescribed_stiffness(v_c, product);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += model_.robot.rayleigh_stiffness * product[i];
  }
}

void FullMechanics::add_prescribed_stiffness(std::span<const double> v_c, std::span<double> out) const {
  // out += K_fc v_c, element by element: the columns of prescribed nodes are not in the pattern.
  if (model_.robot.motions.empty()) return;
  const double* all_blocks = evaluate_ ? element_blocks_.data() : elements_->blocks(0);
  for (std::size_t f = 0; f < model_.fields.size(); ++f) {
    const ElementField& field = model_.fields[f];
    const int n = field.nodes_per_element;
    for (int e = 0; e < field.elements(); ++e) {
      const int* node = field.node.data() + e * n;
      const double* blocks = all_blocks + 9 * (block_offset_[f] + static_cast<long>(e) * pair_count(n));
      for (int b = 0; b < n; ++b) {
        const int motion = model_.node_motion[static_cast<std::size_t>(node[b])];
        if (motion < 0) continue;
        const Vec3d v =
            v_c[static_cast<std::size_t>(motion)] * model_.robot.motions[static_cast<std::size_t>(motion)].direction;
        for (int a = 0; a < n; ++a) {
          const int unknown = model_.node_unknown[static_cast<std::size_t>(node[a])];
          if (unknown < 0) continue;
          const int i = std::min(a, b), j = std::max(a, b);  // stored: pairs i <= j
          const double* block = blocks + 9 * (i * n - i * (i - 1) / 2 + j - i);
          for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c)
              out[static_cast<std::size_t>(3 * unknown + r)] += (a <= b ? block[3 * r + c] : block[3 * c + r]) * v[c];
        }
      }
    }
  }
}

// K += L_a^T S L_b at mapped points a and b, the lower triangle, unless values is null; the pattern holds every pair of
// nodes of a row. inputs [motions][nv] += L_a^T S L_c.
void FullMechanics::add_point_stiffness(int a, int b, const Mat3d& S, double* values, std::span<double> inputs) const {
  const Interpolation& left = model_.interpolation[static_cast<std::size_t>(a)];
  const Interpolation& right = model_.interpolation[static_cast<std::size_t>(b)];
  for (std::size_t s = 0; s < left.node.size(); ++s)
    for (std::size_t t = 0; t < right.node.size(); ++t) {
      const int i = model_.node_unknown[static_cast<std::size_t>(left.node[s])];
      const int j = model_.node_unknown[static_cast<std::size_t>(right.node[t])];
      if (i < 0 || j < 0 || i < j || values == nullptr) continue;
      const int block = pattern_.find(i, j);
      const double weight = left.weight[s] * right.weight[t];
      for (int c = 0; c < 3; ++c)
        for (int r = i == j ? c : 0; r < 3; ++r) values[pattern_.position(block, j, r, c)] += weight * S(r, c);
    }
  if (inputs.empty()) return;
  for (std::size_t s = 0; s < left.node.size(); ++s)
    for (std::size_t t = 0; t < right.node.size(); ++t) {
      const int i = model_.node_unknown[static_cast<std::size_t>(left.node[s])];
      const int motion = model_.node_motion[static_cast<std::size_t>(right.node[t])];
      if (i < 0 || motion < 0) continue;
      const Vec3d column =
          left.weight[s] * right.weight[t] * (S * model_.robot.motions[static_cast<std::size_t>(motion)].direction);
      for (int r = 0; r < 3; ++r)
        inputs[extent(motion, model_.coordinates.nv) + extent(3, i) + static_cast<std::size_t>(r)] += column[r];
    }
}

void FullMechanics::add_geometric_stiffness(std::span<const double> y, std::span<const double> multipliers,
                                            double* values, std::span<double> inputs) const {
  // K += L^T S L with S the row's curvature at its mapped points; inputs [motions][nv] += L^T S L_c.
  for (int row = 0; row < rows_.rows(); ++row) {
    const int first = first_point(model_.robot, row);
    visit_row_curvature(
        model_.robot, row, y, multipliers[static_cast<std::size_t>(row)], [&](int a, int b, const Mat3d& curvature) {
          add_point_stiffness(first + a, first + b, curvature, apart_[extent(row)] == 0 ? values : nullptr, inputs);
        });
  }
}

void FullMechanics::factor(const SystemCoefficients& coefficients, std::span<const double> y,
                           std::span<const double> multipliers, std::span<SystemReport> found) {
  found[0] = factor_system(coefficients, y, multipliers);
}

SystemReport FullMechanics::factor_system(const SystemCoefficients& coefficients, std::span<const double> y,
                                          std::span<const double> multipliers) {
  SUPPLE_EXPECT(tangent_ != TangentKind::none);
  ++factorisations_;
  system_.resize(stiffness_.size());
  for (std::size_t i = 0; i < system_.size(); ++i) system_[i] = coefficients.stiffness * stiffness_[i];
  if (coefficients.mass != 0)
    for (int column = 0; column < static_cast<int>(model_.free_nodes.size()); ++column)
      for (int block = pattern_.column_start[static_cast<std::size_t>(column)];
           block < pattern_.column_start[static_cast<std::size_t>(column) + 1]; ++block)
        for (int k = 0; k < 3; ++k)
          system_[static_cast<std::size_t>(pattern_.position(block, column, k, k))] +=
              coefficients.mass * mass_[static_cast<std::size_t>(block)];
  geometric_inputs_.assign(extent(static_cast<int>(model_.robot.motions.size()), model_.coordinates.nv), 0.0);
  if (coefficients.geometric) add_geometric_stiffness(y, multipliers, system_.data(), geometric_inputs_);
  for (const PointStiffness& at : coefficients.points)
    add_point_stiffness(at.i, at.j, at.S, system_.data(), geometric_inputs_);

  int of_segments = 0;
  if (segments_) {
    of_segments =
        segments_->assemble(system_, y, coefficients.geometric ? multipliers : std::span<const double>(), whole_);
    system_.swap(whole_);
  }
  const bool positive = tangent_ == TangentKind::safe;
  std::unique_ptr<SparseDirect>& solver = solvers_[positive ? 0 : 1];
  if (!solver) {
    solver = make_solver_();
    solver->analyse(pattern(), positive ? Definiteness::positive : Definiteness::indefinite);
  }
  solver_ = solver.get();
  FactorReport report = solver_->factor(system_.data());
  // A borrowed factor is of another state, in which other segments may be slack.
  if (report.status == FactorStatus::ok) report.negative_pivots = std::max(0, report.negative_pivots - of_segments);
  switch (report.status) {
    case FactorStatus::ok:
      return {SystemStatus::ok, report.negative_pivots};
    case FactorStatus::singular:
      return {SystemStatus::singular, report.negative_pivots};
    case FactorStatus::not_positive:
      return {SystemStatus::not_positive, report.negative_pivots};
    case FactorStatus::out_of_memory:
      break;
  }
  return {SystemStatus::out_of_memory, 0};
}

void FullMechanics::row_jacobians(const RowLayout& layout, std::span<const double> gradients, std::span<double> H,
                                  std::span<double> H_c) const {
  const auto nv = static_cast<std::size_t>(model_.coordinates.nv), motions = model_.robot.motions.size();
  std::fill(H.begin(), H.end(), 0.0);
  std::fill(H_c.begin(), H_c.end(), 0.0);
  for (std::size_t row = 0; row < layout.first.size(); ++row)
    for (int p = 0; p < layout.count[row] / 3; ++p) {
      const Interpolation& interpolation = model_.interpolation[static_cast<std::size_t>(layout.first[row] / 3 + p)];
      const double* g = gradients.data() + layout.offset[row] + 3 * p;
      for (std::size_t n = 0; n < interpolation.node.size(); ++n) {
        const auto node = static_cast<std::size_t>(interpolation.node[n]);
        const int unknown = model_.node_unknown[node], motion = model_.node_motion[node];
        if (unknown >= 0) {
          for (int k = 0; k < 3; ++k)
            H[row * nv + static_cast<std::size_t>(3 * unknown + k)] += interpolation.weight[n] * g[k];
        } else if (motion >= 0) {
          const auto m = static_cast<std::size_t>(motion);
          H_c[row * motions + m] +=
              interpolation.weight[n] * dot(Vec3d{{g[0], g[1], g[2]}}, model_.robot.motions[m].direction);
        }
      }
    }
}

void FullMechanics::input_columns(const SystemCoefficients& coefficients, std::span<double> A_c) {
  const std::size_t motions = model_.robot.motions.size();
  const auto nv = static_cast<std::size_t>(model_.coordinates.nv);
  SUPPLE_EXPECT(A_c.size() == motions * nv && tangent_ != TangentKind::none);
  const std::vector<double> still(nv, 0.0);
  std::vector<double> unit(motions, 0.0), stiff(nv);
  for (std::size_t m = 0; m < motions; ++m) {
    unit[m] = 1;
    const std::span<double> column = A_c.subspan(m * nv, nv);
    inertia(still, unit, column);
    std::fill(stiff.begin(), stiff.end(), 0.0);
    add_prescribed_stiffness(unit, stiff);
    for (std::size_t i = 0; i < nv; ++i) column[i] = coefficients.mass * column[i] + coefficients.stiffness * stiff[i];
    if (coefficients.geometric || !coefficients.points.empty())
      for (std::size_t i = 0; i < nv; ++i) column[i] += geometric_inputs_[m * nv + i];
    unit[m] = 0;
  }
}

void FullMechanics::solve(std::span<double> X, int count) {
  SUPPLE_EXPECT(solver_ != nullptr);
  if (segments_)
    segments_->solve(*solver_, X, count);
  else
    solver_->solve(X.data(), count);
}

void FullMechanics::multiply_rows(const PointRows& rows, std::span<const double> X, int count,
                                  std::span<double> out) const {
  for (int j = 0; j < count; ++j) {
    const double* x = X.data() + extent(j, model_.coordinates.nv);
    for (int p = 0; p < rows.points(); ++p) {
      const Interpolation& at = model_.interpolation[static_cast<std::size_t>(rows.point[static_cast<std::size_t>(p)])];
      Vec3d sum{{0, 0, 0}};
      for (std::size_t n = 0; n < at.node.size(); ++n) {
        const int unknown = model_.node_unknown[static_cast<std::size_t>(at.node[n])];
        if (unknown < 0) continue;
        for (int k = 0; k < 3; ++k) sum[k] += at.weight[n] * x[3 * unknown + k];
      }
      const Vec3d value = rows.frame[static_cast<std::size_t>(p)] * sum;
      for (int i = 0; i < 3; ++i) out[extent(j, rows.rows()) + extent(3 * p + i)] = value[i];
    }
  }
}

void FullMechanics::add_row_forces(const PointRows& rows, std::span<const double> lambda, std::span<double> f) const {
  for (int p = 0; p < rows.points(); ++p) {
    const double* l = lambda.data() + extent(3, p);
    if (l[0] == 0 && l[1] == 0 && l[2] == 0) continue;
    const Vec3d force = transpose(rows.frame[static_cast<std::size_t>(p)]) * Vec3d{{l[0], l[1], l[2]}};
    const Interpolation& at = model_.interpolation[static_cast<std::size_t>(rows.point[static_cast<std::size_t>(p)])];
    for (std::size_t n = 0; n < at.node.size(); ++n) {
      const int unknown = model_.node_unknown[static_cast<std::size_t>(at.node[n])];
      if (unknown < 0) continue;
      for (int k = 0; k < 3; ++k) f[extent(3, unknown) + extent(k)] += at.weight[n] * force[k];
    }
  }
}

void FullMechanics::solve_robot(int, std::span<double> X, int count) {
  solve(X, count);
}

// Rows as long as the model do not pay: row_compliance() has them where they are not zero.
bool FullMechanics::root_solve(int, std::span<double>, int) {
  return false;
}

void FullMechanics::row_compliance(int robot, const PointRows& rows, int known, std::span<double> C) {
  SUPPLE_EXPECT(solver_ != nullptr);
  SparseColumns columns;
  for (int row = known; row < rows.rows(); ++row) {
    const Mat3d& frame = rows.frame[static_cast<std::size_t>(row / 3)];
    const Interpolation& at =
        model_.interpolation[static_cast<std::size_t>(rows.point[static_cast<std::size_t>(row / 3)])];
    for (std::size_t n = 0; n < at.node.size(); ++n) {
      const int unknown = model_.node_unknown[static_cast<std::size_t>(at.node[n])];
      if (unknown < 0) continue;
      for (int k = 0; k < 3; ++k) {
        columns.row.push_back(3 * unknown + k);
        columns.value.push_back(at.weight[n] * frame(row % 3, k));
      }
    }
    columns.start.push_back(static_cast<int>(columns.row.size()));
  }
  const int n = rows.rows(), fresh = columns.count();
  std::vector<double> products(extent(fresh, n));
  if (!solver_->multiply_inverse(columns, known == 0, products.data())) {
    Mechanics::row_compliance(robot, rows, known, C);
    return;
  }
  for (int i = 0; i < fresh; ++i)
    for (int j = 0; j < n; ++j) {
      const double value = products[extent(i, n) + extent(j)];
      C[extent(known + i, n) + extent(j)] = value;
      C[extent(j, n) + extent(known + i)] = value;
    }
}

}  // namespace supple
