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
#include "kernels/elements/batch_ops.hpp"
#include "kernels/step/row_ops.hpp"
#include "tests/devices.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

constexpr int robots = 5, n = 3, m = 2, r = 7, points = 6, outputs = 3 * points;

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

// Systems 2 K + 3 M of which robot 2's is not positive, right-hand sides and spaces of own rows and of two effectors.
struct System {
  std::vector<double> K = random(robots * r * r), M = random(r * r), residual = random(robots * r),
                      forces = random(robots * r), H = random(robots * n * r), H_c = random(robots * n * m),
                      A_c = random(robots * m * r), phi = random(robots * n), H_e = random(robots * 2 * r),
                      phi_e = random(robots * 2), compliance = random(robots * n);
  System() {
    for (int b = 0; b < robots; ++b)
      for (int i = 0; i < r; ++i) K[static_cast<std::size_t>(b * r * r + i * (r + 1))] += b == 2 ? -5 : 10;
  }
};
struct Solved {
  std::vector<double> X, free, W, B, free_e, W_e;
  std::vector<SystemReport> found;
  explicit Solved(int inputs)
      : X(robots * (1 + n + inputs) * r),
        free(robots * n),
        W(robots * n * n),
        B(robots * n * inputs),
        free_e(robots * 2),
        W_e(robots * 2 * n),
        found(robots, {SystemStatus::singular, -1, -1}) {}
};

// What lies on a device, and the ops on it.
struct There {
  Array<double> residual, forces, H, H_c, A_c, phi, H_e, phi_e, compliance, X, free, W, B, free_e, W_e;
  Array<SystemReport> found;
  int inputs;
  There(const Device& device, const System& s, int moved)
      : residual(on(device, s.residual)),
        forces(on(device, s.forces)),
        H(on(device, s.H)),
        H_c(on(device, s.H_c)),
        A_c(on(device, s.A_c)),
        phi(on(device, s.phi)),
        H_e(on(device, s.H_e)),
        phi_e(on(device, s.phi_e)),
        compliance(on(device, s.compliance)),
        inputs(moved) {
    const Solved empty(inputs);
    for (const auto& [to, from] : {std::pair{&X, &empty.X},
                                   {&free, &empty.free},
                                   {&W, &empty.W},
                                   {&B, &empty.B},
                                   {&free_e, &empty.free_e},
                                   {&W_e, &empty.W_e}})
      *to = on(device, *from);
    found = on(device, empty.found);
  }
  Matrices solutions() { return {X.data(), robots, 1 + n + inputs, r}; }
  RightSidesTeamOp sides() {
    return {ConstVectors(residual.data(), robots, r), ConstVectors(forces.data(), robots, r),
            ConstMatrices(H.data(), robots, n, r), ConstMatrices(A_c.data(), robots, inputs, r), solutions()};
  }
  SpaceTeamOp rows(double beta) {
    return {n,
            inputs,
            true,
            beta,
            ConstVectors(phi.data(), robots, n),
            ConstMatrices(H.data(), robots, n, r),
            ConstMatrices(H_c.data(), robots, n, m),
            solutions(),
            {},
            ConstVectors(compliance.data(), robots, n),
            Vectors(free.data(), robots, n),
            Matrices(W.data(), robots, n, n),
            Matrices(B.data(), robots, n, inputs)};
  }
  SpaceTeamOp effectors() {
    return {n,  0,           false, 1,  ConstVectors(phi_e.data(), robots, 2), ConstMatrices(H_e.data(), robots, 2, r),
            {}, solutions(), {},    {}, Vectors(free_e.data(), robots, 2),     Matrices(W_e.data(), robots, 2, n),
            {}};
  }
  Solved come_back() const {
    Solved out(inputs);
    out.X = back(X), out.free = back(free), out.W = back(W), out.B = back(B);
    out.free_e = back(free_e), out.W_e = back(W_e), out.found = back(found);
    return out;
  }
};

double dot_of(const double* a, const double* b) {
  return std::inner_product(a, a + r, b, 0.0);
}

TEST_P(StepOps, RightSides) {
  const System s;
  There there(GetParam(), s, m);
  launch_robots(GetParam(), robots, there.sides());
  const std::vector<double> X = back(there.X);
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  for (int b = 0; b < robots; ++b) {
    const double* own = X.data() + b * (1 + n + m) * r;
    for (int k = 0; k < r; ++k) EXPECT_DOUBLE_EQ(own[k], s.residual[at(b * r + k)] + s.forces[at(b * r + k)]);
    for (int k = 0; k < n * r; ++k) EXPECT_EQ(own[r + k], s.H[at(b * n * r + k)]);
    for (int k = 0; k < m * r; ++k) EXPECT_EQ(own[(1 + n) * r + k], s.A_c[at(b * m * r + k)]);
  }
}

