#include "engine/reduction/basis/metric.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/model/parameters.hpp"
#include "engine/reduction/snapshots/sampling.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

constexpr double solvable = 1e-6;  // || K X - I || above which a system counts as singular

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Upper triangular C with C^T C = M. Displacements are those of the modes: what c carries along is no error's measure,
// nor is how far a body has gone as a whole.
Matrix metric_factor(const ReducedModel& all, std::span<const double> states, int count) {
  const int r = all.modes;
  Matrix alpha = Eigen::Map<const Matrix>(states.data(), count, r + all.motions()).leftCols(r);
  if (shaken_in_time(all.robot)) alpha.leftCols(rigid_mode_count).setZero();  // its states are where they went
  Matrix M = Matrix::Identity(r, r);
  const double shape = alpha.rowwise().norm().mean();
  if (shape > 0) M /= shape * shape;
  const int effectors = static_cast<int>(all.robot.effectors.size());
  Matrix L(3 * effectors, r);
  for (int e = 0; e < effectors; ++e)
    for (int i = 0; i < 3; ++i) {
      const int row = 3 * all.robot.effectors[static_cast<std::size_t>(e)].point + i;
      L.row(3 * e + i) = Eigen::Map<const Eigen::RowVectorXd>(all.outputs.data() + extent(row, r), r);
    }
  const double goal = effectors > 0 ? (alpha * L.transpose()).rowwise().norm().mean() : 0;
  if (goal > 0) M += L.transpose() * L / (goal * goal);
  return M.llt().matrixU();
}

// Their stiffness at rest in time: H^T H / c and what their force adds by turning.
void add_springs(const ReducedModel& all, std::span<const double> y, double* K, double* K_c) {
  for (const ConstraintRow& spring : all.robot.springs) {
    std::vector<double> gradient(extent(3, spring.point_count));
    const double lambda = -evaluate_constraint(spring, y, gradient.data()) / spring.compliance;
    const auto at = [&](int i) {
      return Vec3d{{gradient[extent(3, i)], gradient[extent(3, i) + 1], gradient[extent(3, i) + 2]}};
    };
    const auto add = [&](int i, int j, const Mat3d& S) {
      add_point_stiffness(all, {.i = spring.first_point + i, .j = spring.first_point + j, .S = S}, K, K_c);
    };
    for (int i = 0; i < spring.point_count; ++i)
      for (int j = 0; j < spring.point_count; ++j) add(i, j, (1 / spring.compliance) * outer(at(i), at(j)));
    visit_constraint_curvature(spring, y, lambda, add);
  }
}

}  // namespace

double lowest_frequency_squared(const ReducedModel& all) {
  const int r = all.modes;
  ReducedMechanics mechanics(all);
  const std::vector<double> rest(extent(r), 0.0);
  std::vector<double> f(extent(r));
  (void)mechanics.evaluate_forces(rest, {}, TangentKind::exact, f);
  const Eigen::Map<const Matrix> K(mechanics.stiffness(0).data(), r, r), M(all.mass.data(), r, r);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> vibrations(Matrix(K.selfadjointView<Eigen::Lower>()), M,
                                                                    Eigen::EigenvaluesOnly);
  return vibrations.eigenvalues()(rigid_mode_count);
}

std::vector<HeldRow> held_rows(const Robot& robot, std::span<const double> H, std::span<const double> multipliers) {
  std::vector<HeldRow> held;
  const int n = static_cast<int>(H.size()) / std::max(1, robot.rows());
  for (int row = 0; row < robot.rows(); ++row) {
    const auto k = static_cast<std::size_t>(row);
    if (!holds(robot, row, multipliers[k])) continue;
    const bool constraint = k >= robot.actuators.size();
    if (constraint && std::all_of(H.begin() + row * n, H.begin() + (row + 1) * n, [](double h) { return h == 0; }))
      continue;
    held.push_back({row, constraint ? robot.constraints[k - robot.actuators.size()].compliance : 0});
  }
  return held;
}

