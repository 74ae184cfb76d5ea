#pragma once
// The scores of scores.hpp with the products that read all of G or Q^T G on a device (solvers/dense/batched.hpp). One
// number for each column comes to the host, which chooses.

#include <memory>
#include <span>
#include <vector>

#include "kernels/array/room.hpp"
#include "kernels/dense/rotate_rows.hpp"
#include "solvers/cubature/scores.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

/// G on a device: all of it where there is room, else in chunks of its columns, which are uploaded again for every
/// product.
class DeviceColumns {
 public:
  /// beside: what callers keep there [bytes]. Throws CapabilityError where the device does not exist or has no room for
  /// it and the smallest chunk.
  DeviceColumns(const DeviceRoom& room, const ColumnMatrix& G, std::size_t beside);
  bool whole() const { return width_ == G_.columns; }
  DenseContext& context() { return context_; }
  /// out [columns][count], each `columns` long, = scale G^T X for X [rows][count] column-major; all on the device.
  void multiply(double scale, const double* X, int count, double* out);
  /// One column there; valid until the next call.
  const double* column(int i);

 private:
  DenseContext context_;
  ColumnMatrix G_;
  int width_;
  Array<double> columns_, one_;
};

class DeviceGradientScore {
 public:
  static std::shared_ptr<DeviceColumns> columns(const DeviceRoom& room, const ColumnMatrix& G);
  DeviceGradientScore(std::shared_ptr<DeviceColumns> there, const ColumnMatrix& G, const double* y);
  void update(const PassiveSet& passive);
  void appended(const PassiveSet&) {}
  void removed(const Removal&) {}
  int best(const std::vector<char>& excluded) const { return best_gradient(mu_, threshold_, excluded); }

 private:
  std::shared_ptr<DeviceColumns> G_;
  Array<double> residual_, mu_there_;
  std::vector<double> mu_, threshold_;
};

class DeviceOrthogonalScore {
 public:
  static std::shared_ptr<DeviceColumns> columns(const DeviceRoom& room, const ColumnMatrix& G);
  DeviceOrthogonalScore(std::shared_ptr<DeviceColumns> there, const ColumnMatrix& G, const double* y);
  void rebuild(const PassiveSet& passive);
  void update(const PassiveSet& passive);
  void appended(const PassiveSet& passive);  // call before the set changes again
  void removed(const Removal& removal);
  int best(const std::vector<char>& excluded) const {
    return best_orthogonal(mu_, left_, squared_, threshold_, excluded);
  }

 private:
  double* row(int k) { return T_.data() + static_cast<std::size_t>(k) * static_cast<std::size_t>(columns_); }
  void reserve(int rows);
  void upload_coefficients(std::span<const double> values);
  // left += sign t_k^2
  void add_squares(int k, double sign);

  int rows_, columns_, size_ = 0;  // size_: rows of T
  std::shared_ptr<DeviceColumns> G_;
  DenseContext& context_;  // of *G_
  Array<double> T_, coefficients_, target_, mu_there_;
  Array<PlaneRotation> rotations_;
  std::vector<double> mu_, squared_, threshold_, left_, scratch_;
};

}  // namespace supple
