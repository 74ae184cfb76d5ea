// The operations between the products and solves of a batch's step (kernels/step/row_ops.hpp, step_ops.hpp) on every
// device against the same source on the host, field by field; the polynomial and the path against finite differences;
// copies that are queued.

#include "kernels/step/step_ops.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "kernels/array/launch.hpp"
#include "kernels/array/queued.hpp"
#include "kernels/step/row_ops.hpp"
#include "tests/devices.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

constexpr int robots = 5, n = 3, r = 7, points = 6, outputs = 3 * points;

std::vector<double> random(int count, double size = 1) {
  static std::mt19937_64 generator(3);
  std::vector<double> values;
  for (int k = 0; k < count; ++k) values.push_back(size * (static_cast<double>(generator() >> 11) * 0x1.0p-52 - 1));
  return values;
}

template <class T>
Array<T> on(const Device& device, const std::vector<T>& values) {
  return Array<T>(device, std::span<const T>(values));
}
template <class T>
std::vector<T> back(const Array<T>& array) {
  std::vector<T> values(array.size());
  array.download(values);
  return values;
}

// A device's compiler fuses and vectorises elsewhere: some roundings of the largest number.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected, const char* field,
                 double epsilon = std::numeric_limits<double>::epsilon()) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0, difference = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    largest = std::max(largest, std::abs(expected[k]));
    difference = std::max(difference, std::abs(found[k] - expected[k]));
  }
  EXPECT_GT(largest, 0) << field;
  EXPECT_LE(difference, 256 * epsilon * largest) << field;
}

class StepOps : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StepOps, test::every_device(), test::device_name);

// A row of each kind: a path with an end and one without, along a direction, a volume of five unknowns.
struct Rows {
  std::vector<RowShape> shapes;
  std::vector<double> coefficients = random(4 + 5 + 15 + 35);
  int gradients = 0;
  Rows() {
    const auto add = [&](RowShape shape) {
      shape.offset = gradients;
      gradients += 3 * shape.point_count;
      shapes.push_back(shape);
    };
    RowShape along;
    along.first_point = 2;
    along.direction = {{0.6, 0, 0.8}};
    along.place = {{0.1, 0.2, 0.3}};
    RowShape cable;
    cable.kind = RowShape::Kind::path;
    cable.first_point = 1;
    cable.point_count = 3;
    cable.anchored = true;
    cable.place = {{2, 2, 2}};
    cable.rest = 0.7;
    RowShape strut = cable;
    strut.anchored = false;
    strut.side = -1;
    RowShape volume;
    volume.kind = RowShape::Kind::volume;
    volume.first_point = 4;
    volume.point_count = 2;
    volume.unknowns = 5;
    volume.coefficients = 4;
    volume.rest = 0.3;
    volume.size = 2;
    for (const RowShape& shape : {along, cable, strut, volume}) add(shape);
  }
  int count() const { return static_cast<int>(shapes.size()); }
};

TEST_P(StepOps, RowValues) {
  const Rows rows;
  const int count = rows.count();
  const std::vector<double> y = random(robots * outputs);
  std::vector<double> phi(static_cast<std::size_t>(robots * count)),
      gradients(static_cast<std::size_t>(robots * rows.gradients), 77.0);
  const RowValuesOp here{rows.shapes.data(), rows.coefficients.data(), count, outputs, rows.gradients, y.data(),
                         phi.data(),         gradients.data()};
  for (int k = 0; k < robots * count; ++k) here(k);
  const Array<RowShape> shapes = on(GetParam(), rows.shapes);
  const Array<double> coefficients = on(GetParam(), rows.coefficients), y_there = on(GetParam(), y);
  Array<double> phi_there(GetParam(), phi.size()), gradients_there(GetParam(), gradients.size());
  launch(GetParam(), robots * count,
         RowValuesOp{shapes.data(), coefficients.data(), count, outputs, rows.gradients, y_there.data(),
                     phi_there.data(), gradients_there.data()});
  expect_near(back(phi_there), phi, "phi");
  expect_near(back(gradients_there), gradients, "gradients");
}

