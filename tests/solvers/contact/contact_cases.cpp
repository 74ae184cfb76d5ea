#include "tests/solvers/contact/contact_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple::test {

ContactProblem ContactCase::view() const {
  ContactProblem p{.boxes = boxes,
                   .contacts = contacts,
                   .rank = as_V ? static_cast<int>(V.cols()) : 0,
                   .W = {},
                   .V = {},
                   .d = span(d),
                   .compliance = span(compliance),
                   .lower = span(lower),
                   .upper = span(upper),
                   .friction = span(friction)};
  (as_V ? p.V : p.W) = as_V ? span(V) : span(W);
  return p;
}

ContactCase contact_case(const RowMatrix& W, const VectorXd& d, const VectorXd& friction) {
  return {.boxes = 0,
          .contacts = static_cast<int>(friction.size()),
          .V = {},
          .d = d,
          .compliance = {},
          .lower = {},
          .upper = {},
          .friction = friction,
          .W = W};
}

ContactAnswer solve(const ContactCase& c, const ContactSettings& settings, ContactWorkspace& workspace,
                    VectorXd lambda) {
  ContactAnswer a;
  a.report = solve_contact(c.view(), {lambda.data(), static_cast<std::size_t>(c.n())}, workspace, settings);
  a.lambda = lambda;
  a.w = c.as_V ? VectorXd(c.V * (c.V.transpose() * lambda) + c.d) : VectorXd(c.W * lambda + c.d);
  if (c.compliance.size() > 0) a.w += c.compliance.cwiseProduct(lambda);
  return a;
}

ContactAnswer solve(const ContactCase& c, ContactMethod method) {
  ContactWorkspace workspace(c.boxes, c.contacts);
  return solve(c, {.method = method}, workspace, VectorXd::Zero(c.n()));
}

double violation(const ContactCase& c, const ContactAnswer& a) {
  double worst = 0, largest = 0;
  const auto diagonal = [&](int i) {
    return (c.as_V ? c.V.row(i).squaredNorm() : c.W(i, i)) + (c.compliance.size() > 0 ? c.compliance[i] : 0);
  };
  const auto note = [&](double value) { worst = std::max(worst, value); };
  for (int i = 0; i < c.boxes; ++i) {
    const double s = 1 / std::sqrt(diagonal(i)), force = a.lambda[i] / s, w = a.w[i] * s;
    largest = std::max(largest, std::abs(force));
    note(std::max(c.lower[i] - a.lambda[i], a.lambda[i] - c.upper[i]) / s);
    // Where w is not zero the force is at its bound.
    if (w > 0) note(std::min(w, (a.lambda[i] - c.lower[i]) / s));
    if (w < 0) note(std::min(-w, (c.upper[i] - a.lambda[i]) / s));
  }
  for (int k = 0; k < c.contacts; ++k) {
    const int i = c.boxes + 3 * k;
    const double s = 1 / std::sqrt((diagonal(i) + diagonal(i + 1) + diagonal(i + 2)) / 3);
    const double mu = std::min(c.friction[k], 100.0), force = a.lambda[i] / s, gap = a.w[i] * s;
    const double t1 = a.lambda[i + 1] / s, t2 = a.lambda[i + 2] / s, s1 = a.w[i + 1] * s, s2 = a.w[i + 2] * s;
    const double slip = std::hypot(s1, s2), tangent = std::hypot(t1, t2);
    largest = std::max({largest, force, tangent});
    note(-force);
    note(-gap);
    note(std::min(force, gap));
    note(tangent - mu * force);
    // Either no slip, or the whole friction against it; a product, since a tiny slip has no direction.
    const double astray = slip > 0 ? std::hypot(t1 + mu * force * s1 / slip, t2 + mu * force * s2 / slip) : 0;
    if (astray > 0) note(slip * astray / std::max(slip, astray + tangent));
  }
  return largest > 0 ? worst / largest : worst > 0 ? std::numeric_limits<double>::infinity() : 0;
}

ContactCase random_contacts(Random& random, const RandomContacts& r) {
  ContactCase c;
  c.boxes = r.boxes;
  c.contacts = r.contacts;
  c.V = random.matrix(c.n(), r.rank);
  for (int j = 0; j < r.rank; ++j) c.V.col(j) *= std::pow(10.0, -r.decades * j / std::max(1, r.rank - 1));
  c.friction.resize(r.contacts);
  for (int k = 0; k < r.contacts; ++k) {
    auto rows = c.V.middleRows(c.boxes + 3 * k, 3);
    if (r.duplicates && k > 0 && random.below(2) == 0) rows = c.V.middleRows(c.boxes, 3).eval();
    rows *= std::pow(10.0, random.uniform(-r.units, r.units));
    c.friction[k] = random.below(6) == 0 ? 0 : random.uniform(0, r.friction);
  }
  const VectorXd motion = c.V * (3 * random.vector(r.rank));
  c.d = random.vector(c.n());
  for (int k = 0; k < r.contacts; ++k) {
    const int i = c.boxes + 3 * k;
    const double size = c.V.middleRows(i, 3).norm();
    const double s1 = r.duplicates ? 0 : random.uniform(-0.5, 0.5), s2 = r.duplicates ? 0 : random.uniform(-0.5, 0.5);
    const double gap = c.friction[k] * std::hypot(s1, s2) + random.uniform(0.01, 1);
    c.d[i] = size * gap - motion[i];
    c.d[i + 1] = size * s1 - motion[i + 1];
    c.d[i + 2] = size * s2 - motion[i + 2];
  }
  if (r.soft) {
    c.compliance = VectorXd::Zero(c.n());
    for (int i = 0; i < c.n(); ++i) {
      const bool second = i >= c.boxes && (i - c.boxes) % 3 == 2;
      c.compliance[i] = second ? c.compliance[i - 1] : random.below(2) == 0 ? 0 : random.uniform(0, 1);
    }
  }
  c.lower = VectorXd::Constant(r.boxes, -1);
  c.upper = VectorXd::Constant(r.boxes, 1);
  c.W = c.V * c.V.transpose();
  c.as_V = random.below(2) == 0;
  return c;
}

ContactCase mixed_contacts(Random& random, int trial, double friction) {
  RandomContacts r;
  r.contacts = 1 + random.below(20);
  r.boxes = random.below(4);
  r.rank = 1 + random.below(r.boxes + 3 * r.contacts + 10);
  r.decades = 2 * random.below(4);
  r.friction = friction;
  r.duplicates = trial % 4 == 1;
  r.units = trial % 4 == 2 ? 3 : 0;
  r.soft = trial % 4 == 3;
  return random_contacts(random, r);
}

}  // namespace supple::test
