// The parts of the multifrontal factorisation; as a whole it is a backend of sparse_direct_test.cpp.

#include "solvers/sparse/multifrontal.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/Dense>
#include <cstring>
#include <set>

#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

using frontal::Front, frontal::W;

struct FactoredFront {
  std::vector<double> memory, assembled, signs;
  Front front;
  int failed;
};

// The columns of A that are eliminated, as a front; a negative pivot ends it unless `indefinite`.
FactoredFront eliminated(const Eigen::MatrixXd& A, int columns, bool indefinite = false) {
  FactoredFront f;
  f.signs.assign(static_cast<std::size_t>(columns), 1.0);
  f.front = {static_cast<int>(A.rows()), columns, nullptr};
  f.memory.assign(f.front.factor_size(), std::nan(""));
  f.assembled.assign(f.front.factor_size(), 0.0);
  f.front.factor = f.memory.data();
  for (int k = 0; k < columns; ++k)
    for (int i = k; i < A.rows(); ++i) f.assembled[static_cast<std::size_t>(k * f.front.padded_rows() + i)] = A(i, k);
  f.failed = eliminate(f.front, f.assembled.data(), [&](int column, double pivot) {
    if (pivot > 0) return 1.0;
    if (!indefinite) return 0.0;
    f.front.signs = f.signs.data();
    f.signs[static_cast<std::size_t>(column)] = -1;
    return -1.0;
  });
  return f;
}

const std::pair<int, int> shapes[] = {{1, 1}, {3, 3}, {5, 2}, {8, 8}, {21, 6}, {30, 24}, {67, 35}, {130, 19}};

TEST(Front, EliminatesColumnsAndFormsTheUpdate) {
  for (const auto& [rows, columns] : shapes) {
    const Eigen::MatrixXd A = test::Random(1).positive(rows);
    const FactoredFront f = eliminated(A, columns);
    ASSERT_EQ(f.failed, -1);
    const Eigen::MatrixXd L = A.llt().matrixL();
    for (int k = 0; k < columns; ++k)
      for (int i = k; i < f.front.padded_rows(); ++i) {
        const double value = f.front.slab(i / W)[k * W + i % W];
        EXPECT_NEAR(i == k ? 1 / value : value, i < rows ? L(i, k) : 0, 1e-12 * A.norm());
      }
    const int size = f.front.update_size(), first = W * f.front.first_remaining_slab();
    std::vector<double> update(static_cast<std::size_t>(size * size));
    form_update(f.front, update.data());
    const Eigen::MatrixXd below = L.bottomLeftCorner(rows - columns, columns), expected = -below * below.transpose();
    for (int j = columns; j < rows; ++j)
      for (int i = j; i < rows; ++i)
        EXPECT_NEAR(update[static_cast<std::size_t>((j - first) * size + i - first)],
                    expected(i - columns, j - columns), 1e-12 * A.norm());
  }
}

// A front that is large enough to be shared, with pivots of both signs and of one.
TEST(Front, ThreadsChangeNoBits) {
  constexpr int rows = 700, columns = 400;
  Eigen::MatrixXd A = test::Random(1).positive(rows);
  for (const bool indefinite : {false, true}) {
    if (indefinite) A.topLeftCorner(columns / 2, columns / 2) *= -1;
    std::vector<std::vector<double>> factors, updates;
    const int most = omp_get_max_threads();
    for (const int threads : {1, 5}) {
      omp_set_num_threads(threads);
      FactoredFront f = eliminated(A, columns, indefinite);
      EXPECT_EQ(f.failed, -1);
      std::vector<double> update(static_cast<std::size_t>(f.front.update_size()) *
                                 static_cast<std::size_t>(f.front.update_size()));
      form_update(f.front, update.data());
      factors.push_back(f.memory);
      updates.push_back(update);
    }
    omp_set_num_threads(most);
    for (const auto* each : {&factors, &updates})  // what is not written stays NaN
      EXPECT_EQ(std::memcmp((*each)[0].data(), (*each)[1].data(), (*each)[0].size() * sizeof(double)), 0);
  }
}

// A = L S L^T with given S: what elimination finds, and what it leaves, are known.
TEST(Front, EliminatesNegativePivots) {
  for (const auto& [rows, columns] : shapes)
    for (const int every : {1, 2, 5}) {
      Eigen::MatrixXd L = test::Random(3).positive(rows).llt().matrixL();
      Eigen::VectorXd S = Eigen::VectorXd::Ones(rows);
      for (int k = every - 1; k < rows; k += every) S[k] = -1;
      const Eigen::MatrixXd A = L * S.asDiagonal() * L.transpose();
      const FactoredFront f = eliminated(A, columns, true);
      ASSERT_EQ(f.failed, -1);
      // The factors of elimination lose a little: A's own rounding, times the growth of a matrix of this size.
      const double tolerance = 1e-10 * A.norm();
      for (int k = 0; k < columns; ++k) {
        EXPECT_EQ(f.signs[static_cast<std::size_t>(k)], S[k]) << k;
        for (int i = k; i < rows; ++i) {
          const double value = f.front.slab(i / W)[k * W + i % W];
          EXPECT_NEAR(i == k ? 1 / value : value, L(i, k), tolerance);
        }
      }
      const int size = f.front.update_size(), first = W * f.front.first_remaining_slab();
      std::vector<double> update(static_cast<std::size_t>(size * size));
      form_update(f.front, update.data());
      const Eigen::MatrixXd below = L.bottomLeftCorner(rows - columns, columns);
      const Eigen::MatrixXd expected = -below * S.head(columns).asDiagonal() * below.transpose();
      for (int j = columns; j < rows; ++j)
        for (int i = j; i < rows; ++i)
          EXPECT_NEAR(update[static_cast<std::size_t>((j - first) * size + i - first)],
                      expected(i - columns, j - columns), tolerance);
    }
}

