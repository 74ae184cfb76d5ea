#include "engine/step/step.hpp"

#include <algorithm>

#include "kernels/array/room.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

StepSize size_of(const Mechanics& mechanics) {
  return {.device = mechanics.device(),
          .robots = mechanics.robots(),
          .nq = mechanics.coordinates().nq,
          .nv = mechanics.coordinates().nv,
          .outputs = mechanics.robot().outputs(),
          .rows = mechanics.robot().rows(),
          .motions = static_cast<int>(mechanics.robot().motions.size())};
}

// Throws CapabilityError where a GPU has no room for the arrays of a step.
StepSize size_that_fits(const Mechanics& mechanics) {
  const StepSize size = size_of(mechanics);
  if (mechanics.device().kind == Device::Kind::cpu) return size;
  const std::size_t nv = extent(size.nv), n = extent(size.rows), m = extent(size.motions);
  const std::size_t numbers = 12 * nv + extent(size.nq + size.outputs + mechanics.rows().gradients()) +
                              n * (2 * nv + 2 * m + n + 8) + nv + 6 * m;  // H, X; H_c, B; W
  need_memory(mechanics.device(), extent(size.robots) * numbers * sizeof(double),
              "the steps of " + std::to_string(size.robots) + " robots", "a smaller batch");
  return size;
}

StepStatus status_of(RobotStatus status) {
  switch (status) {
    case RobotStatus::ok:
      return StepStatus::ok;
    case RobotStatus::undefined_points:
      return StepStatus::undefined_points;
    case RobotStatus::singular:
      return StepStatus::singular;
    case RobotStatus::not_positive:
      return StepStatus::not_positive;
    case RobotStatus::out_of_memory:
      return StepStatus::out_of_memory;
    case RobotStatus::not_finite:
      return StepStatus::not_converged;
  }
  return StepStatus::not_converged;
}

}  // namespace

Stepper::Stepper(Mechanics& mechanics, const StepSettings& settings)
    : mechanics_(mechanics),
      settings_(settings),
      forward_(mechanics.robot(), mechanics.robots()),
      size_(size_that_fits(mechanics)),
      motion_(size_.device, size_, mechanics.robot().touches()),
      inputs_(size_.device, size_),
      rows_(size_.device, mechanics.rows(), size_),
      springs_{RowArrays(size_.device, spring_layout(mechanics.robot()), size_), {}, {}},
      space_(size_.device, size_, 0, 0),
      scheme_(size_.device, mechanics.robot(), size_.robots),
      marks_(size_.device),
      robots_(extent(size_.robots)) {
  const int B = size_.robots;
  if (!on_cpu()) {
    rows_.program = actuator_program(size_.device, mechanics.robot());
    springs_.rows.program = spring_program(size_.device, mechanics.robot());
  }
  const auto is_angle = [](const ConstraintRow& row) { return row.value == ConstraintRow::Value::angle; };
  const supple::Robot& robot = mechanics.robot();
  has_angles_ = std::ranges::any_of(robot.constraints, is_angle) || std::ranges::any_of(robot.springs, is_angle) ||
                std::ranges::any_of(robot.actuators, [](const ActuatorRow& row) { return row.is_motor(); });
  const std::size_t springs = extent(B, springs_.rows.rows());
  springs_.lambda = Mirrored<double>(size_.device, springs);
  if (springs > 0) springs_.force = Mirrored<double>(size_.device, extent(B, size_.nv));
  for (Mirrored<double>* array : {&start_.phi, &start_.rate})
    *array = Mirrored<double>(size_.device, extent(B, size_.rows));
  for (Mirrored<double>* array : {&start_.spring_phi, &start_.spring_rate})
    *array = Mirrored<double>(size_.device, springs);
  found_.start_points = Mirrored<PointReport>(size_.device, extent(B));
  found_.points = Mirrored<PointReport>(size_.device, extent(B));
  found_.systems = Mirrored<SystemReport>(size_.device, extent(B));
  found_.all = Mirrored<RobotFinding>(size_.device, extent(B));
  found_.squares = Mirrored<ResidualSquares>(size_.device, extent(B));
  found_.goes = Mirrored<unsigned char>(size_.device, extent(B));
  history_ = Mirrored<double>(size_.device, extent(B, mechanics.robot().history()));
  std::vector<int> cables;
  for (int row = 0, at = 0; row < static_cast<int>(robot.actuators.size()); ++row) {
    const ActuatorRow& actuator = robot.actuators[extent(row)];
    if (actuator.friction > 0) {
      cables.push_back(row);
      rubbing_.history.push_back(at);
    }
    at += actuator.history();
  }
  rubbing_.rows = Mirrored<int>(size_.device, cables.size());
  std::ranges::copy(cables, rubbing_.rows.host().begin());
  rubbing_.rows.send();
  if (!cables.empty()) rubbing_.end_points = Mirrored<double>(size_.device, extent(B, size_.outputs));
  for (int b = 0; b < B; ++b)
    for (const int row : cables) host_.friction.emplace_back(robot.actuators[extent(row)], robot);
  host_.row_end.assign(extent(B, size_.rows), 0.0);
  host_.commands.assign(extent(B) * mechanics.robot().actuators.size(), 0.0);
  host_.left_out.assign(extent(B), 0);
  host_.without_curvature.assign(extent(B), 0);
  host_.point_stiffness.reserve(extent(B, 8, springs_.rows.rows()));
  kept_.possible = !cannot_keep_tangent(mechanics.robot()).has_value() && on_cpu();
  set_load({});
  if (mechanics.robot().touches()) contact_.emplace(mechanics);
  SUPPLE_EXPECT(settings_.alpha() > 0 && settings_.beta() > 0 && (!contact_ || settings_.beta() == 1));
}

