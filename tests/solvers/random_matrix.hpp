#pragma once
// Seeded random numbers and matrices for the solver tests: the same on every machine.

#include <Eigen/Dense>
#include <cstdint>

namespace supple::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  double uniform(double low = -1, double high = 1) {  // xorshift64*
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return low + (high - low) * static_cast<double>((state_ * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
  }
  int below(int n) { return static_cast<int>(uniform(0, n)); }
  Eigen::MatrixXd matrix(int rows, int columns) {
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [this] { return uniform(); });
  }
  Eigen::VectorXd vector(int n) { return matrix(n, 1); }
  Eigen::MatrixXd positive(int n) {
    const Eigen::MatrixXd A = matrix(n, n);
    return A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
  }
  Eigen::MatrixXd orthonormal(int rows, int columns) {
    return Eigen::HouseholderQR<Eigen::MatrixXd>(matrix(rows, columns)).householderQ() *
           Eigen::MatrixXd::Identity(rows, columns);
  }

 private:
  std::uint64_t state_;
};

}  // namespace supple::test
