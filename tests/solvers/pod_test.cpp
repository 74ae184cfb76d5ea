#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/base/error.hpp"
#include "random_matrix.hpp"
#include "solvers/pod/pod.hpp"

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

TEST(Pod, AgreesWithSvd) {
  Eigen::VectorXd values(41);
  for (int i = 0; i < 41; ++i) values[i] = 3 * std::pow(10, -0.15 * i);  // down to 1e-6
  const Matrix S = with_spectrum(700, 90, values);
  const Eigen::BDCSVD<Matrix> svd(S, Eigen::ComputeThinU);
  const Pod pod = decompose(S, {.tolerance = 1e-8});
  ASSERT_GE(pod.modes, 41);
  for (int i = 0; i < 41; ++i) {
    EXPECT_NEAR(pod.singular_values[i] / svd.singularValues()[i], 1, 1e-5) << i;
  }
  const Eigen::Map<const Matrix> basis(pod.basis.data(), 700, pod.modes);
  // Subspaces of the first p modes: sine of the largest angle, against rounding / relative gap on Gram scale.
  for (int p : {1, 5, 10, 20, 30}) {
    const Matrix U = svd.matrixU().leftCols(p), V = basis.leftCols(p);
    const double sine = (U - V * (V.transpose() * U)).norm();
    EXPECT_LT(sine, 1e-14 * std::pow(10, 0.3 * p) + 1e-12) << p;
  }
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
  EXPECT_EQ(one.basis, negated.basis);
}

TEST(Pod, OfBlocksIsThatOfTheWholeMatrix) {
  test::Random random(7);
  const int rows = 300, count = 90;
  Matrix S = random.matrix(rows, count);
  for (int k = 0; k < count; ++k) S.col(k) *= std::pow(10, -0.08 * k);
  const PodSettings settings{.tolerance = 1e-3};
  const Pod whole = proper_orthogonal_decomposition(std::span<const double>(S.data(), S.size()), rows, count, settings);
  const std::vector<int> counts{40, 7, 43}, start{0, 40, 47};
  const Pod parts = proper_orthogonal_decomposition({rows, counts,
                                                     [&](int k, std::vector<double>& storage) {
                                                       storage.assign(S.data() + start[k] * rows,
                                                                      S.data() + (start[k] + counts[k]) * rows);
                                                       return std::span<const double>(storage);
                                                     }},
                                                    settings);
  ASSERT_EQ(parts.modes, whole.modes);
  // Another order of summation; the smallest mode kept is 1e-4 of the largest and known to 1e-12 of itself.
  for (std::size_t i = 0; i < whole.basis.size(); ++i) EXPECT_NEAR(parts.basis[i], whole.basis[i], 1e-10);
  for (int i = 0; i < whole.modes; ++i)
    EXPECT_NEAR(parts.singular_values[i], whole.singular_values[i], 1e-13 * whole.singular_values[0]);
}

}  // namespace
}  // namespace supple