// Central differences of step h: an error of h^2 of third derivatives of some units, and of 1e-16/h.
TEST(StepOpsOnCpu, GradientsOfRowsAreThoseOfTheirValues) {
  const Rows rows;
  const int count = rows.count();
  std::vector<double> y = random(outputs), phi(static_cast<std::size_t>(count)),
                      gradients(static_cast<std::size_t>(rows.gradients)), ignored(gradients.size());
  const auto evaluate = [&](double* out, double* g) {
    const RowValuesOp op{
        rows.shapes.data(), rows.coefficients.data(), count, outputs, rows.gradients, y.data(), out, g};
    for (int k = 0; k < count; ++k) op(k);
  };
  evaluate(phi.data(), gradients.data());
  constexpr double h = 1e-5;
  for (int k = 0; k < outputs; ++k) {
    std::vector<double> above(phi.size()), below(phi.size());
    const double at = y[static_cast<std::size_t>(k)];
    y[static_cast<std::size_t>(k)] = at + h;
    evaluate(above.data(), ignored.data());
    y[static_cast<std::size_t>(k)] = at - h;
    evaluate(below.data(), ignored.data());
    y[static_cast<std::size_t>(k)] = at;
    for (std::size_t row = 0; row < rows.shapes.size(); ++row) {
      const RowShape& shape = rows.shapes[row];
      const int local = k - 3 * shape.first_point;
      const bool own = local >= 0 && local < 3 * shape.point_count;
      const double expected = own ? gradients[static_cast<std::size_t>(shape.offset + local)] : 0;
      EXPECT_NEAR((above[row] - below[row]) / (2 * h), expected, 1e-7) << row << " " << k;
    }
  }
}

TEST_P(StepOps, RightSides) {
  const std::vector<double> inertia = random(robots * r), p = random(robots * r), f = random(robots * r),
                            H = random(robots * n * r);
  std::vector<double> X(static_cast<std::size_t>(robots * (1 + n) * r));
  const int count = static_cast<int>(X.size());
  const RightSidesOp here{n, r, 0.01, inertia.data(), p.data(), f.data(), H.data(), X.data()};
  for (int k = 0; k < count; ++k) here(k);
  const Array<double> a = on(GetParam(), inertia), b = on(GetParam(), p), c = on(GetParam(), f), d = on(GetParam(), H);
  Array<double> there(GetParam(), X.size());
  launch(GetParam(), count, RightSidesOp{n, r, 0.01, a.data(), b.data(), c.data(), d.data(), there.data()});
  expect_near(back(there), X, "X");
  for (int b_ = 0; b_ < robots; ++b_)
    for (int k = 0; k < n * r; ++k)
      EXPECT_EQ(X[static_cast<std::size_t>(b_ * (1 + n) * r + r + k)], H[static_cast<std::size_t>(b_ * n * r + k)]);
}

TEST_P(StepOps, ConstraintSpace) {
  const std::vector<double> X = random(robots * (1 + n) * r), compliance{0.1, 0, 0.2};
  for (const bool own : {true, false}) {
    const int rows = own ? n : 2;
    const std::vector<double> phi = random(robots * rows), H = random(robots * rows * r);
    std::vector<double> free(phi.size()), W(static_cast<std::size_t>(robots * rows * n));
    const SpaceOp here{rows,        n,       r, own, phi.data(), H.data(), X.data(), own ? compliance.data() : nullptr,
                       free.data(), W.data()};
    for (int k = 0; k < robots * rows; ++k) here(k);
    const Array<double> phi_there = on(GetParam(), phi), H_there = on(GetParam(), H), X_there = on(GetParam(), X),
                        compliance_there = on(GetParam(), compliance);
    Array<double> free_there(GetParam(), free.size()), W_there(GetParam(), W.size());
    launch(GetParam(), robots * rows,
           SpaceOp{rows, n, r, own, phi_there.data(), H_there.data(), X_there.data(),
                   own ? compliance_there.data() : nullptr, free_there.data(), W_there.data()});
    expect_near(back(free_there), free, "free");
    expect_near(back(W_there), W, "W");
    if (own) {
      EXPECT_EQ(W[1], W[3]);
    }
  }
}

// Systems 2 K + 3 M of which robot 2's is not positive, right-hand sides and spaces: by teams, and one operation after
// the other.
struct System {
  std::vector<double> K = random(robots * r * r), M = random(r * r), inertia = random(robots * r),
                      p = random(robots * r), f = random(robots * r), H = random(robots * n * r),
                      phi = random(robots * n), H_e = random(robots * 2 * r), phi_e = random(robots * 2),
                      compliance{0.1, 0, 0.2};
  System() {
    for (int b = 0; b < robots; ++b)
      for (int i = 0; i < r; ++i) K[static_cast<std::size_t>(b * r * r + i * (r + 1))] += b == 2 ? -5 : 10;
  }
};
struct Solved {
  std::vector<double> X, free, W, free_e, W_e;
  std::vector<int> info;
  Solved()
      : X(robots * (1 + n) * r),
        free(robots * n),
        W(robots * n * n),
        free_e(robots * 2),
        W_e(robots * 2 * n),
        info(robots, -1) {}
};

