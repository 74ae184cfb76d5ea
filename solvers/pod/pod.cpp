#include "solvers/pod/pod.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
using ConstMap = Eigen::Map<const Matrix>;
constexpr int tile = 64;  // columns; fixed, so that the bits do not depend on the number of threads
constexpr double smallest_kept = 1e-12;

// A^T B, tile by tile; of a square one (A = B) the lower triangle.
Matrix gram_block(const ConstMap& A, const ConstMap& B, bool lower) {
  const int rows = static_cast<int>(A.cols()), columns = static_cast<int>(B.cols());
  const int down = (rows + tile - 1) / tile, across = (columns + tile - 1) / tile;
  Matrix gram = Matrix::Zero(rows, columns);
#pragma omp parallel for schedule(dynamic)
  for (int t = 0; t < down * across; ++t) {
    const int i = t / across * tile, j = t % across * tile;
    if (lower && j > i) continue;
    const int height = std::min(tile, rows - i), width = std::min(tile, columns - j);
    gram.block(i, j, height, width).noalias() = A.middleCols(i, height).transpose() * B.middleCols(j, width);
  }
  return gram;
}

// P += S V, in blocks of rows.
void add_product(const ConstMap& S, const Matrix& V, Matrix& P) {
  constexpr int height = 1024;
  const int rows = static_cast<int>(S.rows()), blocks = (rows + height - 1) / height;
#pragma omp parallel for schedule(dynamic)
  for (int b = 0; b < blocks; ++b) {
    const int first = b * height, size = std::min(height, rows - first);
    P.middleRows(first, size).noalias() += S.middleRows(first, size) * V;
  }
}

int modes_needed(std::span<const double> singular_values, const PodSettings& settings) {
  const std::vector<double> errors = truncation_errors(singular_values, settings.truncation);
  int modes = 0;
  while (modes < static_cast<int>(singular_values.size()) && errors[modes] > settings.tolerance) ++modes;
  return settings.max_modes > 0 ? std::min(modes, settings.max_modes) : modes;
}

void fix_signs(Matrix& basis) {
  for (int k = 0; k < basis.cols(); ++k) {
    Eigen::Index largest = 0;
    basis.col(k).cwiseAbs().maxCoeff(&largest);
    if (basis(largest, k) < 0) basis.col(k) *= -1;
  }
}

}  // namespace

Pod proper_orthogonal_decomposition(std::span<const double> snapshots, int rows, int count,
                                    const PodSettings& settings) {
  SUPPLE_EXPECT(static_cast<std::size_t>(rows) * count == snapshots.size());
  return proper_orthogonal_decomposition({rows, {count}, [&](int, std::vector<double>&) { return snapshots; }},
                                         settings);
}

Pod proper_orthogonal_decomposition(const ColumnBlocks& snapshots, const PodSettings& settings) {
  const int rows = snapshots.rows, blocks = static_cast<int>(snapshots.counts.size());
  std::vector<int> start{0};
  for (const int n : snapshots.counts) start.push_back(start.back() + n);
  const int count = start.back();
  Pod pod;
  pod.rows = rows;
  if (rows == 0 || count == 0) return pod;
  std::vector<double> storage[2];
  const auto read = [&](int k, std::vector<double>& place) {
    const std::span<const double> block = snapshots.read(k, place);
    SUPPLE_EXPECT(block.size() == static_cast<std::size_t>(rows) * snapshots.counts[k]);
    return ConstMap(block.data(), rows, snapshots.counts[k]);
  };
  // S^T S = V diag(s^2) V^T, ascending.
  Matrix gram = Matrix::Zero(count, count);
  for (int a = 0; a < blocks; ++a) {
    const ConstMap A = read(a, storage[0]);
    for (int b = 0; b <= a; ++b) {
      const ConstMap B = b == a ? A : read(b, storage[1]);
      gram.block(start[a], start[b], A.cols(), B.cols()) = gram_block(A, B, a == b);
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(gram);
  if (eigen.info() != Eigen::Success || !eigen.eigenvalues().allFinite())
    throw InputError("the snapshots have no decomposition (an entry is not a finite number)",
                     "check the training data");
  pod.singular_values.resize(count);
  for (int i = 0; i < count; ++i) pod.singular_values[i] = std::sqrt(std::max(0.0, eigen.eigenvalues()(count - 1 - i)));

  // Modes U = S V / s. ||S v|| is a better singular value than the root of the eigenvalue where s is small.
  const int wanted = std::min(modes_needed(pod.singular_values, settings), std::min(rows, count));
  const Matrix V = eigen.eigenvectors().rightCols(wanted).rowwise().reverse();
  Matrix unscaled = Matrix::Zero(rows, wanted);
  for (int k = 0; k < blocks; ++k)
    add_product(read(k, storage[0]), V.middleRows(start[k], snapshots.counts[k]), unscaled);
  const Eigen::VectorXd norms = unscaled.colwise().norm();
  std::vector<int> order(wanted);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return norms(a) > norms(b); });
  while (!order.empty() && !(norms(order.back()) > smallest_kept * norms(order.front()))) order.pop_back();
  pod.modes = static_cast<int>(order.size());
  for (int i = 0; i < wanted; ++i) pod.singular_values[i] = i < pod.modes ? norms(order[i]) : 0;
  for (int i = 1; i < count; ++i) pod.singular_values[i] = std::min(pod.singular_values[i], pod.singular_values[i - 1]);
  pod.truncation_error = truncation_errors(pod.singular_values, settings.truncation)[pod.modes];
  if (pod.modes == 0) return pod;

  Matrix basis(rows, pod.modes);
  for (int k = 0; k < pod.modes; ++k) basis.col(k) = unscaled.col(order[k]) / norms(order[k]);
  const Eigen::HouseholderQR<Matrix> qr(basis);
  basis = qr.householderQ() * Matrix::Identity(rows, pod.modes);
  fix_signs(basis);
  pod.basis.assign(basis.data(), basis.data() + basis.size());
  return pod;
}

std::vector<double> truncation_errors(std::span<const double> singular_values, PodTruncation truncation) {
  const int count = static_cast<int>(singular_values.size());
  std::vector<double> errors(count + 1, 0.0);
  // Smallest first: the tail sums are then exact to rounding.
  for (int i = count - 1; i >= 0; --i) errors[i] = errors[i + 1] + singular_values[i] * singular_values[i];
  const double total = errors[0];
  for (double& error : errors) {
    error = total > 0 ? error / total : 0;
    if (truncation == PodTruncation::root) error = std::sqrt(error);
  }
  return errors;
}

double orthonormality_defect(std::span<const double> basis, int rows, int modes) {
  const ConstMap U(basis.data(), rows, modes);
  if (modes == 0) return 0;
  Matrix gram = gram_block(U, U, true).triangularView<Eigen::Lower>();
  gram.diagonal().array() -= 1;
  return gram.cwiseAbs().maxCoeff();
}

}  // namespace supple
