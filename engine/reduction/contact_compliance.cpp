#include "engine/reduction/contact_compliance.hpp"

#include <Eigen/Dense>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int points_at_once = 16;

}  // namespace

std::vector<double> point_compliance(Mechanics& mechanics) {
  const Robot& robot = mechanics.robot();
  SUPPLE_EXPECT(mechanics.robots() == 1);
  const int nv = mechanics.coordinates().nv, rows = robot.rows();
  const RowLayout& layout = mechanics.rows();
  const std::vector<double> q(extent(mechanics.coordinates().nq), 0.0), c(robot.motions.size(), 0.0),
      lambda(extent(rows), 0.0);
  std::vector<double> y(extent(robot.outputs())), f(extent(nv)), phi(extent(rows)),
      gradients(extent(layout.gradients())), H(extent(rows, nv)), H_c(extent(rows, static_cast<int>(c.size())));
  mechanics.evaluate_outputs(q, c, y);
  (void)mechanics.evaluate_forces(q, c, TangentKind::exact, f);
  const SystemReport system = mechanics.factor({.mass = 0, .stiffness = 1, .geometric = false}, y, lambda);
  if (system.status != SystemStatus::ok || system.negative_pivots > 0) return {};
  evaluate_rows(robot, layout, y, phi, gradients);
  mechanics.row_jacobians(layout, gradients, H, H_c);

  // K^-1 J^T and (J K^-1 J^T)^-1 of what is held.
  std::vector<double> J, X;
  for (int row = 0; row < rows; ++row) {
    const std::size_t k = extent(row), actuators = robot.actuators.size();
    const bool held =
        k < actuators ? robot.actuators[k].control == ActuatorControl::displacement
                      : !robot.constraints[k - actuators].one_sided && robot.constraints[k - actuators].compliance == 0;
    if (held) J.insert(J.end(), H.begin() + row * nv, H.begin() + (row + 1) * nv);
  }
  const int held = static_cast<int>(J.size()) / nv;
  X = J;
  if (held > 0) mechanics.solve_robot(0, X, held);
  const Eigen::Map<const Matrix> J_map(J.data(), held, nv), X_map(X.data(), held, nv);
  Eigen::CompleteOrthogonalDecomposition<Matrix> W;  // rows may depend on each other
  if (held > 0) W.compute(J_map * X_map.transpose());

  std::vector<double> result, compliance, cross;
  for (int first = 0; first < robot.collision_points; first += points_at_once) {
    PointRows points;
    for (int p = first; p < std::min(first + points_at_once, robot.collision_points); ++p) {
      points.point.push_back(robot.first_collision_point + p);
      points.frame.push_back(Mat3d::identity());
    }
    const int n = points.rows();
    compliance.resize(extent(n, n));
    mechanics.row_compliance(0, points, 0, compliance);
    Eigen::Map<Matrix> C(compliance.data(), n, n);
    if (held > 0) {
      cross.resize(extent(held, n));
      mechanics.multiply_rows(points, X, held, cross);
      const Eigen::Map<const Matrix> Y(cross.data(), held, n);
      C -= Y.transpose() * W.solve(Matrix(Y));
    }
    for (int p = 0; p < points.points(); ++p)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) result.push_back(C(3 * p + i, 3 * p + j));
  }
  return result;
}

std::optional<OutsideModes> outside_modes(const ReducedModel& model, const State& state, int robot) {
  const Robot& r = model.robot;
  if (model.full_compliance.empty() || r.pairs() == 0) return std::nullopt;
  const int obstacles = static_cast<int>(r.obstacles.size());
  OutsideModes outside;
  double lacking = 0, all = 0;
  for (int p = 0; p < r.collision_points; ++p) {
    Vec3d force{{0, 0, 0}};
    for (int o = 0; o < obstacles; ++o)
      for (int i = 0; i < 3; ++i)
        force[i] += state.contact_forces[extent(3, robot * r.pairs() + p * obstacles + o) + extent(i)];
    if (force == Vec3d{{0, 0, 0}}) continue;
    Mat3d full, own;
    std::copy_n(model.full_compliance.begin() + 9 * p, 9, full.m);
    std::copy_n(model.own_compliance.begin() + 9 * p, 9, own.m);
    const Vec3d lack = (full - own) * force;
    outside.depth = std::max(outside.depth, norm(lack));
    lacking += dot(force, lack);
    all += dot(force, full * force);
  }
  if (!(all > 0)) return std::nullopt;
  outside.share = std::max(0.0, lacking / all);
  return outside;
}

}  // namespace supple
