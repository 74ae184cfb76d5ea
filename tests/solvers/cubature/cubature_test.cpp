#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/Dense>
#include <cmath>
#include <set>
#include <vector>

#include "kernels/base/extent.hpp"
#include "solvers/cubature/cubature.hpp"
#include "solvers/cubature/device_scores.hpp"
#include "solvers/cubature/passive_set.hpp"
#include "solvers/cubature/sketch_rows.hpp"
#include "tests/devices.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

std::span<const double> view(const Matrix& G) {
  return {G.data(), static_cast<std::size_t>(G.size())};
}
std::span<const double> view(const Vector& y) {
  return {y.data(), static_cast<std::size_t>(y.size())};
}

// Smooth positive-ish columns of low numerical rank, as element contributions to reduced forces: element i at position
// t_i, rows are decaying oscillations of it.
Matrix smooth(int rows, int columns) {
  test::Random random(11);
  const int rank = std::min(rows, 60);
  Matrix profile(rank, columns);
  for (int i = 0; i < columns; ++i) {
    const double t = (i + 0.5) / columns, s = random.uniform(0, 1), volume = random.uniform(0.5, 1.5);
    for (int k = 0; k < rank; ++k)
      profile(k, i) = volume * std::cos(k % 8 * 3.1 * t) * std::cos(k / 8 * 3.1 * s) / (1 + 0.3 * (k % 8 + k / 8));
  }
  return random.matrix(rows, rank) * profile;
}

Vector fit(const Matrix& G, const Cubature& c) {
  Vector sum = Vector::Zero(G.rows());
  for (std::size_t k = 0; k < c.columns.size(); ++k) sum += c.weights[k] * G.col(c.columns[k]);
  return sum;
}

void expect_valid(const Matrix& G, const Vector& y, const Cubature& c) {
  EXPECT_EQ(c.columns.size(), c.weights.size());
  EXPECT_TRUE(std::is_sorted(c.columns.begin(), c.columns.end()));
  EXPECT_EQ(std::set<int>(c.columns.begin(), c.columns.end()).size(), c.columns.size());
  for (double w : c.weights) EXPECT_GT(w, 0);
  EXPECT_NEAR(c.relative_residual, (fit(G, c) - y).norm() / y.norm(), 1e-13);
}

enum class Rule { lawson_hanson, nn_ols };
class CubatureTest : public ::testing::TestWithParam<Rule> {
 protected:
  Cubature select(const Matrix& G, const CubatureSettings& settings, const CubatureProgress& progress = {},
                  const Vector& y = {}) {
    const int rows = static_cast<int>(G.rows()), columns = static_cast<int>(G.cols());
    return GetParam() == Rule::nn_ols ? select_nn_ols(view(G), rows, columns, settings, progress, view(y))
                                      : select_lawson_hanson(view(G), rows, columns, settings, progress, view(y));
  }
};

TEST_P(CubatureTest, OptimalityConditionsWhereTheToleranceIsOutOfReach) {
  for (int trial = 0; trial < 20; ++trial) {
    test::Random random(trial + 1);
    const Matrix G = random.matrix(30, 50).cwiseAbs();
    const Vector y = random.vector(30);
    const Cubature c = select(G, {.tolerance = 0}, {}, y);
    EXPECT_EQ(c.status, CubatureStatus::stalled);
    expect_valid(G, y, c);
    const Vector mu = G.transpose() * (y - fit(G, c));
    const double scale = y.norm() * G.colwise().norm().maxCoeff();
    EXPECT_LT(mu.maxCoeff(), 1e-10 * scale);
    for (int column : c.columns) EXPECT_LT(std::abs(mu[column]), 1e-10 * scale);
  }
}

TEST_P(CubatureTest, RecoversASparseCombination) {
  test::Random random(5);
  const Matrix G = random.matrix(60, 200);
  Vector x = Vector::Zero(200);
  for (int i : {3, 50, 51, 120, 199}) x[i] = random.uniform(0.5, 2);
  const Vector y = G * x;
  const Cubature c = select(G, {.tolerance = 1e-12}, {}, y);
  EXPECT_EQ(c.status, CubatureStatus::converged);
  EXPECT_EQ(c.columns, (std::vector<int>{3, 50, 51, 120, 199}));
  for (std::size_t k = 0; k < c.columns.size(); ++k) EXPECT_NEAR(c.weights[k], x[c.columns[k]], 1e-10);
}

