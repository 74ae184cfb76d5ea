#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "kernels/base/error.hpp"
#include "solvers/pod/pod.hpp"
#include "tests/solvers/random_matrix.hpp"
#include "tests/support/rank_threads.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;

// rows x count with the given singular values
Matrix with_spectrum(int rows, int count, const Eigen::VectorXd& values) {
  test::Random random(7);
  const int rank = static_cast<int>(values.size());
  return random.orthonormal(rows, rank) * values.asDiagonal() * random.orthonormal(count, rank).transpose();
}

Pod decompose(const Matrix& S, const PodSettings& settings) {
  return proper_orthogonal_decomposition(std::span(S.data(), S.size()), static_cast<int>(S.rows()),
                                         static_cast<int>(S.cols()), settings);
}

// Of the largest angle between the spaces of two orthonormal bases.
double sine(const Matrix& U, const Matrix& V) {
  return Eigen::JacobiSVD<Matrix>(U - V * (V.transpose() * U)).singularValues()(0);
}

// In blocks of at most `width` columns.
ColumnBlocks blocks_of(const Matrix& S, int width) {
  ColumnBlocks blocks{static_cast<int>(S.rows()), {}, {}};
  for (int first = 0; first < S.cols(); first += width)
    blocks.counts.push_back(std::min(width, static_cast<int>(S.cols()) - first));
  blocks.read = [&S, width, counts = blocks.counts](int k, std::vector<double>& storage) {
    const double* data = S.data() + static_cast<long>(k) * width * S.rows();
    storage.assign(data, data + counts[static_cast<std::size_t>(k)] * S.rows());
    return std::span<const double>(storage);
  };
  return blocks;
}

TEST(Pod, AgreesWithSvd) {
  Eigen::VectorXd values(41);
  for (int i = 0; i < 41; ++i) values[i] = 3 * std::pow(10, -0.15 * i);  // down to 1e-6
  const Matrix S = with_spectrum(700, 90, values);
  const Eigen::JacobiSVD<Matrix> svd(S, Eigen::ComputeThinU);
  const Pod pod = decompose(S, {.tolerance = 1e-8});
  ASSERT_GE(pod.modes, 41);
  for (int i = 0; i < 41; ++i) {
    // Both to a few roundings of the largest.
    EXPECT_NEAR(pod.singular_values[i], svd.singularValues()[i], 1e-14 * svd.singularValues()[0]) << i;
  }
  const Eigen::Map<const Matrix> basis(pod.basis.data(), 700, pod.modes);
  // Subspaces of the first p modes: rounding of the largest singular value against the gap behind the p-th.
  for (int p : {1, 5, 10, 20, 30, 40})
    EXPECT_LT(sine(svd.matrixU().leftCols(p), basis.leftCols(p)), 1e-14 * std::pow(10, 0.15 * p)) << p;
  EXPECT_LT(orthonormality_defect(pod.basis, 700, pod.modes), 1e-13);
}

TEST(Pod, TruncatesAsAsked) {
  Eigen::VectorXd values(30);
  for (int i = 0; i < 30; ++i) values[i] = std::pow(0.5, i);
  const Matrix S = with_spectrum(300, 40, values);
  const Pod root = decompose(S, {.tolerance = 1e-3, .truncation = PodTruncation::root});
  // sum_{i >= p} 4^-i / sum 4^-i = 4^-p <= 1e-6
  EXPECT_EQ(root.modes, 10);
  EXPECT_NEAR(root.truncation_error, std::pow(0.5, 10), 1e-9);
  EXPECT_EQ(decompose(S, {.tolerance = 1e-3, .truncation = PodTruncation::squared}).modes, 5);
  EXPECT_EQ(decompose(S, {.tolerance = 1e-3, .max_modes = 4}).modes, 4);
  const Eigen::Map<const Matrix> basis(root.basis.data(), 300, 10);
  EXPECT_NEAR((S - basis * (basis.transpose() * S)).norm() / S.norm(), root.truncation_error, 1e-8);
  const std::vector<double> errors = truncation_errors(root.singular_values, PodTruncation::root);
  EXPECT_EQ(errors.size(), 41u);
  EXPECT_DOUBLE_EQ(errors.front(), 1);
  EXPECT_DOUBLE_EQ(errors.back(), 0);
}

TEST(Pod, DropsWhatIsNotThere) {
  Matrix S = with_spectrum(200, 20, Eigen::VectorXd::LinSpaced(5, 5, 1));
  const Pod pod = decompose(S, {.tolerance = 0});
  EXPECT_EQ(pod.modes, 5);
  EXPECT_LT(orthonormality_defect(pod.basis, 200, 5), 1e-13);
  S.setZero();
  EXPECT_EQ(decompose(S, {}).modes, 0);
  // more snapshots than rows
  EXPECT_EQ(decompose(test::Random(1).matrix(10, 30), {.tolerance = 0}).modes, 10);
  S(3, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)decompose(S, {}), InputError);
}

