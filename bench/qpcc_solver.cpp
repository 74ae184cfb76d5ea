// Quadratic programs with contact, for docs/decisions/0014*: time and programs from the forces at x = 0 (cold), from
// the answer to a problem whose goals and gaps differ by 1 % (warm), with twenty more starts; and a batch over threads.
// Random bodies as in the tests (tests/solvers/qpcc/qpcc_cases.hpp).

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "solvers/qpcc/qpcc_batch.hpp"
#include "tests/solvers/qpcc/qpcc_cases.hpp"

namespace {

using namespace supple;
using namespace supple::test;

struct Series {
  std::vector<double> values;
  double at(double share) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void measure(const RandomQpcc& kind, bool kept) {
  Random random(1);
  QpccWorkspace workspace(kind.unknowns, kind.contacts, kind.unknowns + 1, kind.facets);
  Series cold, warm, many;
  double programs[3] = {};
  int solved = 0, better = 0;
  const int trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    QpccCase c = random_qpcc(random, kind);
    const QpccAnswer first = solve(c, workspace);
    c.g *= 1.01;
    c.d += 0.01 * c.d.cwiseProduct(random.vector(3 * c.contacts));
    QpccAnswer answers[3];  // cold, warm, many starts
    for (int way = 0; way < 3; ++way) {
      double least = infinity;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const double begin = seconds();
        answers[way] = way == 1 ? solve(c, workspace, {}, first.pieces, first.x, first.active)
                                : solve(c, workspace, {.starts = way == 2 ? 20 : 0});
        least = std::min(least, seconds() - begin);
      }
      (way == 0 ? cold : way == 1 ? warm : many).values.push_back(1e6 * least);
      programs[way] += static_cast<double>(answers[way].report.programs) / trials;
    }
    solved += answers[1].report.status == QpStatus::solved;
    better += answers[2].report.objective < answers[0].report.objective - 1e-7 * c.range;
  }
  std::printf("| %d | %d | %d | %s | %.1f | %.0f (%.0f), %.1f | %.0f (%.0f), %.1f | %.0f, %.0f | %d | %d |\n",
              kind.unknowns, kind.contacts, kind.facets, kept ? "singular" : "regular", kind.friction, cold.at(0.5),
              cold.at(0.99), programs[0], warm.at(0.5), warm.at(0.99), programs[1], many.at(0.5), programs[2], solved,
              better);
  std::fflush(stdout);
}

void measure_batch(int count) {
  const RandomQpcc kind{.unknowns = 3, .contacts = 2, .facets = 8};
  Random random(2);
  std::vector<double> P, g, lower, upper, W, d, friction, angle;
  for (int b = 0; b < count; ++b) {
    const QpccCase c = random_qpcc(random, kind);
    const auto append = [](std::vector<double>& all, const auto& one) {
      all.insert(all.end(), one.data(), one.data() + one.size());
    };
    append(P, c.P), append(g, c.g), append(lower, c.lower), append(upper, c.upper);
    append(W, c.W), append(d, c.d), append(friction, c.friction), append(angle, c.angle);
  }
  for (int threads = 1; threads <= omp_get_max_threads(); threads *= 2) {
    QpccBatch batch({.n = 3, .contacts = 2, .rows = 0, .facets = 8, .count = count}, threads);
    std::vector<double> x(static_cast<std::size_t>(3 * count)), lambda(static_cast<std::size_t>(6 * count));
    for (const char* start : {"cold", "warm"}) {
      const double begin = seconds();
      const int solved = batch.solve({.P = P,
                                      .g = g,
                                      .lower = lower,
                                      .upper = upper,
                                      .C = {},
                                      .row_lower = {},
                                      .row_upper = {},
                                      .W = W,
                                      .d = d,
                                      .friction = friction,
                                      .angle = angle},
                                     {x, lambda});
      const double time = seconds() - begin;
      std::printf("batch of %d, n 3, contacts 2, facets 8, %d threads, %s: %.2f s, %.1f us each, %d solved\n", count,
                  threads, start, time, 1e6 * time / count, solved);
    }
  }
}

}  // namespace

int main() {
  std::printf(
      "us: median (99 %%), programs\n| n | contacts | facets | W | friction up to | cold | warm | 21 starts | solved | "
      "lower with 21 |\n|--:|--:|--:|---|--:|---|---|---|--:|--:|\n");
  for (const int facets : {4, 8})
    for (const int contacts : {1, 4, 8})
      measure({.unknowns = 9, .contacts = contacts, .effectors = 6, .facets = facets}, false);
  measure({.unknowns = 9, .contacts = 8, .effectors = 6, .facets = 8, .friction = 0}, false);
  measure({.unknowns = 4, .contacts = 8, .effectors = 3, .facets = 8}, false);
  measure({.unknowns = 9, .contacts = 8, .effectors = 6, .facets = 8, .rank = 20}, true);
  measure({.unknowns = 9, .contacts = 16, .effectors = 6, .facets = 8}, false);
  measure_batch(65536);
}
