#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/array/array.hpp"
#include "kernels/base/error.hpp"
#include "solvers/dense/batched.hpp"
#include "tests/devices.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;

template <class S>
constexpr double rounding = 4.0 * std::numeric_limits<S>::epsilon();

// A column-major copy in `S` with stride ld; what lies between the columns must survive.
template <class S>
std::vector<S> columns_of(const Matrix& A, int ld) {
  std::vector<S> out(static_cast<std::size_t>(A.cols()) * ld, S(77));
  for (int j = 0; j < A.cols(); ++j)
    for (int i = 0; i < A.rows(); ++i) out[j * ld + i] = static_cast<S>(A(i, j));
  return out;
}
template <class S>
Matrix rounded(const Matrix& A) {
  return A.cast<S>().template cast<double>();
}
template <class S>
std::vector<S> fetch(const Array<S>& array) {
  std::vector<S> out(array.size());
  array.download(out);
  return out;
}

class BatchedDense : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, BatchedDense, test::every_device(), test::device_name);

// |C - (alpha A B + beta C0)| <= eps (k + 2) |A| |B| entrywise bound, taken in norms.
template <class S>
void check_product(const Device& device, int m, int n, int k, Transpose ta, Transpose tb, double alpha, double beta) {
  test::Random random(5);
  DenseContext context(device);
  const Matrix A = rounded<S>(random.matrix(m, k)), B = rounded<S>(random.matrix(k, n)),
               C0 = rounded<S>(random.matrix(m, n));
  const bool at = ta == Transpose::yes, bt = tb == Transpose::yes;
  const int lda = (at ? k : m) + 3, ldb = (bt ? n : k) + 1, ldc = m + 2;
  const Array<S> a(device, columns_of<S>(at ? Matrix(A.transpose()) : A, lda)),
      b(device, columns_of<S>(bt ? Matrix(B.transpose()) : B, ldb));
  Array<S> c(device, columns_of<S>(C0, ldc));
  gemm(context, m, n, k, static_cast<S>(alpha), {a.data(), lda, ta}, {b.data(), ldb, tb}, static_cast<S>(beta),
       {c.data(), ldc});
  const std::vector<S> out = fetch(c);
  const Matrix expected = static_cast<S>(alpha) * A * B + static_cast<S>(beta) * C0;
  const double bound = rounding<S> * (k + 2) * (A.norm() * B.norm() + C0.norm());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) EXPECT_NEAR(out[j * ldc + i], expected(i, j), bound) << i << " " << j;
    for (int i = m; i < ldc; ++i) EXPECT_EQ(out[j * ldc + i], S(77));
  }
}

TEST_P(BatchedDense, Product) {
  for (Transpose ta : {Transpose::no, Transpose::yes})
    for (Transpose tb : {Transpose::no, Transpose::yes})
      for (int n : {1, 31, 70}) {
        check_product<double>(GetParam(), 34, n, 21, ta, tb, 1, 0);
        check_product<double>(GetParam(), 5, n, 40, ta, tb, -0.5, 1);
        check_product<float>(GetParam(), 33, n, 7, ta, tb, 2, 0.25);
      }
}

// What a column becomes does not depend on its neighbours, nor on how many there are.
template <class S>
void check_columns_alone(int m, int k, Transpose ta, Transpose tb) {
  test::Random random(6);
  DenseContext context(cpu());
  constexpr int most = 70;
  const std::vector<S> a = columns_of<S>(random.matrix(m, k), m), b = columns_of<S>(random.matrix(k, most), k),
                       c = columns_of<S>(random.matrix(m, most), m);
  const auto product = [&](int first, int n) {
    std::vector<S> A = a, B(b.begin() + first * k, b.begin() + (first + n) * k), swapped(A.size()), turned(B.size());
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l) swapped[i * k + l] = A[l * m + i];
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) turned[l * n + j] = B[j * k + l];
    std::vector<S> out(c.begin() + first * m, c.begin() + (first + n) * m);
    const bool at = ta == Transpose::yes, bt = tb == Transpose::yes;
    gemm(context, m, n, k, S(1), {at ? swapped.data() : A.data(), at ? k : m, ta},
         {bt ? turned.data() : B.data(), bt ? n : k, tb}, S(1), {out.data(), m});
    return out;
  };
  const std::vector<S> all = product(0, most);
  for (int n : {1, 2, 3, 5, 8, 31, 33, 40, 64, 69})
    for (int first : {0, 1, most - n}) {
      const std::vector<S> some = product(first, n);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + first * m)) << m << " " << k << " " << n;
    }
}

