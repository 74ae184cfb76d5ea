// Inverse control in contact: a quadratic program with the laws of contact (solvers/qpcc/qpcc.hpp), started from where
// the last commands lead, its commands followed by the forward law with the exact cone.
#include "engine/inverse/inverse_contact.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace supple {

namespace {

constexpr int facets = 8;
constexpr double usable_residual = 1e-6;
constexpr int most_programs = 200;    // of a start: one or two are common, a step must end in time
constexpr double unavoidable = 1e-4;  // relative room above the least force that there is

}  // namespace

int InverseLaw::most_contacts(int unknowns, int rows) {
  int most = 0;
  while (qpcc_fits(unknowns, most + 1, rows, facets)) ++most;
  return most;
}

InverseLaw::Contact::Contact(const Robot& robot, int robots, int effector_rows, int motions, int program_rows)
    : actuators(static_cast<int>(robot.actuators.size())),
      problem(effector_rows, static_cast<int>(robot.actuators.size()),
              static_cast<int>(robot.actuators.size()) + motions, program_rows),
      constraints(1, static_cast<int>(robot.actuators.size()), static_cast<int>(robot.constraints.size()),
                  effector_rows, motions),
      most(most_contacts(problem.unknowns, program_rows)),
      workspace(problem.unknowns, most, program_rows, facets),
      forward(robot, 1) {
  for (std::size_t k = 0; k < robot.constraints.size(); ++k)
    (robot.constraints[k].one_sided ? limit_rows : equal_rows).push_back(actuators + static_cast<int>(k));
  state.robots = 1;
  state.commands.assign(robot.actuators.size(), 0.0);
  state.multipliers.assign(extent(robot.rows()), 0.0);
  commands = state.commands;
  active.assign(extent(robots, problem.unknowns + program_rows), QpSide::none);
}

ConstraintSpace InverseLaw::Contact::with_contacts(const ContactSpace& space, int actuators, int rows_of_W) {
  const ConstraintSpace& alone = space.alone;
  const int n = actuators, k = 3 * space.contacts, s = alone.rows - n, N = alone.rows + k, m = alone.motions,
            e = alone.effector_rows;
  // Row i of ours is row place(i) of theirs: constraints come last.
  const auto place = [&](int i) { return i < n ? i : i < n + k ? i + s : i - k; };
  phi.assign(extent(N), 0.0);
  free.resize(extent(N));
  W.resize(extent(rows_of_W, N));
  B.resize(extent(N, m));
  effector_W.resize(extent(e, N));
  for (int i = 0; i < N; ++i) {
    const int row = place(i);
    free[extent(i)] = space.free[extent(row)];
    if (row < alone.rows) phi[extent(i)] = alone.phi[extent(row)];
    const double* inputs =
        row < alone.rows ? alone.B.data() + extent(row, m) : space.B.data() + extent(row - alone.rows, m);
    std::copy_n(inputs, m, B.data() + extent(i, m));
    if (i >= rows_of_W) continue;
    for (int j = 0; j < N; ++j)
      W[extent(i, N) + extent(j)] = j < i ? W[extent(j, N) + extent(i)] : compliance(space, row, place(j));
  }
  for (int r = 0; r < e; ++r)
    for (int j = 0; j < N; ++j) {
      const int column = place(j);
      effector_W[extent(r, N) + extent(j)] = column < alone.rows
                                                 ? alone.effector_W[extent(r, alone.rows) + extent(column)]
                                                 : space.effector_W[extent(r, k) + extent(column - alone.rows)];
    }
  ConstraintSpace all = alone;
  all.rows = N;
  all.phi = phi;
  all.free = free;
  all.W = W;
  all.B = B;
  all.effector_W = effector_W;
  return all;
}

ContactReport InverseLaw::Contact::follow(const ContactSpace& space, std::span<const double> commands,
                                          std::span<const double> dc, bool at_rest, std::span<double> lambda) {
  forward.command(commands);
  std::copy_n(lambda.begin(), state.multipliers.size(), state.multipliers.begin());
  (void)forward.begin(state, 0, at_rest, lambda.first(state.multipliers.size()));
  d.assign(space.free.begin(), space.free.end());
  const int m = static_cast<int>(dc.size()), rows = space.alone.rows;
  for (int i = 0; i < static_cast<int>(d.size()); ++i)
    d[extent(i)] += inner_product(i < rows ? space.alone.B.data() + extent(i, m) : space.B.data() + extent(i - rows, m),
                                  dc.data(), m);
  if (space.contacts == 0) {
    ConstraintSpace alone = space.alone;
    alone.free = d;
    return {.status = forward.solve(alone, {}, lambda, {}) ? ContactStatus::solved : ContactStatus::not_finite};
  }
  ContactSpace moved = space;
  moved.free = d;
  return forward.solve_in_contact(0, moved, lambda, {});
}