TEST_P(CubatureTest, PruningKeepsTheToleranceAndIsNotLarger) {
  const Matrix G = smooth(120, 800);
  const Vector y = G.rowwise().sum();
  for (double tolerance : {0.1, 0.02, 1e-3}) {
    const Cubature plain = select(G, {.tolerance = tolerance, .prune = false});
    const Cubature pruned = select(G, {.tolerance = tolerance});
    const Cubature tight = select(G, {.tolerance = tolerance, .selection_fraction = 0.1});
    for (const Cubature* c : {&plain, &pruned, &tight}) {
      EXPECT_EQ(c->status, CubatureStatus::converged);
      EXPECT_LE(c->relative_residual, tolerance);
      expect_valid(G, y, *c);
    }
    EXPECT_LE(pruned.columns.size(), plain.columns.size());
    ASSERT_FALSE(plain.history.empty());
    for (std::size_t k = 1; k < plain.history.size(); ++k)
      EXPECT_LT(plain.history[k].relative_residual, plain.history[k - 1].relative_residual);
    EXPECT_EQ(plain.history.back().columns, static_cast<int>(plain.columns.size()));
  }
}

TEST_P(CubatureTest, EqualZeroAndScaledColumns) {
  Matrix G = smooth(40, 120);
  for (int i = 0; i < 120; i += 3) G.col(i) = 2 * G.col(i + 1);
  G.col(5).setZero();
  G.col(77) *= 1e-9;
  const Vector y = G.rowwise().sum();
  const Cubature c = select(G, {.tolerance = 1e-6});
  EXPECT_EQ(c.status, CubatureStatus::converged);
  expect_valid(G, y, c);
  EXPECT_EQ(std::count(c.columns.begin(), c.columns.end(), 5), 0);
}

TEST_P(CubatureTest, ZeroToleranceIsReachedToRounding) {
  const Matrix G = smooth(40, 120);
  const Cubature c = select(G, {.tolerance = 0, .prune = false});
  EXPECT_LT(c.relative_residual, 1e-9);
  EXPECT_LE(c.columns.size(), 41u);
}

TEST_P(CubatureTest, LimitsInterruptionAndEmptyTargets) {
  const Matrix G = smooth(60, 300);
  const Cubature limited = select(G, {.tolerance = 1e-6, .max_columns = 7});
  EXPECT_EQ(limited.status, CubatureStatus::column_limit);
  EXPECT_EQ(limited.columns.size(), 7u);
  const Cubature stopped = select(G, {.tolerance = 1e-6}, [](int columns, double) { return columns < 5; });
  EXPECT_EQ(stopped.status, CubatureStatus::interrupted);
  EXPECT_EQ(stopped.columns.size(), 5u);
  const Cubature nothing = select(G, {}, {}, Vector::Zero(60));
  EXPECT_EQ(nothing.status, CubatureStatus::converged);
  EXPECT_TRUE(nothing.columns.empty());
  const Cubature impossible = select(G.cwiseAbs(), {}, {}, Vector::Constant(60, -1));
  EXPECT_EQ(impossible.status, CubatureStatus::stalled);
  EXPECT_TRUE(impossible.columns.empty());
}

TEST_P(CubatureTest, SameBitsForAnyThreadCount) {
  const Matrix G = smooth(150, 2500);
  const int threads = omp_get_max_threads();
  std::vector<Cubature> results;
  for (int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    results.push_back(select(G, {.tolerance = 3e-3}));
  }
  omp_set_num_threads(threads);
  for (const Cubature& c : results) {
    EXPECT_EQ(c.columns, results[0].columns);
    EXPECT_EQ(c.weights, results[0].weights);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, CubatureTest, ::testing::Values(Rule::lawson_hanson, Rule::nn_ols),
                         [](const auto& info) { return info.param == Rule::nn_ols ? "nn_ols" : "lawson_hanson"; });

// Products by the library of a device, with the whole of G there.
class CubatureOn : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CubatureOn, test::every_device(), test::device_name);