Solved solve_one_after_the_other(const System& s) {
  Solved out;
  std::vector<double> A(s.K.size());
  const RightSidesOp sides{n, r, 0.01, s.inertia.data(), s.p.data(), s.f.data(), s.H.data(), out.X.data()};
  const SystemOp<double> matrix{2, 3, s.K.data(), s.M.data(), r * r, A.data()};
  const SpaceOp own{
      n, n, r, true, s.phi.data(), s.H.data(), out.X.data(), s.compliance.data(), out.free.data(), out.W.data()};
  const SpaceOp effectors{
      2, n, r, false, s.phi_e.data(), s.H_e.data(), out.X.data(), nullptr, out.free_e.data(), out.W_e.data()};
  for (int k = 0; k < robots * (1 + n) * r; ++k) sides(k);
  for (int k = 0; k < robots * r * r; ++k) matrix(k);
  for (int b = 0; b < robots; ++b) {
    double* a = A.data() + b * r * r;
    const int done = cholesky_factor(SingleTeam{}, a, r, r);
    out.info[static_cast<std::size_t>(b)] = done == r ? 0 : done + 1;
    if (done < r) continue;
    cholesky_solve(SingleTeam{}, a, r, r, out.X.data() + b * (1 + n) * r, 1 + n, r);
    for (int i = 0; i < n; ++i) own(b * n + i);
    for (int i = 0; i < 2; ++i) effectors(b * 2 + i);
  }
  return out;
}

template <class S>
std::vector<S> in(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class S>
void expect_solved(const Solved& found, const Solved& expected) {
  constexpr double epsilon = std::numeric_limits<S>::epsilon();
  EXPECT_EQ(found.info, expected.info);
  expect_near(found.X, expected.X, "X", epsilon);
  expect_near(found.free, expected.free, "free", epsilon);
  expect_near(found.W, expected.W, "W", epsilon);
  expect_near(found.free_e, expected.free_e, "effectors' free", epsilon);
  expect_near(found.W_e, expected.W_e, "effectors' W", epsilon);
}

template <class S>
void solve_fused(const Device& device) {
  const System s;
  const Solved expected = solve_one_after_the_other(s), empty;
  EXPECT_EQ(expected.info, (std::vector<int>{0, 0, 1, 0, 0}));
  const Array<S> K = on(device, in<S>(s.K)), M = on(device, in<S>(s.M));
  const Array<double> inertia = on(device, s.inertia), p = on(device, s.p), f = on(device, s.f), H = on(device, s.H),
                      phi = on(device, s.phi), H_e = on(device, s.H_e), phi_e = on(device, s.phi_e),
                      compliance = on(device, s.compliance);
  Array<double> X = on(device, empty.X), free = on(device, empty.free), W = on(device, empty.W),
                free_e = on(device, empty.free_e), W_e = on(device, empty.W_e);
  Array<int> info = on(device, empty.info);
  const int teams = team_count(device, robots);
  Array<S> scratch(device, static_cast<std::size_t>(teams) * FusedSystemTeamOp<S>::scratch_length(r, n));
  const RightSidesOp sides{n, r, 0.01, inertia.data(), p.data(), f.data(), H.data(), X.data()};
  const SpaceOp own{n, n, r, true, phi.data(), H.data(), X.data(), compliance.data(), free.data(), W.data()};
  const SpaceOp effectors{2, n, r, false, phi_e.data(), H_e.data(), X.data(), nullptr, free_e.data(), W_e.data()};
  launch_teams(device, robots, teams,
               FusedSystemTeamOp<S>{2, 3, K.data(), M.data(), sides, own, effectors, info.data(), scratch.data()});
  Solved found;
  found.info = back(info);
  found.X = back(X);
  found.free = back(free);
  found.W = back(W);
  found.free_e = back(free_e);
  found.W_e = back(W_e);
  expect_solved<S>(found, expected);
}

TEST_P(StepOps, FusedSystems) {
  solve_fused<double>(GetParam());
  solve_fused<float>(GetParam());
}

template <class S>
void solve_fused_by(int members) {
  const System s;
  const std::vector<S> K = in<S>(s.K), M = in<S>(s.M);
  Solved out;
  std::vector<S> scratch(FusedSystemTeamOp<S>::scratch_length(r, n));
  const FusedSystemTeamOp<S> op{
      2,
      3,
      K.data(),
      M.data(),
      {n, r, 0.01, s.inertia.data(), s.p.data(), s.f.data(), s.H.data(), out.X.data()},
      {n, n, r, true, s.phi.data(), s.H.data(), out.X.data(), s.compliance.data(), out.free.data(), out.W.data()},
      {2, n, r, false, s.phi_e.data(), s.H_e.data(), out.X.data(), nullptr, out.free_e.data(), out.W_e.data()},
      out.info.data(),
      scratch.data()};
  std::barrier<> barrier(members);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < members; ++rank)
      threads.emplace_back([&, rank] {
        for (int robot = 0; robot < robots; ++robot) op(test::ThreadTeam{rank, members, &barrier}, 0, robot);
      });
  }
  expect_solved<S>(out, solve_one_after_the_other(s));
}