// The contacts that press at `lambda`, and the nearest of the others: at most `most` in all.
ContactSpace InverseLaw::Contact::nearest(const ContactSpace& space, std::span<const double> lambda) {
  chosen.resize(extent(space.contacts));
  std::iota(chosen.begin(), chosen.end(), 0);
  if (space.contacts <= most) return space;
  const int rows = space.alone.rows, m = space.alone.motions;
  std::vector<double> gap;
  for (int c = 0; c < space.contacts; ++c) {
    const int row = rows + 3 * c;
    double end = space.free[extent(row)];
    for (int j = 0; j < space.all(); ++j)
      end += lambda[extent(j)] == 0 ? 0 : compliance(space, row, j) * lambda[extent(j)];
    gap.push_back(lambda[extent(row)] > 0 ? -1 : std::max(end, 0.0));
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](int a, int b) { return gap[extent(a)] < gap[extent(b)]; });
  chosen.resize(extent(most));
  std::sort(chosen.begin(), chosen.end());

  std::vector<int> row(extent(rows));
  std::iota(row.begin(), row.end(), 0);
  for (int c : chosen) row.insert(row.end(), {rows + 3 * c, rows + 3 * c + 1, rows + 3 * c + 2});
  for (auto* v : {&few.free, &few.W, &few.B, &few.effector_W, &few.friction}) v->clear();
  few.obstacle.clear();
  for (int i : row) {
    few.free.push_back(space.free[extent(i)]);
    for (int j : row) few.W.push_back(compliance(space, i, j));
    if (i < rows) continue;
    const double* inputs = space.B.data() + extent(i - rows, m);
    few.B.insert(few.B.end(), inputs, inputs + m);
  }
  for (int r = 0; r < space.alone.effector_rows; ++r)
    for (std::size_t i = extent(rows); i < row.size(); ++i)
      few.effector_W.push_back(space.effector_W[extent(r, 3 * space.contacts) + extent(row[i] - rows)]);
  for (int c : chosen) {
    few.friction.push_back(space.friction[extent(c)]);
    few.obstacle.push_back(space.obstacle[extent(c)]);
  }
  ContactSpace result = space;
  result.contacts = most;
  result.rank = 0;
  result.free = few.free;
  result.W = few.W;
  result.V = result.compliance = {};
  result.friction = few.friction;
  result.obstacle = few.obstacle;
  result.B = few.B;
  result.effector_W = few.effector_W;
  return result;
}

