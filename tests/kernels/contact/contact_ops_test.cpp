// Rows of contacts on every device (kernels/contact/contact_ops.hpp) against dense algebra: which pairs get rows, V V^T
// = H A^-1 H^T, what motion the forces cause, moved states and forces in the world; and by a team of CPU threads.

#include "kernels/contact/contact_ops.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "tests/devices.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd, Eigen::Vector3d;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int robots = 3, n = 2, r = 7, points = 5, first_point = 1, outputs = 3 * (first_point + points);
constexpr int obstacles = 2, pairs = points * obstacles, capacity = 8, all = n + 3 * capacity;
constexpr double contact_distance = 0.01;

MatrixXd random_matrix(int rows, int columns) {
  static std::mt19937_64 generator(5);
  MatrixXd values(rows, columns);
  for (double& x : values.reshaped()) x = static_cast<double>(generator() >> 11) * 0x1.0p-52 - 1;
  return values;
}

// Points above a floor and around a ball of 0.3 m; forces of the last step hold two pairs of robot 0.
struct Data {
  std::vector<PlacedSolid> solids;
  std::vector<MatrixXd> A;
  std::vector<double> L, friction, y, factor, H, X, free, target, forces, multipliers;
  std::vector<unsigned char> open{1, 1, 0};

  RowMatrix L_of(int point) const { return RowMatrix::Map(L.data() + 3 * point * r, 3, r); }
  double gap(const Vector3d& y, int pair) const {
    return pair % obstacles == 0 ? y[2] + 0.5 : (y - Vector3d(0.2, 0, 0)).norm() - 0.3;
  }
  Vector3d place(int b, int pair) const {
    return Vector3d::Map(y.data() + b * outputs + 3 * (first_point + pair / obstacles));
  }

  Data() {
    solids.push_back({.solid = {}, .inside = false, .rotation = Mat3d::identity(), .position = {{0, 0, -0.5}}});
    PlacedSolid ball = solids[0];
    ball.solid.shape = Solid::Shape::sphere;
    ball.solid.radius = 0.3;
    ball.position = {{0.2, 0, 0}};
    solids.push_back(ball);
    const auto append = [](std::vector<double>& to, const MatrixXd& m) {
      for (Eigen::Index i = 0; i < m.rows(); ++i)
        for (Eigen::Index j = 0; j < m.cols(); ++j) to.push_back(m(i, j));
    };
    append(L, 0.1 * random_matrix(outputs, r));
    for (int b = 0; b < robots; ++b) {
      const MatrixXd root = random_matrix(r, r), h = random_matrix(n, r);
      A.push_back(root * root.transpose() + MatrixXd::Identity(r, r));
      const Eigen::LLT<MatrixXd> cholesky(A.back());
      append(factor, cholesky.matrixL());
      append(H, h);
      append(X, cholesky.solve(0.3 * random_matrix(r, 1)).transpose());
      append(X, cholesky.solve(h.transpose()).transpose());
      append(friction, MatrixXd::Constant(1, obstacles, 0.5 + 0.1 * b));
      append(y, 0.7 * random_matrix(1, outputs));
      append(free, random_matrix(1, n));
      append(target, random_matrix(1, n));
      append(multipliers, random_matrix(1, n));
      MatrixXd force = MatrixXd::Zero(pairs, 3);
      if (b == 0) {
        force.row(4) << 0.1, -0.2, 0.7;
        force.row(7) << 0, 0.3, 0.2;
      }
      append(forces, force);
    }
  }
};

// What the ops write, from numbers that say that nothing was written.
struct Outcome {
  std::vector<double> frame, V, d, lambda, motion, mu;
  std::vector<unsigned char> rows_of_pair;
  std::vector<int> pair;
  std::vector<ContactFinding> findings;
  Outcome()
      : frame(robots * capacity * 9, 77),
        V(robots * all * r, 77),
        d(robots * all, 77),
        lambda(d),
        motion(robots * r, 77),
        mu(robots * capacity, 77),
        rows_of_pair(robots * pairs, 77),
        pair(robots * capacity, 77),
        findings(robots) {}
  const ContactFinding& of(int b) const { return findings[static_cast<std::size_t>(b)]; }
  int pair_of(int b, int c) const { return pair[static_cast<std::size_t>(b * capacity + c)]; }
  RowMatrix frame_of(int b, int c) const { return RowMatrix::Map(frame.data() + (b * capacity + c) * 9, 3, 3); }
};

ContactArrays sizes() {
  ContactArrays a{};
  a.n = n, a.r = r, a.outputs = outputs, a.first_point = first_point, a.points = points, a.obstacles = obstacles;
  a.capacity = capacity, a.distance = contact_distance;
  return a;
}

