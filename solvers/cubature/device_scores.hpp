#pragma once
// The scores of scores.hpp with G, and Q^T G, in the memory of a device, which takes the products that read all of them
// (solvers/dense/batched.hpp). One number for each column comes to the host, which chooses.

#include <span>
#include <vector>

#include "kernels/array/array.hpp"
#include "kernels/dense/rotate_rows.hpp"
#include "solvers/cubature/scores.hpp"
#include "solvers/dense/batched.hpp"

namespace supple {

// Throw CapabilityError where the device does not exist or has no room for G.
class DeviceGradientScore {
 public:
  DeviceGradientScore(const Device& device, const ColumnMatrix& G, const double* y);
  void update(const PassiveSet& passive);
  void appended(const PassiveSet&) {}
  void removed(const Removal&) {}
  int best(const std::vector<char>& excluded) const { return best_gradient(mu_, threshold_, excluded); }

 private:
  int rows_, columns_;
  DenseContext context_;
  Array<double> G_, residual_, mu_there_;
  std::vector<double> mu_, threshold_;
};

class DeviceOrthogonalScore {
 public:
  DeviceOrthogonalScore(const Device& device, const ColumnMatrix& G, const double* y);
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
  DenseContext context_;
  Array<double> G_, T_, coefficients_, target_, mu_there_;
  Array<PlaneRotation> rotations_;
  std::vector<double> mu_, squared_, threshold_, left_, scratch_;
};

}  // namespace supple