TEST(BatchedDenseOnCpu, ColumnsOfAProductDoNotDependOnEachOther) {
  for (Transpose ta : {Transpose::no, Transpose::yes})
    for (Transpose tb : {Transpose::no, Transpose::yes})
      for (const auto& [m, k] : {std::pair{2, 3}, {10, 3}, {10, 12}, {34, 9}, {288, 34}, {34, 288}, {27, 34}}) {
        check_columns_alone<double>(m, k, ta, tb);
        check_columns_alone<float>(m, k, ta, tb);
      }
}

TEST_P(BatchedDense, ProductWithoutTermsScalesC) {
  DenseContext context(GetParam());
  const Array<double> a(GetParam(), 4);
  Array<double> c(GetParam(), std::vector<double>{1, 2, 3, 4});
  gemm(context, 2, 2, 0, 1.0, {a.data(), 2}, {a.data(), 2}, 0.5, {c.data(), 2});
  EXPECT_EQ(fetch(c), (std::vector<double>{0.5, 1, 1.5, 2}));
}

// Not read where beta = 0: memory that was never written may hold anything.
TEST_P(BatchedDense, ProductReplacesWhatIsNotFinite) {
  DenseContext context(GetParam());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Array<double> one(GetParam(), std::vector<double>{1});
  Array<double> c(GetParam(), std::vector<double>{nan});
  gemm(context, 1, 1, 1, 2.0, {one.data(), 1}, {one.data(), 1}, 0.0, {c.data(), 1});
  EXPECT_EQ(fetch(c)[0], 2);
}

// The reduced batch's use: every tile of G times the same alpha, into interleaved rows of F.
TEST_P(BatchedDense, StridedProductsInterleave) {
  test::Random random(6);
  const int m = 8, n = 45, k = 5, tiles = 3;
  DenseContext context(GetParam());
  const Matrix G = random.matrix(m * tiles, k), alpha = random.matrix(k, n);
  std::vector<double> g;
  for (int tile = 0; tile < tiles; ++tile) {
    const std::vector<double> part = columns_of<double>(G.middleRows(tile * m, m), m);
    g.insert(g.end(), part.begin(), part.end());
  }
  const Array<double> a(GetParam(), g), b(GetParam(), columns_of<double>(alpha, k));
  Array<double> c(GetParam(), columns_of<double>(Matrix::Ones(m * tiles, n), m * tiles));
  gemm(context, m, n, k, 1.0, {a.data(), m, Transpose::no, m * k}, {b.data(), k}, 1.0, {c.data(), m * tiles, m}, tiles);
  const Matrix expected = Matrix::Ones(m * tiles, n) + G * alpha;
  const std::vector<double> out = fetch(c);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m * tiles; ++i) EXPECT_NEAR(out[j * m * tiles + i], expected(i, j), 1e-14);
}

