// Twins: a reduced robot whose state and loads are known is measured, and estimated from what its sensors read.

#include "engine/control/state_estimator.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <random>

#include "engine/model/effectors.hpp"
#include "tests/engine/bodies/batch_bodies.hpp"

namespace supple {
namespace {

using Model = std::shared_ptr<const ReducedModel>;

SensorScene position_sensor(const std::string& name, const Vec3d& point, double noise) {
  SensorScene sensor;
  sensor.name = name;
  sensor.kind = SensorKind::position;
  sensor.point = point;
  sensor.noise = noise;
  return sensor;
}

// Places of four points that are measured to `noise` [m].
Model measured(Scene scene, const Mesh& mesh, double noise) {
  scene.sensors = {position_sensor("a", {{0.29, 0.05, 0.05}}, noise), position_sensor("b", {{0.2, 0.02, 0.08}}, noise),
                   position_sensor("c", {{0.12, 0.09, 0.02}}, noise),
                   position_sensor("d", {{0.25, 0.08, 0.03}}, noise)};
  return std::make_shared<const ReducedModel>(batch_bodies::reduced(scene, mesh));
}
Model measured_bar(double noise) {
  return measured(reduced_bodies::bar_with_forces(batch_bodies::corotational), reduced_bodies::bar(false), noise);
}

// A robot with a load on its first effector that no controller knows of.
class Twin {
 public:
  Twin(Model model, const Vec3d& load)
      : model_(std::move(model)),
        mechanics_(*model_),
        stepper_(mechanics_, {.time_step = batch_bodies::time_step}),
        state_(rest_state(mechanics_)),
        control_(zero_control(mechanics_)) {
    std::vector<double> f(extent(model_->modes), 0.0);
    for (int k = 0; k < 3; ++k)
      for (std::size_t j = 0; j < f.size(); ++j)
        f[j] += load[k] * model_->outputs[extent(3 * point() + k, model_->modes) + j];
    load_ = f;
    stepper_.set_load(f);
  }
  // From now on with random forces of this covariance in each step.
  void shake(const Eigen::MatrixXd& covariance) { shake_ = covariance.llt().matrixL(); }
  int point() const { return model_->robot.effectors.front().point; }
  const State& state() const { return state_; }
  State& state() { return state_; }
  void step() {
    if (shake_.size() > 0) {
      std::vector<double> f = load_;
      Eigen::VectorXd random(shake_.cols());
      for (double& x : random) x = normal_(generator_);
      Eigen::Map<Eigen::VectorXd>(f.data(), shake_.rows()) += shake_ * random;
      stepper_.set_load(f);
    }
    control_.commands = batch_bodies::commands_at(++steps_ + 3, model_->robot, 1);
    ASSERT_EQ(stepper_.step(control_, state_).status, StepStatus::ok);
  }
  const std::vector<double>& applied() const { return state_.commands; }
  // With noise of the sensors' own size.
  std::vector<double> readings(std::mt19937_64* generator) {
    std::vector<double> y(extent(model_->robot.outputs())), all;
    mechanics_.outputs_elsewhere(state_.q, {}, y);
    std::normal_distribution<double> normal;
    for (const Sensor& sensor : model_->robot.sensors) {
      std::vector<double> value(extent(sensor_size(sensor)));
      evaluate_sensor(model_->robot, sensor, state_, y, 0, model_->robot.gravity, 0, {}, value);
      for (double& x : value) x += sensor.bias + (generator != nullptr ? sensor.noise * normal(*generator) : 0);
      all.insert(all.end(), value.begin(), value.end());
    }
    return all;
  }

