#include "engine/reduction/basis/rigid_motion.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/math/polar.hpp"

namespace supple {

namespace {

Vec3d node(std::span<const double> q, std::size_t i) {
  return {{q[3 * i], q[3 * i + 1], q[3 * i + 2]}};
}

}  // namespace

double RigidMotion::angle() const {
  const Mat3d& R = rotation;
  const Vec3d twice_sine{{R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)}};
  return std::atan2(norm(twice_sine), trace(R) - 1);
}

void RigidMotion::apply(std::span<double> points) const {
  for (std::size_t i = 0; i + 2 < points.size(); i += 3) {
    const Vec3d moved = (*this)({{points[i], points[i + 1], points[i + 2]}});
    std::copy_n(moved.v, 3, points.data() + i);
  }
}

RigidFit::RigidFit(const FullModel& model) : rest_(model.mesh.nodes), mass_(rest_.size(), 0.0) {
  SUPPLE_EXPECT(model.robot.floating);  // every node is an unknown
  const NodeMatrix& M = model.mass;
  for (std::size_t column = 0; column < mass_.size(); ++column)
    for (int k = M.column_start[column]; k < M.column_start[column + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k), row = static_cast<std::size_t>(M.row[entry]);
      mass_[column] += M.value[entry];
      if (row != column) mass_[row] += M.value[entry];
    }
}

RigidMotion RigidFit::between(std::span<const double> from, std::span<const double> onto) const {
  SUPPLE_EXPECT(from.size() == 3 * rest_.size() && onto.size() == from.size());
  double mass = 0;
  Vec3d x_mean{{0, 0, 0}}, y_mean{{0, 0, 0}};
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    mass += mass_[i];
    x_mean = x_mean + mass_[i] * (rest_[i] + node(from, i));
    y_mean = y_mean + mass_[i] * (rest_[i] + node(onto, i));
  }
  x_mean = (1 / mass) * x_mean;
  y_mean = (1 / mass) * y_mean;
  // tr(R^T C), C = sum m (y - y_mean) (x - x_mean)^T, is largest for the rotation of C.
  Mat3d C{};
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    const Vec3d x = rest_[i] + node(from, i) - x_mean, y = rest_[i] + node(onto, i) - y_mean;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) C(a, b) += mass_[i] * y[a] * x[b];
  }
  const Mat3d R = polar_rotation(C);
  return {R, y_mean - R * x_mean};
}

Vec3d RigidFit::centre(std::span<const double> q) const {
  double mass = 0;
  Vec3d sum{{0, 0, 0}};
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    mass += mass_[i];
    sum = sum + mass_[i] * (rest_[i] + node(q, i));
  }
  return (1 / mass) * sum;
}

void RigidFit::move(const RigidMotion& motion, std::span<double> q) const {
  SUPPLE_EXPECT(q.size() == 3 * rest_.size());
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    const Vec3d moved = motion(rest_[i] + node(q, i)) - rest_[i];
    for (int k = 0; k < 3; ++k) q[3 * i + static_cast<std::size_t>(k)] = moved[k];
  }
}

RigidMotion RigidFit::remove(std::span<double> q) const {
  const RigidMotion motion = between(q, std::vector<double>(q.size(), 0.0));
  move(motion, q);
  return motion;
}

void Whereabouts::include(const Whereabouts& other) {
  turned = std::max(turned, other.turned);
  travelled = std::max(travelled, other.travelled);
  strayed = std::max(strayed, other.strayed);
}

Whereabouts bring_to_rest(const RigidFit& fit, std::span<double> u_full, std::span<double> y_full,
                          std::span<double> u_reduced, std::span<double> y_reduced) {
  const RigidMotion onto_full = fit.between(u_reduced, u_full),
                    to_rest = fit.between(u_full, std::vector<double>(u_full.size(), 0.0));
  Vec3d travelled{{0, 0, 0}}, strayed{{0, 0, 0}};
  const auto nodes = static_cast<double>(u_full.size() / 3);
  for (std::size_t i = 0; i < u_full.size() / 3; ++i) {
    travelled = travelled + (1 / nodes) * node(u_full, i);
    strayed = strayed + (1 / nodes) * (node(u_reduced, i) - node(u_full, i));
  }
  fit.move(onto_full, u_reduced);
  onto_full.apply(y_reduced);
  for (const std::span<double> u : {u_full, u_reduced}) fit.move(to_rest, u);
  for (const std::span<double> y : {y_full, y_reduced}) to_rest.apply(y);
  return {onto_full.angle(), norm(travelled), norm(strayed)};
}

std::vector<double> rigid_modes(const FullModel& model) {
  SUPPLE_EXPECT(model.robot.floating);
  const std::vector<Vec3d>& rest = model.mesh.nodes;
  const int nv = model.coordinates.nv;
  const auto nodes = static_cast<double>(rest.size());
  Vec3d mean{{0, 0, 0}};
  for (const Vec3d& x : rest) mean = mean + (1 / nodes) * x;
  Eigen::MatrixXd R = Eigen::MatrixXd::Zero(nv, rigid_mode_count);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Vec3d arm = rest[i] - mean;
    for (int k = 0; k < 3; ++k) {
      Vec3d axis{{0, 0, 0}};
      axis[k] = 1;
      const Vec3d turned = cross(axis, arm);
      R(static_cast<Eigen::Index>(3 * i) + k, k) = 1 / std::sqrt(nodes);
      for (int l = 0; l < 3; ++l) R(static_cast<Eigen::Index>(3 * i) + l, 3 + k) = turned[l];
    }
  }
  // Gram-Schmidt, twice, of the rotations; they stand on the translations up to rounding.
  for (int k = 3; k < rigid_mode_count; ++k) {
    R.col(k).normalize();
    for (int pass = 0; pass < 2; ++pass) {
      R.col(k) -= R.leftCols(k) * (R.leftCols(k).transpose() * R.col(k));
      R.col(k).normalize();
    }
  }
  return {R.data(), R.data() + R.size()};
}

void remove_modes(std::span<const double> modes, int nv, std::span<double> q) {
  const Eigen::Map<const Eigen::MatrixXd> R(modes.data(), nv, static_cast<Eigen::Index>(modes.size() / extent(nv)));
  Eigen::Map<Eigen::MatrixXd> Q(q.data(), nv, static_cast<Eigen::Index>(q.size() / extent(nv)));
  const Eigen::MatrixXd along = R.transpose() * Q;
  Q.noalias() -= R * along;
}

std::vector<double> join_modes(std::span<const double> first, std::span<const double> more, int nv) {
  std::vector<double> joined(first.begin(), first.end());
  joined.insert(joined.end(), more.begin(), more.end());
  const auto known = static_cast<Eigen::Index>(first.size() / extent(nv));
  Eigen::Map<Eigen::MatrixXd> Phi(joined.data(), nv, static_cast<Eigen::Index>(joined.size() / extent(nv)));
  for (Eigen::Index k = known; k < Phi.cols(); ++k)
    for (int pass = 0; pass < 2; ++pass) {
      const auto before = Phi.leftCols(k);
      Phi.col(k) -= before * (before.transpose() * Phi.col(k));
      const double length = Phi.col(k).norm();
      SUPPLE_EXPECT(length > 1e-8);
      Phi.col(k) /= length;
    }
  return joined;
}

}  // namespace supple