TEST_P(CubatureOn, ChoosesTheSameColumns) {
  const Matrix G = smooth(150, 900);
  for (const double tolerance : {0.05, 5e-3, 1e-3})
    for (const bool prune : {false, true})
      for (const auto& select : {select_nn_ols, select_lawson_hanson}) {
        CubatureSettings settings{.tolerance = tolerance, .prune = prune, .selection_fraction = 0.5};
        const Cubature expected = select(view(G), 150, 900, settings, {}, {});
        settings.columns = device_columns(GetParam(), view(G), 150, 900, DeviceSelections::all);
        const Cubature found = select(view(G), 150, 900, settings, {}, {});
        EXPECT_EQ(found.status, CubatureStatus::converged);
        EXPECT_EQ(found.columns, expected.columns) << tolerance;
        ASSERT_EQ(found.weights.size(), expected.weights.size());
        // Fitted on the host, in another order where columns have left and come back.
        for (std::size_t k = 0; k < found.weights.size(); ++k)
          EXPECT_NEAR(found.weights[k], expected.weights[k], 1e-8 * expected.weights[k]);
      }
}

TEST_P(CubatureOn, BringsAnyStartToTheTolerance) {
  const Matrix G = smooth(80, 400);
  const Vector y = G.rowwise().sum();
  for (const int step : {4, 40}) {  // more than are needed, and fewer
    Cubature start;
    for (int i = 0; i < 400; i += step) start.columns.push_back(i), start.weights.push_back(step);
    CubatureSettings settings{.tolerance = 0.01, .regrow_rounds = 3};
    const Cubature expected = prune_and_regrow(view(G), 80, 400, view(y), start, settings);
    settings.columns = device_columns(GetParam(), view(G), 80, 400, DeviceSelections::all);
    const Cubature found = prune_and_regrow(view(G), 80, 400, view(y), start, settings);
    EXPECT_EQ(found.columns, expected.columns);
    EXPECT_LE(found.relative_residual, 0.01);
  }
}

// Of the orthogonal score: Q^T G for so many rows while it doubles, and two vectors.
std::size_t room_beside(int rows, int columns) {
  return sizeof(double) * extent(columns) * (extent(std::max(rows, 64)) * 3 / 2 + 2);
}
std::size_t smallest_portion(int rows) {
  return sizeof(double) * extent(rows, column_chunk);
}

// The columns of G do not fit, and come in portions for every product.
TEST_P(CubatureOn, PortionsOfColumnsChooseTheSame) {
  const int rows = 150, columns = 900;
  const Matrix G = smooth(rows, columns);
  const Vector y = G.rowwise().sum();
  const DeviceRoom room{GetParam(), room_beside(rows, columns) + smallest_portion(rows)},
      of_gradient{GetParam(), sizeof(double) * extent(rows + columns) + smallest_portion(rows)};
  for (const bool orthogonal : {true, false}) {
    const auto select = orthogonal ? select_nn_ols : select_lawson_hanson;
    const DeviceSelections selections = orthogonal ? DeviceSelections::all : DeviceSelections::lawson_hanson;
    CubatureSettings settings{.tolerance = 1e-3, .prune = orthogonal, .selection_fraction = 0.5};
    settings.columns = device_columns(GetParam(), view(G), rows, columns, selections);
    ASSERT_TRUE(settings.columns->whole());
    const Cubature whole = select(view(G), rows, columns, settings, {}, {});
    settings.columns = device_columns(orthogonal ? room : of_gradient, view(G), rows, columns, selections);
    ASSERT_FALSE(settings.columns->whole());
    const Cubature found = select(view(G), rows, columns, settings, {}, {});
    EXPECT_EQ(found.status, CubatureStatus::converged);
    EXPECT_EQ(found.columns, whole.columns);
    ASSERT_EQ(found.weights.size(), whole.weights.size());
    for (std::size_t k = 0; k < found.weights.size(); ++k)
      EXPECT_NEAR(found.weights[k], whole.weights[k], 1e-8 * whole.weights[k]);
  }
  try {
    (void)device_columns({GetParam(), room.most - 1000}, view(G), rows, columns, DeviceSelections::all);
    FAIL() << "less than the smallest chunk";
  } catch (const CapabilityError& error) {
    EXPECT_EQ(std::string(error.what()),
              "no memory for the scores of 900 candidates (the smallest chunk takes 1942 kB, 1940 kB of " +
                  to_string(GetParam()) + " may be used)");
  }
}