// Row-major lower triangles with stride ld. What lies behind a row must survive; on the CPU the strict upper triangle, too.
template <class S>
void check_factors(const Device& device, int n, int batch, int count) {
  test::Random random(7);
  DenseContext context(device);
  const int ld = n + 1, stride = n * ld + 5, ldx = n + 2, stride_x = count * ldx + 3;
  std::vector<S> a(static_cast<std::size_t>(batch) * stride, S(77)),
      x(static_cast<std::size_t>(batch) * stride_x, S(77));
  std::vector<Matrix> matrices, solutions;
  for (int b = 0; b < batch; ++b) {
    // Condition below 10: the tolerance is about rounding alone.
    const Matrix part = random.matrix(n, n) / n;
    matrices.push_back(rounded<S>(part * part.transpose() + Matrix::Identity(n, n)));
    solutions.push_back(random.matrix(n, count));
    const Matrix right = matrices.back() * solutions.back();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) a[b * stride + i * ld + j] = static_cast<S>(matrices.back()(i, j));
    for (int c = 0; c < count; ++c)
      for (int i = 0; i < n; ++i) x[b * stride_x + c * ldx + i] = static_cast<S>(right(i, c));
  }
  Array<S> factors(device, a), right_sides(device, x);
  Array<int> info(device, static_cast<std::size_t>(batch));
  potrf_batched(context, n, factors.data(), ld, stride, info.data(), batch);
  potrs_batched(context, n, count, factors.data(), ld, stride, right_sides.data(), ldx, stride_x, batch);
  const std::vector<S> l = fetch(factors), y = fetch(right_sides);
  EXPECT_EQ(fetch(info), std::vector<int>(static_cast<std::size_t>(batch), 0));
  for (int b = 0; b < batch; ++b) {
    Matrix L = Matrix::Zero(n, n), Y(n, count);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) L(i, j) = l[b * stride + i * ld + j];
      for (int j = device == cpu() ? i + 1 : n; j < ld; ++j) ASSERT_EQ(l[b * stride + i * ld + j], S(77));
    }
    for (int c = 0; c < count; ++c)
      for (int i = 0; i < n; ++i) Y(i, c) = y[b * stride_x + c * ldx + i];
    const double tolerance = rounding<S> * 10 * (n + 1);
    EXPECT_LT((L * L.transpose() - matrices[b]).norm(), tolerance * matrices[b].norm()) << n << " " << b;
    EXPECT_LT((Y - solutions[b]).norm(), tolerance * solutions[b].norm()) << n << " " << b;
    EXPECT_EQ(y[b * stride_x + count * ldx], S(77));
  }
}

TEST_P(BatchedDense, CholeskyFactorsAndSolves) {
  for (int n : {1, 2, 9, 34, 63}) {
    check_factors<double>(GetParam(), n, 17, 7);
    check_factors<float>(GetParam(), n, 5, 3);
  }
  check_factors<double>(GetParam(), 34, 1, 1);
  check_factors<double>(GetParam(), 8, 300, 2);
}

template <class S>
void check_refusal(const Device& device) {
  const int n = 12, batch = 4;
  DenseContext context(device);
  std::vector<S> a(static_cast<std::size_t>(batch) * n * n, S(0));
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < n; ++i) a[b * n * n + i * (n + 1)] = S(1 + b);
  a[1 * n * n + 5 * (n + 1)] = S(-1);
  a[3 * n * n] = S(0);
  Array<S> factors(device, a);
  Array<int> info(device, batch);
  potrf_batched(context, n, factors.data(), n, n * n, info.data(), batch);
  const std::vector<int> found = fetch(info);
  EXPECT_EQ(found[0], 0);
  EXPECT_GT(found[1], 0);
  EXPECT_EQ(found[2], 0);
  EXPECT_GT(found[3], 0);
}

TEST_P(BatchedDense, CholeskySaysWhichMatricesAreNotPositive) {
  check_refusal<double>(GetParam());
  check_refusal<float>(GetParam());
}

// The factors of a batch are those of one core on a CPU, of thread blocks on a GPU; one matrix is singular.
TEST_P(BatchedDense, IndefiniteFactorsAndSolves) {
  test::Random random(7);
  constexpr int batch = 9, count = 4, singular = 5;
  for (const int n : {1, 2, 9, 34, 63}) {
    const int ld = n + 1, square = n * ld;
    std::vector<double> a(static_cast<std::size_t>(batch * square), 0.0),
        x(static_cast<std::size_t>(batch * count * n));
    std::vector<Eigen::MatrixXd> matrices, solutions;
    for (int b = 0; b < batch; ++b) {
      const Eigen::MatrixXd M = random.matrix(n, n);
      matrices.push_back(b == singular ? Eigen::MatrixXd::Zero(n, n).eval() : (M + M.transpose()).eval());
      solutions.push_back(random.matrix(n, count));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) a[static_cast<std::size_t>(b * square + i * ld + j)] = matrices.back()(i, j);
      Eigen::Map<Eigen::MatrixXd>(x.data() + b * count * n, n, count) = matrices.back() * solutions.back();
    }
    DenseContext context(GetParam());
    Array<double> factors(GetParam(), a), sides(GetParam(), x);
    Array<int> pivots(GetParam(), static_cast<std::size_t>(batch * n));
    Array<LdltReport> found(GetParam(), batch);
    ldlt_batched(context, n, factors.data(), ld, square, pivots.data(), found.data(), batch);
    ldlt_solve_batched(context, n, count, factors.data(), ld, square, pivots.data(), found.data(), sides.data(), n,
                       count * n, batch);
    const std::vector<double> solved = fetch(sides);
    const std::vector<LdltReport> reports = fetch(found);
    for (int b = 0; b < batch; ++b) {
      EXPECT_EQ(reports[static_cast<std::size_t>(b)].singular, b == singular ? 1 : 0);
      if (b == singular) continue;
      const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrices[b]).eigenvalues();
      EXPECT_EQ(reports[static_cast<std::size_t>(b)].negative_pivots, (eigenvalues.array() < 0).count()) << n;
      const Eigen::Map<const Eigen::MatrixXd> answer(solved.data() + b * count * n, n, count);
      EXPECT_LT((matrices[b] * (answer - solutions[b])).norm(), 1e-12 * matrices[b].norm() * solutions[b].norm()) << n;
    }
  }
}