 private:
  Model model_;
  ReducedMechanics mechanics_;
  Stepper stepper_;
  State state_;
  Control control_;
  int steps_ = 0;
  std::vector<double> load_;
  Eigen::MatrixXd shake_;
  std::mt19937_64 generator_{7};
  std::normal_distribution<double> normal_;
};

// From a wrong start and without knowing the load, exact readings lead to the state, its velocity and the load.
TEST(StateEstimator, FindsStateAndLoad) {
  const Model model = measured_bar(1e-6);
  const Vec3d load{{0.3, -0.2, 0.5}};
  Twin twin(model, load);
  for (double& q : twin.state().q) q += 1e-4;
  for (double& v : twin.state().v) v -= 1e-2;
  for (const int steps : {1, 5}) {
    SCOPED_TRACE(steps);
    StateEstimator estimator(model, {.steps = steps,
                                     .time_step = batch_bodies::time_step,
                                     .load_points = {twin.point()},
                                     .start_load = 1,
                                     .acceleration = 1e-4,
                                     .load_change = 1e-4,
                                     .iterations = 3});  // the start is far for one linearisation
    estimator.start({}, {});
    EstimateReport report;
    for (int k = 0; k < 60; ++k) {
      twin.step();
      report = estimator.update(twin.applied(), twin.readings(nullptr));
      ASSERT_EQ(report.status, StepStatus::ok);
    }
    EXPECT_LT(boxes::difference({estimator.q().begin(), estimator.q().end()}, twin.state().q), 1e-3);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(estimator.load()[extent(k)], load[k], 0.01);
    EXPECT_LT(report.left, 2);
  }
}

// With noise as the sensors have it, errors are of the size that the covariance states: e^T P^-1 e of the first effector's
// place and velocity is 3 on average.
TEST(StateEstimator, ErrorsAreOfTheStatedSize) {
  const Model model = measured_bar(1e-4);
  const int n = model->modes;
  for (const int steps : {1, 4}) {
    SCOPED_TRACE(steps);
    Twin twin(model, {{0.3, -0.2, 0.5}});
    std::mt19937_64 generator(5);
    StateEstimator estimator(model, {.steps = steps,
                                     .time_step = batch_bodies::time_step,
                                     .load_points = {twin.point()},
                                     .start_load = 1,
                                     .acceleration = 5,
                                     .load_change = 1e-3});
    twin.shake(estimator.missing_forces());
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> L(model->outputs.data() + extent(3 * twin.point(), n), 3, n);
    double place = 0, velocity = 0;
    constexpr int first = 20, last = 500;
    for (int k = 0; k < last; ++k) {
      twin.step();
      ASSERT_EQ(estimator.update(twin.applied(), twin.readings(&generator)).status, StepStatus::ok);
      if (k < first) continue;
      const auto size = [&](std::span<const double> own, const std::vector<double>& other, int at) {
        const Eigen::Vector3d e =
            L * (Eigen::Map<const Eigen::VectorXd>(own.data(), n) - Eigen::Map<const Eigen::VectorXd>(other.data(), n));
        const Eigen::Matrix3d P = L * estimator.covariance().block(at, at, n, n) * L.transpose();
        return e.dot(P.ldlt().solve(e)) / (last - first);
      };
      place += size(estimator.q(), twin.state().q, 0);
      velocity += size(estimator.v(), twin.state().v, n);
    }
    // Of 480 steps that are nearly independent: 3 +- 0.11 in three standard deviations, and what the first ones leave.
    EXPECT_NEAR(place, 3, 0.8);
    EXPECT_NEAR(velocity, 3, 0.8);
  }
}

// Cables of a given length and constraints leave directions without variance; a start that is known well is far less
// uncertain than what comes after.
TEST(StateEstimator, RowsThatHold) {
  const Model model = measured(batch_bodies::cable_scene(), reduced_bodies::bar(false), 1e-6);
  Twin twin(model, {{0.1, -0.1, 0.2}});
  for (const double known : {5e-3, 1e-6}) {
    SCOPED_TRACE(known);
    StateEstimator estimator(model, {.steps = 3,
                                     .time_step = batch_bodies::time_step,
                                     .load_points = {twin.point()},
                                     .start_displacement = known,
                                     .start_velocity = 100 * known,
                                     .iterations = 2});
    estimator.start(twin.state().q, twin.state().v);
    for (int k = 0; k < 40; ++k) {
      twin.step();
      ASSERT_EQ(estimator.update(twin.applied(), twin.readings(nullptr)).status, StepStatus::ok);
    }
    EXPECT_LT(boxes::difference({estimator.q().begin(), estimator.q().end()}, twin.state().q), 1e-2);
    EXPECT_TRUE(estimator.covariance().allFinite());
  }
}

// Strain, length and volume beside places; what the modes have of fibres and volumes is no place.
TEST(StateEstimator, OtherSensors) {
  Scene scene = hollow_bodies::bar_scene({"", MaterialModel::mooney_rivlin}, ActuatorControl::force, 4e4);
  SensorScene strain, length, volume;
  strain.name = "strain";
  strain.kind = SensorKind::strain;
  strain.point = Vec3d{{0.1, 0.02, 0.02}};
  strain.direction = {{1, 0, 0}};
  strain.noise = 1e-6;
  length.name = "length";
  length.kind = SensorKind::length;
  length.points = {{{0.02, 0.02, 0.02}}, {{0.28, 0.02, 0.02}}};
  length.noise = 1e-7;
  volume.name = "volume";
  volume.kind = SensorKind::volume;
  for (const ActuatorScene& actuator : scene.actuators)
    if (actuator.kind == ActuatorKind::cavity) volume.actuator = actuator.name;
  volume.noise = 1e-10;
  scene.sensors = {strain, length, volume, position_sensor("tip", {{0.29, 0.05, 0.05}}, 1e-7)};
  const auto model = std::make_shared<const ReducedModel>(batch_bodies::reduced(scene, hollow_bodies::bar(false)));
  Twin twin(model, {{0, 0, 0}});
  for (double& v : twin.state().v) v += 1e-3;
  StateEstimator estimator(model, {.time_step = batch_bodies::time_step, .acceleration = 1e-3});
  EXPECT_EQ(estimator.numbers().size(), 6U);
  for (int k = 0; k < 60; ++k) {
    twin.step();
    ASSERT_EQ(estimator.update(twin.applied(), twin.readings(nullptr)).status, StepStatus::ok);
  }
  EXPECT_LT(boxes::difference({estimator.q().begin(), estimator.q().end()}, twin.state().q), 1e-2);
}

// A step without an end leaves the estimate as it was, and a new start is one.
TEST(StateEstimator, AFailedStep) {
  const Model model = measured_bar(1e-4);
  Twin twin(model, {{0, 0, 0}});
  StateEstimator estimator(model, {.steps = 2, .iterations = 2});
  for (int k = 0; k < 4; ++k) {
    twin.step();
    ASSERT_EQ(estimator.update(twin.applied(), twin.readings(nullptr)).status, StepStatus::ok);
  }
  const std::vector<double> q(estimator.q().begin(), estimator.q().end());
  std::vector<double> absurd = twin.readings(nullptr);
  for (double& x : absurd) x += 1e200;  // the second iteration is linearised there
  EXPECT_NE(estimator.update(twin.applied(), absurd).status, StepStatus::ok);
  EXPECT_EQ(std::vector<double>(estimator.q().begin(), estimator.q().end()), q);
  estimator.start(twin.state().q, twin.state().v);
  twin.step();
  EXPECT_EQ(estimator.update(twin.applied(), twin.readings(nullptr)).status, StepStatus::ok);
}

TEST(StateEstimator, WhatIsNotMeasuredCountsForNothing) {
  const Model model = measured_bar(1e-4);
  Twin twin(model, {{0, 0, 0}});
  StateEstimator all(model, {.sensors = {"a", "c"}}), gaps(model, {});
  EXPECT_EQ(all.numbers(), (std::vector<int>{0, 1, 2, 6, 7, 8}));
  for (int k = 0; k < 12; ++k) {
    twin.step();
    std::vector<double> readings = twin.readings(nullptr);
    ASSERT_EQ(all.update(twin.applied(), readings).status, StepStatus::ok);
    for (const std::size_t i : {3, 4, 5, 9, 10, 11}) readings[i] = std::nan("");
    ASSERT_EQ(gaps.update(twin.applied(), readings).status, StepStatus::ok);
  }
  // Products of matrices with rows of zeros between: the same to rounding.
  EXPECT_LT(boxes::difference({gaps.q().begin(), gaps.q().end()}, {all.q().begin(), all.q().end()}), 1e-8);
  // Nothing at all measured: the model's own motion.
  StateEstimator blind(model, {});
  Twin alone(model, {{0, 0, 0}});
  for (int k = 0; k < 12; ++k) {
    alone.step();
    std::vector<double> readings = alone.readings(nullptr);
    std::ranges::fill(readings, std::nan(""));
    ASSERT_EQ(blind.update(alone.applied(), readings).status, StepStatus::ok);
  }
  EXPECT_LT(boxes::difference({blind.q().begin(), blind.q().end()}, alone.state().q), 1e-9);
}

TEST(StateEstimator, WhatDoesNotFit) {
  const Model model = measured_bar(1e-4);
  EXPECT_THROW(StateEstimator(model, {.steps = 0}), InputError);
  EXPECT_THROW(StateEstimator(model, {.sensors = {"nose"}}), InputError);
  EXPECT_THROW(StateEstimator(model, {.load_points = {10000}}), InputError);
  EXPECT_THROW(StateEstimator(model, {.acceleration = 0}), InputError);
  EXPECT_THROW(StateEstimator(std::make_shared<const ReducedModel>(batch_bodies::cables()), {}), InputError);
  ReducedModel late = *model;
  late.robot.sensors[0].delay = 0.01;
  EXPECT_THROW(StateEstimator(std::make_shared<const ReducedModel>(late), {.sensors = {"a"}}), InputError);
  EXPECT_EQ(StateEstimator(std::make_shared<const ReducedModel>(late), {}).numbers().size(), 9U);
  StateEstimator estimator(model, {});
  Twin twin(model, {{0, 0, 0}});
  std::vector<double> readings = twin.readings(nullptr);
  EXPECT_THROW((void)estimator.update({}, readings), InputError);
  EXPECT_THROW((void)estimator.update(twin.applied(), std::span(readings).first(3)), InputError);
  readings[1] = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)estimator.update(twin.applied(), readings), InputError);
}

}  // namespace
}  // namespace supple
