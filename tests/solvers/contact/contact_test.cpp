#include "solvers/contact/contact.hpp"

#include <gtest/gtest.h>

#include "solvers/complementarity/box_complementarity.hpp"
#include "solvers/dense/symmetric_factor.hpp"
#include "tests/solvers/allocations.hpp"
#include "tests/solvers/contact/contact_cases.hpp"

namespace supple {
namespace {

using namespace test;
using Eigen::Vector3d;

constexpr ContactMethod methods[] = {ContactMethod::gauss_seidel, ContactMethod::newton, ContactMethod::automatic};
constexpr double infinity = std::numeric_limits<double>::infinity();

VectorXd one(double value) {
  return VectorXd::Constant(1, value);
}

TEST(Contact, OneContactInClosedForm) {
  RowMatrix W = Vector3d(2e-3, 1e-3, 4e-3).asDiagonal();  // m/N
  const struct {
    Vector3d d;
    double mu;
    Vector3d force;
  } cases[] = {
      {{1e-3, 5, 5}, 0.5, {0, 0, 0}},                            // takes off
      {{-2e-3, 1e-4, -8e-4}, 0.5, {1, -0.1, 0.2}},               // sticks
      {{-2e-3, 3e-3, 0}, 0.5, {1, -0.5, 0}},                     // slips
      {{-2e-3, 1e-3 + 5e-4 * 0.6, 4e-3}, 0.5, {1, -0.3, -0.4}},  // slips along (1, 3)
      {{-2e-3, 3e-3, 7e-3}, 0, {1, 0, 0}},                       // without friction
      {{-2e-3, 3e-2, 4e-2}, infinity, {1, -30, -10}},            // infinite friction sticks
  };
  for (const ContactMethod method : methods)
    for (const auto& k : cases) {
      Vector3d d = k.d;
      if (k.force[2] == -0.4) d << -2e-3, 3e-4 + 3e-3, 1.6e-3 + 4e-3;  // w_t = (3, 4) mm
      const ContactCase c = contact_case(W, d, one(k.mu));
      const ContactAnswer a = solve(c, method);
      ASSERT_EQ(a.report.status, ContactStatus::solved);
      EXPECT_LT((a.lambda - k.force).norm(), 1e-9 * std::max(1.0, k.force.norm())) << k.force.transpose();
      EXPECT_LT(violation(c, a), 1e-9);
    }
}

// A point mass on a plane inclined by `angle`, one implicit Euler step from rest: w = h v.
TEST(Contact, BlockOnAnInclineSticksAndSlidesAtTheExactAngle) {
  const double h = 0.01, mass = 0.3, g = 9.81, mu = 0.6;
  const RowMatrix W = RowMatrix::Identity(3, 3) * h * h / mass;
  const auto step = [&](double angle, double speed, ContactMethod method) {
    const Vector3d d(-h * h * g * std::cos(angle), h * speed + h * h * g * std::sin(angle), 0);
    const ContactCase c = contact_case(W, d, one(mu));
    ContactWorkspace workspace(0, 1);
    return solve(c, {.method = method, .tolerance = 1e-14}, workspace, VectorXd::Zero(3));
  };
  const double threshold = std::atan(mu);
  for (const ContactMethod method : methods) {
    for (const double below : {1.0, 1e-3, 1e-9, 1e-12}) {
      const ContactAnswer rests = step(threshold - below * threshold, 0, method);
      EXPECT_LT(rests.w.norm(), 1e-14 * h * h * g) << below;
      const ContactAnswer slides = step(threshold + below * 0.5, 0, method);
      const double angle = threshold + below * 0.5, acceleration = slides.w[1] / (h * h);
      EXPECT_NEAR(acceleration, g * (std::sin(angle) - mu * std::cos(angle)), 1e-12 * g);
      if (below > 1e-10) {
        EXPECT_GT(acceleration, 0);
      }
    }
    // Sliding down and up, and stopping within a step.
    const double normal = g * std::cos(0.2), down = g * std::sin(0.2);
    EXPECT_NEAR(step(0.2, 1, method).w[1] / h, 1 + h * (down - mu * normal), 1e-12);
    EXPECT_NEAR(step(0.2, -1, method).w[1] / h, -1 + h * (down + mu * normal), 1e-12);
    EXPECT_NEAR(step(0.2, 0.5 * h * (mu * normal - down), method).w[1] / h, 0, 1e-13);
  }
}

// Normal and tangent coupled as in Painleve's rod, W positive definite: friction presses the contact down.
TEST(Contact, CoupledNormalAndTangent) {
  RowMatrix W(3, 3);
  W << 1, -0.9, 0, -0.9, 1, 0, 0, 0, 1;
  for (const double mu : {0.3, 1.0, 1.2, 5.0})
    for (const double slip : {-2.0, -0.2, 0.0, 0.2, 2.0})
      for (const ContactMethod method : methods) {
        const ContactCase c = contact_case(W, Vector3d(-1, slip, 0.1), one(mu));
        const ContactAnswer a = solve(c, method);
        ASSERT_EQ(a.report.status, ContactStatus::solved) << mu << ' ' << slip << ' ' << int(method);
        EXPECT_LT(violation(c, a), 1e-9);
      }
}

TEST(Contact, MixedProblemsByBothMethods) {
  Random random(1);
  int swept = 0, sweep_trials = 0;
  double worst = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    const ContactCase c = mixed_contacts(random, trial);
    for (const ContactMethod method : {ContactMethod::newton, ContactMethod::automatic}) {
      if (method == ContactMethod::newton && trial % 4 != 0) continue;
      const ContactAnswer a = solve(c, method);
      ASSERT_EQ(a.report.status, ContactStatus::solved) << trial << ' ' << int(method) << ' ' << a.report.residual;
      worst = std::max(worst, violation(c, a));
      ASSERT_LT(violation(c, a), 1e-9) << trial;
      ASSERT_LT(a.report.cone, 1e-14);
    }
    if (trial % 20 == 0) {
      ContactWorkspace workspace(c.boxes, c.contacts);
      const ContactAnswer a = solve(c, {.method = ContactMethod::gauss_seidel}, workspace, VectorXd::Zero(c.n()));
      ++sweep_trials;
      swept += a.report.status == ContactStatus::solved;
      if (a.report.status == ContactStatus::solved) {
        ASSERT_LT(violation(c, a), 1e-9) << trial;
      }
    }
  }
  // Sweeps alone may cycle; they say so.
  EXPECT_GE(swept, sweep_trials * 97 / 100) << sweep_trials;
  RecordProperty("worst", std::to_string(worst));
}

TEST(Contact, StrongFrictionSeldomDefeatsTheDefault) {
  Random random(2);
  int solved = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    ContactCase c = mixed_contacts(random, trial, 10);
    if (trial % 2 == 0) c.friction[random.below(c.contacts)] = 100;
    const ContactAnswer a = solve(c);
    solved += a.report.status == ContactStatus::solved;
    if (a.report.status == ContactStatus::solved) {
      ASSERT_LT(violation(c, a), 2e-8) << trial;
    }
  }
  EXPECT_GE(solved, 1990);
}

