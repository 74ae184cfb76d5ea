// Both contact solvers and the default side by side, for docs/decisions/0011*: iterations, time, residual. Random
// contacts with a solution (tests/solvers/contact/contact_cases.hpp), W of full rank or of the rank of a reduced model, from no
// forces and from the answer to a problem with free displacements 1 % away.

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/solvers/contact/contact_cases.hpp"

namespace {

using namespace supple;
using namespace supple::test;

constexpr struct {
  ContactMethod method;
  const char* name;
} methods[] = {{ContactMethod::gauss_seidel, "Gauss-Seidel"},
               {ContactMethod::newton, "Newton"},
               {ContactMethod::automatic, "automatic"}};

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void measure(int contacts, int rank, double decades, double friction) {
  const int trials = contacts >= 64 ? 60 : 300;
  for (const auto& [method, name] : methods)
    for (const bool warm : {false, true}) {
      Random random(1);
      std::vector<double> times, sweeps, steps;
      int unsolved = 0;
      double residual = 0;
      for (int trial = 0; trial < trials; ++trial) {
        const int full = 3 * contacts + 3;
        ContactCase c = random_contacts(
            random, {.contacts = contacts, .rank = rank > 0 ? rank : full, .decades = decades, .friction = friction});
        c.as_V = rank > 0;
        ContactWorkspace workspace(0, contacts);
        VectorXd start = VectorXd::Zero(c.n());
        if (warm) {
          start = solve(c, {}, workspace, start).lambda;
          c.d += 0.01 * c.d.cwiseProduct(random.vector(c.n()));
        }
        std::vector<double> repeated;
        for (int repeat = 0; repeat < 3; ++repeat) {
          VectorXd lambda = start;
          const ContactProblem problem = c.view();
          const auto begin = std::chrono::steady_clock::now();
          const ContactReport report =
              solve_contact(problem, {lambda.data(), static_cast<std::size_t>(c.n())}, workspace, {.method = method});
          const auto end = std::chrono::steady_clock::now();
          repeated.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
          if (repeat > 0) continue;
          sweeps.push_back(report.sweeps);
          steps.push_back(report.newton_steps);
          if (report.status == ContactStatus::solved) {
            residual = std::max(residual, report.residual);
          } else {
            ++unsolved;
          }
        }
        times.push_back(*std::min_element(repeated.begin(), repeated.end()));
      }
      const double largest = *std::max_element(times.begin(), times.end());
      std::printf("| %2d | %4s | %.0f | %4.1f | %-12s | %s | %5.0f | %3.0f | %7.1f | %8.1f | %7.1e | %d of %d |\n",
                  contacts, rank > 0 ? std::to_string(rank).c_str() : "full", decades, friction, name,
                  warm ? "warm" : "cold", median(sweeps), median(steps), median(times), largest, residual, unsolved,
                  trials);
      std::fflush(stdout);
    }
}

}  // namespace

int main() {
  std::printf(
      "| contacts | rank | decades | friction up to | method | start | sweeps | steps | us median | us max | residual "
      "| "
      "unsolved |\n|--:|--:|--:|--:|---|---|--:|--:|--:|--:|--:|--:|\n");
  for (const int rank : {0, 33})
    for (const int contacts : {1, 4, 16, 64})
      for (const double decades : {1.0, 4.0}) measure(contacts, rank, decades, 1);
  for (const int rank : {0, 33}) measure(16, rank, 2, 5);
}
