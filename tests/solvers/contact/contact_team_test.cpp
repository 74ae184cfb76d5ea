// Forces of contacts by teams (kernels/contact/contact_solve_op.hpp) on every device against the laws as the checker has
// them and against solve_contact(): W of low rank and of full, box rows with compliance; the same bits for any number
// of members. And the elimination they use.

#include <gtest/gtest.h>

#include "kernels/array/array.hpp"
#include "kernels/array/launch.hpp"
#include "kernels/contact/contact_solve_op.hpp"
#include "solvers/contact/contact.hpp"
#include "tests/devices.hpp"
#include "tests/solvers/contact/contact_cases.hpp"
#include "tests/thread_team.hpp"

namespace supple {
namespace {

using test::ContactCase, test::Random, test::RowMatrix, Eigen::VectorXd;

constexpr double tight = 1e-8;  // as the step has it
constexpr contact::SearchLimits usual{.tolerance = 1e-10,
                                      .enough = tight,
                                      .sweeps = 300,
                                      .newton_steps = 100,
                                      .relaxation = 1,
                                      .starts = 1,
                                      .steps_per_start = 100};

// Robots of one shape in the arrays of the op, with room for one contact more than they have.
struct Batch {
  int boxes, contacts, capacity, r;
  std::vector<ContactCase> cases;
  std::vector<double> V, d, lambda, lower, upper, mu, compliance;
  std::vector<unsigned char> open;
  std::vector<ContactFinding> findings;

  int robots() const { return static_cast<int>(cases.size()); }
  int all() const { return boxes + 3 * capacity; }

