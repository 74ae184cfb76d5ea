#include "tests/solvers/qpcc/qpcc_cases.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::test {
namespace {

using Eigen::Vector2d;

std::span<const double> span(const auto& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}

// Linear conditions on the (lambda, w) of one contact: rows (a, b) with a . lambda + b . w = 0 or >= 0.
struct Condition {
  Eigen::Vector3d force = Eigen::Vector3d::Zero(), motion = Eigen::Vector3d::Zero();
  bool equality = true;
};

struct Vertices {
  const QpccCase& c;
  int contact;
  double mu() const { return std::min(c.friction[contact], 100.0); }
  Vector2d at(double i) const {
    const double start = c.angle.size() > 0 ? c.angle[contact] : 0, a = start + 2 * std::numbers::pi * i / c.facets;
    return {std::cos(a), std::sin(a)};
  }
};

std::vector<Condition> conditions(const QpccCase& c, int contact, ContactPiece piece) {
  std::vector<Condition> list;
  const Vertices v{c, contact};
  const auto add = [&](bool equality, Eigen::Vector3d force, Eigen::Vector3d motion) {
    list.push_back({force, motion, equality});
  };
  const auto tangent = [](const Vector2d& t) { return Eigen::Vector3d(0, t[0], t[1]); };
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero(), normal(1, 0, 0);
  const double mu = v.mu();
  const int i = piece.index;
  if (piece.mode == ContactMode::open) {
    for (int a = 0; a < 3; ++a) add(true, Eigen::Vector3d::Unit(a), zero);
    add(false, zero, normal);
    return list;
  }
  add(false, normal, zero);
  add(true, zero, normal);
  if (mu == 0) {
    for (int a = 1; a < 3; ++a) add(true, Eigen::Vector3d::Unit(a), zero);
    return list;
  }
  // Facet j: at(j + 1/2) . lambda_t <= mu cos(pi / F) lambda_n.
  const auto facet = [&](int j) {
    Eigen::Vector3d row = -tangent(v.at(j + 0.5));
    row[0] = mu * std::cos(std::numbers::pi / c.facets);
    return row;
  };
  if (piece.mode == ContactMode::stick) {
    for (int a = 1; a < 3; ++a) add(true, zero, Eigen::Vector3d::Unit(a));
    for (int j = 0; j < c.facets; ++j) add(false, facet(j), zero);
  } else if (piece.mode == ContactMode::vertex) {
    // lambda_t = mu lambda_n d_i, where -w_t . (d_i - d_j) >= 0 for both neighbours j.
    for (int a = 0; a < 2; ++a) {
      Eigen::Vector3d row = Eigen::Vector3d::Unit(a + 1);
      row[0] = -mu * v.at(i)[a];
      add(true, row, zero);
    }
    for (const int j : {i - 1, i + 1}) add(false, zero, -tangent((v.at(i) - v.at(j)).normalized()));
  } else {
    const Vector2d out = v.at(i + 0.5), edge(-out[1], out[0]);
    add(true, facet(i), zero);
    add(false, facet(i - 1), zero);
    add(false, facet(i + 1), zero);
    add(true, zero, tangent(edge));
    add(false, zero, -tangent(out));
  }
  return list;
}

double largest(const VectorXd& v) {
  return v.size() ? v.cwiseAbs().maxCoeff() : 0;
}

double ratio(double a, double b) {
  return a > 0 ? a / b : 0;
}

// Of one contact to one piece.
double distance(const QpccCase& c, int contact, ContactPiece piece, const VectorXd& z, const VectorXd& w, double force,
                double motion) {
  double worst = 0;
  for (const Condition& row : conditions(c, contact, piece)) {
    const double f = row.force.dot(z.segment(c.n + 3 * contact, 3)), m = row.motion.dot(w.segment(3 * contact, 3));
    const double value = f + m;  // one of them
    const double wrong = row.equality ? std::abs(value) : std::max(-value, 0.0);
    const bool of_force = row.force.norm() > 0;
    worst = std::max(worst, ratio(wrong, of_force ? force * row.force.norm() : motion));
  }
  return worst;
}

// What forces and motions are compared with, per contact: the largest force; the terms of w for unknowns as large as
// the largest one. Both in scaled units, P_ii = 1 and W_ii = 1, then in those of the contact. Forces below 1e-6 of what
// would undo the motion are compared with that.
struct Sizes {
  VectorXd w, motion, force;
  Sizes(const QpccCase& c, const VectorXd& z) : w(c.W * z + c.d), motion(c.contacts), force(c.contacts) {
    VectorXd unit = VectorXd::Ones(c.all());
    for (int i = 0; i < c.n; ++i)
      if (c.P(i, i) > 0) unit[i] = 1 / std::sqrt(c.P(i, i));
    const auto used = [&](int k) { return c.friction[k] > 0 ? 3 : 1; };
    for (int k = 0; k < c.contacts; ++k) {
      const double mean = c.W.block(3 * k, c.n + 3 * k, 3, 3).diagonal().head(used(k)).mean();
      if (mean > 0) unit.segment(c.n + 3 * k, 3).setConstant(1 / std::sqrt(mean));
    }
    const VectorXd scaled = z.cwiseQuotient(unit).cwiseAbs();
    const double x = largest(scaled.head(c.n)), lambda = largest(scaled.tail(3 * c.contacts));
    double load = 0;
    for (int k = 0; k < c.contacts; ++k) {
      const auto rows = c.W.middleRows(3 * k, used(k)).cwiseAbs();
      const VectorXd still = rows.leftCols(c.n) * (x * unit.head(c.n)) + c.d.segment(3 * k, used(k)).cwiseAbs();
      motion[k] = (still + rows.rightCols(3 * c.contacts) * (lambda * unit.tail(3 * c.contacts))).maxCoeff();
      load = std::max(load, still.maxCoeff() * unit[c.n + 3 * k]);
    }
    for (int k = 0; k < c.contacts; ++k) force[k] = std::max(lambda, 1e-6 * load) * unit[c.n + 3 * k];
  }
};

}  // namespace