// Without friction: block principal pivoting on the normals and the box rows. w is unique; forces where W is regular.
TEST(Contact, FrictionlessAgreesWithPivoting) {
  Random random(3);
  int compared = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    RandomContacts kind{.contacts = 1 + random.below(8), .boxes = random.below(4)};
    kind.rank = 2 + random.below(kind.boxes + kind.contacts + 6);
    kind.friction = 0;
    ContactCase c = random_contacts(random, kind);
    const int n = c.boxes + c.contacts;
    const auto row = [&](int i) { return i < c.boxes ? i : c.boxes + 3 * (i - c.boxes); };
    RowMatrix W(n, n);
    VectorXd d(n), lower = VectorXd::Zero(n), upper = VectorXd::Constant(n, infinity), lambda = VectorXd::Zero(n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) W(i, j) = c.W(row(i), row(j));
      d[i] = c.d[row(i)];
      if (i < c.boxes) lower[i] = c.lower[i], upper[i] = c.upper[i];
    }
    std::vector<double> work(box_complementarity_work(n));
    const auto mutable_span = [](VectorXd& v) { return std::span(v.data(), static_cast<std::size_t>(v.size())); };
    const ComplementarityReport oracle =
        solve_box_complementarity(n, ContactCase::span(W), ContactCase::span(d), ContactCase::span(lower),
                                  ContactCase::span(upper), mutable_span(lambda), work);
    for (const ContactMethod method : methods) {
      const ContactAnswer a = solve(c, method);
      ASSERT_EQ(a.report.status, ContactStatus::solved) << trial << ' ' << int(method);
      if (oracle.status != ComplementarityStatus::solved || oracle.residual > 1e-8) continue;
      ++compared;
      const VectorXd w = W * lambda + d;
      for (int i = 0; i < n; ++i) ASSERT_NEAR(a.w[row(i)], w[i], 1e-7 * (1 + lambda.lpNorm<1>())) << trial;
    }
  }
  EXPECT_GT(compared, 2500);
}