template <class D, class O>
ContactArrays arrays_of(D& data, O& out) {
  ContactArrays a = sizes();
  a.solids = data.solids.data(), a.friction = data.friction.data(), a.L = data.L.data(), a.y = data.y.data();
  a.factor = data.factor.data(), a.H = data.H.data(), a.X = data.X.data(), a.free = data.free.data();
  a.target = data.target.data(), a.open = data.open.data(), a.forces = data.forces.data();
  a.multipliers = data.multipliers.data();
  a.rows_of_pair = out.rows_of_pair.data(), a.pair = out.pair.data(), a.frame = out.frame.data(), a.V = out.V.data();
  a.d = out.d.data(), a.lambda = out.lambda.data(), a.motion = out.motion.data(), a.mu = out.mu.data();
  a.findings = out.findings.data();
  return a;
}

template <class T>
Array<T> on(const Device& device, const std::vector<T>& values) {
  return Array<T>(device, std::span<const T>(values));
}

// The rounds of a step: rows of the forces there are, then of the pairs that would be too near under them.
Outcome by_device(const Device& device, const Data& data, int rounds) {
  Outcome out;
  struct {
    Array<PlacedSolid> solids;
    Array<double> friction, L, y, factor, H, X, free, target, forces, multipliers;
    Array<unsigned char> open;
  } there{on(device, data.solids), on(device, data.friction), on(device, data.L),           on(device, data.y),
          on(device, data.factor), on(device, data.H),        on(device, data.X),           on(device, data.free),
          on(device, data.target), on(device, data.forces),   on(device, data.multipliers), on(device, data.open)};
  struct {
    Array<double> frame, V, d, lambda, motion, mu;
    Array<unsigned char> rows_of_pair;
    Array<int> pair;
    Array<ContactFinding> findings;
  } found{on(device, out.frame),        on(device, out.V),      on(device, out.d),
          on(device, out.lambda),       on(device, out.motion), on(device, out.mu),
          on(device, out.rows_of_pair), on(device, out.pair),   on(device, out.findings)};
  const int teams = team_count(device, robots);
  Array<double> scratch(device, static_cast<std::size_t>(teams) * ContactRowsTeamOp::scratch_length(r, points, pairs));
  for (int round = 0; round < rounds; ++round)
    launch_teams(device, robots, teams, ContactRowsTeamOp{arrays_of(there, found), round == 0, scratch.data()});
  found.frame.download(out.frame), found.V.download(out.V), found.d.download(out.d), found.lambda.download(out.lambda);
  found.motion.download(out.motion), found.mu.download(out.mu), found.rows_of_pair.download(out.rows_of_pair);
  found.pair.download(out.pair), found.findings.download(out.findings);
  return out;
}

RowMatrix rows_of(const Data& data, const Outcome& out, int b) {
  const int contacts = out.of(b).contacts;
  RowMatrix H(n + 3 * contacts, r);
  H.topRows(n) = RowMatrix::Map(data.H.data() + b * n * r, n, r);
  for (int c = 0; c < contacts; ++c)
    H.middleRows(n + 3 * c, 3) = out.frame_of(b, c) * data.L_of(first_point + out.pair_of(b, c) / obstacles);
  return H;
}

class ContactOps : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ContactOps, test::every_device(), test::device_name);

TEST_P(ContactOps, RowsAreThoseOfDenseAlgebra) {
  const Data data;
  for (const int rounds : {1, 2}) {
    const Outcome out = by_device(GetParam(), data, rounds);
    EXPECT_EQ(out.V[2 * all * r], 77);  // robot 2 is not open
    for (int b = 0; b < 2; ++b) {
      ASSERT_GT(out.of(b).contacts, 0);
      EXPECT_EQ(out.of(b).known, out.of(b).contacts);
      EXPECT_EQ(out.of(b).full, 0);
      const RowMatrix H = rows_of(data, out, b);
      const int N = static_cast<int>(H.rows());
      const RowMatrix V = RowMatrix::Map(out.V.data() + b * all * r, N, r);
      const MatrixXd W = H * data.A[static_cast<std::size_t>(b)].llt().solve(H.transpose());
      EXPECT_LT((V * V.transpose() - W).lpNorm<Eigen::Infinity>(), 1e-12);
      // d = phi + H X_0, phi of a contact: gap - distance, 0, 0
      VectorXd d = H * VectorXd::Map(data.X.data() + b * (1 + n) * r, r);
      d.head(n) = VectorXd::Map(data.free.data() + b * n, n) - VectorXd::Map(data.target.data() + b * n, n);
      for (int c = 0; c < out.of(b).contacts; ++c) {
        const int pair = out.pair_of(b, c);
        d[n + 3 * c] += data.gap(data.place(b, pair), pair) - contact_distance;
        EXPECT_EQ(out.mu[static_cast<std::size_t>(b * capacity + c)], 0.5 + 0.1 * b);
      }
      EXPECT_LT((VectorXd::Map(out.d.data() + b * all, N) - d).lpNorm<Eigen::Infinity>(), 1e-12);
    }
    // Robot 0 begins with the forces of the last step, in the axes of its rows.
    EXPECT_EQ(out.of(0).contacts, rounds == 1 ? 2 : 2 + out.of(0).added);
    for (int c = 0; c < 2; ++c) {
      EXPECT_EQ(out.pair_of(0, c), c == 0 ? 4 : 7);
      const Vector3d force = out.frame_of(0, c) * Vector3d::Map(data.forces.data() + 3 * out.pair_of(0, c));
      EXPECT_LT((force - Vector3d::Map(out.lambda.data() + n + 3 * c)).norm(), 1e-14);
    }
  }
}