// More systems than a grid of CUDA has blocks in its other directions (65,535): each its own diagonal.
TEST_P(BatchedDense, MoreSystemsThanBlocksOfAGrid) {
  constexpr int n = 3, square = n * n;
  for (const int batch : {65536, 131072}) {
    DenseContext context(GetParam());
    std::vector<double> a(static_cast<std::size_t>(batch) * square, 0.0), x(static_cast<std::size_t>(batch) * n, 1.0);
    const auto entry = [](int b, int i) { return 1.0 + (b + i) % 1013; };
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(b * square + i * (n + 1))] = entry(b, i);
    Array<double> factors(GetParam(), a), sides(GetParam(), x), products(GetParam(), x.size());
    Array<int> info(GetParam(), static_cast<std::size_t>(batch));
    const Array<double> matrices(GetParam(), a);
    potrf_batched(context, n, factors.data(), n, square, info.data(), batch);
    potrs_batched(context, n, 1, factors.data(), n, square, sides.data(), n, n, batch);
    gemm(context, n, 1, n, 1.0, {matrices.data(), n, Transpose::no, square}, {sides.data(), n, Transpose::no, n}, 0.0,
         {products.data(), n, n}, batch);
    const std::vector<double> solved = fetch(sides), again = fetch(products);
    int wrong = 0;
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < n; ++i) {
        const std::size_t at = static_cast<std::size_t>(b * n + i);
        wrong += std::abs(solved[at] * entry(b, i) - 1) > 1e-14 || std::abs(again[at] - 1) > 1e-14;
      }
    EXPECT_EQ(wrong, 0) << batch;
    EXPECT_EQ(fetch(info), std::vector<int>(static_cast<std::size_t>(batch), 0));
  }
}

// On a device the same call gives the same bits; on the CPU for any number of threads too.
TEST_P(BatchedDense, BitsDoNotDependOnThreads) {
  test::Random random(8);
  const int m = 288, n = 100, k = 34;
  DenseContext context(GetParam());
  const Array<double> a(GetParam(), columns_of<double>(random.matrix(m, k), m)),
      b(GetParam(), columns_of<double>(random.matrix(k, n), k));
  std::vector<std::vector<double>> results;
  const int threads = omp_get_max_threads();
  for (int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    Array<double> c(GetParam(), static_cast<std::size_t>(m) * n);
    gemm(context, m, n, k, 1.0, {a.data(), m}, {b.data(), k}, 0.0, {c.data(), m});
    results.push_back(fetch(c));
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Array, CopiesAndClears) {
  Array<int> a(cpu(), 5);
  EXPECT_EQ(fetch(a), std::vector<int>(5, 0));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  a.upload(std::vector<int>{1, 2, 3});
  Array<int> b = std::move(a);
  EXPECT_EQ(fetch(b), (std::vector<int>{1, 2, 3, 0, 0}));
  EXPECT_EQ(Array<int>().size(), 0u);
}

TEST(Array, RefusesADeviceThatIsNotThere) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THROW(Array<double>(cuda(0), 1), CapabilityError);
  EXPECT_THROW(DenseContext(cuda(0)), CapabilityError);
}

}  // namespace
}  // namespace supple
