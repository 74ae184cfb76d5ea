#include "engine/reduction/basis/rest_response.hpp"

#include <Eigen/Dense>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

// K^-1 J^T and (J K^-1 J^T)^-1 of what is held.
struct RestResponse::Held {
  int rows = 0;
  std::vector<double> J, X;                          // [rows][nv]
  Eigen::CompleteOrthogonalDecomposition<Matrix> W;  // rows may depend on each other
};

RestResponse::RestResponse(Mechanics& mechanics, double shift)
    : mechanics_(mechanics), held_(std::make_unique<Held>()) {
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
  const SystemReport system = mechanics.factor({.mass = shift, .stiffness = 1, .geometric = false}, y, lambda);
  known_ = system.status == SystemStatus::ok && system.negative_pivots == 0;
  if (!known_) return;
  evaluate_rows(robot, layout, y, phi, gradients);
  mechanics.row_jacobians(layout, gradients, H, H_c);

  std::vector<double>&J = held_->J, &X = held_->X;
  for (int row = 0; row < rows; ++row) {
    const std::size_t k = extent(row), actuators = robot.actuators.size();
    const bool held =
        k < actuators ? robot.actuators[k].control == ActuatorControl::displacement
                      : !robot.constraints[k - actuators].one_sided && robot.constraints[k - actuators].compliance == 0;
    if (held) J.insert(J.end(), H.begin() + row * nv, H.begin() + (row + 1) * nv);
  }
  held_->rows = static_cast<int>(J.size()) / nv;
  if (held_->rows == 0) return;
  X = J;
  mechanics.solve_robot(0, X, held_->rows);
  const Eigen::Map<const Matrix> J_map(J.data(), held_->rows, nv), X_map(X.data(), held_->rows, nv);
  held_->W.compute(J_map * X_map.transpose());
}

RestResponse::~RestResponse() = default;

std::vector<double> RestResponse::compliance(const PointRows& rows) const {
  SUPPLE_EXPECT(known_);
  const int n = rows.rows(), held = held_->rows;
  std::vector<double> compliance(extent(n, n));
  mechanics_.row_compliance(0, rows, 0, compliance);
  if (held == 0) return compliance;
  std::vector<double> cross(extent(held, n));
  mechanics_.multiply_rows(rows, held_->X, held, cross);
  const Eigen::Map<const Matrix> Y(cross.data(), held, n);
  Eigen::Map<Matrix>(compliance.data(), n, n) -= Y.transpose() * held_->W.solve(Matrix(Y));
  return compliance;
}

std::vector<double> RestResponse::motions(const PointRows& rows, std::span<const double> forces, int count) const {
  SUPPLE_EXPECT(known_ && forces.size() == extent(count, rows.rows()));
  const int nv = mechanics_.coordinates().nv, held = held_->rows;
  std::vector<double> motions(extent(count, nv), 0.0);
  for (int k = 0; k < count; ++k)
    mechanics_.add_row_forces(rows, forces.subspan(extent(k, rows.rows()), extent(rows.rows())),
                              std::span(motions).subspan(extent(k, nv), extent(nv)));
  mechanics_.solve_robot(0, motions, count);
  if (held == 0 || count == 0) return motions;
  Eigen::Map<Matrix> S(motions.data(), count, nv);
  const Eigen::Map<const Matrix> J(held_->J.data(), held, nv), X(held_->X.data(), held, nv);
  S -= held_->W.solve(Matrix(J * S.transpose())).transpose() * X;
  return motions;
}

}  // namespace supple