Stepper::Stepper(ReducedBatchMechanics& mechanics, const StepSettings& settings, const DeviceContactSettings& contact)
    : Stepper(static_cast<Mechanics&>(mechanics), settings) {
  SUPPLE_EXPECT(settings.scheme == StepScheme::one_linearisation && mechanics.robot().pairs() > 0);
  if (const auto why = needs_contact_on_host(mechanics.robot()))
    throw InputError("contact cannot be found on the device (" + *why + ")", "contact on the host");
  device_contact_ = std::make_unique<DeviceContact>(mechanics, contact);
}

Stepper::~Stepper() {
  try {
    synchronize(size_.device);  // copies to and from pinned memory may be under way
  } catch (...) {               // a device that is lost has nothing under way
  }
}

void Stepper::set_load(std::span<const double> load) {
  SUPPLE_EXPECT(load.empty() || load.size() == motion_.p.size());
  host_.load.assign(load.begin(), load.end());
  refresh_forces();
}

// Gravity and the load.
void Stepper::refresh_forces() {
  wait_for_device();
  const std::span<double> p = motion_.p.host();
  mechanics_.external_forces(p);
  for (std::size_t i = 0; i < host_.load.size(); ++i) p[i] += host_.load[i];
  motion_.p.send();
  if (device_contact_) device_contact_->refresh_friction();
  host_.changes = mechanics_.changes();
}

void Stepper::set_anchor(double shift, std::span<const double> anchor) {
  SUPPLE_EXPECT(on_cpu() && (shift == 0 || (anchor.size() == motion_.q.size() && size_.nq == size_.nv)));
  host_.shift = shift;
  host_.anchor.assign(anchor.begin(), anchor.end());
}

std::vector<double> Stepper::outputs() {
  if (now_.ended) mechanics_.evaluate_outputs(motion_.q.span(), inputs_.motions.span(), motion_.y.span());
  motion_.y.fetch();
  synchronize(size_.device);
  const std::span<double> y = motion_.y.host();
  return {y.begin(), y.end()};
}

std::vector<double> Stepper::row_values() {
  rows_.phi.fetch();
  synchronize(size_.device);
  const std::span<double> phi = rows_.phi.host();
  return {phi.begin(), phi.end()};
}

std::vector<double> Stepper::compliance() {
  const std::span<const double> W = space_.seen_by_law({}, {}, {}).W;
  return {W.begin(), W.end()};
}