QpccCase::QpccCase(int unknowns, int count, int limits, int polygon)
    : n(unknowns),
      contacts(count),
      rows(limits),
      facets(polygon),
      P(RowMatrix::Zero(all(), all())),
      C(RowMatrix::Zero(limits, all())),
      W(RowMatrix::Zero(3 * count, all())),
      g(VectorXd::Zero(all())),
      lower(VectorXd::Constant(n, -infinity)),
      upper(VectorXd::Constant(n, infinity)),
      row_lower(VectorXd::Constant(limits, -infinity)),
      row_upper(VectorXd::Constant(limits, infinity)),
      d(VectorXd::Zero(3 * count)),
      friction(VectorXd::Zero(count)) {}

QpccProblem QpccCase::view() const {
  return {.n = n,
          .contacts = contacts,
          .rows = rows,
          .facets = facets,
          .P = span(P),
          .g = span(g),
          .lower = span(lower),
          .upper = span(upper),
          .C = span(C),
          .row_lower = span(row_lower),
          .row_upper = span(row_upper),
          .W = span(W),
          .d = span(d),
          .friction = span(friction),
          .angle = span(angle)};
}

VectorXd QpccAnswer::z() const {
  VectorXd both(x.size() + lambda.size());
  both << x, lambda;
  return both;
}

QpccAnswer solve(const QpccCase& c, QpccWorkspace& workspace, const QpccSettings& settings,
                 std::vector<ContactPiece> pieces, VectorXd x, std::vector<QpSide> active) {
  if (x.size() == 0) x = VectorXd::Zero(c.n);
  pieces.resize(static_cast<std::size_t>(c.contacts));
  active.resize(static_cast<std::size_t>(c.n + c.rows));
  QpccAnswer a{{}, std::move(x), VectorXd::Zero(3 * c.contacts), std::move(pieces), std::move(active)};
  const auto out = [](VectorXd& v) { return std::span<double>(v.data(), static_cast<std::size_t>(v.size())); };
  a.report = solve_qpcc(c.view(),
                        {.x = out(a.x),
                         .lambda = out(a.lambda),
                         .pieces = a.pieces,
                         .active = a.active,
                         .bound_multipliers = {},
                         .row_multipliers = {}},
                        workspace, settings);
  return a;
}

std::vector<ContactPiece> pieces_of(const QpccCase& c, int contact) {
  if (c.friction[contact] == 0) return {{ContactMode::open, 0}, {ContactMode::vertex, 0}};
  std::vector<ContactPiece> list{{ContactMode::open, 0}, {ContactMode::stick, 0}};
  for (const ContactMode mode : {ContactMode::vertex, ContactMode::facet})
    for (int i = 0; i < c.facets; ++i) list.push_back({mode, static_cast<signed char>(i)});
  return list;
}

