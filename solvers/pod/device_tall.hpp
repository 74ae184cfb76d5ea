#pragma once
// What POD needs of matrices with many rows (pod.hpp), on a device. Panels of rows go there one after the other where
// there is no room for all: R by TSQR along a chain, each panel factored together with the R of those before. Small
// factors and the matrices themselves are the host's.

#include <Eigen/Dense>

#include "kernels/array/room.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

class DeviceTall {
 public:
  /// Throws CapabilityError where the device does not exist; the others where a panel has no room.
  explicit DeviceTall(const DeviceRoom& room) : room_(room), context_(room.device) {}
  /// Upper triangular (or trapezoidal) R of S = Q R.
  Eigen::MatrixXd triangle(const Eigen::MatrixXd& S);
  Eigen::MatrixXd multiply(const Eigen::MatrixXd& S, const Eigen::MatrixXd& V);
  /// Nearly orthonormal columns made orthonormal to rounding: S R^-1. (The error is that of R, times the condition of
  /// R, which is nearly 1.)
  void orthonormalise(Eigen::MatrixXd& S);

 private:
  // The tallest panel of which bytes(height) have room.
  template <class Bytes>
  int panel_height(Eigen::Index rows, Eigen::Index least, const Bytes& bytes) const;

  DeviceRoom room_;
  DenseContext context_;
};

}  // namespace supple