// Commands for the contacts of `space` from the forces `start` [actuators, constraints, contacts]; the answer is in the
// program's x. `kept`: without the constraints.
QpReport InverseLaw::solve_contact_program(int robot, const ContactSpace& space, const ConstraintSpace& kept,
                                           std::span<const double> start) {
  Contact& c = *contact_;
  Problem& p = c.problem;
  const int n = n_, m = motions_, N = n + m, k = 3 * space.contacts, Z = N + k, first = space.alone.rows;
  const auto force_limit = [&](int row) {
    return robot_.obstacles[static_cast<std::size_t>(limited_obstacles_[extent(row - rows_)])].max_force;
  };
  for (int row = rows_; row < p.rows; ++row) {
    double* sum = p.C.data() + extent(row, Z);
    std::fill(sum, sum + Z, 0.0);
    for (int i = 0; i < space.contacts; ++i)
      if (space.obstacle[extent(i)] == limited_obstacles_[extent(row - rows_)]) sum[N + 3 * i] = 1;
    p.row_lower[extent(row)] = -unlimited;
    p.row_upper[extent(row)] = force_limit(row);
  }
  c.angle.assign(extent(space.contacts), 0.0);
  for (int i = 0; i < space.contacts; ++i) {
    const double* force = start.data() + first + 3 * i;
    if (force[1] != 0 || force[2] != 0) c.angle[extent(i)] = std::atan2(force[2], force[1]);
  }
  // Rows of the contacts in the order of the unknowns.
  c.laws.clear();
  for (int i = n; i < n + k; ++i) {
    const double *w = kept.W.data() + extent(i, n + k), *b = kept.B.data() + extent(i, m);
    c.laws.insert(c.laws.end(), w, w + n);
    c.laws.insert(c.laws.end(), b, b + m);
    c.laws.insert(c.laws.end(), w + n, w + n + k);
  }
  QpccProblem program{.n = N,
                      .contacts = space.contacts,
                      .rows = p.rows,
                      .facets = facets,
                      .P = p.P,
                      .g = p.g,
                      .lower = p.lower,
                      .upper = p.upper,
                      .C = p.C,
                      .row_lower = p.row_lower,
                      .row_upper = p.row_upper,
                      .W = c.laws,
                      .d = kept.free.subspan(extent(n), extent(k)),
                      .friction = space.friction,
                      .angle = c.angle};
  const std::size_t sides = extent(N + p.rows);
  const std::span<QpSide> active = std::span(c.active).subspan(extent(robot) * sides, sides);
  const auto from_start = [&] {
    std::copy_n(start.begin(), n, p.x.begin());
    std::fill_n(p.x.begin() + n, m, 0.0);
    std::copy_n(start.begin() + first, k, p.x.begin() + N);
    return true;
  };
  const auto search = [&](bool from_last = false) {
    if (!from_last) {
      (void)from_start();
      c.pieces.assign(extent(space.contacts), {});
      classify_contacts(program, p.x, c.pieces, c.workspace);
    }
    const QpccReport found =
        solve_qpcc(program,
                   {.x = std::span(p.x).first(extent(N)),
                    .lambda = std::span(p.x).subspan(extent(N)),
                    .pieces = c.pieces,
                    .active = active,
                    .bound_multipliers = p.bound_multipliers,
                    .row_multipliers = p.row_multipliers},
                   c.workspace, {.max_programs = most_programs * (1 + settings_.starts), .starts = settings_.starts});
    QpReport qp;
    // What obeys all laws and limits is an answer, whether or not it could be proved a minimum.
    const bool usable = found.status == QpStatus::iteration_limit && found.starts > 0 &&
                        std::max({found.feasibility, found.complementarity, found.cone}) <= usable_residual;
    qp.status = usable ? QpStatus::solved : found.status;
    qp.iterations = found.qp_iterations;
    qp.objective = found.objective;
    qp.stationarity = found.stationarity;
    return qp;
  };
  const auto once = [&] {
    const QpReport qp = search();
    if (qp.status != QpStatus::infeasible || limited_obstacles_.empty()) return qp;
    // A force that cannot be kept small enough (an impact): as small as the commands can make it.
    c.none.assign(extent(Z, Z), 0.0);
    c.sum.assign(extent(Z), 0.0);
    for (int row = rows_; row < p.rows; ++row) {
      for (int i = 0; i < Z; ++i) c.sum[extent(i)] += p.C[extent(row, Z) + extent(i)] / force_limit(row);
      p.row_upper[extent(row)] = unlimited;
    }
    program.P = c.none;
    program.g = c.sum;
    const QpReport least = search();
    for (int row = rows_; row < p.rows; ++row) {
      const double force = inner_product(p.C.data() + extent(row, Z), p.x.data(), Z);
      p.row_upper[extent(row)] = std::max(force_limit(row), (1 + unavoidable) * force);
    }
    program.P = p.P;
    program.g = p.g;
    return least.status == QpStatus::solved ? search(true) : qp;
  };
  return solve_program(p, once, from_start);
}

// Where these commands lead, with inputs at rest: to `multipliers`, which come in as the forces of the contacts.
ContactReport InverseLaw::lead_in_contact(int robot, const ContactSpace& space, const std::vector<double>& commands,
                                          std::span<double> multipliers, std::span<double> dc) {
  Contact& c = *contact_;
  for (int j = 0; j < n_; ++j) {
    const std::size_t at = extent(robot, n_) + extent(j);
    c.commands[extent(j)] = std::isnan(known_[at]) ? commands[at] : known_[at];
    multipliers[extent(j)] = start_multipliers_[at];
  }
  std::fill(dc.begin(), dc.end(), 0.0);
  return c.follow(space, c.commands, dc, at_rest_, multipliers);
}