TEST(Pod, SignRuleAndThreadCount) {
  const Matrix S = test::Random(3).matrix(5000, 70);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Pod one = decompose(S, {.tolerance = 0.3});
  omp_set_num_threads(3);
  const Pod three = decompose(S, {.tolerance = 0.3});
  omp_set_num_threads(threads);
  EXPECT_EQ(one.basis, three.basis);
  EXPECT_EQ(one.singular_values, three.singular_values);
  const Eigen::Map<const Matrix> basis(one.basis.data(), 5000, one.modes);
  for (int k = 0; k < one.modes; ++k) EXPECT_GT(basis.col(k).maxCoeff(), -basis.col(k).minCoeff());
  const Pod negated = decompose(-S, {.tolerance = 0.3});
  ASSERT_EQ(one.basis.size(), negated.basis.size());
  // Other roundings; singular values are 1e-3 of each other apart.
  for (std::size_t i = 0; i < one.basis.size(); ++i) EXPECT_NEAR(one.basis[i], negated.basis[i], 1e-11);
}

// About the spectrum of a soft robot's states: 1e-3 at the 30th mode, 1e-12 at the last.
Matrix states() {
  Eigen::VectorXd values(120);
  for (int i = 0; i < 120; ++i) values[i] = std::pow(10, -0.1 * i);
  return with_spectrum(900, 150, values);
}

void expect_same(const Pod& pod, const Pod& serial) {
  ASSERT_EQ(pod.modes, serial.modes);
  const Eigen::Map<const Matrix> U(pod.basis.data(), pod.rows, pod.modes), V(serial.basis.data(), pod.rows, pod.modes);
  EXPECT_LT(sine(U, V), 1e-10);
  for (int i = 0; i < pod.modes; ++i) EXPECT_NEAR(pod.singular_values[i] / serial.singular_values[i], 1, 1e-10) << i;
  EXPECT_LT(orthonormality_defect(pod.basis, pod.rows, pod.modes), 1e-13);
}

TEST(Pod, OfBlocksIsThatOfTheWholeMatrix) {
  const Matrix S = states();
  for (const PodTruncation truncation : {PodTruncation::root, PodTruncation::squared}) {
    const PodSettings settings{.tolerance = 1.5e-3, .truncation = truncation};  // between two modes
    const Pod whole = decompose(S, settings), parts = proper_orthogonal_decomposition(blocks_of(S, 11), settings);
    expect_same(parts, whole);
    // What cannot matter is left out: the memory does not grow with the number of blocks.
    EXPECT_LT(parts.singular_values.size(), truncation == PodTruncation::root ? 110U : 90U);
  }
}

TEST(Pod, RanksGiveTheSameModes) {
  const Matrix S = states();
  const PodSettings settings{.tolerance = 1.5e-4};
  const Pod serial = decompose(S, settings);
  EXPECT_GT(serial.modes, 35);
  for (const int size : {2, 3, 5, 40}) {  // the last more than there are blocks
    std::vector<Pod> pods(static_cast<std::size_t>(size));
    test::RankThreads::run(size, [&](const Ranks& ranks) {
      pods[static_cast<std::size_t>(ranks.rank)] = proper_orthogonal_decomposition(blocks_of(S, 5), settings, ranks);
    });
    expect_same(pods[0], serial);
    for (const Pod& pod : pods) {
      EXPECT_EQ(pod.basis, pods[0].basis);
      EXPECT_EQ(pod.singular_values, pods[0].singular_values);
      EXPECT_EQ(pod.modes, pods[0].modes);
    }
  }
}

TEST(Pod, WhereOneRankFailsAllStop) {
  Matrix S = states();
  S(7, 140) = std::numeric_limits<double>::infinity();  // of the last rank
  int own = 0, others = 0;
  std::mutex mutex;
  test::RankThreads::run(3, [&](const Ranks& ranks) {
    try {
      (void)proper_orthogonal_decomposition(blocks_of(S, 10), {}, ranks);
    } catch (const InputError&) {
      const std::lock_guard lock(mutex);
      own += ranks.rank == 2;
    } catch (const RankFailed&) {
      const std::lock_guard lock(mutex);
      ++others;
    }
  });
  EXPECT_EQ(own, 1);
  EXPECT_EQ(others, 2);
}

}  // namespace
}  // namespace supple
