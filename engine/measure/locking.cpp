#include "engine/measure/locking.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Compliances of gravity [N m], of each actuator's row and of each effector's point along x, y and z at rest; empty where
// K is not positive definite.
std::vector<double> compliances(const FullModel& model) {
  FullMechanics mechanics(model);
  const Robot& robot = model.robot;
  const int nv = model.coordinates.nv, rows = robot.rows(), actuators = static_cast<int>(robot.actuators.size());
  const RowLayout& layout = mechanics.rows();
  const std::vector<double> q(extent(model.coordinates.nq), 0.0), lambda(extent(rows), 0.0);
  std::vector<double> c;
  for (const MotionInput& motion : robot.motions) c.push_back(motion.rest());
  std::vector<double> y(extent(robot.outputs())), f(extent(nv)), phi(extent(rows)),
      gradients(extent(layout.gradients())), H_c(extent(rows, static_cast<int>(c.size())));
  mechanics.evaluate_outputs(q, c, y);
  (void)mechanics.evaluate_forces(q, c, TangentKind::exact, f);
  const SystemReport system = mechanics.factor({.mass = 0, .stiffness = 1, .geometric = false}, y, lambda);
  if (system.status != SystemStatus::ok || system.negative_pivots > 0) return {};
  evaluate_rows(robot, layout, y, phi, gradients);
  std::vector<double> H(extent(rows, nv));
  mechanics.row_jacobians(layout, gradients, H, H_c);
  const int effectors = static_cast<int>(robot.effectors.size());
  Matrix loads = Matrix::Zero(1 + rows + 3 * effectors, nv);
  mechanics.external_forces({loads.data(), extent(nv)});
  std::copy(H.begin(), H.end(), loads.data() + nv);
  for (int e = 0; e < effectors; ++e) {
    const Interpolation& at = model.interpolation[extent(robot.effectors[extent(e)].point)];
    for (std::size_t n = 0; n < at.node.size(); ++n) {
      const int unknown = model.node_unknown[extent(at.node[n])];
      for (int k = 0; k < 3 && unknown >= 0; ++k) loads(1 + rows + 3 * e + k, 3 * unknown + k) += at.weight[n];
    }
  }
  std::vector<int> held;
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    if (!robot.constraints[k].one_sided && robot.constraints[k].compliance == 0)
      held.push_back(1 + actuators + static_cast<int>(k));
  Matrix X = loads;
  mechanics.solve({X.data(), static_cast<std::size_t>(X.size())}, static_cast<int>(X.rows()));
  Matrix C = X * loads.transpose();
  if (!held.empty()) {
    const Matrix coupling = C(held, Eigen::all), W = C(held, held);
    C -= coupling.transpose() * W.completeOrthogonalDecomposition().solve(coupling);
  }
  std::vector<double> result;
  for (int k = 0; k <= actuators; ++k) result.push_back(C(k, k));
  for (int k = 1 + rows; k < C.rows(); ++k) result.push_back(C(k, k));
  return result;
}

}  // namespace

LockingEstimate estimate_locking(const Scene& scene, const FullModel& model) {
  SUPPLE_EXPECT(model.mesh.order() == 1);
  Scene finer = scene;
  finer.bodies.front().order = 2;
  const FullModel second = build_full_model(finer);
  LockingEstimate estimate;
  estimate.unknowns = second.coordinates.nv;
  const std::vector<double> is = compliances(model), would = compliances(second);
  if (is.empty() || would.empty()) return estimate;
  const auto stiffening = [&](std::size_t k) { return is[k] > 0 ? would[k] / is[k] - 1 : 0.0; };
  const std::size_t actuators = model.robot.actuators.size();
  if (is[0] > 0) estimate.loads.push_back({"gravity", stiffening(0)});
  for (std::size_t a = 0; a < actuators; ++a)
    if (is[1 + a] > 0) estimate.loads.push_back({model.robot.actuators[a].name, stiffening(1 + a)});
  for (std::size_t e = 0; e < model.robot.effectors.size(); ++e) {
    const std::size_t first = 1 + actuators + 3 * e;
    estimate.loads.push_back({"a force on " + model.robot.effectors[e].name,
                              std::max({stiffening(first), stiffening(first + 1), stiffening(first + 2)})});
  }
  return estimate;
}

}  // namespace supple
