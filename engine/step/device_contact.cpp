#include "engine/step/device_contact.hpp"

#include <algorithm>
#include <exception>

#include "engine/mechanics/reduced/resident_robots.hpp"
#include "engine/step/forward_law.hpp"
#include "kernels/array/room.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/threads.hpp"

namespace supple {

namespace {

constexpr int usual_capacity = 128;

// Of rows: one for each pair, where an obstacle is not flat as many as its cutting planes may be.
int capacity_of(const Robot& robot, const DeviceContactSettings& settings) {
  if (settings.most_contacts > 0) return settings.most_contacts;
  const bool flat = std::ranges::all_of(
      robot.obstacles, [](const PlacedObstacle& placed) { return placed.obstacle.shape() == Obstacle::Shape::plane; });
  return std::min((flat ? 1 : most_rows) * robot.pairs(), usual_capacity);
}

contact::SearchLimits limits_of(const DeviceContactSettings& settings) {
  const bool newton = settings.solver != ContactSolver::sweeps && settings.newton_steps > 0;
  return {.tolerance = ContactSettings{}.tolerance,
          .enough = tight_residual,
          .sweeps = settings.sweeps,
          .newton_steps = settings.newton_steps,
          .relaxation = 1,
          .starts = newton ? 1 : 0,
          .steps_per_start = settings.newton_steps};
}

PlacedSolid placed_solid(const PlacedObstacle& placed) {
  SUPPLE_EXPECT(placed.obstacle.shape() != Obstacle::Shape::mesh);
  return {.solid = placed.obstacle.solid(),
          .inside = placed.obstacle.side() == Obstacle::Side::inside,
          .rotation = placed.pose.rotation,
          .position = placed.pose.position};
}

}  // namespace

std::optional<std::string> needs_contact_on_host(const Robot& robot) {
  for (const PlacedObstacle& placed : robot.obstacles)
    if (placed.obstacle.shape() == Obstacle::Shape::mesh)
      return "the obstacle '" + placed.name + "' is a mesh, whose distances are found on the host";
  for (const ActuatorRow& actuator : robot.actuators) {
    if (actuator.has_gas()) return "the gas of '" + actuator.name + "' is one of each robot";
    if (actuator.friction > 0) return "the friction of '" + actuator.name + "' is found on the host";
  }
  if (!robot.motions.empty()) return "collision points are carried by prescribed motions";
  return std::nullopt;
}

DeviceContact::DeviceContact(ReducedBatchMechanics& mechanics, const DeviceContactSettings& settings)
    : mechanics_(mechanics),
      robot_(mechanics.robot()),
      solver_(settings.solver),
      limits_(limits_of(settings)),
      n_(robot_.rows()),
      pairs_(robot_.pairs()),
      capacity_(capacity_of(robot_, settings)),
      all_(n_ + 3 * capacity_),
      teams_(team_count(mechanics.device(), mechanics.robots())) {
  SUPPLE_EXPECT(pairs_ > 0);
  const int B = mechanics.robots(), r = mechanics.coordinates().nv;
  if (static_cast<double>(B) * std::max({all_, r, 3 * pairs_}) >= 2147483647.0 || all_ > 30000)
    throw InputError("a batch of " + std::to_string(B) + " robots with " + std::to_string(capacity_) +
                         " contacts each is too large (32-bit indices)",
                     "fewer contacts for each robot, or several batches");
  found_.resize(extent(B));
  open_.assign(extent(B), 0);
  reports_.resize(extent(B));
  problems_.resize(extent(most_threads()));
  allocate();
  refresh_friction();
}

DeviceContact::~DeviceContact() = default;

void DeviceContact::allocate() {
  ResidentRobots& on = mechanics_.resident();
  const Device& device = on.device;
  const int B = on.robots, r = on.r;
  const std::size_t of_robot = extent(all_, r + 2) + extent(r + 4 * n_ + 3 * pairs_ + 10 * capacity_) +
                               robot_.obstacles.size() + extent(pairs_) / sizeof(double) + extent(capacity_) / 2;
  const std::size_t of_rows = ContactRowsTeamOp::scratch_length(r, robot_.collision_points, pairs_);
  const std::size_t of_solve = solver_ == ContactSolver::host ? 0 : ContactSolveTeamOp::scratch_length(all_, r);
  need_memory(device, (extent(B) * of_robot + extent(teams_) * (of_rows + of_solve)) * sizeof(double),
              "contact of a batch of " + std::to_string(B) + " robots",
              "a smaller batch, or fewer contacts for each robot");
  std::vector<PlacedSolid> solids;
  for (const PlacedObstacle& placed : robot_.obstacles) solids.push_back(placed_solid(placed));
  OnDevice& at = on_device_;
  at.solids = upload(device, solids);
  at.friction = Array<double>(device, extent(B) * solids.size());
  for (Array<double>* array : {&at.target, &at.lower, &at.upper, &at.multipliers})
    *array = Array<double>(device, extent(B, n_));
  at.frame = Array<double>(device, extent(B, capacity_, 9));
  at.V = Array<double>(device, extent(B, all_, r));
  at.motion = Array<double>(device, extent(B, r));
  for (Array<double>* array : {&at.d, &at.lambda}) *array = Array<double>(device, extent(B, all_));
  at.mu = Array<double>(device, extent(B, capacity_));
  at.rows_scratch = Array<double>(device, extent(teams_) * of_rows);
  at.solve_scratch = Array<double>(device, extent(teams_) * of_solve);
  at.open = Array<unsigned char>(device, extent(B));
  at.rows_of_pair = Array<unsigned char>(device, extent(B, pairs_));
  at.pair = Array<int>(device, extent(B, capacity_));
  at.findings = Array<ContactFinding>(device, extent(B));
  arrays_ = {.n = n_,
             .r = r,
             .outputs = on.ny,
             .first_point = robot_.first_collision_point,
             .points = robot_.collision_points,
             .obstacles = static_cast<int>(solids.size()),
             .capacity = capacity_,
             .distance = robot_.contact_distance,
             .solids = at.solids.data(),
             .friction = at.friction.data(),
             .L = on.outputs.data(),
             .y = nullptr,
             .factor = on.exact.A.data(),
             .H = nullptr,
             .X = nullptr,
             .free = nullptr,
             .compliance = nullptr,
             .target = at.target.data(),
             .lower = at.lower.data(),
             .upper = at.upper.data(),
             .open = at.open.data(),
             .forces = nullptr,
             .rows_of_pair = at.rows_of_pair.data(),
             .pair = at.pair.data(),
             .frame = at.frame.data(),
             .V = at.V.data(),
             .d = at.d.data(),
             .lambda = at.lambda.data(),
             .motion = at.motion.data(),
             .multipliers = at.multipliers.data(),
             .mu = at.mu.data(),
             .findings = at.findings.data()};
}

void DeviceContact::refresh_friction() {
  std::vector<double> friction;
  for (int b = 0; b < mechanics_.robots(); ++b)
    for (int k = 0; k < arrays_.obstacles; ++k) friction.push_back(mechanics_.friction(b, k));
  on_device_.friction.upload(friction);
}

void DeviceContact::send(const ForwardLaw& law, std::span<const double> multipliers) {
  on_device_.target.upload(law.target());
  on_device_.lower.upload(law.lower());
  on_device_.upper.upload(law.upper());
  on_device_.multipliers.upload(multipliers);
}

void DeviceContact::fail(int robot, StepStatus status, std::vector<RobotFailure>& failures) {
  open_[extent(robot)] = 0;
  failures.push_back({robot, status, -1});
}

void DeviceContact::solve(const ForwardLaw& law, const Inputs& inputs, const StateView& state,
                          std::span<double> multipliers, std::span<const char> left_out,
                          std::vector<RobotFailure>& failures, ContactFigures& figures) {
  const Device& device = mechanics_.device();
  const int B = mechanics_.robots();
  arrays_.y = inputs.y;
  arrays_.H = inputs.H;
  arrays_.X = inputs.X;
  arrays_.free = inputs.free;
  arrays_.compliance = inputs.compliance;
  arrays_.forces = state.contact_forces;
  compliance_.assign(inputs.host_compliance.begin(), inputs.host_compliance.end());
  if (std::ranges::all_of(compliance_, [](double c) { return c == 0; })) compliance_.clear();
  send(law, multipliers);
  for (int b = 0; b < B; ++b) {
    open_[extent(b)] = left_out[extent(b)] == 0;
    if (open_[extent(b)] != 0 && state.touching[extent(b)] == 0 && !law.solved(b))
      fail(b, StepStatus::rows_unsolved, failures);
  }
  std::vector<unsigned char> looked_at = open_;
  const std::size_t failed_before = failures.size();
  for (bool first = true;; first = false) {
    on_device_.open.upload(open_);
    launch_teams(device, B, teams_, ContactRowsTeamOp{arrays_, first, on_device_.rows_scratch.data()});
    if (solver_ != ContactSolver::host)
      launch_teams(device, B, teams_, ContactSolveTeamOp{arrays_, limits_, on_device_.solve_scratch.data()});
    on_device_.findings.download(found_);
    look(failures, figures);
    if (std::ranges::all_of(open_, [](unsigned char open) { return open == 0; })) break;
    solve_on_host(law, failures, figures);
  }
  for (std::size_t k = failed_before; k < failures.size(); ++k) looked_at[extent(failures[k].robot)] = 0;
  // Multipliers with contacts; those of robots that failed are left.
  std::vector<double>& all = problems_[0].all;
  all.resize(on_device_.lambda.size());
  on_device_.lambda.download(all);
  for (int b = 0; b < B; ++b) {
    const ContactFinding& found = found_[extent(b)];
    if (looked_at[extent(b)] == 0) continue;
    std::copy_n(all.data() + extent(b, all_), n_, multipliers.data() + extent(b, n_));
    figures.sweeps += found.sweeps;
    figures.newton_steps += found.steps;
    figures.rows += found.contacts;
    figures.violation = std::max(figures.violation, found.violation);
    int pressing = 0;
    for (int c = 0; c < found.contacts; ++c) pressing += all[extent(b, all_) + extent(n_ + 3 * c)] > 0 ? 1 : 0;
    figures.touching += pressing;
    state.touching[extent(b)] = pressing > 0;
  }
}

// What the device found: closes the robots that need no further rows, and lists those whose forces the host is to find.
void DeviceContact::look(std::vector<RobotFailure>& failures, ContactFigures& figures) {
  for_host_.clear();
  for (int b = 0; b < mechanics_.robots(); ++b) {
    if (open_[extent(b)] == 0) continue;
    const ContactFinding& found = found_[extent(b)];
    if (found.full != 0) {
      figures.too_many = true;
      fail(b, StepStatus::too_many_contacts, failures);
    } else if (found.added == 0) {
      open_[extent(b)] = 0;
    } else {
      ++figures.on_device;
      if (solver_ == ContactSolver::host || !(found.residual <= tight_residual)) {
        for_host_.push_back(b);
      } else {
        ++figures.solves;
        figures.residual = std::max(figures.residual, found.residual);
        figures.violation = std::max(figures.violation, found.displacement);
      }
    }
  }
}

ContactReport DeviceContact::solve_on_host(const ForwardLaw& law, int robot, HostProblem& p) {
  const int contacts = found_[extent(robot)].contacts, N = n_ + 3 * contacts, r = arrays_.r;
  const auto fetch = [&](std::vector<double>& to, const Array<double>& from, int stride, int count) {
    to.resize(extent(count));
    copy_bytes(cpu(), to.data(), mechanics_.device(), from.data() + extent(robot, stride),
               extent(count) * sizeof(double));
  };
  p.V.resize(extent(N, r));
  copy_bytes(cpu(), p.V.data(), mechanics_.device(), on_device_.V.data() + extent(robot, all_, r),
             p.V.size() * sizeof(double));
  fetch(p.d, on_device_.d, all_, N);
  fetch(p.lambda, on_device_.lambda, all_, N);
  fetch(p.mu, on_device_.mu, capacity_, contacts);
  if (!p.work || p.work->max_contacts() < contacts) p.work.emplace(n_, capacity_);
  std::vector<double> compliance(compliance_);
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
  copy_bytes(mechanics_.device(), on_device_.lambda.data() + extent(robot, all_), cpu(), p.lambda.data(),
             p.lambda.size() * sizeof(double));
  return report;
}

void DeviceContact::solve_on_host(const ForwardLaw& law, std::vector<RobotFailure>& failures, ContactFigures& figures) {
  const int count = static_cast<int>(for_host_.size());
  std::exception_ptr thrown;
#pragma omp parallel for schedule(dynamic) num_threads(static_cast <int>(problems_.size())) if (count > 1)
  for (int k = 0; k < count; ++k) {
    const int b = for_host_[extent(k)];
    try {
      reports_[extent(b)] = solve_on_host(law, b, problems_[extent(count > 1 ? this_thread() : 0)]);
    } catch (...) {
#pragma omp critical(device_contact)
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
  for (const int b : for_host_) {
    if (solver_ != ContactSolver::host) ++figures.on_host;
    if (!figures.take(reports_[extent(b)])) fail(b, StepStatus::rows_unsolved, failures);
  }
}

void DeviceContact::move(Vectors u, RobotMask goes) {
  launch_robots(mechanics_.device(), u.size[0], CopyTeamOp{{arrays_.motion, u.size[0], u.size[1]}, goes, u});
}

void DeviceContact::finish(const StateView& state, RobotMask goes) {
  arrays_.forces = state.contact_forces;
  launch(mechanics_.device(), mechanics_.robots(), ContactForcesOp{arrays_, goes});
}

}  // namespace supple
