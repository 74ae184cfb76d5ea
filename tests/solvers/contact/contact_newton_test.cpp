// Newton's method of contact: its linear system in slots and in modes, by a core and by a team, against dense algebra;
// the whole method in both sizes; starts whose guess of the laws is wrong.

#include <gtest/gtest.h>

#include "kernels/contact/team_rows.hpp"
#include "solvers/contact/host_rows.hpp"
#include "tests/solvers/contact/contact_cases.hpp"

namespace supple {
namespace {

using namespace contact;
using test::ContactCase, test::Random, test::RowMatrix, Eigen::VectorXd;

// A scaled problem in memory of its own.
struct Loaded {
  std::vector<double> numbers;
  ScaledContact p;
  explicit Loaded(const ContactCase& c) : numbers(scaled_memory(c.boxes, c.contacts)) {
    double* memory = numbers.data();
    EXPECT_TRUE(load(c.view(), memory, p));
  }
};

// P and Q as the laws have them: contacts in turns stick, slip, slip without a turn and are open; box rows in turns
// answer and do not. Some of the numbers are random, so that none is found by luck.
int draw_slots(Random& random, const ScaledContact& p, const NewtonWork& k) {
  std::fill_n(k.P, 3 * p.n, 0.0);
  std::fill_n(k.Q, 3 * p.n, 0.0);
  int count = 0;
  const auto use = [&](int slot, std::initializer_list<double> P, std::initializer_list<double> Q) {
    std::ranges::copy(P, k.P + 3 * slot);
    std::ranges::copy(Q, k.Q + 3 * slot);
    k.active[count++] = slot;
  };
  const auto some = [&] { return random.uniform(1, 50); };
  for (int i = 0; i < p.boxes; ++i)
    if (i % 2 == 0) use(i, {some()}, {1});
  for (int c = 0; c < p.contacts; ++c) {
    const int i = p.normal(c);
    if (c % 4 == 3) continue;
    if (c % 4 == 0) {
      use(i, {some(), 0, 0}, {1, 0, 0});
      use(i + 1, {0, some(), 0}, {0, 1, 0});
      use(i + 2, {0, 0, some()}, {0, 0, 1});
    } else {
      const double angle = random.uniform(-3, 3), c1 = std::cos(angle), c2 = std::sin(angle), n = some(), t = some();
      use(i, {n, 0.4 * n * c1, 0.4 * n * c2}, {1, 0, 0});
      if (c % 4 == 1) use(i + 1, {0, -t * c2, t * c1}, {0, -c2, c1});
    }
  }
  k.active[p.n] = count;
  return count;
}

// z of (I + Q^T W P) z = Q^T w, w = V right or right.
VectorXd dense_answer(const ScaledContact& p, const NewtonWork& k, int active) {
  const RowMatrix rows = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>(p.matrix, p.n, p.width, {p.ld});
  const RowMatrix W = p.factored ? RowMatrix(rows * rows.transpose()) : rows;
  RowMatrix P = RowMatrix::Zero(p.n, active), Q = P;
  for (int a = 0; a < active; ++a) {
    const Block block = block_of(p, k.active[a]);
    for (int r = 0; r < block.rows; ++r) {
      P(block.first + r, a) = k.P[3 * k.active[a] + r];
      Q(block.first + r, a) = k.Q[3 * k.active[a] + r];
    }
  }
  const VectorXd right = VectorXd::Map(k.right, p.factored ? p.width : p.n);
  const VectorXd w = p.factored ? VectorXd(rows * right) : right;
  return (RowMatrix::Identity(active, active) + Q.transpose() * W * P).partialPivLu().solve(Q.transpose() * w);
}

template <class Rows>
void expect_the_system_solved(Random& random, const ScaledContact& p, Rows& rows) {
  // Twice: the second time other rows of W are known.
  for (int time = 0; time < 2; ++time) {
    int active = draw_slots(random, p, rows.work);
    if (time == 0) {  // half of the slots; contacts are whole
      active /= 2;
      while (active > 0 &&
             block_of(p, rows.work.active[active]).first == block_of(p, rows.work.active[active - 1]).first)
        --active;
    }
    for (int i = 0; i < p.n; ++i) rows.work.right[i] = random.uniform(-1, 1);
    const VectorXd z = dense_answer(p, rows.work, active);
    ASSERT_TRUE(rows.solve_newton(p, rows.work, active));
    // Condition of the matrices drawn here: below 1e5.
    EXPECT_LT((VectorXd::Map(rows.work.right, active) - z).norm(), 1e-10 * (1 + z.norm())) << p.n << ' ' << p.width;
  }
}

// Few rows and many against the modes, and W of full rank.
const test::RandomContacts kinds[] = {{.contacts = 5, .boxes = 2, .rank = 16},
                                      {.contacts = 9, .boxes = 3, .rank = 14},
                                      {.contacts = 40, .boxes = 1, .rank = 9},
                                      {.contacts = 6, .boxes = 2, .rank = 30}};

// Steps that problems may take fall with the cube of their rows where they would take minutes, and nowhere else.
TEST(ContactNewton, LargeProblemsTakeFewerSteps) {
  EXPECT_EQ(affordable_newton_steps(3, 1000), 1000);
  EXPECT_EQ(affordable_newton_steps(1400, 1000), 1000);
  EXPECT_EQ(affordable_newton_steps(1400, 7), 7);
  EXPECT_NEAR(affordable_newton_steps(3000, 1000), 1e12 * 3 / 27e9, 1);
  EXPECT_EQ(affordable_newton_steps(100'000, 1000), 40);
}

TEST(ContactNewton, TheSystemIsSolvedInSlotsAndInModes) {
  Random random(41);
  for (const test::RandomContacts& kind : kinds) {
    ContactCase c = random_contacts(random, kind);
    c.as_V = true;
    Loaded loaded(c);
    const ScaledContact& p = loaded.p;
    EXPECT_EQ(p.factored, kind.rank < p.n);
    std::vector<double> numbers(HostRows::numbers(p.n));
    std::vector<int> indices(HostRows::indices(p.n));
    HostRows host(p.n, numbers.data(), indices.data());
    expect_the_system_solved(random, p, host);
    const int width = std::min(p.n, kind.rank);
    std::vector<double> memory(TeamRows<SingleTeam>::numbers(p.n, width));
    TeamRows<SingleTeam> team(SingleTeam{}, p.n, width, memory.data());
    expect_the_system_solved(random, p, team);
  }
}

// W given as itself is always solved in slots, 40 contacts on 9 modes in modes: the same steps and forces, but for a
// few problems where rounding decides whether a limit is met.
TEST(ContactNewton, BothSizesTakeTheSameSteps) {
  Random random(42);
  int same = 0;
  for (const test::RandomContacts& kind : kinds)
    for (int trial = 0; trial < 20; ++trial) {
      ContactCase c = random_contacts(random, kind);
      const auto by = [&](bool as_V) {
        c.as_V = as_V;
        return solve(c, ContactMethod::newton);
      };
      const test::ContactAnswer slots = by(false), modes = by(true);
      EXPECT_EQ(slots.report.status, ContactStatus::solved);
      EXPECT_EQ(modes.report.status, ContactStatus::solved);
      if (slots.report.newton_steps != modes.report.newton_steps) continue;
      ++same;
      // Rounding of W lambda, 1e-16, over the least sigma, 1e-5, in a few steps.
      EXPECT_LT((slots.lambda - modes.lambda).norm(), 1e-8 * (1 + slots.lambda.norm()));
    }
  EXPECT_GE(same, 70);  // of 80
}

// Forces that say the opposite of the answer: contacts that open are pressed, those that close are free, all friction
// is along the slip. Such a guess may leave more than it found; the answer does not depend on it.
TEST(ContactNewton, AWrongGuessDoesNoHarm) {
  Random random(43);
  for (int trial = 0; trial < 300; ++trial) {
    const ContactCase c = random_contacts(
        random, {.contacts = 1 + trial % 12, .boxes = trial % 3, .rank = 5 + trial % 30, .decades = double(trial % 4)});
    const test::ContactAnswer right = solve(c);
    ASSERT_EQ(right.report.status, ContactStatus::solved);
    const double size = right.lambda.lpNorm<Eigen::Infinity>();
    VectorXd wrong(c.n());
    for (int i = 0; i < c.boxes; ++i) wrong[i] = right.lambda[i] > 0 ? -1 : 1;
    for (int k = 0; k < c.contacts; ++k) {
      const int i = c.boxes + 3 * k;
      wrong[i] = right.lambda[i] > 0 ? 0 : size;
      for (int t = 1; t < 3; ++t) wrong[i + t] = c.friction[k] * wrong[i] * (right.w[i + t] > 0 ? 0.7 : -0.7);
    }
    for (const ContactMethod method : {ContactMethod::newton, ContactMethod::automatic}) {
      ContactWorkspace workspace(c.boxes, c.contacts);
      const test::ContactAnswer a = solve(c, {.method = method}, workspace, wrong);
      ASSERT_EQ(a.report.status, ContactStatus::solved) << trial;
      EXPECT_LT(violation(c, a), 1e-9) << trial;
    }
  }
}

}  // namespace
}  // namespace supple