std::vector<double> displacement_metric(const ReducedModel& all, std::span<const double> states,
                                        std::span<const double> multipliers, int count,
                                        std::span<const double> parameters) {
  const int r = all.modes, m = all.robot.rows(), ny = all.robot.outputs(), columns = all.columns(),
            inputs = all.motions();
  SUPPLE_EXPECT(states.size() == extent(count, r + inputs) && multipliers.size() == extent(count, m));
  const Matrix C = metric_factor(all, states, count);
  const double shift = all.robot.floating ? lowest_frequency_squared(all) : 0;
  ChangingModel<ReducedModel> changing(all);
  ReducedMechanics mechanics(changing.model());
  const int given = static_cast<int>(all.robot.parameters.size());
  const RowLayout layout = row_layout(all.robot);
  std::vector<double> y(static_cast<std::size_t>(ny)), f(static_cast<std::size_t>(r)), phi(static_cast<std::size_t>(m)),
      gradients(static_cast<std::size_t>(layout.gradients())), H(extent(m, r)), H_c(extent(m, inputs)), hessian,
      T(extent(count, r, r)), size(static_cast<std::size_t>(count));
  const ReducedModel& model = changing.model();
  const Robot& robot = model.robot;
  for (int s = 0; s < count; ++s) {
    if (!parameters.empty() && changing.set(parameters.subspan(extent(s, given), extent(given))))
      mechanics.model_changed();
    const std::span<const double> state = states.subspan(extent(s, r + inputs), extent(r + inputs)),
                                  q = state.first(extent(r)), c = state.subspan(extent(r));
    const bool defined = mechanics.evaluate_forces(q, c, TangentKind::exact, f).undefined == 0;
    Matrix K = Eigen::Map<const Matrix>(mechanics.stiffness(0).data(), columns, columns).topLeftCorner(r, r);
    Matrix curvature = Matrix::Zero(r, r), input_curvature = Matrix::Zero(inputs, r);
    mechanics.evaluate_outputs(q, c, y);
    evaluate_rows(robot, layout, y, phi, gradients);
    mechanics.row_jacobians(layout, gradients, H, H_c);
    const std::span<const double> lambda = multipliers.subspan(extent(s, m), extent(m));
    for (int row = 0; row < m; ++row)
      add_row_curvature(model, row, y, lambda[extent(row)], curvature.data(), input_curvature.data(), hessian);
    const std::vector<HeldRow> held = held_rows(robot, H, lambda);
    add_springs(model, y, curvature.data(), input_curvature.data());
    K += curvature + shift * Eigen::Map<const Matrix>(model.mass.data(), r, r);
    K = Matrix(K.selfadjointView<Eigen::Lower>());
    const int h = static_cast<int>(held.size());
    // [K J^T; J -C]^-1 has S in its upper left corner. J is scaled to the size of K, for the pivots.
    Matrix system = Matrix::Zero(r + h, r + h);
    system.topLeftCorner(r, r) = K;
    const double scale = K.norm() / std::sqrt(static_cast<double>(r));
    for (int k = 0; k < h; ++k) {
      const HeldRow& one = held[static_cast<std::size_t>(k)];
      const auto row = Eigen::Map<const Eigen::RowVectorXd>(H.data() + extent(one.row, r), r);
      const double length = row.norm();
      if (length > 0) {
        system.row(r + k).head(r) = scale / length * row;
        system(r + k, r + k) = -scale / length * scale / length * one.compliance;
      }
      system.col(r + k).head(r) = system.row(r + k).head(r).transpose();
    }
    // Rows that depend on each other are no harm; a system without a solution is.
    const Matrix unit = Matrix::Identity(r + h, r);
    const Matrix solution = system.fullPivLu().solve(unit);
    const double rest = (system * solution - unit).norm();
    Eigen::Map<Matrix> out(T.data() + extent(s, r, r), r, r);
    out = C * solution.topRows(r);
    size[static_cast<std::size_t>(s)] = defined && rest < solvable ? out.norm() : std::nan("");
  }
  std::vector<double> sorted;
  for (const double norm : size)
    if (std::isfinite(norm)) sorted.push_back(norm);
  const auto middle = sorted.begin() + static_cast<long>(sorted.size() / 2);
  if (!sorted.empty()) std::nth_element(sorted.begin(), middle, sorted.end());
  const double limit = sorted.empty() ? 0 : largest_compliance * *middle;
  for (int s = 0; s < count; ++s) {
    const double norm = size[static_cast<std::size_t>(s)];
    // A state without a tangent or with a singular one has no say.
    const double factor = !std::isfinite(norm) ? 0 : norm > limit ? limit / norm : 1;
    if (factor == 1) continue;
    for (std::size_t i = 0; i < extent(r, r); ++i) {
      double& t = T[extent(s, r, r) + i];
      t = factor == 0 ? 0 : factor * t;
    }
  }
  return T;
}

}  // namespace supple