  Batch(Random& random, const test::RandomContacts& kind, int robots)
      : boxes(kind.boxes), contacts(kind.contacts), capacity(kind.contacts + 1), r(kind.rank) {
    for (int i = 0; i < boxes; ++i) compliance.push_back(i % 2 == 1 ? 0.1 : 0.0);
    for (int b = 0; b < robots; ++b) {
      ContactCase c = random_contacts(random, kind);
      c.compliance = VectorXd::Zero(c.n());
      for (int i = 0; i < boxes; ++i) c.compliance[i] = compliance[static_cast<std::size_t>(i)];
      c.as_V = true;
      const auto append = [](std::vector<double>& to, const auto& values, int room) {
        for (Eigen::Index i = 0; i < values.size(); ++i) to.push_back(values.data()[i]);
        to.resize(to.size() + static_cast<std::size_t>(room), 77.0);
      };
      append(V, c.V, 3 * r);
      append(d, c.d, 3);
      append(lower, c.lower, 0);
      append(upper, c.upper, 0);
      append(mu, c.friction, 1);
      append(lambda, VectorXd(VectorXd::Zero(c.n())), 3);
      cases.push_back(std::move(c));
    }
    open.assign(cases.size(), 1);
    findings.assign(cases.size(), {contacts, contacts, contacts, 0, 0, 0, -1, -1, 0});
  }
  ContactArrays shape() const {
    ContactArrays a{};
    a.n = boxes, a.r = r, a.capacity = capacity;
    return a;
  }
  std::size_t scratch_length() const { return ContactSolveTeamOp::scratch_length(all(), r); }
  test::ContactAnswer answer(int b) const {
    const ContactCase& c = cases[static_cast<std::size_t>(b)];
    test::ContactAnswer a;
    a.lambda = VectorXd::Map(lambda.data() + b * all(), c.n());
    a.w = c.W * a.lambda + c.compliance.cwiseProduct(a.lambda) + c.d;
    return a;
  }
};

void solve_on(const Device& device, Batch& batch, const contact::SearchLimits& limits) {
  const auto there = [&]<class T>(const std::vector<T>& values) {
    return Array<T>(device, std::span<const T>(values));
  };
  auto V = there(batch.V), d = there(batch.d), lower = there(batch.lower), upper = there(batch.upper),
       mu = there(batch.mu), compliance = there(batch.compliance), lambda = there(batch.lambda);
  auto open = there(batch.open);
  auto findings = there(batch.findings);
  const int teams = team_count(device, batch.robots());
  Array<double> scratch(device, static_cast<std::size_t>(teams) * batch.scratch_length());
  ContactArrays a = batch.shape();
  a.V = V.data(), a.d = d.data(), a.mu = mu.data();
  a.lower = lower.data(), a.upper = upper.data(), a.compliance = compliance.data(), a.open = open.data();
  a.lambda = lambda.data(), a.findings = findings.data();
  launch_teams(device, batch.robots(), teams, ContactSolveTeamOp{a, limits, scratch.data()});
  lambda.download(batch.lambda);
  findings.download(batch.findings);
}

class ContactTeams : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ContactTeams, test::every_device(), test::device_name);

// Columns of V over four decades: W is as a reduced robot has it that lies on many points.
const test::RandomContacts kinds[] = {{.contacts = 1, .boxes = 0, .rank = 9},
                                      {.contacts = 4, .boxes = 3, .rank = 33, .decades = 2},
                                      {.contacts = 12, .boxes = 2, .rank = 17, .decades = 4},
                                      {.contacts = 30, .boxes = 5, .rank = 21, .decades = 4},
                                      {.contacts = 8, .boxes = 1, .rank = 13, .decades = 2, .duplicates = true}};

TEST_P(ContactTeams, FindTheForces) {
  Random random(31);
  for (const test::RandomContacts& kind : kinds) {
    Batch batch(random, kind, 12);
    solve_on(GetParam(), batch, usual);
    for (int b = 0; b < batch.robots(); ++b) {
      const ContactFinding& found = batch.findings[static_cast<std::size_t>(b)];
      EXPECT_LE(found.residual, tight) << kind.contacts << ' ' << b;
      const test::ContactAnswer a = batch.answer(b);
      EXPECT_LE(violation(batch.cases[static_cast<std::size_t>(b)], a), 2 * tight);
      const test::ContactAnswer host = solve(batch.cases[static_cast<std::size_t>(b)]);
      EXPECT_EQ(host.report.status, ContactStatus::solved);
    }
  }
}

// Without friction w is unique: that of the host, to what both residuals leave open.
TEST_P(ContactTeams, DisplacementsAreThoseOfTheHost) {
  Random random(32);
  for (const test::RandomContacts& kind : kinds) {
    Batch batch(random, kind, 6);
    for (ContactCase& c : batch.cases) c.friction.setZero();
    std::ranges::fill(batch.mu, 0.0);
    solve_on(GetParam(), batch, usual);
    for (int b = 0; b < batch.robots(); ++b) {
      const VectorXd w = solve(batch.cases[static_cast<std::size_t>(b)]).w;
      EXPECT_LT((batch.answer(b).w - w).lpNorm<Eigen::Infinity>(), 1e-6 * (1 + w.lpNorm<Eigen::Infinity>()));
    }
  }
}

// In so few sweeps Gauss-Seidel alone leaves a W of low rank to the host; Newton's method does not. Where contacts are
// few it is enough.
TEST_P(ContactTeams, SweepsAlone) {
  contact::SearchLimits sweeps = usual;
  sweeps.starts = 0, sweeps.sweeps = 40;
  const auto open = [&](const test::RandomContacts& kind, const contact::SearchLimits& limits) {
    Random random(33);
    Batch batch(random, kind, 12);
    solve_on(GetParam(), batch, limits);
    for (const ContactFinding& found : batch.findings) {
      EXPECT_LE(found.sweeps, limits.sweeps);
      EXPECT_LE(found.steps, limits.starts == 0 ? 0 : limits.newton_steps);
    }
    return std::ranges::count_if(batch.findings, [](const ContactFinding& f) { return !(f.residual <= tight); });
  };
  EXPECT_EQ(open({.contacts = 2, .rank = 20}, sweeps), 0);
  const test::RandomContacts low_rank{.contacts = 30, .boxes = 2, .rank = 21, .decades = 5};
  EXPECT_GE(open(low_rank, sweeps), 6);
  EXPECT_EQ(open(low_rank, usual), 0);
}

TEST_P(ContactTeams, WhatIsNotToBeSolvedIsLeft) {
  Random random(34);
  Batch batch(random, {.contacts = 5, .boxes = 2, .rank = 11}, 5);
  batch.open[0] = 0;
  batch.findings[1].added = 0;
  batch.findings[2].full = 1;
  batch.d[static_cast<std::size_t>(3 * batch.all() + 4)] = std::nan("");
  // Finite, and its squares are not.
  batch.V[static_cast<std::size_t>((4 * batch.all() + 3) * 11)] = 1e160;
  const std::vector<double> before = batch.lambda;
  solve_on(GetParam(), batch, usual);
  EXPECT_EQ(batch.lambda, before);
  for (std::size_t b = 0; b < 3; ++b) EXPECT_EQ(batch.findings[b].residual, -1);
  for (const std::size_t b : {3, 4}) EXPECT_GT(batch.findings[b].residual, 1e300);
}

// Few iterations: threads that share a processor take long over a barrier.
TEST(ContactTeamsOnCpu, BitsDoNotDependOnTheNumberOfMembers) {
  Random random(35);
  contact::SearchLimits few = usual;
  few.sweeps = 1, few.newton_steps = few.steps_per_start = 4;
  const test::RandomContacts forms[] = {{.contacts = 5, .boxes = 1, .rank = 7, .decades = 4},
                                        {.contacts = 6, .boxes = 1, .rank = 20, .decades = 4}};
  for (const test::RandomContacts& form : forms) {
    const Batch batch(random, form, 1);
    const auto solved_by = [&](int members) {
      Batch own = batch;
      std::vector<double> scratch(own.scratch_length());
      ContactArrays a = own.shape();
      a.V = own.V.data(), a.d = own.d.data(), a.mu = own.mu.data(), a.lower = own.lower.data();
      a.upper = own.upper.data(), a.compliance = own.compliance.data(), a.open = own.open.data();
      a.lambda = own.lambda.data(), a.findings = own.findings.data();
      const ContactSolveTeamOp op{a, few, scratch.data()};
      if (members == 1) {
        op(SingleTeam{}, 0, 0);
      } else {
        test::by_team(members, [&](const test::ThreadTeam& team) { op(team, 0, 0); });
      }
      EXPECT_EQ(own.findings[0].sweeps, few.sweeps);
      EXPECT_GT(own.findings[0].steps, 0);
      return own.lambda;
    };
    const std::vector<double> alone = solved_by(1);
    for (const int members : {2, 3}) EXPECT_EQ(solved_by(members), alone) << members;
  }
}

// Against the factors of Eigen; rows are in an order that needs pivots.
TEST(GeneralSolve, AgreesWithEigen) {
  Random random(36);
  for (const int n : {1, 2, 7, 20}) {
    for (const int members : {1, 3}) {
      const int ld = n + 3;
      RowMatrix A = random.matrix(n, n), padded = RowMatrix::Constant(n, ld, 77);
      if (n > 1) A(0, 0) = 0;
      padded.leftCols(n) = A;
      const VectorXd b = random.vector(n);
      VectorXd x = b;
      std::vector<double> parts(2 * pivot_parts);
      bool done = false;
      test::by_team(members, [&](const test::ThreadTeam& team) {
        const bool found = general_solve(team, padded.data(), n, ld, x.data(), parts.data());
        if (team.rank() == 0) done = found;
      });
      EXPECT_TRUE(done);
      EXPECT_LT((A * x - b).norm(), 1e-10 * (1 + x.norm())) << n << ' ' << members;
      RowMatrix singular = RowMatrix::Ones(n, n) - RowMatrix::Ones(n, n);
      EXPECT_FALSE(general_solve(SingleTeam{}, singular.data(), n, n, x.data(), parts.data()));
    }
  }
}

}  // namespace
}  // namespace supple