// Room for the rows that the law adds; nothing to do but the first time.
void Stepper::size_for(const ConstraintLaw& law) {
  const RowLayout& layout = law.effector_rows();
  const int inputs = law.moves_inputs() ? size_.motions : 0;
  if (contact_) contact_->set_foresight(layout.rows() > 0);
  if (effectors_.rows() == layout.rows() && space_.inputs == inputs) return;
  wait_for_device();
  effectors_ = RowArrays(size_.device, layout, size_);
  if (!on_cpu() && layout.rows() > 0) effectors_.program = effector_program(size_.device, mechanics_.robot());
  host_.goal_values.assign(extent(layout.rows()), 0.0);
  space_ = SpaceArrays(size_.device, size_, layout.rows(), inputs);
  inputs_.columns = Mirrored<double>(size_.device, extent(size_.robots, inputs, size_.nv));
}

bool Stepper::any(Progress::At at) const {
  return std::ranges::any_of(robots_, [at](const Progress& robot) { return robot.at == at; });
}

void Stepper::fail(int robot, StepStatus status, int element) {
  Progress& progress = robots_[extent(robot)];
  progress.at = Progress::At::failed;
  progress.status = status;
  progress.element = element;
}

// Robots that take part: those that are active, or when the step has ended all that have not failed.
void Stepper::send_mask(bool ended) {
  const std::span<unsigned char> goes = found_.goes.host();
  for (std::size_t b = 0; b < robots_.size(); ++b)
    goes[b] = robots_[b].at == Progress::At::active || (ended && robots_[b].at == Progress::At::converged);
  found_.goes.send();
}

StepReport Stepper::step(const Control& control, State& state) {
  forward_.command(control.commands);
  return step(forward_, control.motions, state);
}

StepReport Stepper::step(ConstraintLaw& law, std::span<const double> motions, State& state) {
  if (on_cpu() && !device_contact_) return step(law, motions, StateView{state, state.q.data(), state.v.data()});
  DeviceState there(size_.device, state, device_contact_ != nullptr);
  StepReport report = step(law, motions, there.view());
  state = there.get();
  return report;
}

void Stepper::prepare(const ConstraintLaw& law, StateView state) {
  // Where commands come late, motions do too; effectors without a program need the goals, gas and cables
  // that rub the last forces.
  const bool late = size_.motions > 0 || scheme_.gas_rows() > 0 || rubbing_.count() > 0 ||
                    (law.effector_rows().rows() > 0 && !effectors_.program);
  if (on_cpu() || prepared() || settings_.iterates() || late || contact_.has_value() != (device_contact_ != nullptr))
    return;
  begin(law, {}, state);
  linearise(law, state);
  (void)make_space();
  now_.prepared = true;
}

// One step: rows, forces, residual; the system and constraint space; multipliers; the motion that they make. Newton's
// method repeats it until every robot has converged or failed.
StepReport Stepper::step(ConstraintLaw& law, std::span<const double> motions, StateView state) {
  if (mechanics_.robot().viscous == 0) return take_step(law, motions, state);
  try {
    return take_step(law, motions, state);
  } catch (...) {
    leave_viscous_step(state);
    throw;
  }
}

StepReport Stepper::take_step(ConstraintLaw& law, std::span<const double> motions, const StateView& state) {
  StepReport report;
  marks_.sent.wait();
  const bool prepared = now_.prepared;
  if (!prepared) begin(law, motions, state);
  now_.prepared = false;
  report.limited_commands = law.begin(state.host, settings_.time_step, !settings_.dynamic(), space_.lambda.host());
  if (settings_.iterates() || scheme_.gas_rows() > 0) space_.lambda.send();
  while (any(Progress::At::active)) {
    if (!prepared) {
      linearise(law, state);
      if (settings_.iterates())
        judge(law, report);
      else if (on_cpu())
        look_at_points(report);
      if (any(Progress::At::active) && !make_space()) count_systems(report);
    }
    if (any(Progress::At::active)) {
      collect(report);
      find_multipliers(law, state, report);
      correct();
      marks_.host_ended.set();
      report.times.rows += marks_.host_ended.seconds_since(on_cpu() ? marks_.solved : marks_.host_begun);
    }
    if (!settings_.iterates()) break;
    step_back();
  }
  finish(law, state, report);
  if (!on_cpu()) marks_.sent.set();
  return report;
}