// Against the formulas: free = phi + H u_f/beta, W = H X_a/beta + compliance, B = (H_c - H X_c)/beta.
TEST_P(StepOps, ConstraintSpace) {
  constexpr double beta = 0.8;
  System s;
  There there(GetParam(), s, m);
  Solved solved(m);
  for (double& x : solved.X) x = random(1).front();
  // W = H A^-1 H^T is symmetric, as columns that stand for A^-1 H^T must make it: H X_a with X_a = H^T.
  for (int b = 0; b < robots; ++b)
    std::copy_n(s.H.data() + b * n * r, n * r, solved.X.data() + b * (1 + n + m) * r + r);
  there.X = on(GetParam(), solved.X);
  launch_robots(GetParam(), robots, there.rows(beta));
  launch_robots(GetParam(), robots, there.effectors());
  const Solved found = there.come_back();
  Solved expected(m);
  for (int b = 0; b < robots; ++b) {
    const double* X = solved.X.data() + b * (1 + n + m) * r;
    const auto at = [](int k) { return static_cast<std::size_t>(k); };
    for (int i = 0; i < n; ++i) {
      const double* h = s.H.data() + (b * n + i) * r;
      expected.free[at(b * n + i)] = s.phi[at(b * n + i)] + dot_of(h, X) / beta;
      for (int j = 0; j < n; ++j)
        expected.W[at((b * n + i) * n + j)] =
            dot_of(h, X + (1 + j) * r) / beta + (i == j ? s.compliance[at(b * n + i)] : 0);
      for (int j = 0; j < m; ++j)
        expected.B[at((b * n + i) * m + j)] = (s.H_c[at((b * n + i) * m + j)] - dot_of(h, X + (1 + n + j) * r)) / beta;
    }
    for (int i = 0; i < 2; ++i) {
      const double* h = s.H_e.data() + (b * 2 + i) * r;
      expected.free_e[at(b * 2 + i)] = s.phi_e[at(b * 2 + i)] + dot_of(h, X);
      for (int j = 0; j < n; ++j) expected.W_e[at((b * 2 + i) * n + j)] = dot_of(h, X + (1 + j) * r);
    }
  }
  expect_near(found.free, expected.free, "free");
  expect_near(found.W, expected.W, "W");
  expect_near(found.B, expected.B, "B");
  expect_near(found.free_e, expected.free_e, "effectors' free");
  expect_near(found.W_e, expected.W_e, "effectors' W");
  EXPECT_EQ(found.W[1], found.W[3]);
}

Solved solve_one_after_the_other(const System& s) {
  There there(cpu(), s, 0);
  launch_robots(cpu(), robots, there.sides());
  std::vector<double> A(s.K.size()), X = back(there.X);
  const SystemOp<double> matrix{{.mass = 3, .stiffness = 2}, s.K.data(), s.M.data(), r * r, A.data()};
  for (int k = 0; k < robots * r * r; ++k) matrix(k);
  std::vector<SystemReport> found(robots);
  for (int b = 0; b < robots; ++b) {
    double* a = A.data() + b * r * r;
    const bool positive = cholesky_factor(SingleTeam{}, a, r, r) == r;
    found[static_cast<std::size_t>(b)] = {positive ? SystemStatus::ok : SystemStatus::not_positive, positive ? 0 : 1,
                                          0};
    if (positive) cholesky_solve(SingleTeam{}, a, r, r, X.data() + b * (1 + n) * r, 1 + n, r);
  }
  there.X = on(cpu(), X);
  there.found = on(cpu(), found);
  launch_robots(cpu(), robots, there.rows(1));
  launch_robots(cpu(), robots, there.effectors());
  return there.come_back();
}

