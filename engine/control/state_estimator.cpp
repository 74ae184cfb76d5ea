#include "engine/control/state_estimator.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/derivative/differentiable_steps.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Of central differences of readings by points [m], by fibres and coordinates of volumes. Readings are smooth, and
// quadratic or cubic: right to 1e-9 or better where these numbers are of the size of 1e-3 or more.
constexpr double point_step = 1e-6;

// The mapped points that a reading is a function of.
std::pair<int, int> points_of(const Robot& robot, const Sensor& sensor) {
  if (sensor.kind != SensorKind::volume) return {sensor.first_point, sensor.point_count};
  const ActuatorRow& cavity = robot.actuators[extent(sensor.actuator)];
  return {cavity.first_point, cavity.point_count};
}

// Directions that rows hold have no variance: the smoother takes this of the start's there, and so much of each
// variance, which is above the rounding of their sums.
constexpr double least_variance = 1e-14, rounding = 1e-12;

// Mapped points at which material is, in their order; others are vectors, or coordinates of a cavity's volume.
std::vector<char> places_of(const Robot& robot) {
  std::vector<char> place(robot.rest_points.size(), 0);
  const auto add = [&](int first, int count) { std::fill_n(place.begin() + first, count, 1); };
  for (const NamedPoint& point : robot.reported_points()) add(point.point, 1);
  for (const Effector& effector : robot.effectors)
    if (effector.kind == EffectorKind::length) add(effector.first_point, effector.point_count);
  for (const ActuatorRow& actuator : robot.actuators)
    if (actuator.kind == ActuatorKind::cable || actuator.kind == ActuatorKind::force)
      add(actuator.first_point, actuator.point_count);
  for (const Sensor& sensor : robot.sensors)
    if (sensor.kind == SensorKind::position || sensor.kind == SensorKind::length)
      add(sensor.first_point, sensor.point_count);
  add(robot.first_collision_point, robot.collision_points);
  return place;
}

}  // namespace

bool is_supported(const Sensor& sensor) {
  switch (sensor.kind) {
    case SensorKind::length:
    case SensorKind::strain:
    case SensorKind::position:
    case SensorKind::volume:
      return sensor.delay == 0;
    default:
      return false;
  }
}

double noise_of(const Sensor& sensor) {
  if (sensor.noise > 0) return sensor.noise;
  switch (sensor.kind) {
    case SensorKind::strain:
      return 1e-3;
    case SensorKind::volume:
      return 1e-7;
    default:
      return 1e-4;
  }
}

StateEstimator::StateEstimator(std::shared_ptr<const ReducedModel> model, const EstimatorSettings& settings)
    : model_(std::move(model)),
      settings_(settings),
      step_settings_(differentiable_steps(model_->robot, settings.time_step)),
      mechanics_(*model_, 1),
      stepper_(mechanics_, step_settings_),
      derivative_(mechanics_, step_settings_),
      nv_(model_->modes),
      actuators_(static_cast<int>(model_->robot.actuators.size())),
      loads_(3 * static_cast<int>(settings.load_points.size())),
      state_(rest_state(mechanics_)),
      before_(state_),
      control_(zero_control(mechanics_)) {
  check_settings();
  find_sensors();
  y_.resize(extent(model_->robot.outputs()));
  generalised_.resize(extent(nv_));
  B_ = Eigen::MatrixXd::Zero(nv_, loads_);
  for (int k = 0; k < loads_; ++k) {
    const double* L = model_->outputs.data() + extent(3 * settings_.load_points[extent(k / 3)] + k % 3, nv_);
    B_.col(k) = Eigen::Map<const Eigen::VectorXd>(L, nv_);
  }
  // Random motions are those of the covariance s^2 m M^-1: independent along directions of equal kinetic energy, with m
  // such that s is the root mean square over the coordinates of all mapped places. Of accelerations, forces s^2 m M.
  const Eigen::Map<const RowMajor> M(model_->mass.data(), nv_, nv_);
  Eigen::MatrixXd spread = M.llt().solve(Eigen::MatrixXd::Identity(nv_, nv_));
  const std::vector<char> places = places_of(model_->robot);
  double mean = 0;
  int count = 0;
  for (std::size_t i = 0; i < 3 * places.size(); ++i) {
    if (places[i / 3] == 0) continue;
    const Eigen::Map<const Eigen::VectorXd> row(model_->outputs.data() + i * extent(nv_), nv_);
    mean += row.dot(spread * row);
    ++count;
  }
  mean /= count;
  if (!(mean > 0 && std::isfinite(mean)))
    throw InputError("the modes move no mapped point", "a model with effectors, probes or sensors");
  spread /= mean;
  missing_forces_ = settings_.acceleration * settings_.acceleration / mean * M;
  scale_ = Eigen::MatrixXd::Zero(size(), size());
  const Eigen::MatrixXd root = spread.llt().matrixL();
  scale_.topLeftCorner(nv_, nv_) = settings_.start_displacement * root;
  scale_.block(nv_, nv_, nv_, nv_) = settings_.start_velocity * root;
  scale_.bottomRightCorner(loads_, loads_).diagonal().setConstant(settings_.start_load);
  start({}, {});
}