// u = A^-1 (r + H^T lambda), where rows were last looked for; points without rows are not below the distance there.
TEST_P(ContactOps, MotionsAreThoseOfDenseAlgebra) {
  const Data data;
  const Outcome one = by_device(GetParam(), data, 1), out = by_device(GetParam(), data, 2);
  for (int b = 0; b < 2; ++b) {
    // Robot 0's rows of the first round push; new ones do not yet.
    const RowMatrix H = rows_of(data, b == 0 ? one : out, b);
    const VectorXd lambda = VectorXd::Map(out.lambda.data() + b * all, H.rows());
    const Eigen::LLT<MatrixXd> cholesky(data.A[static_cast<std::size_t>(b)]);
    VectorXd u = VectorXd::Map(data.X.data() + b * (1 + n) * r, r);
    u += cholesky.solve(H.transpose() * lambda);
    const VectorXd found = VectorXd::Map(out.motion.data() + b * r, r);
    EXPECT_LT((found - u).lpNorm<Eigen::Infinity>(), 1e-12) << b;
    int near = 0;
    for (int k = 0; k < pairs; ++k) {
      const double gap = data.gap(data.place(b, k) + data.L_of(first_point + k / obstacles) * found, k);
      near += gap < contact_distance;
      if (out.rows_of_pair[static_cast<std::size_t>(b * pairs + k)] == 0) {
        EXPECT_GE(gap, contact_distance - 1e-9) << b << ' ' << k;
      }
    }
    EXPECT_GT(near, 0);
  }
}

TEST(ContactOpsOnCpu, ATeamOfThreadsFindsTheSameBits) {
  const Data data;
  const Outcome expected = by_device(cpu(), data, 2);
  for (const int members : {2, 3}) {
    Data own = data;
    Outcome out;
    std::vector<double> scratch(ContactRowsTeamOp::scratch_length(r, points, pairs));
    test::by_team(members, [&](const test::ThreadTeam& team) {
      for (const bool first : {true, false})
        for (int b = 0; b < robots; ++b) {
          ContactRowsTeamOp{arrays_of(own, out), first, scratch.data()}(team, 0, b);
          team.sync();
        }
    });
    EXPECT_EQ(out.V, expected.V);
    EXPECT_EQ(out.d, expected.d);
    EXPECT_EQ(out.motion, expected.motion);
    EXPECT_EQ(out.pair, expected.pair);
    EXPECT_EQ(out.rows_of_pair, expected.rows_of_pair);
  }
}

TEST_P(ContactOps, Forces) {
  Data data;
  Outcome out = by_device(cpu(), data, 2);
  for (std::size_t k = 0; k < out.lambda.size(); ++k) out.lambda[k] = std::sin(static_cast<double>(k));
  const std::vector<unsigned char> goes{1, 0, 0};
  const Device& device = GetParam();
  Array<double> frame = on(device, out.frame), lambda = on(device, out.lambda), forces = on(device, data.forces);
  Array<int> pair = on(device, out.pair);
  Array<ContactFinding> findings = on(device, out.findings);
  const Array<unsigned char> goes_there = on(device, goes);
  ContactArrays a = sizes();
  a.frame = frame.data(), a.lambda = lambda.data(), a.forces = forces.data();
  a.pair = pair.data(), a.findings = findings.data();
  launch(device, robots, ContactForcesOp{a, goes_there.data()});
  std::vector<double> forces_after(data.forces.size());
  forces.download(forces_after);
  std::vector<double> expected(data.forces);
  std::fill_n(expected.begin(), 3 * pairs, 0.0);
  for (int c = 0; c < out.of(0).contacts; ++c)
    Vector3d::Map(expected.data() + 3 * out.pair_of(0, c)) +=
        out.frame_of(0, c).transpose() * Vector3d::Map(out.lambda.data() + n + 3 * c);
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(forces_after[k], expected[k], 1e-14) << k;
}

}  // namespace
}  // namespace supple
