// POD with its tall matrices on a device: as accurate as the host's, whole, in panels of rows, and in blocks of
// columns.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/dense/qr.hpp"
#include "solvers/pod/device_tall.hpp"
#include "solvers/pod/pod.hpp"
#include "tests/devices.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple {
namespace {

using Matrix = Eigen::MatrixXd;

class PodOn : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PodOn, test::every_device(), test::device_name);

constexpr int rows = 700, count = 90, rank = 41;

// Singular values from 3 down to 3e-6.
double value(int i) {
  return 3 * std::pow(10, -0.15 * i);
}
Matrix snapshots() {
  test::Random random(7);
  Eigen::VectorXd values(rank);
  for (int i = 0; i < rank; ++i) values[i] = value(i);
  return random.orthonormal(rows, rank) * values.asDiagonal() * random.orthonormal(count, rank).transpose();
}

Pod decompose(const Matrix& S, const PodSettings& settings) {
  return proper_orthogonal_decomposition({S.data(), static_cast<std::size_t>(S.size())}, static_cast<int>(S.rows()),
                                         static_cast<int>(S.cols()), settings);
}

double sine(const Matrix& U, const Matrix& V) {
  return Eigen::JacobiSVD<Matrix>(U - V * (V.transpose() * U)).singularValues()(0);
}

// The least room that `work` does not refuse, within a fifth.
template <class Work>
DeviceRoom least_room(const Device& device, const Work& work) {
  for (double bytes = 1000;; bytes *= 1.2) {
    const DeviceRoom room{device, static_cast<std::size_t>(bytes)};
    try {
      work(room);
      return room;
    } catch (const CapabilityError&) {
      if (bytes > 1e9) throw;
    }
  }
}

// What the QR of all rows at once takes.
std::size_t room_of_all(const Device& device, const Matrix& S) {
  DenseContext context(device);
  return static_cast<std::size_t>(S.size()) * sizeof(double) +
         geqrf_bytes(context, static_cast<int>(S.rows()), static_cast<int>(S.cols()));
}

// Singular values agree to `roundings` of the largest; spaces to the same over the gap behind them.
void expect_same(const Pod& found, const Pod& expected, double roundings) {
  ASSERT_EQ(found.modes, expected.modes);
  const double error = roundings * std::numeric_limits<double>::epsilon();
  const Eigen::Map<const Matrix> U(found.basis.data(), rows, found.modes), V(expected.basis.data(), rows, found.modes);
  for (int i = 0; i < found.modes; ++i)
    EXPECT_NEAR(found.singular_values[i], expected.singular_values[i], error * value(0)) << i;
  for (int p = 1; p <= found.modes; p += 5)
    EXPECT_LT(sine(U.leftCols(p), V.leftCols(p)), 10 * error * value(0) / (value(p - 1) - value(p))) << p;
  EXPECT_LT(orthonormality_defect(found.basis, rows, found.modes), 1e-13);
  for (int k = 0; k < found.modes; ++k) EXPECT_GT(U.col(k).maxCoeff(), -U.col(k).minCoeff());
}

TEST_P(PodOn, IsThatOfTheHost) {
  const Matrix S = snapshots();
  for (const double tolerance : {1e-3, 1e-5}) {
    const Pod host = decompose(S, {.tolerance = tolerance}),
              whole = decompose(S, {.tolerance = tolerance, .device = DeviceRoom{GetParam()}});
    EXPECT_GT(host.modes, 15);
    expect_same(whole, host, 64);
    EXPECT_NEAR(whole.truncation_error, host.truncation_error, 1e-12);
  }
}

TEST_P(PodOn, PanelsOfRowsGiveTheSameModes) {
  const Matrix S = snapshots();
  const PodSettings host{.tolerance = 1e-4};
  PodSettings settings = host;
  const DeviceRoom room = least_room(GetParam(), [&](const DeviceRoom& tried) {
    settings.device = tried;
    (void)decompose(S, settings);
  });
  // A GPU's QR takes more workspace for the smallest panel than all of this matrix.
  if (!test::is_real_gpu(GetParam())) {
    EXPECT_LT(room.most, room_of_all(GetParam(), S));
  }
  settings.device = room;
  expect_same(decompose(S, settings), decompose(S, host), 64);
}