double violation(const QpccCase& c, const VectorXd& z) {
  const Sizes s(c, z);
  double worst = 0;
  for (int k = 0; k < c.contacts; ++k) {
    double least = infinity;
    for (const ContactPiece piece : pieces_of(c, k))
      least = std::min(least, distance(c, k, piece, z, s.w, s.force[k], s.motion[k]));
    worst = std::max(worst, least);
  }
  const auto look = [&](double value, double terms, double low, double high) {
    worst = std::max(worst, ratio(low - value, terms + std::abs(low)));
    worst = std::max(worst, ratio(value - high, terms + std::abs(high)));
  };
  for (int i = 0; i < c.n; ++i) look(z[i], largest(z.head(c.n)), c.lower[i], c.upper[i]);
  for (int r = 0; r < c.rows; ++r)
    look(c.C.row(r).dot(z), c.C.row(r).cwiseAbs().dot(z.cwiseAbs()), c.row_lower[r], c.row_upper[r]);
  return worst;
}

VectorXd solve_on_pieces(const QpccCase& c, const std::vector<ContactPiece>& pieces) {
  std::vector<std::pair<int, Condition>> all;
  for (int k = 0; k < c.contacts; ++k)
    for (const Condition& row : conditions(c, k, pieces[static_cast<std::size_t>(k)])) all.emplace_back(k, row);
  Qp qp(c.all(), c.rows + static_cast<int>(all.size()));
  qp.P = c.P;
  qp.g = c.g;
  qp.lower.head(c.n) = c.lower;
  qp.upper.head(c.n) = c.upper;
  qp.C.topRows(c.rows) = c.C;
  qp.row_lower.head(c.rows) = c.row_lower;
  qp.row_upper.head(c.rows) = c.row_upper;
  int r = c.rows;
  for (const auto& [k, row] : all) {
    qp.C.row(r) = row.motion.transpose() * c.W.middleRows(3 * k, 3);
    qp.C.row(r).segment(c.n + 3 * k, 3) += row.force.transpose();
    qp.row_lower[r] = -row.motion.dot(c.d.segment(3 * k, 3));
    if (row.equality) qp.row_upper[r] = qp.row_lower[r];
    ++r;
  }
  static thread_local QpWorkspace workspace(max_qp_unknowns, max_qp_rows);
  const QpAnswer answer = solve(qp, workspace);
  return answer.report.status == QpStatus::solved ? answer.x : VectorXd();
}

VectorXd enumerate(const QpccCase& c, const VectorXd* near, double tolerance) {
  std::vector<std::vector<ContactPiece>> choices;
  for (int k = 0; k < c.contacts; ++k) {
    choices.push_back(pieces_of(c, k));
    if (!near) continue;
    const Sizes s(c, *near);
    std::erase_if(choices.back(), [&](ContactPiece piece) {
      return distance(c, k, piece, *near, s.w, s.force[k], s.motion[k]) > tolerance;
    });
  }
  VectorXd best;
  std::vector<ContactPiece> pieces(static_cast<std::size_t>(c.contacts));
  const std::function<void(std::size_t)> visit = [&](std::size_t k) {
    if (k == pieces.size()) {
      const VectorXd z = solve_on_pieces(c, pieces);
      if (z.size() > 0 && (best.size() == 0 || c.objective(z) < c.objective(best))) best = z;
      return;
    }
    for (const ContactPiece piece : choices[k]) {
      pieces[k] = piece;
      visit(k + 1);
    }
  };
  if (c.all() > 0) visit(0);
  return best;
}