template <class S>
std::vector<S> in(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// Of robots that have a factor.
template <class S>
void expect_solved(const Solved& found, const Solved& expected) {
  constexpr double epsilon = std::numeric_limits<S>::epsilon();
  const auto but_the_third = [](std::vector<double> values) {
    const auto own = static_cast<std::ptrdiff_t>(values.size()) / robots;
    values.erase(values.begin() + 2 * own, values.begin() + 3 * own);
    return values;
  };
  for (std::size_t b = 0; b < robots; ++b) {
    EXPECT_EQ(found.found[b].status, expected.found[b].status) << b;
    EXPECT_EQ(found.found[b].status == SystemStatus::ok, b != 2) << b;
  }
  expect_near(but_the_third(found.X), but_the_third(expected.X), "X", epsilon);
  expect_near(but_the_third(found.free), but_the_third(expected.free), "free", epsilon);
  expect_near(but_the_third(found.W), but_the_third(expected.W), "W", epsilon);
  expect_near(but_the_third(found.free_e), but_the_third(expected.free_e), "effectors' free", epsilon);
  expect_near(but_the_third(found.W_e), but_the_third(expected.W_e), "effectors' W", epsilon);
}

template <class S>
void solve_fused(const Device& device) {
  const System s;
  const Array<S> K = on(device, in<S>(s.K)), M = on(device, in<S>(s.M));
  There there(device, s, 0);
  const int teams = team_count(device, robots);
  Array<S> scratch(device, static_cast<std::size_t>(teams) * FusedSystemTeamOp<S>::scratch_length(r, n));
  launch_teams(device, robots, teams,
               FusedSystemTeamOp<S>{{.mass = 3, .stiffness = 2},
                                    K.data(),
                                    M.data(),
                                    there.sides(),
                                    there.rows(1),
                                    there.effectors(),
                                    there.found.data(),
                                    scratch.data()});
  expect_solved<S>(there.come_back(), solve_one_after_the_other(s));
}

TEST_P(StepOps, FusedSystems) {
  solve_fused<double>(GetParam());
  solve_fused<float>(GetParam());
}

template <class S>
void solve_fused_by(int members) {
  const System s;
  const std::vector<S> K = in<S>(s.K), M = in<S>(s.M);
  There there(cpu(), s, 0);
  std::vector<S> scratch(FusedSystemTeamOp<S>::scratch_length(r, n));
  const FusedSystemTeamOp<S> op{
      {.mass = 3, .stiffness = 2}, K.data(),           M.data(),      there.sides(), there.rows(1),
      there.effectors(),           there.found.data(), scratch.data()};
  std::barrier<> barrier(members);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < members; ++rank)
      threads.emplace_back([&, rank] {
        for (int robot = 0; robot < robots; ++robot) op(test::ThreadTeam{rank, members, &barrier}, 0, robot);
      });
  }
  expect_solved<S>(there.come_back(), solve_one_after_the_other(s));
}

TEST(StepOpsOnCpu, FusedSystemsOfATeamOfThreads) {
  for (const int members : {3, 8}) {
    solve_fused_by<double>(members);
    solve_fused_by<float>(members);
  }
}

TEST_P(StepOps, Findings) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  std::vector<PointReport> points(robots, {2, 0, -1, 0}), start(robots, {0, 0, -1, 0});
  std::vector<double> f = random(robots * r), X = random(robots * (1 + n) * r);
  std::vector<SystemReport> systems(robots);
  systems[2].weakened = 1;
  points[1] = {0, 3, 17, 0};
  systems[1].status = SystemStatus::not_positive;  // what comes first is reported
  f[2 * r + r - 1] = nan;
  systems[3].status = SystemStatus::not_positive;
  X[4 * (1 + n) * r + n * r + 2] = -infinite;
  const Array<PointReport> points_there = on(GetParam(), points);
  const Array<SystemReport> systems_there = on(GetParam(), systems);
  const Array<double> f_there = on(GetParam(), f), X_there = on(GetParam(), X);
  RobotStatus expected[] = {RobotStatus::ok, RobotStatus::undefined_points, RobotStatus::undefined_points,
                            RobotStatus::not_positive, RobotStatus::not_finite};
  for (const bool looks_back : {false, true}) {
    if (looks_back) {
      start[0] = {0, 1, 5, 0};
      expected[0] = RobotStatus::undefined_points;
    }
    const Array<PointReport> start_there = on(GetParam(), start);
    Array<RobotFinding> findings(GetParam(), robots);
    launch_robots(GetParam(), robots,
                  FindingTeamOp{looks_back ? start_there.data() : nullptr, points_there.data(), systems_there.data(),
                                ConstVectors(f_there.data(), robots, r),
                                ConstMatrices(X_there.data(), robots, 1 + n, r), findings.data()});
    const std::vector<RobotFinding> found = back(findings);
    for (std::size_t b = 0; b < robots; ++b) {
      EXPECT_EQ(found[b].status, expected[b]) << b;
      EXPECT_EQ(found[b].points.first_undefined, looks_back && b == 0 ? 5 : points[b].first_undefined);
      EXPECT_EQ(found[b].system.weakened, systems[b].weakened);
    }
  }
}