void StateEstimator::check_settings() const {
  const Robot& robot = model_->robot;
  const auto above = [](const char* name, double value) {
    if (!(value > 0 && std::isfinite(value)))
      throw InputError(fmt::format("{} is {}", name, value), "a number above 0");
  };
  above("steps", settings_.steps);
  above("iterations", settings_.iterations);
  above("start_displacement", settings_.start_displacement);
  above("start_velocity", settings_.start_velocity);
  above("start_load", settings_.start_load);
  above("acceleration", settings_.acceleration);
  above("load_change", settings_.load_change);
  for (const int point : settings_.load_points)
    if (point < 0 || 3 * point >= robot.outputs() || places_of(robot)[extent(point)] == 0)
      throw InputError(fmt::format("mapped point {} is no place of the body for a load", point),
                       "the point of an effector or probe");
}

void StateEstimator::find_sensors() {
  const Robot& robot = model_->robot;
  std::vector<std::string> names;
  for (const Sensor& sensor : robot.sensors) names.push_back(sensor.name);
  const std::string all = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  for (const std::string& name : settings_.sensors)
    if (std::ranges::find(names, name) == names.end())
      throw InputError(fmt::format("'{}' has no sensor '{}'", robot.name, name), "one of: " + all);
  int at = 0;
  for (std::size_t s = 0; s < robot.sensors.size(); ++s) {
    const Sensor& sensor = robot.sensors[s];
    const int size = sensor_size(sensor);
    const bool asked = std::ranges::find(settings_.sensors, sensor.name) != settings_.sensors.end();
    if (asked && !is_supported(sensor))
      throw InputError(fmt::format("sensor '{}' is a {}{}, from which no state is estimated yet", sensor.name,
                                   sensor_word(sensor.kind), sensor.delay > 0 ? " with a delay" : ""),
                       "positions, lengths, strains and volumes without delays");
    if (asked || (settings_.sensors.empty() && is_supported(sensor))) {
      sensors_.push_back(static_cast<int>(s));
      first_.push_back(static_cast<int>(used_.size()));
      for (int k = 0; k < size; ++k) {
        used_.push_back(at + k);
        noise_.push_back(noise_of(sensor));
      }
    }
    at += size;
  }
  numbers_ = at;
  if (used_.empty())
    throw InputError(fmt::format("'{}' has no sensor that tells where it is (it has: {})", robot.name, all),
                     "[[sensor]] of type position, length, strain or volume in its scene");
}

void StateEstimator::start(std::span<const double> q, std::span<const double> v) {
  check_numbers(q, extent(nv_), "q", true);
  check_numbers(v, extent(nv_), "v", true);
  window_.clear();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(size());
  std::ranges::copy(q, x.data());
  std::ranges::copy(v, x.data() + nv_);
  start_at_ = over_scale(x);
  prior_.mean = start_at_;
  prior_.P = Eigen::MatrixXd::Identity(size(), size());
  take_estimate(prior_);
}

// scale^-1 rows, scale lower triangular.
Eigen::MatrixXd StateEstimator::over_scale(const Eigen::MatrixXd& rows) const {
  return scale_.triangularView<Eigen::Lower>().solve(rows);
}

void StateEstimator::take_estimate(const Filtered& end) {
  const Eigen::VectorXd x = scale_ * end.mean;
  q_.assign(x.data(), x.data() + nv_);
  v_.assign(x.data() + nv_, x.data() + 2 * nv_);
  load_.assign(x.data() + 2 * nv_, x.data() + size());
  covariance_ = scale_ * end.P * scale_.transpose();
}

std::vector<double> StateEstimator::generalised_load() const {
  const Eigen::VectorXd f = B_ * Eigen::Map<const Eigen::VectorXd>(load_.data(), loads_);
  return {f.data(), f.data() + nv_};
}