// Planar problems, tangent 2 out of play: all 4^m states tried one by one.
TEST(Contact, PlanarAgreesWithEnumeration) {
  Random random(4);
  int slips = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const int m = 1 + trial % 4;
    const RowMatrix V = random.matrix(2 * m, 2 * m + 2);
    const RowMatrix planar = V * V.transpose();
    const VectorXd free = random.vector(2 * m), mu = (random.vector(m).array() + 1) * 0.4;
    std::vector<VectorXd> found;  // (w_n, w_t) of each solution
    for (int code = 0; code < 1 << (2 * m); ++code) {
      // Unknowns lambda; rows: lambda = 0, w = 0, or lambda_t = sign mu lambda_n.
      Eigen::MatrixXd A = planar;
      VectorXd right = -free;
      for (int k = 0; k < m; ++k) {
        const int state = code >> (2 * k) & 3, i = 2 * k;
        if (state == 0) A.middleRows(i, 2).setZero(), A(i, i) = A(i + 1, i + 1) = 1, right.segment(i, 2).setZero();
        if (state >= 2) {
          A.row(i + 1).setZero();
          A(i + 1, i + 1) = 1;
          A(i + 1, i) = state == 2 ? mu[k] : -mu[k];
          right[i + 1] = 0;
        }
      }
      const VectorXd force = A.partialPivLu().solve(right), w = planar * force + free;
      bool admissible = true;
      for (int k = 0; k < m; ++k) {
        const int state = code >> (2 * k) & 3, i = 2 * k;
        const bool here = state == 0   ? w[i] >= 0
                          : state == 1 ? force[i] >= 0 && std::abs(force[i + 1]) <= mu[k] * force[i]
                                       : force[i] >= 0 && (state == 2 ? w[i + 1] >= 0 : w[i + 1] <= 0);
        admissible = admissible && here;
      }
      if (admissible) found.push_back(w);
    }
    ASSERT_FALSE(found.empty()) << trial;
    RowMatrix W = RowMatrix::Identity(3 * m, 3 * m);
    VectorXd d = VectorXd::Zero(3 * m);
    const auto row = [](int i) { return 3 * (i / 2) + i % 2; };
    for (int i = 0; i < 2 * m; ++i) {
      for (int j = 0; j < 2 * m; ++j) W(row(i), row(j)) = planar(i, j);
      d[row(i)] = free[i];
    }
    for (const ContactMethod method : methods) {
      const ContactAnswer a = solve(contact_case(W, d, mu), method);
      ASSERT_EQ(a.report.status, ContactStatus::solved) << trial;
      VectorXd w(2 * m);
      for (int i = 0; i < 2 * m; ++i) w[i] = a.w[row(i)];
      double nearest = 1;
      for (const VectorXd& other : found) nearest = std::min(nearest, (other - w).lpNorm<Eigen::Infinity>());
      ASSERT_LT(nearest, 1e-8) << trial << ' ' << int(method);
      slips += w[1] != 0 && a.lambda[0] > 0;
    }
  }
  EXPECT_GT(slips, 50);
}