// Commands from where `forces` [actuators, constraints, contacts] are, and the program's forces there. False: none
// were found; nullopt: the constraints depend on each other.
std::optional<bool> InverseLaw::seek_in_contact(int robot, const ContactSpace& unsplit, std::span<double> forces,
                                                std::span<double> dc) {
  Contact& c = *contact_;
  const Problem& p = c.problem;
  const ContactSpace space = c.limits_as_contacts(unsplit);
  std::vector<double>& multipliers = c.split.lambda;
  c.split_forces(forces, multipliers);
  InverseReport& report = reports_[extent(robot)];
  const ContactSpace few = c.nearest(space, multipliers);
  const int n = n_, m = motions_, N = n + m, s = space.alone.rows - n, k = 3 * few.contacts, first = space.alone.rows;
  const ConstraintSpace all = c.with_contacts(few, n, first + k);
  if (c.constraints.kept() != n + k) c.constraints = EqualityRows(1, n + k, s, layout_.rows(), m);
  const ConstraintSpace& kept = c.constraints.eliminate(all);
  if (!c.constraints.independent(0)) return std::nullopt;
  build(kept, robot, c.problem);
  const auto begin = std::chrono::steady_clock::now();
  c.start.assign(multipliers.begin(), multipliers.begin() + first);
  for (int i : c.chosen)
    c.start.insert(c.start.end(), multipliers.begin() + first + 3 * i, multipliers.begin() + first + 3 * i + 3);
  report.qp = solve_contact_program(robot, few, kept, c.start);
  qp_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (report.qp.status != QpStatus::solved) return false;

  std::copy_n(p.x.begin() + n, m, dc.begin());
  for (int j = 0; j < n; ++j) {
    const std::size_t row = extent(j, n + k);
    double command = p.x[extent(j)];
    if (!gives_force(robot_.actuators[extent(j)], at_rest_))
      command = (kept.free[extent(j)] + inner_product(kept.W.data() + row, p.x.data(), n) +
                 inner_product(kept.W.data() + row + n, p.x.data() + N, k) +
                 inner_product(kept.B.data() + extent(j, m), dc.data(), m)) /
                scale_of(robot, j);
    const Interval limits = limits_of_command(robot, j);
    c.commands[extent(j)] = std::clamp(command, limits.lower, limits.upper);
  }
  report.saturated = saturated(p);
  for (int row = rows_; row < p.rows; ++row) report.saturated += p.row_multipliers[extent(row)] != 0 ? 1 : 0;
  std::copy_n(c.commands.begin(), n, found_commands_.begin() + robot * n);
  found_[extent(robot)] = 1;
  std::copy_n(p.x.begin(), n, multipliers.begin());
  std::fill(multipliers.begin() + first, multipliers.end(), 0.0);
  for (std::size_t i = 0; i < c.chosen.size(); ++i)
    std::copy_n(p.x.begin() + N + 3 * static_cast<long>(i), 3, multipliers.begin() + first + 3 * c.chosen[i]);
  c.kept.assign(p.x.begin(), p.x.begin() + n);
  c.kept.insert(c.kept.end(), p.x.begin() + N, p.x.end());
  c.constraints.multipliers(0, c.kept.data(), dc.data(), multipliers.data() + n);
  c.join_forces(multipliers, forces);
  return true;
}

ContactReport InverseLaw::solve_in_contact(int robot, const ContactSpace& space, std::span<double> multipliers,
                                           std::span<double> dc) {
  const int n = n_, first = space.alone.rows;
  Contact& c = *contact_;
  const Problem& p = c.problem;
  InverseReport& report = reports_[extent(robot)];
  std::string& conflict = conflicts_[extent(robot)];
  report.held = held_before_[extent(robot)] != 0;
  report.contacts = space.contacts;
  report.pyramid_error = 0;
  ContactReport answer;
  if (!report.held) {
    conflict.clear();
    // The search starts from where the last commands lead.
    answer =
        lead_in_contact(robot, space, found_[extent(robot)] != 0 ? found_commands_ : start_commands_, multipliers, dc);
    if (answer.status == ContactStatus::not_finite) return answer;
    const std::optional<bool> found = seek_in_contact(robot, space, multipliers, dc);
    if (!found) return {.status = ContactStatus::not_finite};
    report.held = !*found;
    if (report.held) {
      std::vector<QpConflict> conflicts;
      for (const QpccConflict& one : c.workspace.conflicts())
        conflicts.push_back({one.constraint, one.side, one.weight});
      conflict = explain(conflicts, p, report.qp.status);
    }
  }
  c.sought.assign(multipliers.begin(), multipliers.end());
  if (report.held) {
    report.saturated = 0;
    answer = lead_in_contact(robot, space, start_commands_, multipliers, dc);
  } else {
    answer = c.follow(space, c.commands, dc, at_rest_, multipliers);
  }
  if (answer.status == ContactStatus::not_finite) return answer;

  // Forces in the order of the rows: actuators, contacts, constraints.
  const ConstraintSpace whole = c.with_contacts(space, n, n);
  const auto in_order = [&](std::span<const double> forces) {
    std::vector<double>& out = c.ordered;
    out.assign(forces.begin(), forces.begin() + n);
    out.insert(out.end(), forces.begin() + first, forces.end());
    out.insert(out.end(), forces.begin() + n, forces.begin() + first);
    return out.data();
  };
  // Without friction pyramid and cone are the same.
  if (!report.held && std::ranges::any_of(space.friction, [](double mu) { return mu > 0; })) {
    for (std::size_t i = 0; i < c.sought.size(); ++i) c.sought[i] -= multipliers[i];
    const double* difference = in_order(c.sought);
    double sum = 0;
    for (int r = 0; r < whole.effector_rows; ++r) {
      const double moved = inner_product(whole.effector_W.data() + extent(r, whole.rows), difference, whole.rows);
      sum += moved * moved;
    }
    report.pyramid_error = std::sqrt(sum);
  }
  movements_[extent(robot)] = promise(whole, in_order(multipliers), dc.data(), p, report);
  return answer;
}

}  // namespace supple
