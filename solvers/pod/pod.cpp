#include "solvers/pod/pod.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "solvers/pod/device_tall.hpp"

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

// Upper triangular (or trapezoidal) R of S = Q R. Panels of fixed height, so that the bits do not depend on threads.
Matrix triangle(const Matrix& S) {
  const int columns = static_cast<int>(S.cols()), rows = static_cast<int>(S.rows()),
            height = std::max(4 * columns, 1024), panels = std::max(1, rows / height);
  std::vector<Matrix> R(static_cast<std::size_t>(panels));
#pragma omp parallel for schedule(dynamic)
  for (int p = 0; p < panels; ++p) {
    const int first = p * height, size = p + 1 == panels ? rows - first : height;
    const Eigen::HouseholderQR<Matrix> qr(S.middleRows(first, size));
    R[static_cast<std::size_t>(p)] =
        qr.matrixQR().topRows(std::min(size, columns)).template triangularView<Eigen::Upper>();
  }
  if (panels == 1) return R.front();
  int total = 0;
  for (const Matrix& part : R) total += static_cast<int>(part.rows());
  Matrix stacked(total, columns);
  total = 0;
  for (const Matrix& part : R) {
    stacked.middleRows(total, part.rows()) = part;
    total += static_cast<int>(part.rows());
  }
  return triangle(stacked);
}

// Work on all rows of a matrix: here, or on a device.
class Tall {
 public:
  explicit Tall(const std::optional<DeviceRoom>& room) {
    if (room) device_.emplace(*room);
  }
  Matrix triangle_of(const Matrix& S) { return device_ ? device_->triangle(S) : triangle(S); }
  Matrix product(const Matrix& S, const Matrix& V) {
    if (device_) return device_->multiply(S, V);
    Matrix P = Matrix::Zero(S.rows(), V.cols());
    add_product(ConstMap(S.data(), S.rows(), S.cols()), V, P);
    return P;
  }
  void orthonormalise(Matrix& S) {
    if (device_) {
      device_->orthonormalise(S);
      return;
    }
    const Eigen::HouseholderQR<Matrix> qr(S);
    S = qr.householderQ() * Matrix::Identity(S.rows(), S.cols());
  }

 private:
  std::optional<DeviceTall> device_;
};

// What columns leave behind: U diag(s), and all s.
struct Part {
  Matrix columns;
  Eigen::VectorXd singular_values;
};

constexpr double left_out = 1e-6, rounding = 1e-15;

Part part_of(const Matrix& S, const PodSettings& settings, bool all, Tall& tall) {
  if (!S.allFinite())
    throw InputError("the snapshots have no decomposition (an entry is not a finite number)",
                     "check the training data");
  const Eigen::BDCSVD<Matrix> svd(tall.triangle_of(S), Eigen::ComputeThinV);
  if (svd.info() != Eigen::Success || !svd.singularValues().allFinite())
    throw RunError("the singular values of the snapshots were not found", "fewer states");
  Part part{{}, svd.singularValues()};
  const Eigen::VectorXd& s = part.singular_values;
  const double tolerance =
      settings.truncation == PodTruncation::root ? settings.tolerance : std::sqrt(settings.tolerance);
  const double most = all ? 0 : left_out * left_out * tolerance * tolerance * s.squaredNorm();
  Eigen::Index kept = s.size();
  for (double tail = 0; kept > 0; --kept) {
    tail += s(kept - 1) * s(kept - 1);
    if (tail > most && s(kept - 1) > rounding * s(0)) break;
  }
  part.columns = tall.product(S, svd.matrixV().leftCols(kept));
  return part;
}

// A and B side by side. Without a part, B alone.
Matrix beside(const Matrix& A, const ConstMap& B) {
  Matrix both(B.rows(), A.cols() + B.cols());
  if (A.cols() > 0) both.leftCols(A.cols()) = A;
  both.rightCols(B.cols()) = B;
  return both;
}