// du, u, q and v of the robots that go on, against the formulas; half of the way back; places.
TEST_P(StepOps, Moves) {
  constexpr double h = 0.01, beta = 0.75;
  const int columns = 1 + n + m;
  const std::vector<double> X = random(robots * columns * r), lambda = random(robots * n), held = random(robots * n),
                            dc = random(robots * m), contact = random(robots * r), u = random(robots * r),
                            q = random(robots * r), v = random(robots * r), values = random(2 * r);
  const std::vector<unsigned char> goes{1, 0, 1, 1, 0};
  const std::vector<int> put{4, 2};
  const Device& device = GetParam();
  const Array<double> X_there = on(device, X), lambda_there = on(device, lambda), held_there = on(device, held),
                      dc_there = on(device, dc), contact_there = on(device, contact), values_there = on(device, values);
  const Array<unsigned char> goes_there = on(device, goes);
  const Array<int> put_there = on(device, put);
  Array<double> du_there(device, u.size()), u_there = on(device, u), q_there = on(device, q), v_there = on(device, v);
  const Vectors du_view(du_there.data(), robots, r), u_view(u_there.data(), robots, r),
      q_view(q_there.data(), robots, r), v_view(v_there.data(), robots, r);
  launch_robots(
      device, robots,
      CorrectTeamOp{ConstMatrices(X_there.data(), robots, columns, r), ConstVectors(lambda_there.data(), robots, n),
                    ConstVectors(held_there.data(), robots, n), ConstVectors(dc_there.data(), robots, m),
                    ConstVectors(contact_there.data(), robots, r), goes_there.data(), du_view, u_view});
  const std::vector<double> du_found = back(du_there), u_found = back(u_there);
  launch_robots(device, robots, FinishTeamOp{true, h, beta, u_view, goes_there.data(), q_view, v_view});
  const std::vector<double> q_found = back(q_there), v_found = back(v_there);
  launch_robots(device, robots, StepBackTeamOp{goes_there.data(), du_view, u_view});
  const std::vector<double> u_back = back(u_there);
  launch(device, 2 * r, PlaceOp{r, put_there.data(), values_there.data(), q_there.data()});
  const std::vector<double> q_put = back(q_there);
  for (int b = 0; b < robots; ++b)
    for (int k = 0; k < r; ++k) {
      const auto at = static_cast<std::size_t>(b * r + k);
      const double* x = X.data() + b * columns * r + k;
      double expected = x[0] + contact[at];
      for (int i = 0; i < n; ++i)
        expected +=
            x[(1 + i) * r] * (lambda[static_cast<std::size_t>(b * n + i)] - held[static_cast<std::size_t>(b * n + i)]);
      for (int i = 0; i < m; ++i) expected -= x[(1 + n + i) * r] * dc[static_cast<std::size_t>(b * m + i)];
      if (goes[static_cast<std::size_t>(b)] == 0) {
        EXPECT_EQ(u_found[at], u[at]);
        EXPECT_EQ(u_back[at], u[at]);
        EXPECT_EQ(q_found[at], q[at]);
        EXPECT_EQ(v_found[at], v[at]);
      } else {
        EXPECT_NEAR(du_found[at], expected, 1e-14);
        EXPECT_NEAR(u_found[at], u[at] + expected, 1e-14);
        EXPECT_NEAR(q_found[at], q[at] + u_found[at], 1e-14);
        EXPECT_NEAR(v_found[at], (u_found[at] / h - (1 - beta) * v[at]) / beta, 1e-11);
        EXPECT_NEAR(u_back[at], u_found[at] - expected / 2, 1e-14);
      }
      if (b == 4 || b == 2) {
        EXPECT_EQ(q_put[at], values[static_cast<std::size_t>(b == 4 ? k : r + k)]);
      }
    }
}