void Stepper::begin(const ConstraintLaw& law, std::span<const double> motions, const StateView& state) {
  SUPPLE_EXPECT(state.host.robots == size_.robots);
  size_for(law);
  if (host_.changes != mechanics_.changes()) refresh_forces();
  scheme_.set(settings_);
  for (Progress& robot : robots_) {
    robot.at = Progress::At::active;
    robot.status = StepStatus::ok;
    robot.element = -1;
    robot.newton.begin();
  }
  // That of a robot that remembered nothing, with another coefficient of friction, is one at rest.
  if (state.host.history.size() != history_.size()) state.host.history.assign(history_.size(), 0.0);
  if (history_.size() > 0) {
    if (settings_.forgets_friction)
      std::ranges::fill(history_.host(), 0.0);
    else
      std::ranges::copy(state.host.history, history_.host().begin());
    history_.send();
  }
  if (mechanics_.robot().viscous > 0) begin_viscous_step(state);
  begin_scheme(state);
  for_robots(ZeroTeamOp{vectors(motion_.u)});
  if (size_.motions > 0) {
    const std::span<double> c = inputs_.motions.host(), dc = inputs_.dc.host();
    SUPPLE_EXPECT(law.moves_inputs() || motions.size() == c.size());
    std::copy_n(law.moves_inputs() ? state.host.motions.data() : motions.data(), c.size(), c.data());
    std::fill(dc.begin(), dc.end(), 0.0);
    inputs_.motions.send();
  }
  now_ = {};
  now_.keeps = may_keep_tangent();
  now_.goes_on = now_.keeps && goes_on(state.host);
}

void Stepper::linearise(const ConstraintLaw& law, const StateView& state) {
  marks_.begun.set();
  set_positions(state);
  evaluate_rows(inputs_.motions.span());
  evaluate_effectors(law);
  evaluate_springs(/*at_rest=*/!settings_.dynamic());
  set_values();
  if (contact_ && !device_contact_) {
    motion_.y.fetch();
    wait_for_device();
    if (!now_.contact_begun) begin_contact(state);
    now_.contact_begun = true;
    linearise_contact();
  }
  marks_.outputs.set();
  const bool stiff = settings_.dynamic() && mechanics_.damped().by_stiffness;
  const bool may_keep_factor = settings_.iterates() && settings_.keep_factor_below > 0 && !stiff;
  now_.without_tangent = (may_keep_factor && now_.iterations > 0) || (now_.goes_on && kept_.served);
  evaluate_forces(now_.without_tangent ? TangentKind::none : settings_.tangent());
  marks_.forces.set();
  evaluate_residual(state);
  if (now_.keeps) kept_.served = !now_.goes_on || tangent_served();
}

bool Stepper::make_space() {
  if (!factor()) return false;
  project();
  if (on_cpu()) return true;
  for_robots(FindingTeamOp{scheme_.looks_back() ? found_.start_points.data() : nullptr, found_.points.data(),
                           found_.systems.data(), vectors(motion_.f), solutions(), found_.all.data()});
  space_.block.fetch();
  scheme_.fetch();
  found_.all.fetch();
  marks_.ready.set();
  return true;
}

// What the stages have found. On a CPU points and systems were looked at as they came.
void Stepper::collect(StepReport& report) {
  if (on_cpu())
    look_at_solutions(report);
  else
    look_at_findings(report);
  if (!settings_.iterates()) {
    report.times.outputs += marks_.outputs.seconds_since(marks_.begun);
    report.times.forces += marks_.forces.seconds_since(marks_.outputs);
  }
  report.times.factor += marks_.factored.seconds_since(marks_.forces);
  report.times.solve += marks_.solved.seconds_since(marks_.factored);
  if (on_cpu()) return;
  report.times.rows += marks_.ready.seconds_since(marks_.solved);
  marks_.host_begun.set();
}

void Stepper::look_at_solutions(StepReport& report) {
  report.negative_pivots = 0;
  count_systems(report);
  const ConstMatrices X = solutions();
  for (int b = 0; b < size_.robots; ++b)
    if (robots_[extent(b)].at == Progress::At::active && !all_finite(X.at(b), X.size[1] * X.size[2]))
      fail(b, StepStatus::not_converged);
}