TEST(StepOpsOnCpu, FusedSystemsOfATeamOfThreads) {
  for (const int members : {3, 8}) {
    solve_fused_by<double>(members);
    solve_fused_by<float>(members);
  }
}

TEST_P(StepOps, Findings) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  std::vector<PointCount> counts(robots, {2, 0, -1});
  std::vector<double> f = random(robots * r), X = random(robots * (1 + n) * r);
  std::vector<int> info(robots, 0), weakened(robots, 0);
  weakened[2] = 1;
  counts[1] = {0, 3, 17};
  info[1] = 1;  // what comes first is said
  f[2 * r + r - 1] = nan;
  info[3] = 4;
  X[4 * (1 + n) * r + n * r + 2] = -infinite;
  const Array<PointCount> counts_there = on(GetParam(), counts);
  const Array<double> f_there = on(GetParam(), f), X_there = on(GetParam(), X);
  const Array<int> info_there = on(GetParam(), info), weakened_there = on(GetParam(), weakened);
  Array<RobotFinding> findings(GetParam(), robots);
  launch(GetParam(), robots,
         FindingOp{n, r, counts_there.data(), f_there.data(), info_there.data(), weakened_there.data(), X_there.data(),
                   findings.data()});
  const std::vector<RobotFinding> found = back(findings);
  const RobotStatus expected[] = {RobotStatus::ok, RobotStatus::undefined_points, RobotStatus::undefined_points,
                                  RobotStatus::not_positive, RobotStatus::not_finite};
  for (std::size_t b = 0; b < robots; ++b) {
    EXPECT_EQ(found[b].status, expected[b]) << b;
    EXPECT_EQ(found[b].inverted, counts[b].inverted);
    EXPECT_EQ(found[b].undefined_at, counts[b].undefined_at);
    EXPECT_EQ(found[b].weakened, weakened[b]);
  }
}

TEST_P(StepOps, MovesAndPlaces) {
  const std::vector<double> X = random(robots * (1 + n) * r), lambda = random(robots * n), q = random(robots * r),
                            v = random(robots * r), values = random(2 * r);
  const std::vector<unsigned char> goes{1, 0, 1, 1, 0};
  const std::vector<int> put{4, 2};
  std::vector<double> q_here = q, v_here = v;
  const MoveOp here{n, r, 0.01, X.data(), lambda.data(), goes.data(), q_here.data(), v_here.data()};
  for (int k = 0; k < robots * r; ++k) here(k);
  const PlaceOp place{r, put.data(), values.data(), q_here.data()};
  for (int k = 0; k < 2 * r; ++k) place(k);
  const Array<double> X_there = on(GetParam(), X), lambda_there = on(GetParam(), lambda),
                      values_there = on(GetParam(), values);
  const Array<unsigned char> goes_there = on(GetParam(), goes);
  const Array<int> put_there = on(GetParam(), put);
  Array<double> q_there = on(GetParam(), q), v_there = on(GetParam(), v);
  launch(GetParam(), robots * r,
         MoveOp{n, r, 0.01, X_there.data(), lambda_there.data(), goes_there.data(), q_there.data(), v_there.data()});
  launch(GetParam(), 2 * r, PlaceOp{r, put_there.data(), values_there.data(), q_there.data()});
  const std::vector<double> q_found = back(q_there), v_found = back(v_there);
  expect_near(q_found, q_here, "q");
  expect_near(v_found, v_here, "v");
  for (std::size_t k = 0; k < r; ++k) {
    EXPECT_EQ(q_found[r + k], q[r + k]);  // stays
    EXPECT_EQ(v_found[4 * r + k], v[4 * r + k]);
    EXPECT_EQ(q_found[4 * r + k], values[k]);
    EXPECT_EQ(q_found[2 * r + k], values[r + k]);
    EXPECT_NEAR(q_found[k] - q[k], 0.01 * v_found[k], 1e-12);
  }
}

// Copies come in the order of the work around them, and a mark says when they are there.
TEST_P(StepOps, QueuedCopies) {
  constexpr std::size_t count = 1000;
  PinnedArray<double> up(GetParam(), count), down(GetParam(), count);
  EXPECT_EQ(std::accumulate(up.span().begin(), up.span().end(), 0.0), 0);
  std::iota(up.span().begin(), up.span().end(), 1.0);
  Array<double> there(GetParam(), count);
  Mark begin(GetParam()), end(GetParam());
  begin.set();
  up.queue_to(there);
  launch(GetParam(), count, SystemOp<double>{2, 0, there.data(), there.data(), count, there.data()});
  down.queue_from(there);
  end.set();
  end.wait();
  for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(down[k], 2 * up[k]);
  EXPECT_GE(end.seconds_since(begin), 0);
  EXPECT_LT(end.seconds_since(begin), 60);
}

}  // namespace
}  // namespace supple