// The step from `from` under the commands of `to`. Its end, and its matrices of xi.
StepStatus StateEstimator::take_step(const Eigen::VectorXd& from, const Node& to, Eigen::VectorXd& end,
                                     Eigen::MatrixXd& A, Eigen::MatrixXd& Q) {
  Eigen::VectorXd x = scale_ * from;
  std::copy_n(x.data(), nv_, state_.q.begin());
  std::copy_n(x.data() + nv_, nv_, state_.v.begin());
  state_.commands = to.applied;  // what was applied had its rates
  for (auto* values : {&state_.multipliers, &state_.contact_forces}) std::ranges::fill(*values, 0.0);
  Eigen::Map<Eigen::VectorXd>(generalised_.data(), nv_) = B_ * x.tail(loads_);
  stepper_.set_load(generalised_);
  control_.commands = to.applied;
  before_ = state_;
  const StepReport report = stepper_.step(control_, state_);
  if (report.status != StepStatus::ok) return report.status;
  derivative_.linearise(control_.commands, before_, state_);
  if (!derivative_.matrices(0, matrices_)) return StepStatus::rows_unsolved;
  x.head(nv_) = Eigen::Map<const Eigen::VectorXd>(state_.q.data(), nv_);
  x.segment(nv_, nv_) = Eigen::Map<const Eigen::VectorXd>(state_.v.data(), nv_);
  end = over_scale(x);
  const double h = time_step();
  const Eigen::Map<const RowMajor> q(matrices_.q.data(), nv_, nv_), v(matrices_.v.data(), nv_, nv_),
      load(matrices_.load.data(), nv_, nv_);
  A.setZero(size(), size());
  A.topLeftCorner(nv_, nv_) = q;
  A.block(0, nv_, nv_, nv_) = v;
  A.topRightCorner(nv_, loads_).noalias() = load * B_;
  A.middleRows(nv_, nv_) = A.topRows(nv_) / h;
  A.topLeftCorner(nv_, nv_).diagonal().array() += 1;
  A.bottomRightCorner(loads_, loads_).setIdentity();
  A = over_scale(A * scale_);
  // What the model lacks: forces in the step, and how loads change.
  Eigen::MatrixXd motion(2 * nv_, nv_);
  motion << load, load / h;
  Q.setZero(size(), size());
  Q.topLeftCorner(2 * nv_, 2 * nv_) = motion * missing_forces_ * motion.transpose();
  Q.bottomRightCorner(loads_, loads_).diagonal().setConstant(settings_.load_change * settings_.load_change * h);
  Q = over_scale(over_scale(Q).transpose());
  return StepStatus::ok;
}

// Where a node is: (z - h)/sigma [used], 0 where nothing was measured, and the slopes of h/sigma by xi, or null.
void StateEstimator::measure(const Node& node, Eigen::VectorXd& away, Eigen::MatrixXd* slopes) {
  const Robot& robot = model_->robot;
  const Eigen::VectorXd x = scale_ * node.at;
  std::copy_n(x.data(), nv_, state_.q.begin());
  mechanics_.outputs_elsewhere(state_.q, state_.motions, y_);
  const auto n = static_cast<Eigen::Index>(used_.size());
  away.setZero(n);
  Eigen::MatrixXd by_q = Eigen::MatrixXd::Zero(n, nv_);
  std::array<double, 5> now{}, up{}, down{};
  for (std::size_t s = 0; s < sensors_.size(); ++s) {
    const Sensor& sensor = robot.sensors[extent(sensors_[s])];
    const int size = sensor_size(sensor);
    const auto read = [&](std::array<double, 5>& value) {
      evaluate_sensor(robot, sensor, state_, y_, 0, robot.gravity, 0, {}, std::span(value).first(extent(size)));
    };
    read(now);
    std::array<bool, 5> seen{};
    bool any = false;
    for (int k = 0; k < size; ++k) {
      const std::size_t at = extent(first_[s] + k);
      seen[extent(k)] = !std::isnan(node.readings[at]);
      any = any || seen[extent(k)];
      if (seen[extent(k)]) away[first_[s] + k] = (node.readings[at] - sensor.bias - now[extent(k)]) / noise_[at];
    }
    if (!any || slopes == nullptr) continue;
    const auto [first, count] = points_of(robot, sensor);
    for (int i = 3 * first; i < 3 * (first + count); ++i) {
      const double place = y_[extent(i)];
      y_[extent(i)] = place + point_step;
      read(up);
      y_[extent(i)] = place - point_step;
      read(down);
      y_[extent(i)] = place;
      const Eigen::Map<const Eigen::RowVectorXd> L(model_->outputs.data() + extent(i, nv_), nv_);
      for (int k = 0; k < size; ++k)
        if (const double slope = up[extent(k)] - down[extent(k)]; seen[extent(k)] && slope != 0)
          by_q.row(first_[s] + k) += slope / (2 * point_step * noise_[extent(first_[s] + k)]) * L;
    }
  }
  if (slopes != nullptr) *slopes = by_q * scale_.topRows(nv_);
}

