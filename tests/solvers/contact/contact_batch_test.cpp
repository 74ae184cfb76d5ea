#include "solvers/contact/contact_batch.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/solvers/contact/contact_cases.hpp"

namespace supple {
namespace {

using namespace test;

constexpr int boxes = 2, room_contacts = 6, count = 300, rank = 9, room = boxes + 3 * room_contacts;

// Slots filled with NaN beyond each robot's own numbers: they must not be read.
struct Robots {
  std::vector<ContactCase> cases;
  std::vector<int> contacts;
  std::vector<double> W, V, d, lower, upper, friction;

  Robots() {
    Random random(1);
    for (int b = 0; b < count; ++b) {
      cases.push_back(random_contacts(random, {.contacts = b % (room_contacts + 1), .boxes = boxes, .rank = rank}));
      contacts.push_back(cases.back().contacts);
      const auto slot = [](std::vector<double>& all, const auto& own, int size) {
        std::vector<double> padded(static_cast<std::size_t>(size), std::nan(""));
        std::copy_n(own.data(), own.size(), padded.begin());
        all.insert(all.end(), padded.begin(), padded.end());
      };
      slot(W, cases.back().W, room * room);
      slot(V, cases.back().V, room * rank);
      slot(d, cases.back().d, room);
      slot(lower, cases.back().lower, boxes);
      slot(upper, cases.back().upper, boxes);
      slot(friction, cases.back().friction, room_contacts);
    }
  }
  ContactBatchProblem view(bool as_V) const {
    ContactBatchProblem p{.rank = as_V ? rank : 0,
                          .contacts = contacts,
                          .W = {},
                          .V = {},
                          .d = d,
                          .compliance = {},
                          .lower = lower,
                          .upper = upper,
                          .friction = friction};
    (as_V ? p.V : p.W) = as_V ? V : W;
    return p;
  }
};

TEST(ContactBatch, EqualsOneByOneForAnyNumberOfThreads) {
  Robots robots;
  for (const bool as_V : {false, true})
    for (const int threads : {1, 2, 8}) {
      ContactBatch batch(boxes, room_contacts, count, threads);
      std::vector<double> lambda(static_cast<std::size_t>(room * count), 0.0);
      EXPECT_EQ(batch.solve(robots.view(as_V), lambda), count);
      ContactWorkspace workspace(boxes, room_contacts);
      for (int b = 0; b < count; ++b) {
        ContactCase& c = robots.cases[b];
        c.as_V = as_V;
        const ContactAnswer alone = solve(c, {}, workspace, VectorXd::Zero(c.n()));
        ASSERT_EQ(std::memcmp(alone.lambda.data(), lambda.data() + b * room, sizeof(double) * c.n()), 0) << b;
        EXPECT_EQ(batch.reports()[b].residual, alone.report.residual);
        EXPECT_LT(violation(c, alone), 1e-9);
        for (int i = c.n(); i < room; ++i) EXPECT_EQ(lambda[b * room + i], 0);
      }
    }
}

}  // namespace
}  // namespace supple
