#include "engine/reduction/basis/contact_modes.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mechanics/reduced/reduced_mechanics.hpp"
#include "engine/reduction/basis/metric.hpp"
#include "engine/reduction/basis/project.hpp"
#include "engine/reduction/basis/rest_response.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/reduction/snapshots/pushes.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double touching_share = 1e-4;    // of the size of the body
constexpr double least_compliance = 1e-9;  // of a mode, of the largest: below is rounding

double size_of(const Mesh& mesh) {
  Vec3d lower = mesh.nodes.front(), upper = lower;
  for (const Vec3d& x : mesh.nodes)
    for (int k = 0; k < 3; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
  return norm(upper - lower);
}

// C <- W^1/2 C W^1/2 by blocks; roots [points].
void weigh(const std::vector<Eigen::Matrix3d>& roots, Eigen::Map<Matrix> C) {
  for (std::size_t p = 0; p < roots.size(); ++p) {
    const auto block = static_cast<Eigen::Index>(3 * p);
    C.middleRows(block, 3) = roots[p] * C.middleRows(block, 3).eval();
  }
  for (std::size_t p = 0; p < roots.size(); ++p) {
    const auto block = static_cast<Eigen::Index>(3 * p);
    C.middleCols(block, 3) = C.middleCols(block, 3).eval() * roots[p];
  }
}

}  // namespace

Mat3d touch_weight(const Vec3d& normal, double squared_friction) {
  const Mat3d across = outer(normal, normal);
  return across + squared_friction * (Mat3d::identity() - across);
}

double touching_distance(const FullModel& model, double distance) {
  return distance + touching_share * size_of(model.mesh);
}

PointWeights point_weights(const FullModel& model, const Robot& robot, const std::string& folder,
                           const SnapshotSet& set) {
  PointWeights weights;
  weights.point.resize(extent(robot.collision_points));
  std::iota(weights.point.begin(), weights.point.end(), robot.first_collision_point);
  weights.weight.assign(extent(robot.collision_points), Mat3d{});
  FullMechanics mechanics(model);
  const int nv = model.coordinates.nv;
  const double near = touching_distance(model, robot.contact_distance);
  std::vector<double> y(extent(robot.outputs()));
  std::vector<char> touched(extent(robot.collision_points), 0);
  const auto add = [&](int p, const Mat3d& weight) {
    touched[extent(p)] = 1;
    weights.weight[extent(p)] = weights.weight[extent(p)] + (1.0 / set.count) * weight;
  };
  for (const Sample& sample : set.commands)
    if (const Push push = push_of(robot, sample); norm(push.force) > 0)
      add(push.point - robot.first_collision_point, Mat3d::identity());
  constexpr int states_at_once = 64;
  for (int first = 0; first < set.count && !robot.obstacles.empty(); first += states_at_once) {
    const int count = std::min(states_at_once, set.count - first);
    const std::vector<double> q = read_displacements(folder, set, nv, first, count);
    for (int s = 0; s < count; ++s) {
      mechanics.evaluate_outputs(std::span(q).subspan(extent(s, nv), extent(nv)),
                                 control_of(robot, set.commands[extent(first + s)]).motions, y);
      for (int p = 0; p < robot.collision_points; ++p) {
        const double* x = y.data() + 3 * (robot.first_collision_point + p);
        for (const PlacedObstacle& obstacle : robot.obstacles) {
          const Proximity found = obstacle.obstacle.at(obstacle.pose, {{x[0], x[1], x[2]}}, near);
          if (found.feature == Feature::none || found.gap > near) continue;
          add(p, touch_weight(found.normal, obstacle.friction * obstacle.friction));
        }
      }
    }
  }
  weights.touching = static_cast<int>(std::count(touched.begin(), touched.end(), 1));
  if (weights.touching == 0)
    throw RunError("contact_modes: none of the training states touches an obstacle or is pushed",
                   "more states, wider ranges of the actuators, or without contact_modes");
  return weights;
}

ContactModes join_contact_modes(const FullModel& model, std::vector<double> basis, int modes,
                                const PointWeights& weights, int count, double share) {
  const int nv = model.coordinates.nv;
  const Robot& robot = model.robot;
  SUPPLE_EXPECT(basis.size() == extent(nv, modes));
  PointRows rows;
  std::vector<Eigen::Matrix3d> roots;
  for (std::size_t p = 0; p < weights.weight.size(); ++p) {
    const Eigen::Map<const Eigen::Matrix3d> W(weights.weight[p].m);
    if (W.isZero(0)) continue;
    rows.point.push_back(weights.point[p]);
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(W);  // of rank one without friction
    const Eigen::Vector3d root = eigen.eigenvalues().cwiseMax(0).cwiseSqrt();
    roots.push_back(eigen.eigenvectors() * root.asDiagonal() * eigen.eigenvectors().transpose());
  }
  rows.frame.assign(rows.point.size(), Mat3d::identity());
  if (rows.points() > most_contact_points)
    throw InputError(fmt::format("contact_modes: {} collision points touch something ({} are the most)", rows.points(),
                                 most_contact_points),
                     "[contact] spacing, or a region");
  FullMechanics mechanics(model);
  const ReducedModel all = project(model, basis, modes, all_elements(model));
  const double shift = robot.floating ? lowest_frequency_squared(all) : 0;
  const RestResponse body(mechanics, shift);
  ReducedMechanics reduced(all);
  const RestResponse own(reduced, shift);
  if (!body.known() || !own.known())
    throw InputError(
        "contact_modes: what a force does to the body at rest is not determined (it is unstable, or a part of it is "
        "not connected)",
        "without contact_modes: more states and modes_tolerance");

  const int n = rows.rows();
  std::vector<double> full = body.compliance(rows), lacking = own.compliance(rows);
  Eigen::Map<Matrix> C(full.data(), n, n), D(lacking.data(), n, n);
  D = C - D;
  weigh(roots, C);
  weigh(roots, D);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen{Eigen::MatrixXd(D)};
  const Eigen::VectorXd e = eigen.eigenvalues().reverse();
  ContactModes result;
  result.lacked = result.lacks = D.trace() / C.trace();
  while (result.count < std::min(count, n) && result.lacks > share &&
         e(result.count) > least_compliance * C.trace() / n) {
    ++result.count;
    result.lacks = std::max(0.0, D.trace() - e.head(result.count).sum()) / C.trace();
  }

  Eigen::MatrixXd forces = eigen.eigenvectors().rightCols(result.count).rowwise().reverse();  // by columns
  for (std::size_t p = 0; p < roots.size(); ++p) {
    const auto block = static_cast<Eigen::Index>(3 * p);
    forces.middleRows(block, 3) = roots[p] * forces.middleRows(block, 3).eval();
  }
  std::vector<double> motions = body.motions(rows, std::span(forces.data(), extent(n, result.count)), result.count);
  Eigen::Map<Eigen::MatrixXd> Z(motions.data(), nv, result.count);
  for (int pass = 0; pass < 2; ++pass) {
    remove_modes(basis, nv, motions);
    for (Eigen::Index k = 0; k < Z.cols(); ++k) Z.col(k).normalize();
  }
  result.basis = join_modes(basis, motions, nv);
  return result;
}

}  // namespace supple