// One step of the filter, linearised at `at` and, for the readings, where the node is; a node without a place is put
// where the step leads to.
StepStatus StateEstimator::filter(const Filtered& from, const Eigen::VectorXd& at, Node& node, Filtered& to) {
  Eigen::VectorXd end, away;
  Eigen::MatrixXd Q, H;
  const StepStatus status = take_step(at, node, end, to.A, Q);
  if (status != StepStatus::ok) return status;
  to.predicted = end + to.A * (from.mean - at);
  to.P_predicted = to.A * from.P * to.A.transpose() + Q;
  to.P_predicted = 0.5 * (to.P_predicted + to.P_predicted.transpose().eval());
  if (node.at.size() == 0) node.at = to.predicted;
  measure(node, away, &H);
  // In Joseph's form, which stays positive.
  const Eigen::MatrixXd PH = to.P_predicted * H.transpose();
  const Eigen::LLT<Eigen::MatrixXd> factor(H * PH + Eigen::MatrixXd::Identity(H.rows(), H.rows()));
  const Eigen::MatrixXd gain = factor.solve(PH.transpose()).transpose();
  const Eigen::MatrixXd left = Eigen::MatrixXd::Identity(size(), size()) - gain * H;
  to.mean = to.predicted + gain * (away + H * (node.at - to.predicted));
  to.P = left * to.P_predicted * left.transpose() + gain * gain.transpose();
  return StepStatus::ok;
}

EstimateReport StateEstimator::update(std::span<const double> applied, std::span<const double> readings) {
  check_numbers(applied, extent(actuators_), "applied");
  if (readings.size() != extent(numbers_))
    throw InputError(fmt::format("there are {} readings (expected are {})", readings.size(), numbers_),
                     "the numbers of all sensors in their order; NaN: not measured");
  Node now{{applied.begin(), applied.end()}, {}, {}};
  for (const int k : used_) {
    if (std::isinf(readings[extent(k)])) throw InputError("a reading is not finite", "NaN: not measured");
    now.readings.push_back(readings[extent(k)]);
  }
  const auto before = std::tuple(window_, prior_, start_at_, front_, q_, v_, load_, covariance_);
  EstimateReport report;
  if (static_cast<int>(window_.size()) == settings_.steps) {
    const bool once = settings_.steps == 1 && settings_.iterations == 1;  // then it has been linearised as it is to be
    Filtered first = once ? front_ : Filtered{};
    if (!once) report.status = filter(prior_, start_at_, window_.front(), first);
    start_at_ = once ? first.mean : window_.front().at;
    prior_ = std::move(first);
    window_.pop_front();
  }
  window_.push_back(std::move(now));
  for (int k = 0; k < settings_.iterations && report.status == StepStatus::ok; ++k) smooth(report);
  if (report.status != StepStatus::ok)
    std::tie(window_, prior_, start_at_, front_, q_, v_, load_, covariance_) = before;
  return report;
}

// Forward, and back to where the motion is linearised next.
void StateEstimator::smooth(EstimateReport& report) {
  std::vector<Filtered> steps(window_.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const bool first = k == 0;
    report.status = filter(first ? prior_ : steps[k - 1], first ? start_at_ : window_[k - 1].at, window_[k], steps[k]);
    if (report.status != StepStatus::ok) return;
  }
  take_estimate(steps.back());
  front_ = steps.front();
  Node last = window_.back();
  const auto size_of = [&](const Eigen::VectorXd& at) {
    Eigen::VectorXd away;
    last.at = at;
    measure(last, away, nullptr);
    const auto seen = std::ranges::count_if(last.readings, [](double z) { return !std::isnan(z); });
    return seen > 0 ? away.norm() / std::sqrt(static_cast<double>(seen)) : 0;
  };
  if (report.iterations++ == 0) report.distance = size_of(steps.back().predicted);
  report.left = size_of(steps.back().mean);
  window_.back().at = steps.back().mean;
  for (std::size_t k = steps.size(); k-- > 0;) {
    const Filtered& to = steps[k];
    const Filtered& from = k == 0 ? prior_ : steps[k - 1];
    Eigen::MatrixXd P = to.P_predicted;
    P.diagonal() *= 1 + rounding;
    P.diagonal().array() += least_variance;
    const Eigen::LLT<Eigen::MatrixXd> factor(P);
    Eigen::VectorXd& at = k == 0 ? start_at_ : window_[k - 1].at;
    at = from.mean;
    // Where rounding exceeds even this, as the filter has it.
    if (factor.info() == Eigen::Success) at += from.P * (to.A.transpose() * factor.solve(window_[k].at - to.predicted));
  }
}

}  // namespace supple