// Snapshots that come in blocks, each with what was kept of those before, in panels.
TEST_P(PodOn, BlocksOfColumnsGiveTheSameModes) {
  const Matrix S = snapshots();
  ColumnBlocks blocks{rows, {}, {}};
  constexpr int width = 17;
  for (int first = 0; first < count; first += width) blocks.counts.push_back(std::min(width, count - first));
  blocks.read = [&](int k, std::vector<double>&) {
    return std::span(S.data() + static_cast<std::ptrdiff_t>(k) * width * rows,
                     static_cast<std::size_t>(blocks.counts[static_cast<std::size_t>(k)] * rows));
  };
  const PodSettings host{.tolerance = 1e-4};
  PodSettings settings = host;
  DenseContext context(GetParam());
  for (const std::size_t most : {std::size_t{0}, S.size() * sizeof(double) / 2 + geqrf_bytes(context, rows, count)}) {
    settings.device = DeviceRoom{GetParam(), most};
    // Six decompositions, one after the other; what each leaves out changes nothing above 1e-12.
    expect_same(proper_orthogonal_decomposition(blocks, settings), decompose(S, host), 1e4);
  }
}

TEST_P(PodOn, OddShapes) {
  const PodSettings settings{.tolerance = 0, .device = DeviceRoom{GetParam()}};
  EXPECT_EQ(decompose(test::Random(1).matrix(10, 30), settings).modes, 10);  // more snapshots than rows
  EXPECT_EQ(decompose(Matrix::Zero(20, 5), settings).modes, 0);
  const Pod one = decompose(test::Random(2).matrix(50, 1), settings);
  EXPECT_EQ(one.modes, 1);
  EXPECT_LT(orthonormality_defect(one.basis, 50, 1), 1e-14);
  Matrix S = test::Random(3).matrix(40, 4);
  S(3, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)decompose(S, settings), InputError);
}

TEST_P(PodOn, NoRoomIsSaidInWords) {
  const Matrix S = snapshots();
  try {
    (void)decompose(S, {.tolerance = 1e-3, .device = DeviceRoom{GetParam(), 1000}});
    FAIL() << "90 columns in 1000 bytes";
  } catch (const CapabilityError& error) {
    const std::string words = error.what();
    EXPECT_TRUE(words.starts_with("no memory for the modes (the smallest chunk takes ")) << words;
    EXPECT_TRUE(words.ends_with(" kB, 1 kB of " + to_string(GetParam()) + " may be used)")) << words;
  }
}

// R^T R = A^T A and R is the host's but for the signs of its rows.
TEST_P(PodOn, QrFactors) {
  for (const auto& [m, n] : {std::pair{200, 70}, {70, 70}, {30, 50}, {1, 4}, {300, 1}}) {
    const Matrix A = test::Random(5).matrix(m, n);
    const int ld = m + 3, height = std::min(m, n);
    Matrix padded = Matrix::Constant(ld, n, 7.0);
    padded.topRows(m) = A;
    DenseContext context(GetParam());
    Array<double> there(GetParam(), std::span<const double>(padded.data(), static_cast<std::size_t>(padded.size())));
    geqrf(context, m, n, there.data(), ld);
    there.download({padded.data(), static_cast<std::size_t>(padded.size())});
    EXPECT_EQ(padded.bottomRows(3), Matrix::Constant(3, n, 7.0));
    const Matrix R = padded.topRows(height).triangularView<Eigen::Upper>();
    EXPECT_LT((R.transpose() * R - A.transpose() * A).norm(), 1e-14 * A.squaredNorm()) << m << " x " << n;
    const Matrix host = Eigen::HouseholderQR<Matrix>(A).matrixQR().topRows(height).triangularView<Eigen::Upper>();
    // Well-conditioned but for the square one (some thousand).
    EXPECT_LT((R.cwiseAbs() - host.cwiseAbs()).norm(), 1e-11 * host.norm()) << m << " x " << n;
    EXPECT_GT(geqrf_bytes(context, m, n), 0U);
  }
}

// Panels with less rows than columns, and a last one of a single row.
TEST_P(PodOn, TrianglesAndProductsInPanels) {
  const Matrix A = test::Random(9).matrix(4001, 20), V = test::Random(10).matrix(20, 6);
  DeviceTall whole{DeviceRoom{GetParam()}};
  const DeviceRoom room = least_room(GetParam(), [&](const DeviceRoom& tried) { (void)DeviceTall(tried).triangle(A); });
  EXPECT_LT(room.most, room_of_all(GetParam(), A));
  DeviceTall small{room};
  const Matrix R = small.triangle(A);
  EXPECT_LT((R.transpose() * R - A.transpose() * A).norm(), 1e-14 * A.squaredNorm());
  EXPECT_LT((R.cwiseAbs() - whole.triangle(A).cwiseAbs()).norm(), 1e-13 * R.norm());
  DeviceTall tiny{least_room(GetParam(), [&](const DeviceRoom& tried) { (void)DeviceTall(tried).multiply(A, V); })};
  for (DeviceTall* tall : {&whole, &small, &tiny})
    EXPECT_LT((tall->multiply(A, V) - A * V).cwiseAbs().maxCoeff(), 1e-13);
}

}  // namespace
}  // namespace supple
