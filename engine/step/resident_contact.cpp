#include "engine/step/resident_contact.hpp"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "engine/step/forward_law.hpp"
#include "kernels/array/room.hpp"
#include "kernels/base/contract.hpp"

namespace supple {

namespace {

constexpr int usual_capacity = 128;

// Of rows: one for each pair, where an obstacle is not flat as many as its cutting planes may be.
int capacity_of(const Robot& robot, const ResidentSettings& settings) {
  if (settings.most_contacts > 0) return settings.most_contacts;
  const bool flat = std::ranges::all_of(
      robot.obstacles, [](const PlacedObstacle& placed) { return placed.obstacle.shape() == Obstacle::Shape::plane; });
  return std::min((flat ? 1 : most_rows) * robot.pairs(), usual_capacity);
}

contact::SearchLimits limits_of(const ResidentSettings& settings) {
  const bool newton = settings.contact != ContactSolver::sweeps && settings.contact_newton_steps > 0;
  return {.tolerance = ContactSettings{}.tolerance,
          .enough = tight_residual,
          .sweeps = settings.contact_sweeps,
          .newton_steps = settings.contact_newton_steps,
          .relaxation = 1,
          .starts = newton ? 1 : 0,
          .steps_per_start = settings.contact_newton_steps};
}

PlacedSolid placed_solid(const PlacedObstacle& placed) {
  SUPPLE_EXPECT(placed.obstacle.shape() != Obstacle::Shape::mesh);
  return {.solid = placed.obstacle.solid(),
          .inside = placed.obstacle.side() == Obstacle::Side::inside,
          .rotation = placed.pose.rotation,
          .position = placed.pose.position};
}

}  // namespace

ResidentContact::ResidentContact(const ReducedModel& model, ResidentRobots& on, const double* compliance,
                                 const ResidentSettings& settings)
    : on_(on),
      robot_(model.robot),
      solver_(settings.contact),
      limits_(limits_of(settings)),
      n_(model.robot.rows()),
      pairs_(model.robot.pairs()),
      capacity_(capacity_of(model.robot, settings)),
      all_(n_ + 3 * capacity_),
      teams_(team_count(on.device, on.robots)) {
  const Device& device = on.device;
  const int B = on.robots, r = on.r;
  if (static_cast<double>(B) * std::max({all_, r, 3 * pairs_}) >= 2147483647.0 || all_ > 30000)
    throw InputError("a batch of " + std::to_string(B) + " robots with " + std::to_string(capacity_) +
                         " contacts each is too large (32-bit indices)",
                     "fewer contacts for each robot, or several batches");
  const std::size_t of_robot = extent(all_, r + 2) + extent(r + 4 * n_ + 3 * pairs_ + 10 * capacity_) +
                               robot_.obstacles.size() + extent(pairs_) / sizeof(double) + extent(capacity_) / 2;
  const std::size_t of_team = ContactRowsTeamOp::scratch_length(r, robot_.collision_points, pairs_) +
                              (solver_ == ContactSolver::host ? 0 : ContactSolveTeamOp::scratch_length(all_, r));
  need_memory(device, (extent(B) * of_robot + extent(teams_) * of_team) * sizeof(double),
              "contact of a batch of " + std::to_string(B) + " robots",
              "a smaller batch, or fewer contacts for each robot");
  std::vector<PlacedSolid> solids;
  for (const PlacedObstacle& placed : robot_.obstacles) solids.push_back(placed_solid(placed));
  solids_ = upload(device, solids);
  friction_ = Array<double>(device, extent(B) * solids.size());
  forces_ = Array<double>(device, extent(B, pairs_, 3));
  for (Array<double>* array : {&target_, &lower_, &upper_, &multipliers_})
    *array = Array<double>(device, extent(B, n_));
  frame_ = Array<double>(device, extent(B, capacity_, 9));
  V_ = Array<double>(device, extent(B, all_, r));
  motion_ = Array<double>(device, extent(B, r));
  for (Array<double>* array : {&d_, &lambda_}) *array = Array<double>(device, extent(B, all_));
  mu_ = Array<double>(device, extent(B, capacity_));
  rows_scratch_ =
      Array<double>(device, extent(teams_) * ContactRowsTeamOp::scratch_length(r, robot_.collision_points, pairs_));
  if (solver_ != ContactSolver::host)
    solve_scratch_ = Array<double>(device, extent(teams_) * ContactSolveTeamOp::scratch_length(all_, r));
  open_ = Array<unsigned char>(device, extent(B));
  rows_of_pair_ = Array<unsigned char>(device, extent(B, pairs_));
  pair_ = Array<int>(device, extent(B, capacity_));
  for (const ConstraintRow& row : robot_.constraints)
    if (row.compliance > 0) host_compliance_.assign(extent(n_), 0.0);
  for (std::size_t k = 0; k < robot_.constraints.size() && !host_compliance_.empty(); ++k)
    host_compliance_[robot_.actuators.size() + k] = robot_.constraints[k].compliance;
  findings_ = Array<ContactFinding>(device, extent(B));
  found_.resize(extent(B));
  host_open_.assign(extent(B), 0);
  touch_.assign(extent(B), 0);
  reports_.resize(extent(B));
  problems_.resize(extent(omp_get_max_threads()));
  arrays_ = {.n = n_,
             .r = r,
             .outputs = on.ny,
             .first_point = robot_.first_collision_point,
             .points = robot_.collision_points,
             .obstacles = static_cast<int>(solids.size()),
             .capacity = capacity_,
             .distance = robot_.contact_distance,
             .solids = solids_.data(),
             .friction = friction_.data(),
             .L = on.outputs.data(),
             .y = on.y.data(),
             .factor = on.exact.A.data(),
             .H = nullptr,
             .X = on.exact.X.data(),
             .free = nullptr,
             .compliance = compliance,
             .target = target_.data(),
             .lower = lower_.data(),
             .upper = upper_.data(),
             .open = open_.data(),
             .forces = forces_.data(),
             .rows_of_pair = rows_of_pair_.data(),
             .pair = pair_.data(),
             .frame = frame_.data(),
             .V = V_.data(),
             .d = d_.data(),
             .lambda = lambda_.data(),
             .motion = motion_.data(),
             .multipliers = multipliers_.data(),
             .mu = mu_.data(),
             .findings = findings_.data()};
}

void ResidentContact::set_friction(const Mechanics& mechanics) {
  std::vector<double> friction;
  for (int b = 0; b < on_.robots; ++b)
    for (int k = 0; k < arrays_.obstacles; ++k) friction.push_back(mechanics.friction(b, k));
  friction_.upload(friction);
}

void ResidentContact::set_forces(std::span<const double> forces) {
  forces_.upload(forces);
  const std::size_t own = extent(pairs_, 3);
  for (std::size_t b = 0; b < touch_.size(); ++b)
    touch_[b] = std::ranges::any_of(forces.subspan(b * own, own), [](double f) { return f != 0; });
}

void ResidentContact::add_forces(std::vector<double>& forces) const {
  const std::size_t before = forces.size();
  forces.resize(before + forces_.size());
  forces_.download(std::span(forces).subspan(before));
}

void ResidentContact::reset(std::span<const int> robots, const State& start) {
  SUPPLE_EXPECT(start.contact_forces.size() == extent(start.robots, pairs_, 3));
  std::vector<double> forces;
  add_forces(forces);
  const std::ptrdiff_t own = 3 * static_cast<std::ptrdiff_t>(pairs_);
  for (const int b : robots)
    std::copy_n(start.contact_forces.begin() + (start.robots == 1 ? 0 : b * own), own, forces.begin() + b * own);
  set_forces(forces);
}

void ResidentContact::send(const ForwardLaw& law, std::span<const double> multipliers) {
  target_.upload(law.target());
  lower_.upload(law.lower());
  upper_.upload(law.upper());
  multipliers_.upload(multipliers);
}

void ResidentContact::fail(int robot, StepStatus status, std::vector<char>& failed, ResidentReport& report) {
  host_open_[extent(robot)] = 0;
  failed[extent(robot)] = 1;
  report.failures.push_back({robot, status, -1});
}

void ResidentContact::solve(const ForwardLaw& law, const Rows& rows, std::span<double> multipliers,
                            std::vector<char>& failed, ResidentReport& report) {
  const int B = on_.robots;
  arrays_.H = rows.H;
  arrays_.free = rows.free;
  send(law, multipliers);
  for (std::size_t b = 0; b < failed.size(); ++b) {
    host_open_[b] = failed[b] == 0;
    if (host_open_[b] != 0 && touch_[b] == 0 && !law.solved(static_cast<int>(b)))
      fail(static_cast<int>(b), StepStatus::rows_unsolved, failed, report);
  }
  for (bool first = true;; first = false) {
    open_.upload(host_open_);
    launch_teams(on_.device, B, teams_, ContactRowsTeamOp{arrays_, first, rows_scratch_.data()});
    if (solver_ != ContactSolver::host)
      launch_teams(on_.device, B, teams_, ContactSolveTeamOp{arrays_, limits_, solve_scratch_.data()});
    findings_.download(found_);
    look(failed, report);
    if (std::ranges::all_of(host_open_, [](unsigned char open) { return open == 0; })) break;
    solve_on_host(law, failed, report);
  }
  // Multipliers with contacts; those of robots that failed are left.
  std::vector<double>& all = problems_[0].all;
  all.resize(lambda_.size());
  lambda_.download(all);
  for (int b = 0; b < B; ++b) {
    const ContactFinding& found = found_[extent(b)];
    if (failed[extent(b)] != 0) continue;
    std::copy_n(all.data() + extent(b, all_), n_, multipliers.data() + extent(b, n_));
    report.contact_sweeps += found.sweeps;
    report.contact_newton_steps += found.steps;
    report.contact.rows += found.contacts;
    report.contact.violation = std::max(report.contact.violation, found.violation);
    int pressing = 0;
    for (int c = 0; c < found.contacts; ++c) pressing += all[extent(b, all_) + extent(n_ + 3 * c)] > 0 ? 1 : 0;
    report.contact.touching += pressing;
    touch_[extent(b)] = pressing > 0;
  }
}

// What the device found: closes the robots that need no further rows, and lists those whose forces the host is to find.
void ResidentContact::look(std::vector<char>& failed, ResidentReport& report) {
  for_host_.clear();
  for (int b = 0; b < on_.robots; ++b) {
    if (host_open_[extent(b)] == 0) continue;
    const ContactFinding& found = found_[extent(b)];
    if (found.full != 0) {
      report.contact.too_many = true;
      fail(b, StepStatus::too_many_contacts, failed, report);
    } else if (found.added == 0) {
      host_open_[extent(b)] = 0;
    } else {
      ++report.contact_problems;
      if (solver_ == ContactSolver::host || !(found.residual <= tight_residual)) {
        for_host_.push_back(b);
      } else {
        report.contact.residual = std::max(report.contact.residual, found.residual);
        report.contact.violation = std::max(report.contact.violation, found.displacement);
      }
    }
  }
}

ContactReport ResidentContact::solve_on_host(const ForwardLaw& law, int robot, HostProblem& p) {
  const int contacts = found_[extent(robot)].contacts, N = n_ + 3 * contacts, r = on_.r;
  const auto fetch = [&](std::vector<double>& to, const Array<double>& from, int stride, int count) {
    to.resize(extent(count));
    copy_bytes(cpu(), to.data(), on_.device, from.data() + extent(robot, stride), extent(count) * sizeof(double));
  };
  p.V.resize(extent(N, r));
  copy_bytes(cpu(), p.V.data(), on_.device, V_.data() + extent(robot, all_, r), p.V.size() * sizeof(double));
  fetch(p.d, d_, all_, N);
  fetch(p.lambda, lambda_, all_, N);
  fetch(p.mu, mu_, capacity_, contacts);
  if (!p.work || p.work->max_contacts() < contacts) p.work.emplace(n_, capacity_);
  std::vector<double> compliance(host_compliance_);
  if (!compliance.empty()) compliance.resize(extent(N), 0.0);
  const ContactReport report = solve_contact({.boxes = n_,
                                              .contacts = contacts,
                                              .rank = r,
                                              .W = {},
                                              .V = p.V,
                                              .d = p.d,
                                              .compliance = compliance,
                                              .lower = law.lower().subspan(extent(robot, n_), extent(n_)),
                                              .upper = law.upper().subspan(extent(robot, n_), extent(n_)),
                                              .friction = p.mu},
                                             p.lambda, *p.work, {.enough = tight_residual});
  copy_bytes(on_.device, lambda_.data() + extent(robot, all_), cpu(), p.lambda.data(),
             p.lambda.size() * sizeof(double));
  return report;
}

void ResidentContact::solve_on_host(const ForwardLaw& law, std::vector<char>& failed, ResidentReport& report) {
  const int count = static_cast<int>(for_host_.size());
  std::exception_ptr thrown;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(problems_.size())) if (count > 1)
  for (int k = 0; k < count; ++k) {
    const int b = for_host_[extent(k)];
    try {
      reports_[extent(b)] = solve_on_host(law, b, problems_[extent(count > 1 ? omp_get_thread_num() : 0)]);
    } catch (...) {
#pragma omp critical(resident_contact)
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
  for (const int b : for_host_) {
    const ContactReport& solved = reports_[extent(b)];
    if (solver_ != ContactSolver::host) ++report.contact_on_host;
    ++report.contact.solves;
    if (solved.status == ContactStatus::infeasible) {
      ++report.contact.softened;
    } else {
      if (solved.status == ContactStatus::not_finite || !(solved.residual <= loose_residual)) {
        fail(b, StepStatus::rows_unsolved, failed, report);
        continue;
      }
      report.contact.residual = std::max(report.contact.residual, solved.residual);
      if (solved.residual > tight_residual) ++report.contact.loose;
    }
    report.contact.violation = std::max(report.contact.violation, solved.displacement);
  }
}

void ResidentContact::move(double time_step, const unsigned char* goes) {
  launch(on_.device, on_.robots * on_.r, ContactMoveOp{arrays_, time_step, goes, on_.exact.q.data(), on_.v.data()});
  launch(on_.device, on_.robots, ContactForcesOp{arrays_, goes});
}

}  // namespace supple