QpccCase random_qpcc(Random& random, const RandomQpcc& r) {
  const int n = r.unknowns, m = r.contacts, e = r.effectors, all = n + 3 * m;
  const int rank = r.rank > 0 ? r.rank : all + e;
  QpccCase c(n, m, r.row_limits ? n + 1 : 0, r.facets);
  RowMatrix V = random.matrix(all + e, rank);
  if (r.integers) V = RowMatrix::NullaryExpr(all + e, rank, [&] { return random.below(3) - 1.0; });
  for (int k = 1; k < m && r.repeated; ++k)
    if (random.below(2) == 0) V.middleRows(n + 3 * k, 3) = V.middleRows(n, 3).eval();
  for (int j = 0; j < rank && !r.integers; ++j)
    V.col(j) *= std::pow(10, -1.5 * j / std::max(1, rank - 1));  // soft to stiff modes
  const RowMatrix A = V * V.transpose();
  const RowMatrix J = A.bottomLeftCorner(e, all);
  c.W = A.block(n, 0, 3 * m, all);
  c.P = J.transpose() * J;
  const double energy = n > 0 && A.topLeftCorner(n, n).trace() > 0
                            ? 1e-3 * c.P.topLeftCorner(n, n).trace() / A.topLeftCorner(n, n).trace()
                            : 0;
  for (int i = 0; i < n; ++i) c.P(i, i) += energy * A(i, i);
  // Tensions of 0 to 1, some of them both ways; goals that some tensions would reach without contact, and noise.
  for (int i = 0; i < n; ++i) {
    c.lower[i] = random.below(4) == 0 ? -1 : 0;
    c.upper[i] = 1;
  }
  const VectorXd wish = VectorXd::NullaryExpr(n, [&] { return random.uniform(0, 1.2); });
  VectorXd goal = -J.leftCols(n) * wish;
  goal += 0.2 * largest(goal) * random.vector(e);
  c.g = J.transpose() * goal;
  c.range = 0.5 * goal.squaredNorm();
  for (int k = 0; k < m; ++k) {
    const double size = V.middleRows(n + 3 * k, 3).norm() * V.topRows(n).norm();
    c.d[3 * k] = size * random.uniform(-0.3, 0.5);
    c.d[3 * k + 1] = 0.1 * size * random.uniform();
    c.d[3 * k + 2] = 0.1 * size * random.uniform();
    c.friction[k] = r.friction == 0 ? 0 : random.below(8) == 0 ? 3 : random.uniform(0, r.friction);
  }
  if (r.integers)
    for (double& value : c.d) value = random.below(3) - 1.0;
  if (r.resting) {
    c.d.setZero();
    c.g.setZero();
    c.range = 1;
  }
  if (r.friction > 0 && !r.integers) c.angle = 3 * random.vector(m);
  if (r.row_limits) {  // displacements of the actuators; the sum of normal forces
    c.C.topRows(n) = A.topRows(n).leftCols(all);
    for (int i = 0; i < n; ++i) {
      const double reach = A.row(i).head(n).cwiseAbs().sum();
      c.row_lower[i] = -reach * random.uniform(0.2, 1);
      c.row_upper[i] = reach * random.uniform(0.2, 1);
    }
    for (int k = 0; k < m; ++k) c.C(n, n + 3 * k) = 1;
    c.row_upper[n] = random.uniform(0.5, 5) * m;
  }
  return c;
}

QpccCase mixed_qpcc(Random& random, int trial, int most) {
  RandomQpcc r;
  r.unknowns = 1 + random.below(6);
  r.contacts = 1 + random.below(most);
  r.effectors = 1 + random.below(6);
  r.facets = random.below(2) == 0 ? 4 : 8;
  r.rank = random.below(2) == 0 ? 0 : 1 + random.below(r.unknowns + 3 * r.contacts);
  r.friction = random.below(3) == 0 ? 0 : random.uniform(0, 1);
  r.row_limits = trial % 3 == 0;
  r.repeated = trial % 5 == 1;
  r.resting = trial % 5 == 2;
  r.integers = trial % 5 == 3;
  const QpccCase c = random_qpcc(random, r);
  return trial % 5 == 4 ? in_units(c, random_units(random, c, 4)) : c;
}

QpccUnits random_units(Random& random, const QpccCase& c, double decades) {
  QpccUnits units{VectorXd(c.all()), VectorXd(3 * c.contacts)};
  const auto draw = [&] { return std::pow(10, random.uniform(-decades, decades)); };
  for (int i = 0; i < c.n; ++i) units.unknowns[i] = draw();
  const double force = draw(), displacement = draw();
  for (int k = 0; k < c.contacts; ++k) {
    const double unit = draw();
    units.unknowns.segment(c.n + 3 * k, 3).setConstant(force * unit);
    units.displacements.segment(3 * k, 3).setConstant(displacement * unit);
  }
  return units;
}

QpccCase in_units(const QpccCase& c, const QpccUnits& units) {
  QpccCase b = c;
  const auto& u = units.unknowns;
  b.P = u.asDiagonal() * c.P * u.asDiagonal();
  b.g = u.cwiseProduct(c.g);
  b.lower = c.lower.cwiseQuotient(u.head(c.n));
  b.upper = c.upper.cwiseQuotient(u.head(c.n));
  b.C = c.C * u.asDiagonal();
  b.W = units.displacements.asDiagonal() * c.W * u.asDiagonal();
  b.d = units.displacements.cwiseProduct(c.d);
  return b;
}

}  // namespace supple::test