TEST(Contact, RepeatedContactsShareTheForce) {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const RowMatrix V = random.matrix(3, 7);
    const Vector3d d(-1, random.uniform(-2, 2), random.uniform(-2, 2));
    const ContactCase single = contact_case(V * V.transpose(), d, one(0.4));
    const RowMatrix four = V.replicate(4, 1);
    ContactCase many = contact_case(four * four.transpose(), d.replicate(4, 1), VectorXd::Constant(4, 0.4));
    for (const bool as_V : {false, true})
      for (const ContactMethod method : methods) {
        many.V = four, many.as_V = as_V;
        const ContactAnswer a = solve(single, method), b = solve(many, method);
        ASSERT_EQ(b.report.status, ContactStatus::solved);
        const Vector3d sum = b.lambda.reshaped(3, 4).rowwise().sum();
        EXPECT_LT((sum - a.lambda).norm(), 1e-8 * a.lambda.norm()) << trial;
        EXPECT_LT((b.w.head(3) - a.w).norm(), 1e-9);
      }
  }
}

// Cubes on each other, four contacts per face: 12 rows for 6 freedoms, one step of gravity.
TEST(Contact, AStackRestsWithTheWeightOnItsContacts) {
  const int levels = 5;
  const double side = 0.1, mass = 2, g = 9.81, h = 0.01;
  const VectorXd inertia =
      (Eigen::VectorXd(6) << mass, mass, mass, VectorXd::Constant(3, mass * side * side / 6)).finished();
  RowMatrix V = RowMatrix::Zero(12 * levels, 6 * levels);
  VectorXd d = VectorXd::Zero(12 * levels);
  for (int level = 0; level < levels; ++level)
    for (int corner = 0; corner < 4; ++corner) {
      const double x = (corner & 1 ? side : -side) / 2, y = (corner & 2 ? side : -side) / 2;
      for (int axis = 0; axis < 3; ++axis) {
        const int row = 12 * level + 3 * corner + axis, direction = (axis + 2) % 3;  // normal z, tangents x, y
        const auto jacobian = [&](int body, double z, double sign) {
          Vector3d unit = Vector3d::Unit(direction), arm = Vector3d(x, y, z).cross(unit);
          for (int i = 0; i < 3; ++i) {
            V(row, 6 * body + i) = sign * unit[i] * h / std::sqrt(inertia[i]);
            V(row, 6 * body + 3 + i) = sign * arm[i] * h / std::sqrt(inertia[3 + i]);
          }
        };
        jacobian(level, -side / 2, 1);
        if (level > 0) jacobian(level - 1, side / 2, -1);
        if (axis == 0 && level == 0) d[row] = -h * h * g;  // bodies fall alike: only the lowest approaches
      }
    }
  ContactCase c = contact_case(V * V.transpose(), d, VectorXd::Constant(4 * levels, 0.5));
  c.V = V;
  for (const bool as_V : {false, true})
    for (const ContactMethod method : methods) {
      c.as_V = as_V;
      const ContactAnswer a = solve(c, method);
      ASSERT_EQ(a.report.status, ContactStatus::solved) << int(method);
      EXPECT_LT(violation(c, a), 1e-9);
      for (int level = 0; level < levels; ++level) {
        double weight = 0;
        for (int corner = 0; corner < 4; ++corner) weight += a.lambda[12 * level + 3 * corner];
        EXPECT_NEAR(weight, (levels - level) * mass * g, 1e-6 * levels * mass * g);
      }
      EXPECT_LT(a.w.lpNorm<Eigen::Infinity>(), 1e-8 * h * h * g);
    }
}

TEST(Contact, NothingToDo) {
  ContactWorkspace workspace(2, 3);
  const ContactCase none = contact_case(RowMatrix(0, 0), VectorXd(0), VectorXd(0));
  EXPECT_EQ(solve(none, {}, workspace, VectorXd(0)).report.status, ContactStatus::solved);
  Random random(6);
  const RowMatrix V = random.matrix(9, 9);
  VectorXd d = random.vector(9);
  for (int k = 0; k < 3; ++k) d[3 * k] = 0.01 + k;
  for (const ContactMethod method : methods) {
    const ContactAnswer apart = solve(contact_case(V * V.transpose(), d, VectorXd::Constant(3, 0.5)),
                                      {.method = method}, workspace, random.vector(9));
    EXPECT_EQ(apart.report.status, ContactStatus::solved);
    EXPECT_EQ(apart.lambda.norm(), 0);
    // Box rows alone.
    ContactCase box{.boxes = 2,
                    .contacts = 0,
                    .V = {},
                    .d = Eigen::Vector2d(-3, 1),
                    .compliance = {},
                    .lower = VectorXd::Zero(2),
                    .upper = VectorXd::Constant(2, 2),
                    .friction = VectorXd(0),
                    .W = RowMatrix::Identity(2, 2)};
    const ContactAnswer a = solve(box, {.method = method}, workspace, VectorXd::Zero(2));
    EXPECT_EQ(a.report.status, ContactStatus::solved);
    EXPECT_EQ(a.lambda, Eigen::Vector2d(2, 0));
  }
}

