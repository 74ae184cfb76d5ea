#pragma once
// Contact problems of many robots with the same box rows and different numbers of contacts, spread over threads. Each
// is solved as solve_contact() would, so the bits do not depend on the number of threads.

#include "solvers/contact/contact.hpp"

namespace supple {

/// Arrays of contact.hpp in slots, one per robot, each with room for max_contacts: with M = boxes + 3 max_contacts a
/// slot of W is M x M numbers, of V M x rank, of d, compliance and lambda M, of lower and upper `boxes`, of friction
/// max_contacts. Robot b's own arrays lie at the start of its slots without gaps: W is N x N with row stride N = boxes
/// + 3 contacts[b]. The rest of a slot is neither read nor written.
struct ContactBatchProblem {
  int rank = 0;
  std::span<const int> contacts;  // per robot
  std::span<const double> W, V, d, compliance, lower, upper, friction;
};

class ContactBatch {
 public:
  /// threads = 0: as many as OpenMP offers.
  ContactBatch(int boxes, int max_contacts, int count, int threads = 0);
  int count() const { return count_; }

  /// lambda: in = start, out = solution. Allocates nothing. Returns how many are solved.
  int solve(const ContactBatchProblem& problem, std::span<double> lambda, const ContactSettings& settings = {});

  /// Of the last call. A proof of infeasibility is not kept: solve that problem alone.
  std::span<const ContactReport> reports() const { return reports_; }

 private:
  int boxes_, max_contacts_, count_;
  std::vector<ContactWorkspace> workspaces_;  // one per thread
  std::vector<ContactReport> reports_;
};

}  // namespace supple