// Residuals, their squares and forces of rows and springs on a device as on the host; the residual against its formula.
TEST_P(StepOps, Residuals) {
  constexpr double h = 0.02, alpha = 0.6, beta = 0.7;
  const std::vector<double> inertia = random(robots * r), p = random(robots * r), f = random(robots * r),
                            damping = random(robots * r), start = random(robots * r), H = random(robots * n * r),
                            lambda = random(robots * n), phi = random(robots * n), phi_n = random(robots * n),
                            rate = random(robots * n);
  const std::vector<SpringRow> springs{{0.5, 0}, {2, 0.03}, {1, 0.1}};
  struct Found {
    std::vector<double> r, springs, multipliers, rows, start_force;
    std::vector<ResidualSquares> squares;
  };
  const auto evaluate = [&](const Device& device) {
    const auto vectors = [](const Array<double>& a) { return ConstVectors(a.data(), robots, r); };
    const auto of_rows = [](const Array<double>& a) { return ConstVectors(a.data(), robots, n); };
    const Array<double> M = on(device, inertia), load = on(device, p), stress = on(device, f), D = on(device, damping),
                        F = on(device, start), J = on(device, H), l = on(device, lambda), now = on(device, phi),
                        before = on(device, phi_n), fast = on(device, rate);
    const Array<SpringRow> law = on(device, springs);
    Array<double> forces(device, p.size()), multipliers(device, lambda.size()), out(device, p.size()),
        rows(device, p.size()), start_force(device, p.size());
    Array<ResidualSquares> squares(device, robots);
    const ConstMatrices jacobians(J.data(), robots, n, r);
    launch_robots(device, robots,
                  SpringTeamOp{false, h, beta, law.data(), of_rows(now), of_rows(before), of_rows(fast), jacobians,
                               Vectors(multipliers.data(), robots, n), Vectors(forces.data(), robots, r)});
    launch_robots(device, robots,
                  ResidualTeamOp{true, h, alpha, vectors(M), vectors(load), vectors(stress), vectors(D),
                                 vectors(forces), vectors(F), Vectors(out.data(), robots, r)});
    launch_robots(device, robots,
                  ResidualSquaresTeamOp{vectors(out),
                                        vectors(stress),
                                        vectors(load),
                                        vectors(forces),
                                        jacobians,
                                        of_rows(l),
                                        {},
                                        Vectors(rows.data(), robots, r),
                                        {},
                                        squares.data()});
    launch_robots(device, robots,
                  StartForceTeamOp{alpha,
                                   vectors(load),
                                   vectors(stress),
                                   vectors(D),
                                   {law.data(), of_rows(now), of_rows(fast), jacobians},
                                   {law.data(), of_rows(before), of_rows(fast), jacobians},
                                   Vectors(start_force.data(), robots, r)});
    return Found{back(out), back(forces), back(multipliers), back(rows), back(start_force), back(squares)};
  };
  const Found here = evaluate(cpu()), there = evaluate(GetParam());
  expect_near(there.r, here.r, "r");
  expect_near(there.springs, here.springs, "springs");
  expect_near(there.multipliers, here.multipliers, "multipliers of springs");
  expect_near(there.rows, here.rows, "rows");
  expect_near(there.start_force, here.start_force, "start force");
  for (std::size_t b = 0; b < robots; ++b) {
    double sum = 0, of_rows = 0;
    for (std::size_t k = b * r; k < (b + 1) * r; ++k) {
      const double expected = inertia[k] / h + alpha * (p[k] - f[k] - damping[k] + here.springs[k]) + start[k];
      EXPECT_NEAR(here.r[k], expected, 1e-12);
      sum += (expected + here.rows[k]) * (expected + here.rows[k]);
      of_rows += here.rows[k] * here.rows[k];
    }
    EXPECT_NEAR(there.squares[b].residual, sum, 1e-10 * sum);
    EXPECT_NEAR(there.squares[b].rows, of_rows, 1e-12 * of_rows);
    EXPECT_EQ(there.squares[b].finite, 1);
    for (std::size_t s = 0; s < n; ++s) {
      const double slope = ((phi[b * n + s] - phi_n[b * n + s]) / h - (1 - beta) * rate[b * n + s]) / beta;
      const double expected = -(phi[b * n + s] + springs[s].damping_time * slope) / springs[s].compliance;
      EXPECT_NEAR(here.multipliers[b * n + s], expected, 1e-12 * std::abs(expected));
    }
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
  launch(GetParam(), count,
         SystemOp<double>{{.mass = 0, .stiffness = 2}, there.data(), there.data(), count, there.data()});
  down.queue_from(there);
  end.set();
  end.wait();
  for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(down[k], 2 * up[k]);
  EXPECT_GE(end.seconds_since(begin), 0);
  EXPECT_LT(end.seconds_since(begin), 60);
}

}  // namespace
}  // namespace supple
