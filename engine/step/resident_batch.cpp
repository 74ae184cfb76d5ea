#include "engine/step/resident_batch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kernels/math/inner_product.hpp"

namespace supple {

namespace {

StepStatus status_of(RobotStatus status) {
  switch (status) {
    case RobotStatus::ok:
      return StepStatus::ok;
    case RobotStatus::undefined_points:
      return StepStatus::undefined_points;
    case RobotStatus::not_positive:
      return StepStatus::not_positive;
    case RobotStatus::not_finite:
      return StepStatus::not_converged;
  }
  return StepStatus::not_converged;
}

SystemCoefficients coefficients_of(const Robot& robot, double h) {
  return {.mass = 1 / (h * h) + robot.rayleigh_mass / h, .stiffness = 1 + robot.rayleigh_stiffness / h};
}

}  // namespace

ResidentStepper::Batch::Batch(const ReducedModel& model, const Device& device, int robots,
                              const ResidentSettings& settings)
    : model_(model),
      mechanics_(model, device, robots, {.precision = settings.precision}),
      on_(mechanics_.resident()),
      time_step_(settings.time_step),
      algebra_(settings.algebra),
      coefficients_(coefficients_of(model.robot, settings.time_step)),
      n_(model.robot.rows()),
      e_(0),
      rows_(actuator_rows(device, model, robots)),
      forward_(model.robot, robots),
      known_(rest_state(mechanics_)),
      begun_(device),
      outputs_(device),
      forces_(device),
      factored_(device),
      solved_(device),
      ready_(device) {
  const int B = robots, r = on_.r;
  if (settings.effectors) effectors_ = effector_rows(device, model, B);
  e_ = effectors_.layout.rows();
  if (static_cast<double>(B) * e_ * std::max(r, n_) >= 2147483647.0)
    throw InputError("a batch of " + std::to_string(B) + " robots is too large (" + std::to_string(e_) +
                         " rows of effectors leave 32-bit indices for fewer)",
                     "several batches, one after the other");
  const std::size_t rows = extent(B, n_), sent = extent(n_ + 1) * rows + (e_ > 0 ? extent(B, e_, n_ + 2) + rows : 0);
  host_space_ = PinnedArray<double>(device, sent);
  space_ = Array<double>(device, sent + (e_ > 0 ? 0 : rows));
  for (Array<double>* array : {&p_, &inertia_}) *array = Array<double>(device, extent(B, r));
  std::vector<double> compliance(extent(n_), 0.0);
  for (std::size_t k = 0; k < model.robot.constraints.size(); ++k)
    compliance[model.robot.actuators.size() + k] = model.robot.constraints[k].compliance;
  compliance_ = upload(device, compliance);
  lambda_ = Array<double>(device, rows);
  host_lambda_ = PinnedArray<double>(device, rows);
  findings_ = Array<RobotFinding>(device, extent(B));
  host_findings_ = PinnedArray<RobotFinding>(device, extent(B));
  goes_ = Array<unsigned char>(device, extent(B));
  host_goes_ = PinnedArray<unsigned char>(device, extent(B));
  if (algebra_ == SystemAlgebra::fused) {
    teams_ = team_count(device, B);
    if (settings.precision == Precision::fp32)
      rounded_scratch_ = Array<float>(device, extent(teams_) * FusedSystemTeamOp<float>::scratch_length(r, n_));
    else
      exact_scratch_ = Array<double>(device, extent(teams_) * FusedSystemTeamOp<double>::scratch_length(r, n_));
  }
  failed_.assign(extent(B), 0);
  phi_end_.assign(rows, 0.0);
  commands_.assign(known_.commands.size(), 0.0);
  goal_values_.assign(extent(e_), 0.0);
  known_.q.clear();
  known_.v.clear();
  known_.contact_forces.clear();
  if (model.robot.pairs() > 0) contact_.emplace(model, on_, compliance_.data(), settings);
  set_variations({});
}

// Copies to and from the pinned arrays may be under way.
ResidentStepper::Batch::~Batch() {
  try {
    synchronize(on_.device);
  } catch (...) {  // a device that is lost has nothing under way
  }
}

void ResidentStepper::Batch::set_variations(Variations variations) {
  mechanics_.set_variations(std::move(variations));
  std::vector<double> p(p_.size());
  mechanics_.external_forces(p);
  p_.upload(p);
  if (contact_) contact_->set_friction(mechanics_);
  linearised_ = false;
}

void ResidentStepper::Batch::linearise() {
  if (linearised_) return;
  const Device& device = on_.device;
  const int B = on_.robots, r = on_.r;
  const std::size_t rows = extent(B, n_);
  double *W = space_.data(), *free = W + extent(n_) * rows, *effector_W = free + rows,
         *effector_free = effector_W + extent(B, e_, n_), *effector_phi = effector_free + extent(B, e_),
         *phi = effector_phi + extent(B, e_);
  begun_.set();
  if (on_.ny > 0) on_.find_outputs();
  rows_.find(on_, phi);
  if (e_ > 0) effectors_.find(on_, effector_phi);
  outputs_.set();
  on_.find_forces(TangentKind::safe);
  on_.multiply_mass(on_.v, inertia_);
  forces_.set();
  const RightSidesOp sides{
      n_, r, time_step_, inertia_.data(), p_.data(), on_.exact.f.data(), rows_.H.data(), on_.exact.X.data()};
  const SpaceOp own{n_, n_, r, true, phi, rows_.H.data(), on_.exact.X.data(), compliance_.data(), free, W};
  const SpaceOp effectors{
      e_, n_, r, false, effector_phi, effectors_.H.data(), on_.exact.X.data(), nullptr, effector_free, effector_W};
  if (algebra_ == SystemAlgebra::fused) {
    factored_.set();
    const auto fused = [&]<class S>(const PrecisionArrays<S>& in, Array<S>& scratch) {
      launch_teams(
          device, B, teams_,
          FusedSystemTeamOp<S>{static_cast<S>(coefficients_.stiffness), static_cast<S>(coefficients_.mass), in.K.data(),
                               in.mass.data(), sides, own, effectors, on_.info.data(), scratch.data()});
    };
    on_.precision == Precision::fp32 ? fused(on_.rounded, rounded_scratch_) : fused(on_.exact, exact_scratch_);
    solved_.set();
  } else {
    find_space_by_libraries(sides, own, effectors);
  }
  launch(device, B,
         FindingOp{n_, r, on_.counts.data(), on_.exact.f.data(), on_.info.data(),
                   on_.strain_modes > 0 ? on_.weakened.data() : nullptr, on_.exact.X.data(), findings_.data()});
  host_space_.queue_from(space_);
  host_findings_.queue_from(findings_);
  ready_.set();
  linearised_ = true;
}

void ResidentStepper::Batch::find_space_by_libraries(const RightSidesOp& sides, const SpaceOp& rows,
                                                     const SpaceOp& effectors) {
  const int B = on_.robots;
  on_.find_system(coefficients_);
  on_.factor_system(coefficients_);
  factored_.set();
  launch(on_.device, B * (1 + n_) * on_.r, sides);
  on_.solve_systems(on_.exact.X, 1 + n_);
  solved_.set();
  launch(on_.device, B * n_, rows);
  launch(on_.device, B * e_, effectors);
}

// Robots without a linearisation have a space that any law can look at, and that none is to solve.
void ResidentStepper::Batch::find_failures(int first, ResidentReport& report) {
  const int B = on_.robots;
  const std::size_t rows = extent(B, n_);
  for (int b = 0; b < B; ++b) {
    const RobotFinding& found = host_findings_[extent(b)];
    report.inverted += found.inverted;
    report.weakened += found.weakened;
    failed_[extent(b)] = found.status != RobotStatus::ok;
    if (found.status == RobotStatus::ok) continue;
    report.failures.push_back({first + b, status_of(found.status),
                               found.undefined_at >= 0 ? element_of_point(model_, found.undefined_at) : -1});
    double *W = host_space_.data() + extent(b, n_, n_), *rest = host_space_.data() + extent(n_) * rows;
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) W[i * n_ + j] = i == j ? 1 : 0;
    std::fill_n(rest + extent(b, n_), n_, 0.0);
    if (e_ == 0) continue;
    rest += rows;
    std::fill_n(rest + extent(b, e_, n_), extent(e_, n_), 0.0);
    for (int part = 1; part <= 2; ++part)
      std::fill_n(rest + extent(B, e_, n_) + extent(part - 1) * extent(B, e_) + extent(b, e_), e_, 0.0);
    std::fill_n(rest + extent(B, e_, n_ + 2) + extent(b, n_), n_, 0.0);
  }
}

