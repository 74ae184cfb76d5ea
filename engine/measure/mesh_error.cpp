#include "engine/measure/mesh_error.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/order.hpp"
#include "engine/mesh/read.hpp"
#include "engine/mesh/refine.hpp"
#include "engine/model/element_fields.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

const std::string gravity = "gravity";

// Of the finer mesh, which then takes a minute.
constexpr long most_unknowns = 150000;

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What gravity and each actuator's command do at rest: displacements of the effectors, or where there are none the work
// of gravity and what the multiplier moves its own row by. Empty where K is not positive definite.
std::vector<Eigen::VectorXd> responses(const FullModel& model) {
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
  std::vector<Eigen::VectorXd> result;
  for (int k = 0; k <= actuators; ++k) {
    Eigen::VectorXd moved = effectors > 0 ? Eigen::VectorXd(C.row(k).tail(3 * effectors).transpose())
                                          : Eigen::VectorXd::Constant(1, C(k, k));
    // By a unit of what is pulled, not of the multiplier.
    const bool pulled = k > 0 && robot.actuators[extent(k - 1)].control == ActuatorControl::displacement;
    if (pulled && effectors > 0) moved *= C(k, k) > 0 ? 1 / C(k, k) : 0;
    result.push_back(std::move(moved));
  }
  return result;
}

// Of the effectors, linear, by one actuator at the end of its range. Of gas nothing is known without its pressure.
double largest_motion(const Robot& robot, const std::vector<Eigen::VectorXd>& responses) {
  double largest = 0;
  for (std::size_t k = 0; k < robot.actuators.size(); ++k) {
    const ActuatorRow& actuator = robot.actuators[k];
    const double command = std::max(std::abs(actuator.range.lower), std::abs(actuator.range.upper));
    if (!actuator.has_gas() && std::isfinite(command)) largest = std::max(largest, command * responses[k + 1].norm());
  }
  return largest;
}

}  // namespace

const MeshError::Load& MeshError::worst() const {
  return *std::max_element(loads.begin(), loads.end(),
                           [](const Load& a, const Load& b) { return a.counts < b.counts; });
}

std::string MeshError::Load::in_words() const {
  return fmt::format("{:.2g} %{} under {}", 100 * counts, counts < error ? " of what the commands move" : "", name);
}

std::string no_mesh_error(const FullModel& model) {
  if (model.robot.floating) return "the body is free-floating";
  for (const ElementField& field : model.fields)
    if (!has_exact_tangent(field.law)) return "rotations from element edges have no exact tangent";
  // Of second order with all edges halved a large mesh has eight times as many.
  long unknowns = 8L * model.coordinates.nv;
  if (model.mesh.order() == 1) {
    Mesh second = model.mesh;
    set_order(second, 2);
    unknowns = 3 * static_cast<long>(second.nodes.size());
  }
  if (unknowns > most_unknowns)
    return fmt::format("a finer mesh would have some {},000 unknowns, which take minutes", unknowns / 1000);
  return "";
}

MeshError estimate_mesh_error(const Scene& scene, const FullModel& model) {
  MeshError estimate;
  Scene finer = scene;
  BodyScene& body = finer.bodies.front();
  Mesh mesh = read_mesh(body.mesh_file);
  set_order(mesh, model.mesh.order());
  if (model.mesh.order() == 2) {
    mesh = refined(mesh);
    estimate.finer = "elements of half the size";
  } else {
    body.order = 2;
    estimate.finer = "elements of second order";
  }
  const FullModel second = build_full_model(finer, std::move(mesh));
  estimate.unknowns = second.coordinates.nv;
  const std::vector<Eigen::VectorXd> is = responses(model), would = responses(second);
  if (is.empty() || would.empty()) return estimate;
  const double commanded = model.robot.effectors.empty() ? 0 : largest_motion(model.robot, would);
  for (std::size_t k = 0; k < is.size(); ++k) {
    if (!(is[k].norm() > 0 && would[k].norm() > 0)) continue;
    const double apart = (would[k] - is[k]).norm(), moved = would[k].norm();
    estimate.loads.push_back({k == 0 ? gravity : model.robot.actuators[k - 1].name, moved / is[k].norm() - 1,
                              apart / moved, apart / (k == 0 ? std::max(moved, commanded) : moved)});
  }
  return estimate;
}

}  // namespace supple