// What a score answers while columns come and go, against its definition.
void expect_scores_follow_the_set(const DeviceRoom& room, int rows, int columns) {
  test::Random random(3);
  const Matrix G = random.matrix(rows, columns).cwiseAbs();
  const Vector y = G.rowwise().sum();
  const ColumnMatrix matrix{G.data(), rows, columns};
  PassiveSet passive(matrix, y.data());
  DeviceOrthogonalScore score(DeviceOrthogonalScore::columns(room, matrix), matrix, y.data());
  const auto expect_best = [&] {
    score.update(passive);
    std::vector<char> excluded(columns, 0);
    Matrix chosen(rows, passive.size());
    Vector fitted = Vector::Zero(rows);
    for (int k = 0; k < passive.size(); ++k) {
      const int column = passive.columns()[static_cast<std::size_t>(k)];
      excluded[static_cast<std::size_t>(column)] = 1;
      chosen.col(k) = G.col(column);
      fitted += passive.weights()[static_cast<std::size_t>(k)] * G.col(column);
    }
    Matrix Q(rows, passive.size());
    if (Q.cols() > 0) Q = chosen.householderQr().householderQ() * Matrix::Identity(rows, Q.cols());
    std::vector<std::pair<double, int>> order;
    for (int i = 0; i < columns; ++i) {
      const double mu = G.col(i).dot(y - fitted), left = (G.col(i) - Q * (Q.transpose() * G.col(i))).squaredNorm();
      if (!excluded[static_cast<std::size_t>(i)] && mu > 0) order.emplace_back(-mu * mu / left, i);
    }
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < std::min<std::size_t>(order.size(), 20); ++k) {
      EXPECT_EQ(score.best(excluded), order[k].second) << passive.size() << " columns, the next best " << k;
      excluded[static_cast<std::size_t>(order[k].second)] = 1;
    }
    return order.front().second;
  };
  const auto add = [&](int column) {
    ASSERT_TRUE(passive.append(column));
    score.appended(passive);
    for (const Removal& removal : passive.refit()) score.removed(removal);
  };
  for (int k = 0; k < 8; ++k) add(expect_best());
  for (const int position : {0, 3, passive.size() - 3}) {
    score.removed(passive.remove(position));
    for (const Removal& removal : passive.refit()) score.removed(removal);
    (void)expect_best();
  }
  add(expect_best());
  score.rebuild(passive);
  add(expect_best());
  (void)expect_best();
}

TEST_P(CubatureOn, ScoresFollowTheSet) {
  const int rows = 40;
  expect_scores_follow_the_set(GetParam(), rows, 120);
  for (const int columns : {300, 513}) {  // portions of 256
    const DeviceRoom room{GetParam(), room_beside(rows, columns) + smallest_portion(rows)};
    const Matrix G = Matrix::Ones(rows, columns);
    EXPECT_FALSE(DeviceColumns(room, {G.data(), rows, columns}, room_beside(rows, columns)).whole());
    expect_scores_follow_the_set(room, rows, columns);
  }
}

TEST(PruneAndRegrow, AnyStartIsBroughtToTheTolerance) {
  const Matrix G = smooth(80, 400);
  const Vector y = G.rowwise().sum();
  Cubature everything;
  for (int i = 0; i < 400; i += 4) everything.columns.push_back(i), everything.weights.push_back(4);
  const CubatureSettings settings{.tolerance = 0.02};
  const Cubature from_many = prune_and_regrow(view(G), 80, 400, view(y), everything, settings);
  const Cubature from_none = prune_and_regrow(view(G), 80, 400, view(y), {}, settings);
  for (const Cubature* c : {&from_many, &from_none}) {
    EXPECT_EQ(c->status, CubatureStatus::converged);
    EXPECT_LE(c->relative_residual, 0.02);
    expect_valid(G, y, *c);
  }
  EXPECT_LT(from_many.columns.size(), 60u);
}

// Through several tiles and blocks of rows, one of each not full; a column that depends on others stays out.
TEST(PassiveSet, ColumnsAtOnceAreThoseOneByOne) {
  test::Random random(6);
  const int rows = 1500, columns = 70;
  Matrix G = random.matrix(rows, columns);
  G.col(40) = G.col(3) + 2 * G.col(35);
  const Vector y = random.vector(rows), weights = random.vector(columns).cwiseAbs();
  const ColumnMatrix matrix{G.data(), rows, columns};
  std::vector<int> order;
  for (int k = 0; k < columns; ++k) order.push_back((k * 13) % columns);  // in any order
  const int before = omp_get_max_threads();
  PassiveSet one(matrix, y.data());
  std::vector<PassiveSet> sets(2, one);
  for (int k = 0; k < columns; ++k) (void)one.append(order[k], weights[k]);
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    sets[threads == 3].append_all(order, std::span(weights.data(), columns));
  }
  omp_set_num_threads(before);
  ASSERT_EQ(one.size(), columns - 1);
  EXPECT_EQ(sets[0].columns(), one.columns());
  EXPECT_EQ(sets[0].weights(), one.weights());
  // Sums of 1500 products of size one, in another order; the columns' condition number is about two.
  EXPECT_NEAR(sets[0].relative_residual(), one.relative_residual(), 1e-12);
  for (int i = 0; i < one.size(); ++i) {
    EXPECT_EQ(sets[0].factor_row(i), sets[1].factor_row(i));
    for (int j = 0; j <= i; ++j) EXPECT_NEAR(sets[0].factor_row(i)[j], one.factor_row(i)[j], 1e-11) << i << " " << j;
  }
}

