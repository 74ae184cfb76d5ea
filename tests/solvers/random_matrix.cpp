#include "tests/solvers/random_matrix.hpp"

namespace supple::test {

Eigen::MatrixXd Random::matrix(int rows, int columns) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [this] { return uniform(); });
}

Eigen::VectorXd Random::vector(int n) {
  return matrix(n, 1);
}

Eigen::MatrixXd Random::positive(int n) {
  const Eigen::MatrixXd A = matrix(n, n);
  return A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
}

Eigen::MatrixXd Random::orthonormal(int rows, int columns) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(matrix(rows, columns)).householderQ() *
         Eigen::MatrixXd::Identity(rows, columns);
}

}  // namespace supple::test