void Stepper::look_at_findings(StepReport& report) {
  marks_.ready.wait();
  if (!settings_.iterates()) report.inverted = 0;
  report.negative_pivots = 0;
  const std::span<RobotFinding> found = found_.all.host();
  for (int b = 0; b < size_.robots; ++b) {
    const RobotFinding& robot = found[extent(b)];
    const Progress::At at = robots_[extent(b)].at;
    if (!settings_.iterates()) report.inverted += robot.points.inverted;
    if (at == Progress::At::converged || at == Progress::At::waits) continue;
    if (now_.factored) report.weakened += robot.system.weakened;
    report.negative_pivots = std::max(report.negative_pivots, robot.system.negative_pivots);
    if (at == Progress::At::active && robot.status != RobotStatus::ok)
      fail(b, status_of(robot.status), robot.points.first_undefined);
  }
}

void Stepper::count_systems(StepReport& report) {
  for (std::size_t b = 0; b < robots_.size(); ++b) {
    if (robots_[b].at == Progress::At::converged || robots_[b].at == Progress::At::waits) continue;
    const SystemReport& found = found_.systems.host()[b];
    if (now_.factored) report.weakened += found.weakened;
    report.negative_pivots = std::max(report.negative_pivots, found.negative_pivots);
  }
}

void Stepper::set_failures(StepReport& report) const {
  for (int b = 0; b < size_.robots; ++b) {
    const Progress& robot = robots_[extent(b)];
    report.residual = std::max(report.residual, robot.newton.residual());
    report.force_scale = std::max(report.force_scale, robot.newton.force_scale());
    if (robot.at == Progress::At::failed) report.failures.push_back({b, robot.status, robot.element});
  }
  report.iterations = now_.iterations;
  if (report.failures.empty()) return;
  report.status = report.failures.front().status;
  report.failed_element = report.failures.front().element;
}

// The state of all robots that have not failed.
void Stepper::finish(ConstraintLaw& law, const StateView& state, StepReport& report) {
  set_failures(report);
  if (report.failures.size() == robots_.size()) {
    if (mechanics_.robot().viscous > 0) end_viscous_step(state);
    return;
  }
  if (contact_ && !device_contact_) report.contact = contact_->figures();
  const double h = settings_.time_step;
  const int B = size_.robots;
  if (settings_.iterates()) {
    for (std::size_t i = 0; i < host_.row_end.size(); ++i) host_.row_end[i] = row_end(i);
  }
  if (now_.keeps) remember_balance(state.host);
  if (settings_.iterates()) send_mask(/*ended=*/true);
  const Coordinates& coordinates = mechanics_.coordinates();
  correct_momentum(state);
  if (!coordinates.flat())
    for_each_robot(B, [&](int b) {
      if (found_.goes.host()[extent(b)] != 0)
        coordinates.integrate(state.q + extent(b, size_.nq), motion_.u.data() + extent(b, size_.nv));
    });
  for_robots(FinishTeamOp{settings_.dynamic(), h, settings_.beta(), vectors(motion_.u), found_.goes.data(),
                          coordinates.flat() ? Vectors(state.q, B, size_.nq) : Vectors(),
                          Vectors(state.v, B, size_.nv)});
  if (mechanics_.turns() && settings_.dynamic() && !settings_.iterates() && found_.goes.host()[0] != 0)
    std::ranges::copy(host_.end_velocity, state.v);
  finish_host(law, state);
  if (rubbing_.count() > 0) remember_friction(state);
  if (mechanics_.robot().viscous > 0) end_viscous_step(state);
  if (device_contact_) device_contact_->finish(state, found_.goes.data());
  if (now_.keeps) remember_end(state.host);
  // outputs() may be asked for
  for_robots(CopyTeamOp{ConstVectors(state.q, B, size_.nq), nullptr, Vectors(motion_.q.data(), B, size_.nq)});
  now_.ended = true;
}