// Of this rank's blocks.
Part own_part(const ColumnBlocks& snapshots, const PodSettings& settings, const Ranks& ranks, Tall& tall) {
  const auto blocks = static_cast<long>(snapshots.counts.size());
  const int first = static_cast<int>(blocks * ranks.rank / ranks.size),
            last = static_cast<int>(blocks * (ranks.rank + 1) / ranks.size);
  Part part{Matrix(snapshots.rows, 0), {}};
  std::vector<double> storage;
  for (int k = first; k < last; ++k) {
    const int columns = snapshots.counts[static_cast<std::size_t>(k)];
    const std::span<const double> block = snapshots.read(k, storage);
    SUPPLE_EXPECT(block.size() == static_cast<std::size_t>(snapshots.rows) * static_cast<std::size_t>(columns));
    if (block.empty()) continue;
    part = part_of(beside(part.columns, ConstMap(block.data(), snapshots.rows, columns)), settings, blocks == 1, tall);
  }
  return part;
}

// Of all ranks, on the first: along a binomial tree.
Part joined(Part part, const PodSettings& settings, const Ranks& ranks, Tall& tall) {
  const Eigen::Index rows = part.columns.rows();
  for (int step = 1; step < ranks.size; step *= 2) {
    if (ranks.rank % (2 * step) == step) {
      ranks.send(ranks.rank - step, std::span(part.columns.data(), static_cast<std::size_t>(part.columns.size())));
      return {};
    }
    if (ranks.rank % (2 * step) != 0 || ranks.rank + step >= ranks.size) continue;
    const std::vector<double> other = ranks.receive(ranks.rank + step);
    if (other.empty()) continue;
    part = part_of(beside(part.columns, ConstMap(other.data(), rows, static_cast<Eigen::Index>(other.size()) / rows)),
                   settings, false, tall);
  }
  return part;
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

Pod modes_of(const Part& part, const PodSettings& settings, Tall& tall) {
  const Eigen::VectorXd& s = part.singular_values;
  Pod pod;
  pod.rows = static_cast<int>(part.columns.rows());
  pod.singular_values.assign(s.data(), s.data() + s.size());
  pod.modes = std::min(modes_needed(pod.singular_values, settings), static_cast<int>(part.columns.cols()));
  while (pod.modes > 0 && !(s(pod.modes - 1) > smallest_kept * s(0))) --pod.modes;
  pod.truncation_error =
      truncation_errors(pod.singular_values, settings.truncation)[static_cast<std::size_t>(pod.modes)];
  if (pod.modes == 0) return pod;
  Matrix basis = part.columns.leftCols(pod.modes) * s.head(pod.modes).cwiseInverse().asDiagonal();
  tall.orthonormalise(basis);
  fix_signs(basis);
  pod.basis.assign(basis.data(), basis.data() + basis.size());
  return pod;
}

std::vector<double> packed(const Pod& pod) {
  std::vector<double> values{static_cast<double>(pod.modes), pod.truncation_error,
                             static_cast<double>(pod.singular_values.size())};
  values.insert(values.end(), pod.singular_values.begin(), pod.singular_values.end());
  values.insert(values.end(), pod.basis.begin(), pod.basis.end());
  return values;
}

Pod unpacked(const std::vector<double>& values, int rows) {
  SUPPLE_EXPECT(values.size() >= 3);
  const auto singular = values.begin() + 3, basis = singular + static_cast<long>(values[2]);
  Pod pod;
  pod.rows = rows;
  pod.modes = static_cast<int>(values[0]);
  pod.truncation_error = values[1];
  pod.singular_values.assign(singular, basis);
  pod.basis.assign(basis, values.end());
  return pod;
}

}  // namespace

Pod proper_orthogonal_decomposition(std::span<const double> snapshots, int rows, int count,
                                    const PodSettings& settings) {
  SUPPLE_EXPECT(static_cast<std::size_t>(rows) * count == snapshots.size());
  return proper_orthogonal_decomposition({rows, {count}, [&](int, std::vector<double>&) { return snapshots; }},
                                         settings);
}

Pod proper_orthogonal_decomposition(const ColumnBlocks& snapshots, const PodSettings& settings, const Ranks& ranks) {
  Pod pod;
  std::vector<double> message;
  Part part;
  std::optional<Tall> tall;
  together(ranks, [&] {
    tall.emplace(settings.device);
    part = own_part(snapshots, settings, ranks, *tall);
  });
  const Part whole = joined(std::move(part), settings, ranks, *tall);
  if (ranks.rank == 0) {
    pod = modes_of(whole, settings, *tall);
    if (ranks.size > 1) message = packed(pod);
  }
  if (ranks.size == 1) return pod;
  broadcast(ranks, message);
  return unpacked(message, snapshots.rows);
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