TEST(Contact, UnitsDoNotMatter) {
  Random random(7);
  for (int trial = 0; trial < 100; ++trial) {
    const ContactCase c = mixed_contacts(random, trial);
    ContactCase scaled = c;  // forces in micronewton, lengths in kilometres, the first box row in others still
    VectorXd unit = VectorXd::Constant(c.n(), 0x1p-20);
    if (c.boxes > 0) unit[0] = 0x1p30;
    scaled.as_V = false;
    scaled.W = unit.asDiagonal() * c.W * unit.asDiagonal();
    scaled.d = unit.cwiseProduct(c.d);
    if (c.compliance.size() > 0) scaled.compliance = c.compliance.cwiseProduct(unit.cwiseAbs2());
    scaled.lower = c.lower.cwiseQuotient(unit.head(c.boxes));
    scaled.upper = c.upper.cwiseQuotient(unit.head(c.boxes));
    ContactCase plain = c;
    plain.as_V = false;
    const ContactAnswer a = solve(plain), b = solve(scaled);
    ASSERT_EQ(b.lambda, VectorXd(a.lambda.cwiseQuotient(unit))) << trial;  // powers of two: the same bits
  }
}

TEST(Contact, WarmStartsAreRecognised) {
  Random random(8);
  for (int trial = 0; trial < 100; ++trial) {
    const ContactCase c = mixed_contacts(random, trial);
    ContactWorkspace workspace(c.boxes, c.contacts);
    for (const ContactMethod method : methods) {
      const ContactAnswer cold = solve(c, {}, workspace, VectorXd::Zero(c.n()));
      const ContactAnswer warm = solve(c, {.method = method, .tolerance = 2e-10}, workspace, cold.lambda);
      EXPECT_EQ(warm.report.sweeps + warm.report.newton_steps, 0);
      EXPECT_LE((warm.lambda - cold.lambda).lpNorm<Eigen::Infinity>(), 1e-12 * cold.lambda.norm());
    }
    VectorXd bad = VectorXd::Constant(c.n(), std::nan(""));
    EXPECT_EQ(solve(c, {}, workspace, bad).report.status, ContactStatus::solved);
  }
}

TEST(Contact, InfeasibleIsProved) {
  // A box row that holds a coordinate where the contact penetrates; two contacts that squeeze; either soft: feasible.
  ContactCase held{.boxes = 1,
                   .contacts = 1,
                   .V = RowMatrix::Zero(4, 3),
                   .d = VectorXd::Zero(4),
                   .compliance = {},
                   .lower = one(-infinity),
                   .upper = one(infinity),
                   .friction = one(0.5),
                   .W = {},
                   .as_V = true};
  held.V(0, 0) = 3, held.V(1, 0) = held.V(2, 1) = held.V(3, 2) = 1;
  held.d << 0, -0.1, 0.05, 0;
  ContactCase squeezed = contact_case({}, VectorXd::Zero(6), VectorXd::Constant(2, 0.3));
  squeezed.V = RowMatrix::Zero(6, 3);
  squeezed.V.topRows(3).setIdentity();
  squeezed.V.bottomRows(3) = -RowMatrix::Identity(3, 3);
  squeezed.d << -0.1, 0.02, 0, 0.05, -0.02, 0;
  for (ContactCase* c : {&held, &squeezed})
    for (const bool as_V : {false, true})
      for (const ContactMethod method : methods) {
        c->W = c->V * c->V.transpose();
        c->as_V = as_V;
        ContactWorkspace workspace(c->boxes, c->contacts);
        const ContactAnswer a = solve(*c, {.method = method}, workspace, VectorXd::Zero(c->n()));
        ASSERT_EQ(a.report.status, ContactStatus::infeasible) << int(method) << a.report.residual;
        ASSERT_EQ(workspace.conflict().size(), static_cast<std::size_t>(c->n()));
        const Eigen::Map<const VectorXd> delta(workspace.conflict().data(), c->n());
        EXPECT_LT((c->W * delta).norm(), 1e-9);
        EXPECT_LT(c->d.dot(delta), -1e-3);
        EXPECT_TRUE(a.lambda.allFinite());
        EXPECT_LT(a.lambda.norm(), 100);
        ContactCase soft = *c;
        soft.compliance = VectorXd::Constant(c->n(), 0.1);
        EXPECT_EQ(solve(soft, {.method = method}, workspace, VectorXd::Zero(c->n())).report.status,
                  ContactStatus::solved);
        EXPECT_TRUE(workspace.conflict().empty());
      }
}

