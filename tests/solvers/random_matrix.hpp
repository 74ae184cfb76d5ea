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
  Eigen::MatrixXd matrix(int rows, int columns);
  Eigen::VectorXd vector(int n);
  Eigen::MatrixXd positive(int n);
  Eigen::MatrixXd orthonormal(int rows, int columns);

 private:
  std::uint64_t state_;
};

}  // namespace supple::test
