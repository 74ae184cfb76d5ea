#pragma once
// Contact problems for tests, and a checker that shares nothing with the solver.

#include <span>

#include "solvers/contact/contact.hpp"
#include "tests/solvers/random_matrix.hpp"

namespace supple::test {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::VectorXd;

struct ContactCase {
  int boxes = 0, contacts = 0;
  RowMatrix V;  // N x rank; the problem is given as V V^T unless as_V
  VectorXd d, compliance, lower, upper, friction;
  RowMatrix W;
  bool as_V = false;

  int n() const { return boxes + 3 * contacts; }
  static std::span<const double> span(const auto& m) { return {m.data(), static_cast<std::size_t>(m.size())}; }
  ContactProblem view() const;
};

// No box rows, no compliance.
ContactCase contact_case(const RowMatrix& W, const VectorXd& d, const VectorXd& friction);

struct ContactAnswer {
  ContactReport report;
  VectorXd lambda, w;
};

ContactAnswer solve(const ContactCase& c, const ContactSettings& settings, ContactWorkspace& workspace,
                    VectorXd lambda);
ContactAnswer solve(const ContactCase& c, ContactMethod method = ContactMethod::automatic);

// Largest violation of the laws as they are written in contact.hpp, one by one, in units where the diagonal of W + C is
// 1 (the mean over a contact), relative to the largest force in them.
double violation(const ContactCase& c, const ContactAnswer& a);

struct RandomContacts {
  int contacts = 1, boxes = 0, rank = 1;
  double decades = 0;       // by which the columns of V shrink
  double friction = 1;      // largest coefficient
  double units = 0;         // decades by which the contacts' rows differ
  bool duplicates = false;  // half of the contacts repeat the first
  bool soft = false;
};

// A motion is drawn that opens all gaps by more than mu times their slip, so that a solution exists; where there are no
// forces most of the contacts penetrate or slip.
ContactCase random_contacts(Random& random, const RandomContacts& r);

// Of the kinds above, as trial varies.
ContactCase mixed_contacts(Random& random, int trial, double friction = 1);

}  // namespace supple::test