TEST(Front, SubstitutesForwardAndBackward) {
  for (const auto& [rows, columns] : shapes) {
    const Eigen::MatrixXd A = test::Random(2).positive(rows);
    const FactoredFront f = eliminated(A, columns);
    const Eigen::MatrixXd L = A.llt().matrixL(), L1 = L.topLeftCorner(columns, columns),
                          L2 = L.bottomLeftCorner(rows - columns, columns);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    RowMajor x = RowMajor::Zero(f.front.padded_rows(), W);
    x.topRows(rows) = test::Random(3).matrix(rows, W);
    RowMajor y = x;
    const Eigen::MatrixXd own = L1.triangularView<Eigen::Lower>().solve(x.topRows(columns));
    substitute_forward(f.front, y.data());
    EXPECT_LT((y.topRows(columns) - own).norm(), 1e-10 * own.norm());
    EXPECT_LT((y.middleRows(columns, rows - columns) - (x.middleRows(columns, rows - columns) - L2 * own)).norm(),
              1e-10 * (1 + L2.norm()) * own.norm());
    y = x;
    const Eigen::MatrixXd right = x.topRows(columns) - L2.transpose() * x.middleRows(columns, rows - columns);
    const Eigen::MatrixXd back = L1.transpose().triangularView<Eigen::Upper>().solve(right);
    substitute_backward(f.front, y.data());
    EXPECT_LT((y.topRows(columns) - back).norm(), 1e-10 * back.norm());
  }
}

TEST(Front, NamesTheColumnWithoutAPivot) {
  for (int bad : {0, 7, 8, 20}) {
    Eigen::MatrixXd A = Eigen::MatrixXd::Identity(40, 40);
    A(bad, bad) = -1;
    EXPECT_EQ(eliminated(A, 21).failed, bad);
  }
}

// A random graph, and whether each row of a supernode is where elimination of the whole matrix puts it.
TEST(Supernodes, HoldTheFillAndLittleElse) {
  for (const int n : {1, 12, 60}) {
    test::Random random(static_cast<std::uint64_t>(n));
    std::vector<std::set<int>> rows(static_cast<std::size_t>(n));
    for (int k = 0; k < 2 * n; ++k) {
      const int i = random.below(n), j = random.below(n);
      if (i != j) rows[std::min(i, j)].insert(std::max(i, j));
    }
    SymmetricPattern pattern;
    pattern.n = n;
    pattern.column_start = {0};
    for (int j = 0; j < n; ++j) {
      pattern.row.push_back(j);
      pattern.row.insert(pattern.row.end(), rows[j].begin(), rows[j].end());
      pattern.column_start.push_back(pattern.nonzeros());
    }
    const Supernodes tree = find_supernodes(pattern);
    // Elimination, column by column.
    std::vector<std::set<int>> fill(static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j)
      for (int i : rows[j]) fill[std::min(tree.place[i], tree.place[j])].insert(std::max(tree.place[i], tree.place[j]));
    for (int k = 0; k < n; ++k)
      if (!fill[k].empty()) fill[*fill[k].begin()].insert(std::next(fill[k].begin()), fill[k].end());
    for (int s = 0; s < tree.count(); ++s) {
      const std::set<int> below(tree.row.begin() + tree.row_start[s], tree.row.begin() + tree.row_start[s + 1]);
      std::set<int> needed;
      for (int k = tree.first[s]; k < tree.first[s + 1]; ++k)
        for (int i : fill[k])
          if (i >= tree.first[s + 1]) needed.insert(i);
      EXPECT_EQ(below, needed);
      if (below.empty()) {
        EXPECT_EQ(tree.parent[s], -1);
        continue;
      }
      const int p = tree.parent[s];
      ASSERT_GT(p, s);
      for (std::ptrdiff_t k = tree.row_start[s]; k < tree.row_start[s + 1]; ++k) {
        const int at = tree.row_in_parent[k];
        EXPECT_EQ(at < tree.own(p) ? tree.first[p] + at : tree.row[tree.row_start[p] + at - tree.own(p)], tree.row[k]);
      }
    }
  }
}

}  // namespace
}  // namespace supple