// Among contacts that have an answer, one more that squeezes with the first.
TEST(Contact, OneMoreThatSqueezesIsInfeasibleAmongOthersToo) {
  Random random(31);  // of 20,000 such problems one stays without a proof
  for (int trial = 0; trial < 100; ++trial) {
    const RandomContacts wanted{
        .contacts = 1 + random.below(8), .boxes = random.below(3), .rank = 3 + random.below(12)};
    ContactCase c = random_contacts(random, wanted);
    const int first = c.boxes, n = c.n();
    RowMatrix V(n + 3, c.V.cols());
    V << c.V, -c.V.middleRows(first, 3);
    VectorXd d(n + 3), friction(c.contacts + 1);
    d << c.d, -c.d.segment(first, 3);
    d[n] -= random.uniform(0.01, 0.3) * V.row(n).norm();
    friction << c.friction, random.uniform(0, 1);
    ++c.contacts;
    c.V = V, c.W = V * V.transpose(), c.d = d, c.friction = friction;
    ContactWorkspace workspace(c.boxes, c.contacts);
    for (const ContactMethod method : methods) {
      const ContactAnswer a = solve(c, {.method = method}, workspace, VectorXd::Zero(c.n()));
      ASSERT_EQ(a.report.status, ContactStatus::infeasible) << trial << " " << int(method) << " " << a.report.residual;
      const Eigen::Map<const VectorXd> delta(workspace.conflict().data(), c.n());
      EXPECT_LT((c.W * delta).norm(), 1e-8 * c.W.norm());
      EXPECT_LT(c.d.dot(delta), 0);
    }
  }
}

TEST(Contact, BadNumbersAreRefused) {
  Random random(9);
  const ContactCase good = random_contacts(random, {.contacts = 2, .boxes = 1, .rank = 7});
  const auto refused = [](const ContactCase& c) {
    const ContactAnswer a = solve(c);
    return a.report.status == ContactStatus::not_finite && a.lambda.norm() == 0;
  };
  for (const double bad : {std::nan(""), infinity, -infinity}) {
    for (const bool as_V : {false, true}) {
      ContactCase c = good;
      c.as_V = as_V;
      c.W(2, 3) = c.V(1, 1) = bad;
      EXPECT_TRUE(refused(c));
    }
    ContactCase c = good;
    c.d[4] = bad;
    EXPECT_TRUE(refused(c));
    c = good;
    c.compliance = VectorXd::Constant(7, bad);
    EXPECT_TRUE(refused(c));
  }
  ContactCase c = good;
  c.friction[1] = -0.1;
  EXPECT_TRUE(refused(c));
  c.friction[1] = std::nan("");
  EXPECT_TRUE(refused(c));
  c = good;
  c.lower[0] = 2;
  EXPECT_TRUE(refused(c));
}

TEST(Contact, LimitsAreKept) {
  Random random(10);
  int stopped = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const ContactCase c = mixed_contacts(random, trial, 100);
    ContactWorkspace workspace(c.boxes, c.contacts);
    for (const ContactMethod method : methods) {
      const ContactSettings few{.method = method, .max_sweeps = 7, .max_newton_steps = 3};
      const ContactAnswer a = solve(c, few, workspace, VectorXd::Zero(c.n()));
      ASSERT_LE(a.report.sweeps, 7);
      ASSERT_LE(a.report.newton_steps, 3);
      ASSERT_TRUE(a.lambda.allFinite());
      ASSERT_LT(a.report.cone, 1e-13);
      stopped += a.report.status == ContactStatus::iteration_limit;
      // What it says of itself agrees with the checker.
      if (a.report.status == ContactStatus::iteration_limit) {
        EXPECT_GT(violation(c, a), 1e-13);
      }
    }
  }
  EXPECT_GT(stopped, 50);
}

