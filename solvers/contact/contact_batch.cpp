#include "solvers/contact/contact_batch.hpp"

#include <algorithm>

#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

ContactBatch::ContactBatch(int boxes, int max_contacts, int count, int threads)
    : boxes_(boxes), max_contacts_(max_contacts), count_(count), reports_(extent(count)) {
  SUPPLE_EXPECT(count >= 0 && threads >= 0);
  const int wanted = threads > 0 ? threads : most_threads();
  workspaces_.reserve(extent(wanted));
  for (int t = 0; t < wanted; ++t) workspaces_.emplace_back(boxes, max_contacts);
}

int ContactBatch::solve(const ContactBatchProblem& problem, std::span<double> lambda, const ContactSettings& settings) {
  const int room = boxes_ + 3 * max_contacts_;
  SUPPLE_EXPECT(problem.contacts.size() == extent(count_) && lambda.size() == extent(count_, room));
  int solved = 0;
  // Costs differ from robot to robot: handed out in small pieces. Which thread takes one does not matter.
#pragma omp parallel for schedule(dynamic, 4) num_threads(static_cast <int>(workspaces_.size())) reduction(+ : solved)
  for (int b = 0; b < count_; ++b) {
    const int contacts = problem.contacts[extent(b)], n = boxes_ + 3 * contacts;
    SUPPLE_EXPECT(contacts >= 0 && contacts <= max_contacts_);
    const auto part = [b](std::span<const double> all, std::size_t slot, std::size_t used) {
      return all.empty() ? all : all.subspan(static_cast<std::size_t>(b) * slot, used);
    };
    const ContactProblem one{.boxes = boxes_,
                             .contacts = contacts,
                             .rank = problem.rank,
                             .W = part(problem.W, extent(room, room), extent(n, n)),
                             .V = part(problem.V, extent(room, problem.rank), extent(n, problem.rank)),
                             .d = part(problem.d, extent(room), extent(n)),
                             .compliance = part(problem.compliance, extent(room), extent(n)),
                             .lower = part(problem.lower, extent(boxes_), extent(boxes_)),
                             .upper = part(problem.upper, extent(boxes_), extent(boxes_)),
                             .friction = part(problem.friction, extent(max_contacts_), extent(contacts))};
    ContactReport& report = reports_[extent(b)];
    report =
        solve_contact(one, lambda.subspan(extent(b, room), extent(n)), workspaces_[extent(this_thread())], settings);
    solved += report.status == ContactStatus::solved;
  }
  return solved;
}

}  // namespace supple