TEST(SketchRows, FewRowsAreKeptAsTheyAre) {
  test::Random random(1);
  const Matrix G = random.matrix(30, 12), top = G.topRows(10), rest = G.bottomRows(20);
  RowSketch sketch(30, 12, 30);
  sketch.add(view(rest), 10, 20);
  sketch.add(view(top), 0, 10);
  EXPECT_EQ(sketch.matrix(), std::vector<double>(G.data(), G.data() + G.size()));
}

TEST(SketchRows, KeepsLengthsOfSparseCombinations) {
  const int rows = 6000, columns = 300, kept = 1000, used = 40;
  test::Random random(2);
  const Matrix G = random.matrix(rows, columns);
  RowSketch sketch(rows, columns, kept);
  for (int first = 0; first < rows; first += 1500) {
    const Matrix block = G.middleRows(first, 1500);
    sketch.add(view(block), first, 1500);
  }
  ASSERT_EQ(sketch.rows(), kept);
  const Eigen::Map<const Matrix> R(sketch.matrix().data(), kept, columns);
  for (int trial = 0; trial < 20; ++trial) {
    Vector x = Vector::Zero(columns);
    x.segment(7 * trial, used) = random.vector(used);
    // sqrt(40 / 1000) = 0.2 is the bound over all such x; a single one is within a few times sqrt(2 / 1000).
    EXPECT_NEAR((R * x).norm() / (G * x).norm(), 1, 0.2);
  }
}

TEST(SketchRows, OfListedColumnsIsPartOfTheWhole) {
  test::Random random(4);
  const Matrix G = random.matrix(50, 5);
  RowSketch all(50, 5, 20), some(50, 5, 20, 1, {1, 4});
  all.add(view(G), 0, 50);
  some.add(view(G), 0, 50);
  const std::vector<double>& matrix = all.matrix();
  std::vector<double> expected(matrix.begin() + 20, matrix.begin() + 40);
  expected.insert(expected.end(), matrix.begin() + 80, matrix.end());
  EXPECT_EQ(some.matrix(), expected);
}

TEST(SketchRows, SameBitsForAnyThreadCount) {
  const Matrix G = smooth(600, 900);
  std::vector<double> bits[2];
  const int threads = omp_get_max_threads();
  for (const int k : {0, 1}) {
    omp_set_num_threads(1 + 2 * k);
    RowSketch sketch(600, 900, 100);
    sketch.add(view(G), 0, 600);
    bits[k] = sketch.matrix();
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(bits[0], bits[1]);
}

TEST(RefitWeights, AreTheNonNegativeLeastSquares) {
  test::Random random(3);
  Matrix G = random.matrix(80, 6);
  Vector w(6);
  w << 1, 2, 0.5, 3, 0.25, 4;
  const Vector y = G * w;
  const std::vector<double> target(y.data(), y.data() + y.size()), start(6, 1.0);
  const Cubature exact = refit_weights(view(G), 80, 6, target, start);
  ASSERT_EQ(exact.weights.size(), 6U);
  for (int k = 0; k < 6; ++k) EXPECT_NEAR(exact.weights[static_cast<std::size_t>(k)], w[k], 1e-12);
  EXPECT_LT(exact.relative_residual, 1e-13);
  // A column whose best weight is negative is left out.
  G.col(2) = -G.col(2);
  const Cubature clipped = refit_weights(view(G), 80, 6, target, start);
  EXPECT_EQ(clipped.columns, (std::vector<int>{0, 1, 3, 4, 5}));
  EXPECT_GT(clipped.relative_residual, 0.01);
}

}  // namespace
}  // namespace supple