// What of the state lies on the host.
void Stepper::finish_host(ConstraintLaw& law, const StateView& state) {
  State& host = state.host;
  const std::span<const double> lambda = space_.lambda.host();
  const std::span<double> c = inputs_.motions.host();
  law.commands(host_.row_end, scheme_.command_scale(), lambda, host_.commands);
  remember_gas(host);
  const std::size_t n = extent(size_.rows), m = extent(size_.motions), actuators = mechanics_.robot().actuators.size();
  for (std::size_t b = 0; b < robots_.size(); ++b) {
    if (robots_[b].at == Progress::At::failed) {
      std::copy_n(host.motions.data() + b * m, m, c.data() + b * m);  // for outputs()
      continue;
    }
    for (std::size_t i = b * m; i < (b + 1) * m; ++i) {
      host.motion_velocities[i] = settings_.dynamic() ? (c[i] - host.motions[i]) / settings_.time_step : 0.0;
      host.motions[i] = c[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      host.multipliers[b * n + i] = scheme_.averaged(i) ? lambda[b * n + i] / settings_.alpha() : lambda[b * n + i];
    std::copy_n(host_.commands.data() + b * actuators, actuators, host.commands.data() + b * actuators);
    if (contact_ && !device_contact_) contact_->finish(static_cast<int>(b), host);
  }
  if (m > 0) inputs_.motions.send();
  host.time += settings_.dynamic() ? settings_.time_step : 0.0;
}

// Forces of the mechanics are those at rest again, whatever ends the step.
void Stepper::leave_viscous_step(const StateView& state) {
  if (state.host.viscous.size() != extent(size_.robots, mechanics_.robot().viscous)) return;  // not begun
  for (std::size_t b = 0; b < robots_.size(); ++b) robots_[b].at = Progress::At::failed;
  end_viscous_step(state);
}

void Stepper::begin_viscous_step(const StateView& state) {
  const std::size_t numbers = extent(size_.robots, mechanics_.robot().viscous);
  std::vector<double>& viscous = state.host.viscous;
  if (viscous.size() != numbers) {  // a state from elsewhere has been where it is for long
    viscous.assign(numbers, 0.0);
    mechanics_.end_viscous_step(0, {state.q, motion_.q.size()}, state.host.motions, {}, viscous);
  }
  if (!settings_.dynamic()) return;
  SUPPLE_EXPECT(settings_.alpha() == 1 && settings_.beta() == 1);  // cannot_step()
  mechanics_.begin_viscous_step(settings_.time_step, viscous);
}

void Stepper::end_viscous_step(const StateView& state) {
  send_mask(/*ended=*/true);
  mechanics_.end_viscous_step(settings_.dynamic() ? settings_.time_step : 0, {state.q, motion_.q.size()},
                              state.host.motions, found_.goes.host(), state.host.viscous);
}

// What the cavities that are supplied have gained: through their lines; in statics, and where a limit holds the pressure,
// what makes that pressure.
void Stepper::remember_gas(State& host) {
  if (host.history.empty()) return;
  const supple::Robot& robot = mechanics_.robot();
  const std::size_t own = extent(robot.history()), n = extent(size_.rows), actuators = robot.actuators.size();
  bool fetched = on_cpu();
  for (std::size_t b = 0; b < robots_.size(); ++b) {
    if (robots_[b].at == Progress::At::failed) continue;
    double* history = host.history.data() + b * own;
    for (std::size_t j = 0; j < actuators; history += robot.actuators[j++].history()) {
      const ActuatorRow& actuator = robot.actuators[j];
      if (actuator.control != ActuatorControl::supply) continue;
      const std::size_t row = b * n + j;
      const double pressure = space_.lambda.host()[row], p = actuator.gas.atmosphere;
      const RowTarget limits = row_target(actuator, 0, 0, 0);
      if (settings_.dynamic() && pressure > limits.lower && pressure < limits.upper) {
        *history += settings_.time_step * (host_.commands[b * actuators + j] - pressure) / actuator.gas.resistance;
        continue;
      }
      if (!fetched) {
        rows_.phi.fetch();
        wait_for_device();
        fetched = true;
      }
      // The volume where the row ends: delta = phi as the law sees it + what it moves by + c lambda
      const double gained = rows_.phi.host()[row] + host_.row_end[row] - row_end(row);
      const double content = actuator.rest_volume + actuator.gas.dead_volume;
      *history = (gained * (p + pressure) + content * pressure) / p;
    }
  }
}

// How far the cables have slid by the end of the step.
void Stepper::remember_friction(const StateView& state) {
  mechanics_.outputs_elsewhere({state.q, motion_.q.size()}, inputs_.motions.span(), rubbing_.end_points.span());
  rubbing_.end_points.fetch();
  wait_for_device();
  const supple::Robot& robot = mechanics_.robot();
  const std::size_t own = extent(robot.history());
  for_each_robot(size_.robots, [&](int b) {
    if (robots_[extent(b)].at == Progress::At::failed) return;
    evaluate_friction(
        b, std::span<const double>(rubbing_.end_points.host()).subspan(extent(b, size_.outputs), extent(size_.outputs)),
        {});
    for (int k = 0; k < rubbing_.count(); ++k)
      std::ranges::copy(host_.friction[extent(b, rubbing_.count()) + extent(k)].history(),
                        state.host.history.data() + extent(b) * own + extent(rubbing_.history[extent(k)]));
  });
}

std::optional<InputError> cannot_step(const Robot& robot, Integrator integrator) {
  if (integrator != Integrator::quasi_static && robot.viscous > 0 &&
      (robot.implicit_velocity != 1 || robot.implicit_position != 1))
    return InputError("viscous materials need implicit Euler (their dashpots are integrated with it)",
                      "implicit_velocity = 1 and implicit_position = 1");
  if (integrator != Integrator::quasi_static && robot.viscous > 0 && robot.rayleigh_stiffness > 0)
    return InputError("stiffness damping beside viscous materials would multiply the stiffness of their dashpots",
                      "rayleigh_stiffness = 0, and retardation_time in the materials");
  if (integrator == Integrator::quasi_static || robot.implicit_position == 1) return std::nullopt;
  for (const ActuatorRow& actuator : robot.actuators)
    if (actuator.has_gas())
      return InputError("the gas of '" + actuator.name + "' needs implicit_position = 1",
                        "implicit_position = 1, or control = \"pressure\"");
  if (robot.touches())
    return InputError(
        "steps in contact with obstacles need implicit_position = 1 (a body would end within what it meets at speed)",
        "implicit_position = 1, or the scene without [[obstacle]]");
  for (const ConstraintRow& row : robot.constraints)
    if (row.one_sided)
      return InputError(
          "the limit '" + row.name + "' needs implicit_position = 1 (a point would end beyond what it meets at speed)",
          "implicit_position = 1, or the scene without limits");
  return std::nullopt;
}

State rest_state(const Mechanics& mechanics) {
  State state;
  const int B = mechanics.robots(), motions = static_cast<int>(mechanics.robot().motions.size());
  state.robots = B;
  state.q.assign(extent(B, mechanics.coordinates().nq), 0.0);
  for (int b = 0; b < B; ++b) mechanics.coordinates().rest(state.q.data() + extent(b, mechanics.coordinates().nq));
  state.v.assign(extent(B, mechanics.coordinates().nv), 0.0);
  state.multipliers.assign(extent(B, mechanics.robot().rows()), 0.0);
  state.contact_forces.assign(extent(B, mechanics.robot().pairs(), 3), 0.0);
  state.surface_forces.resize(mechanics.robot().surfaces ? extent(B) : 0);
  state.commands.assign(extent(B, static_cast<int>(mechanics.robot().actuators.size())), 0.0);
  state.motions.assign(extent(B, motions), 0.0);
  state.motion_velocities.assign(extent(B, motions), 0.0);
  state.history.assign(extent(B, mechanics.robot().history()), 0.0);
  state.viscous.assign(extent(B, mechanics.robot().viscous), 0.0);
  return state;
}

Control zero_control(const Mechanics& mechanics) {
  Control control;
  control.commands.assign(extent(mechanics.robots(), static_cast<int>(mechanics.robot().actuators.size())), 0.0);
  for (int b = 0; b < mechanics.robots(); ++b)
    for (const MotionInput& motion : mechanics.robot().motions) control.motions.push_back(motion.rest());
  return control;
}

}  // namespace supple