ConstraintSpace ResidentStepper::Batch::space(std::span<const double> goals) {
  const int B = on_.robots;
  const std::size_t rows = extent(B, n_), values = extent(B, e_);
  std::span<double> left = host_space_.span();
  const auto take = [&](std::size_t count) {
    const std::span<double> part = left.first(count);
    left = left.subspan(count);
    return part;
  };
  ConstraintSpace space;
  space.robots = B;
  space.rows = n_;
  space.effector_rows = e_;
  space.W = take(extent(n_) * rows);
  space.free = take(rows);
  if (e_ == 0) return space;
  space.effector_W = take(extent(B, e_, n_));
  const std::span<double> effector_free = take(values), effector_phi = take(values);
  space.phi = take(rows);
  const std::size_t numbers = 3 * model_.robot.effectors.size();
  for (int b = 0; b < B; ++b) {
    goal_values(model_.robot, goals.subspan(extent(b) * numbers, numbers), goal_values_);
    for (int i = 0; i < e_; ++i)
      for (const std::span<double>& value : {effector_free, effector_phi})
        value[extent(b, e_) + extent(i)] -= goal_values_[extent(i)];
  }
  space.effector_free = effector_free;
  space.effector_phi = effector_phi;
  return space;
}

void ResidentStepper::Batch::advance(ConstraintLaw& law, std::span<const double> goals, int first,
                                     ResidentReport& report) {
  SUPPLE_EXPECT(linearised_ && law.effector_rows().rows() == e_ && !law.moves_inputs());
  const int B = on_.robots;
  ready_.wait();
  linearised_ = false;  // what follows changes what the host has of it
  const auto begin = std::chrono::steady_clock::now();
  report.times += {.outputs = outputs_.seconds_since(begun_),
                   .forces = forces_.seconds_since(outputs_),
                   .factor = factored_.seconds_since(forces_),
                   .solve = solved_.seconds_since(factored_),
                   .rows = ready_.seconds_since(solved_)};
  const std::span<double> lambda = host_lambda_.span();
  report.limited_commands += law.begin(known_, time_step_, lambda);
  const std::size_t before = report.failures.size();
  find_failures(first, report);
  const ConstraintSpace space = this->space(goals);
  const bool some_failed = report.failures.size() > before;
  // Robots in contact are solved with their contacts.
  left_out_ = failed_;
  if (contact_)
    for (std::size_t b = 0; b < failed_.size(); ++b) left_out_[b] = failed_[b] != 0 || contact_->touch()[b] != 0;
  const bool all_solved = law.solve(
      space, some_failed || contact_ ? std::span<const char>(left_out_) : std::span<const char>(), lambda, {});
  const std::size_t n = extent(n_);
  if (contact_) find_contact_forces(first, report);
  for (std::size_t b = 0; b < failed_.size(); ++b) {
    const std::span<const double> mine = lambda.subspan(b * n, n);
    const bool solved = (all_solved || contact_ || law.solved(static_cast<int>(b))) &&
                        std::ranges::all_of(mine, [](double l) { return std::abs(l) < largest_finite; });
    if (failed_[b] == 0 && !solved) {
      failed_[b] = 1;
      report.failures.push_back({first + static_cast<int>(b), StepStatus::rows_unsolved, -1});
    }
    host_goes_[b] = failed_[b] == 0;
    for (std::size_t i = 0; i < n; ++i)
      phi_end_[b * n + i] = space.free[b * n + i] + inner_product(space.W.data() + (b * n + i) * n, mine.data(), n_);
  }
  host_goes_.queue_to(goes_);
  if (contact_) {
    contact_->move(time_step_, goes_.data());
  } else {
    host_lambda_.queue_to(lambda_);
    launch(on_.device, B * on_.r,
           MoveOp{n_, on_.r, time_step_, on_.exact.X.data(), lambda_.data(), goes_.data(), on_.exact.q.data(),
                  on_.v.data()});
  }
  law.commands(phi_end_, lambda, commands_);
  const std::size_t actuators = model_.robot.actuators.size();
  for (std::size_t b = 0; b < failed_.size(); ++b) {
    if (failed_[b] != 0) continue;
    std::copy_n(lambda.begin() + static_cast<std::ptrdiff_t>(b * n), n, known_.multipliers.data() + b * n);
    std::copy_n(commands_.data() + b * actuators, actuators, known_.commands.data() + b * actuators);
  }
  report.times.rows += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void ResidentStepper::Batch::find_contact_forces(int first, ResidentReport& report) {
  const std::size_t rows = extent(on_.robots, n_);
  const double* free = space_.data() + extent(n_) * rows;
  const std::size_t before = report.failures.size();
  contact_->solve(forward_, {rows_.H.data(), free}, host_lambda_.span(), failed_, report);
  for (std::size_t k = before; k < report.failures.size(); ++k) report.failures[k].robot += first;
}

void ResidentStepper::Batch::add_contact_forces(std::vector<double>& forces) const {
  if (contact_) contact_->add_forces(forces);
}

void ResidentStepper::Batch::set_state(const State& state) {
  if (contact_) contact_->set_forces(state.contact_forces);
  on_.exact.q.upload(state.q);
  on_.v.upload(state.v);
  known_.multipliers = state.multipliers;
  known_.commands = state.commands;
  linearised_ = false;
}

void ResidentStepper::Batch::read_state(std::span<double> q, std::span<double> v) const {
  on_.exact.q.download(q);
  on_.v.download(v);
}

// Rows of `values` [one robot, or as many as there are] to those of these robots on the device.
void ResidentStepper::Batch::place(std::span<const int> robots, const State& start, const std::vector<double>& values,
                                   Array<double>& target) {
  std::vector<double> placed;
  const std::size_t r = extent(on_.r);
  for (const int b : robots) {
    const double* own = values.data() + (start.robots == 1 ? 0 : extent(b) * r);
    placed.insert(placed.end(), own, own + r);
  }
  if (placed_values_.size() < placed.size()) placed_values_ = Array<double>(on_.device, placed.size());
  placed_values_.upload(placed);
  launch(on_.device, static_cast<int>(placed.size()),
         PlaceOp{on_.r, placed_robots_.data(), placed_values_.data(), target.data()});
}

void ResidentStepper::Batch::reset(std::span<const int> robots, const State& start) {
  if (robots.empty()) return;
  if (placed_robots_.size() < robots.size()) placed_robots_ = Array<int>(on_.device, robots.size());
  placed_robots_.upload(robots);
  place(robots, start, start.q, on_.exact.q);
  place(robots, start, start.v, on_.v);
  if (contact_) contact_->reset(robots, start);
  State host = start;
  host.contact_forces.clear();
  host.q.clear();
  host.v.clear();
  supple::reset(known_, robots, host);
  linearised_ = false;
}

void ResidentStepper::Batch::read_outputs(std::span<double> y) {
  if (!linearised_ && on_.ny > 0) on_.find_outputs();
  on_.y.download(y);
}

}  // namespace supple