// A tolerance that rounding does not allow: one start finds what is good enough, and further ones are tried only where
// nothing is said to be.
TEST(Contact, WhatIsGoodEnoughEndsTheSearch) {
  Random random(14);
  int ended = 0;
  for (int trial = 0; trial < 20; ++trial) {
    const ContactCase c = random_contacts(random, {.contacts = 12, .rank = 17, .decades = 4});
    ContactWorkspace workspace(c.boxes, c.contacts);
    const VectorXd cold = VectorXd::Zero(c.n());
    const ContactAnswer all = solve(c, {.tolerance = 1e-18}, workspace, cold);
    const ContactAnswer one = solve(c, {.tolerance = 1e-18, .enough = 1e-8}, workspace, cold);
    EXPECT_LE(one.report.residual, 1e-8);
    EXPECT_LE(one.report.newton_steps, 120);
    if (all.report.status == ContactStatus::solved) continue;
    EXPECT_EQ(one.report.status, ContactStatus::iteration_limit);
    EXPECT_GT(all.report.newton_steps, 120);
    ++ended;
    // What the first start solves has the same bits.
    EXPECT_EQ(solve(c, {.enough = 1e-10}, workspace, cold).lambda, solve(c, {}, workspace, cold).lambda);
  }
  EXPECT_GE(ended, 5);
}

TEST(Contact, ForwardSolveGivesTheFactorOfW) {
  Random random(11);
  for (const int count : {1, 2, 3, 17}) {
    const RowMatrix A = random.positive(21);
    RowMatrix L = A, H = random.matrix(count, 21), V = H;
    ASSERT_EQ(cholesky_factor(L.data(), 21, 21).status, DenseFactorStatus::ok);
    forward_solve(L.data(), 21, 21, V.data(), count, 21);
    EXPECT_LT((V * V.transpose() - H * A.inverse() * H.transpose()).norm(), 1e-11);
  }
}

#ifdef SUPPLE_COUNT_ALLOCATIONS
TEST(Contact, DoesNotAllocate) {
  Random random(12);
  ContactWorkspace workspace(3, 20);
  for (int trial = 0; trial < 40; ++trial) {
    const ContactCase c = mixed_contacts(random, trial, 10);
    const ContactProblem p = c.view();
    VectorXd lambda = VectorXd::Zero(c.n());
    for (const ContactMethod method : methods) {
      const long before = allocations;
      const ContactReport report = solve_contact(p, {lambda.data(), static_cast<std::size_t>(c.n())}, workspace,
                                                 {.method = method, .max_sweeps = 100});
      EXPECT_EQ(allocations, before);
      EXPECT_GE(report.residual, 0);
      lambda.setZero();
    }
  }
}
#endif

// Forces that may grow for ever: a contact that no force opens, and two that exclude each other. Both end.
TEST(Contact, WithoutAnAnswerEnds) {
  const std::vector<double> none, zero(9, 0.0), stuck{-1e-4, 0, 0}, friction{0.3};
  ContactWorkspace workspace(0, 2);
  std::vector<double> lambda(3, 0.0);
  ContactProblem closed{0, 1, 0, zero, none, stuck, none, none, none, friction};
  EXPECT_EQ(solve_contact(closed, lambda, workspace).status, ContactStatus::infeasible);
  const double v = std::sqrt(1e-3);
  const std::vector<double> opposed{v, 0, 0, -v, 0, 0}, d{-1e-4, 0, 0, -1e-4, 0, 0};
  for (const double mu : {0.0, 0.3}) {
    const std::vector<double> same(2, mu);
    lambda.assign(6, 0.0);
    ContactProblem walls{0, 2, 1, none, opposed, d, none, none, none, same};
    EXPECT_EQ(solve_contact(walls, lambda, workspace).status, ContactStatus::infeasible) << mu;
    EXPECT_GT(lambda[0], 0);
  }
}

}  // namespace
}  // namespace supple
