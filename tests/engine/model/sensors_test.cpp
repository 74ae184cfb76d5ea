// What sensors measure, against closed forms: rigid motions, uniform strains, volumes, forces, and full against reduced.

#include "engine/model/sensors.hpp"

#include <fmt/format.h>

#include <cmath>

#include "engine/io/model_file.hpp"
#include "engine/run/sensor_readings.hpp"
#include "engine/step/equilibrium.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/hollow_bodies.hpp"
#include "tests/engine/bodies/obstacle_scenes.hpp"
#include "tests/engine/bodies/sensor_bodies.hpp"

namespace supple {
namespace {

using sensor_bodies::reading;

constexpr double h = 0.01;

// A bar that nothing holds, with these sensors and no actuator.
FullModel free_bar(bool hexahedra, int order, std::vector<SensorScene> sensors, const Vec3d& gravity = {{0, 0, 0}}) {
  Scene scene = boxes::scene({"corotational", MaterialModel::corotational});
  scene.gravity = gravity;
  scene.bodies[0].order = order;
  scene.sensors = std::move(sensors);
  return build_full_model(scene, reduced_bodies::bar(hexahedra));
}

std::vector<double> outputs(Mechanics& mechanics, const State& state) {
  std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs()));
  mechanics.evaluate_outputs(state.q, state.motions, y);
  return y;
}

// A sensor's numbers through given states, h apart; the first one at rest there.
class Watched {
 public:
  explicit Watched(Mechanics& mechanics) : mechanics_(mechanics), readings_(mechanics.robot(), 1, h) {}
  void restart(const State& state) { readings_.restart(state, outputs(mechanics_, state)); }
  void step(const State& state) { readings_.advance(state, outputs(mechanics_, state)); }
  double operator()(const std::string& name) { return reading(readings_.numbers(), readings_.values(0), name); }

 private:
  Mechanics& mechanics_;
  SensorReadings readings_;
};

struct Elements {
  bool hexahedra;
  int order;
};
class SensorsOf : public testing::TestWithParam<Elements> {};

TEST_P(SensorsOf, RigidMotionsStrainNothingAndUniformStrainsAreExact) {
  const Vec3d point{{0.17, 0.03, 0.06}}, d = normalized(Vec3d{{1, -2, 0.5}});
  const FullModel model =
      free_bar(GetParam().hexahedra, GetParam().order,
               {sensor_bodies::strain("x", point, {{1, 0, 0}}),
                sensor_bodies::strain("x engineering", point, {{1, 0, 0}}, StrainMeasure::engineering),
                sensor_bodies::strain("d", point, d),
                sensor_bodies::strain("d engineering", point, d, StrainMeasure::engineering),
                sensor_bodies::path("path", {{{0.05, 0.05, 0.05}}, {{0.2, 0.02, 0.07}}})});
  FullMechanics mechanics(model);
  Watched sensors(mechanics);
  State state = rest_state(mechanics);
  const double length = norm(Vec3d{{0.15, -0.03, 0.02}});
  const Mat3d R = boxes::rotation({{1, 2, -0.5}}, 1.9);
  state.q = boxes::affine(model, R, {{0.3, -0.1, 2}});
  sensors.restart(state);
  for (const char* name : {"x strain", "x engineering strain", "d strain", "d engineering strain"})
    EXPECT_NEAR(sensors(name), 0, 1e-12) << name;
  EXPECT_NEAR(sensors("path length"), length, 1e-13);
  // A stretch of 10 % along x, turned; and any F.
  state.q = boxes::affine(model, R * Mat3d{{1.1, 0, 0, 0, 1, 0, 0, 0, 1}});
  sensors.restart(state);
  EXPECT_NEAR(sensors("x strain"), 0.105, 1e-12);
  EXPECT_NEAR(sensors("x engineering strain"), 0.1, 1e-12);
  const Mat3d F{{1.2, 0.1, -0.2, 0.05, 0.9, 0.3, 0.1, -0.1, 1.05}};
  state.q = boxes::affine(model, F);
  sensors.restart(state);
  const double stretch = norm(F * d);
  EXPECT_NEAR(sensors("d strain"), (stretch * stretch - 1) / 2, 1e-12);
  EXPECT_NEAR(sensors("d engineering strain"), stretch - 1, 1e-12);
  EXPECT_NEAR(sensors("path length"), norm(F * Vec3d{{0.15, -0.03, 0.02}}), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Elements, SensorsOf,
                         testing::Values(Elements{false, 1}, Elements{false, 2}, Elements{true, 1}, Elements{true, 2}),
                         [](const auto& info) {
                           return std::string(info.param.hexahedra ? "hexahedra" : "tetrahedra") +
                                  std::to_string(info.param.order);
                         });

// Strains of a field that is not uniform, by differences of the places of two points of an element.
TEST(Sensors, StrainIsTheDerivativeOfPlacesInsideAnElement) {
  const Vec3d point{{0.17, 0.03, 0.06}}, d = normalized(Vec3d{{1, -2, 0.5}});
  const double e = 1e-6;
  for (const Elements elements : {Elements{false, 2}, Elements{true, 1}, Elements{true, 2}}) {
    const FullModel model = free_bar(elements.hexahedra, elements.order,
                                     {sensor_bodies::strain("d", point, d, StrainMeasure::engineering),
                                      sensor_bodies::at_point("behind", SensorKind::position, point - e * d),
                                      sensor_bodies::at_point("ahead", SensorKind::position, point + e * d)});
    FullMechanics mechanics(model);
    Watched sensors(mechanics);
    State state = rest_state(mechanics);
    state.q = boxes::random_vector(model.coordinates.nv, 0.004);
    sensors.restart(state);
    Vec3d between{{0, 0, 0}};
    for (int k = 0; k < 3; ++k)
      between[k] = sensors(std::string("ahead ") + "xyz"[k]) - sensors(std::string("behind ") + "xyz"[k]);
    EXPECT_NEAR(sensors("d strain"), norm(between) / (2 * e) - 1, 1e-8);
  }
}

// A rotation of constant rate about a fixed axis, uniformly accelerated by its centre: omega and R^T (a - g) are known.
TEST(Sensors, InertialSensorsMeasureRateAndSpecificForceInTheirOwnAxes) {
  const Vec3d g{{0, 0, -9.81}}, axis = normalized(Vec3d{{1, 2, -2}}), a{{0.5, -1, 2}};
  const double rate = 3;
  const FullModel model = free_bar(false, 1,
                                   {sensor_bodies::in_the_end("imu", SensorKind::accelerometer),
                                    sensor_bodies::in_the_end("gyro", SensorKind::gyroscope),
                                    sensor_bodies::at_point("spot", SensorKind::accelerometer, {{0, 0, 0}}),
                                    sensor_bodies::at_point("spin", SensorKind::gyroscope, {{0.1, 0.05, 0.05}})},
                                   g);
  FullMechanics mechanics(model);
  Watched sensors(mechanics);
  State state = rest_state(mechanics);
  const auto moved = [&](double t) {
    state.q = boxes::affine(model, boxes::rotation(axis, rate * t), (t * t / 2) * a);
    return state;
  };
  sensors.restart(moved(0));
  // At rest an accelerometer has the force that holds it.
  EXPECT_NEAR(sensors("imu acceleration z"), 9.81, 1e-12);
  EXPECT_NEAR(sensors("gyro rate x"), 0, 1e-12);
  for (int k = 1; k <= 5; ++k) sensors.step(moved(k * h));
  const Mat3d R = boxes::rotation(axis, rate * 5 * h);
  const Vec3d own = rate * axis;  // the axis turns with nothing: the same in the body
  for (const char* name : {"gyro", "spin"})
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(sensors(fmt::format("{} rate {}", name, "xyz"[k])), own[k], 1e-10) << name;
  // The centre of rotation moves by t^2 a/2: second differences of that are a to the last digit.
  const Vec3d force = transpose(R) * (a - g);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(sensors(fmt::format("spot acceleration {}", "xyz"[k])), force[k], 1e-8);
  // The mean of a region at r from it has a centripetal acceleration too, to the order of the step.
  const Vec3d at = model.robot.rest_points[static_cast<std::size_t>(model.robot.sensors[0].first_point)];
  const Vec3d centripetal = rate * rate * cross(axis, cross(axis, at));
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(sensors(fmt::format("imu acceleration {}", "xyz"[k])), force[k] + centripetal[k],
                2 * rate * h * norm(centripetal));
}

TEST(Sensors, FreeFallIsFeltAsNothing) {
  const FullModel model = free_bar(false, 1,
                                   {sensor_bodies::in_the_end("imu", SensorKind::accelerometer),
                                    sensor_bodies::in_the_end("gyro", SensorKind::gyroscope)},
                                   {{0, 0, -9.81}});
  FullMechanics mechanics(model);
  Watched sensors(mechanics);
  State state = rest_state(mechanics);
  sensors.restart(state);
  ForwardStep step(mechanics, Integrator::implicit_euler, h);
  for (int k = 0; k < 4; ++k) {
    ASSERT_EQ(step.step(zero_control(mechanics), state).status, StepStatus::ok);
    sensors.step(state);
    for (const char* axis : {"x", "y", "z"}) {
      EXPECT_NEAR(sensors(std::string("imu acceleration ") + axis), 0, 1e-7);
      EXPECT_NEAR(sensors(std::string("gyro rate ") + axis), 0, 1e-7);
    }
  }
}

TEST(Sensors, VolumesAndPressuresAreThoseOfTheCavity) {
  Scene scene = hollow_bodies::bar_scene({"corotational", MaterialModel::corotational}, ActuatorControl::force, 4e4);
  FixScene fix = boxes::clamp_at_origin();
  fix.region.upper[0] = 0.13;
  scene.bodies[0].fixes = {fix};
  scene.sensors = {sensor_bodies::of_actuator("chamber", SensorKind::volume, "cavity"),
                   sensor_bodies::of_actuator("gauge", SensorKind::pressure, "cavity"),
                   sensor_bodies::of_actuator("cell", SensorKind::tension, "cable")};
  const FullModel full = build_full_model(scene, hollow_bodies::bar(true));
  const int n = full.coordinates.nv;
  const ReducedModel reduced = project(full, reduced_bodies::full_basis(n), n, all_elements(full));
  FullMechanics of_full(full);
  ReducedMechanics of_reduced(reduced);
  double volume[2];
  int k = 0;
  for (Mechanics* mechanics : {static_cast<Mechanics*>(&of_full), static_cast<Mechanics*>(&of_reduced)}) {
    Watched sensors(*mechanics);
    State state = rest_state(*mechanics);
    sensors.restart(state);
    EXPECT_DOUBLE_EQ(sensors("chamber volume"), full.robot.actuators[0].rest_volume);
    Control control = zero_control(*mechanics);
    control.commands = {2e4, 0.001};
    ASSERT_EQ(Equilibrium(*mechanics, {}).solve(control, state).status, StepStatus::ok);
    sensors.restart(state);
    EXPECT_NEAR(sensors("gauge pressure"), 2e4, 1e-6);
    EXPECT_NEAR(sensors("cell tension"), state.multipliers[1], 1e-12);
    EXPECT_GT(sensors("cell tension"), 0);
    volume[k++] = sensors("chamber volume");
  }
  EXPECT_GT(volume[0], 1.01 * full.robot.actuators[0].rest_volume);
  EXPECT_NEAR(volume[1], volume[0], 1e-9 * volume[0]);
}

TEST(Sensors, FullAndReducedMeasureTheSame) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.sensors = sensor_bodies::of_a_bar(scene);
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const int n = full.coordinates.nv;
  const ReducedModel reduced = project(full, reduced_bodies::full_basis(n), n, all_elements(full));
  FullMechanics of_full(full);
  ReducedMechanics of_reduced(reduced);
  Watched one(of_full), other(of_reduced);
  State a = rest_state(of_full), b = rest_state(of_reduced);
  one.restart(a);
  other.restart(b);
  ForwardStep step_a(of_full, Integrator::implicit_euler, h), step_b(of_reduced, Integrator::implicit_euler, h);
  Control control = zero_control(of_full);
  for (int k = 1; k <= 4; ++k) {
    for (double& command : control.commands) command = 0.001 * k;
    ASSERT_EQ(step_a.step(control, a).status, StepStatus::ok);
    ASSERT_EQ(step_b.step(control, b).status, StepStatus::ok);
    one.step(a);
    other.step(b);
    for (const SensorNumber& number : sensor_numbers(full.robot))
      EXPECT_NEAR(one(number.name), other(number.name), 1e-6 * (1 + std::abs(one(number.name)))) << number.name;
  }
  EXPECT_NE(one("bend strain"), 0);
}

TEST(Sensors, ContactForcesAreThoseOfTheirRegion) {
  Scene scene = boxes::scene({"corotational", MaterialModel::corotational});
  scene.gravity = {{0, 0, -9.81}};
  scene.bodies[0].fixes = {};
  scene.obstacles = {obstacle_scenes::floor(-1e-4)};
  scene.obstacles[0].friction = 0.5;
  scene.sensors = {sensor_bodies::sensor("all", SensorKind::contact_force),
                   sensor_bodies::sensor("left", SensorKind::contact_force),
                   sensor_bodies::sensor("right", SensorKind::contact_force)};
  scene.sensors[1].region = boxes::box_region({{-1, -1, -1}}, {{0.15, 1, 1}});
  scene.sensors[2].region = boxes::box_region({{0.150001, -1, -1}}, {{1, 1, 1}});
  const FullModel model = build_full_model(scene, box_hexahedra({{0, 0, 0}}, {{0.3, 0.1, 0.1}}, 3, 1, 1));
  FullMechanics mechanics(model);
  Watched sensors(mechanics);
  State state = rest_state(mechanics);
  sensors.restart(state);
  EXPECT_EQ(sensors("all force z"), 0);
  ForwardStep step(mechanics, Integrator::implicit_euler, h);
  for (int k = 0; k < 200; ++k) {
    ASSERT_EQ(step.step(zero_control(mechanics), state).status, StepStatus::ok);
    sensors.step(state);
  }
  const double weight = 9.81 * model.total_mass;
  EXPECT_NEAR(sensors("all force z"), weight, 1e-3 * weight);
  EXPECT_NEAR(sensors("all normal force"), weight, 1e-3 * weight);
  EXPECT_NEAR(sensors("left force z"), weight / 2, 2e-2 * weight);
  for (const char* what : {"force x", "force y", "force z", "normal force", "tangential force"})
    EXPECT_NEAR(sensors(std::string("left ") + what) + sensors(std::string("right ") + what),
                sensors(std::string("all ") + what), 1e-12 * weight)
        << what;
}

// A point that slid over a ball: the force was along the normal where the step began, and so it is read.
TEST(Sensors, ContactForcesHaveTheNormalOfTheirStep) {
  Robot robot;
  robot.rest_points = {{{0, 0, 1}}};
  robot.collision_points = 1;
  const PlacedObstacle ball{"ball", Obstacle::sphere(1), {}};
  robot.obstacles = {ball};
  Sensor sensor;
  sensor.kind = SensorKind::contact_force;
  sensor.collision_points = {0};
  ASSERT_EQ(sensor_memory(sensor), 3);
  State state;
  state.contact_forces = {0, 0, 2};  // frictionless at (0, 0, 1)
  std::vector<double> memory(3), value(5);
  evaluate_sensor(robot, sensor, state, std::vector<double>{0, 0, 1}, 0, robot.gravity, 0, memory, value);
  const double angle = 0.3;
  evaluate_sensor(robot, sensor, state, std::vector<double>{std::sin(angle), 0, std::cos(angle)}, 0, robot.gravity, h,
                  memory, value);
  EXPECT_DOUBLE_EQ(value[2], 2);
  EXPECT_NEAR(value[3], 2, 1e-15);
  EXPECT_NEAR(value[4], 0, 1e-15);
  // From here on the same force has a part along the ball.
  evaluate_sensor(robot, sensor, state, std::vector<double>{std::sin(angle), 0, std::cos(angle)}, 0, robot.gravity, h,
                  memory, value);
  EXPECT_NEAR(value[3], 2 * std::cos(angle), 1e-15);
  EXPECT_NEAR(value[4], 2 * std::sin(angle), 1e-15);
}

TEST(Sensors, BadPlacesAreExplained) {
  const auto problem = [](SensorScene sensor) {
    try {
      (void)free_bar(false, 1, {std::move(sensor)});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(problem(sensor_bodies::strain("s", {{1, 1, 1}}, {{1, 0, 0}})).find("away from the body"),
            std::string::npos);
  EXPECT_NE(problem(sensor_bodies::sensor("c", SensorKind::contact_force)).find("there is no obstacle"),
            std::string::npos);
  EXPECT_NE(problem(sensor_bodies::of_actuator("t", SensorKind::tension, "none")).find("does not have"),
            std::string::npos);
  EXPECT_NE(problem(sensor_bodies::sensor("g", SensorKind::gyroscope)).find("neither a point nor a region"),
            std::string::npos);
  const FullModel model =
      free_bar(false, 1, {sensor_bodies::at_point("beside", SensorKind::accelerometer, {{0.15, 0.05, 0.108}})});
  ASSERT_EQ(model.notes.size(), 1u);
  EXPECT_NE(model.notes[0].find("sensor 'beside' lies"), std::string::npos) << model.notes[0];
}

TEST(Sensors, ModelFilesKeepThem) {
  const reduced_bodies::TemporaryFolder folder;
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.obstacles = {obstacle_scenes::floor(-0.5)};
  scene.sensors = sensor_bodies::of_a_bar(scene);
  scene.sensors[0].pull_point = {{-0.05, 0, 0.2}};
  scene.sensors.push_back(sensor_bodies::sensor("touch", SensorKind::contact_force));
  scene.sensors[1].noise = 1e-4;
  scene.sensors[1].bias = -0.002;
  scene.sensors[1].delay = 0.025;
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const int n = full.coordinates.nv;
  const ReducedModel model = project(full, reduced_bodies::random_basis(n, 5), 5, all_elements(full));
  write_model(model, folder / "m.rom.h5");
  const Robot robot = read_model(folder / "m.rom.h5").robot;
  ASSERT_EQ(robot.sensors.size(), model.robot.sensors.size());
  for (std::size_t s = 0; s < robot.sensors.size(); ++s) {
    const Sensor &a = robot.sensors[s], &b = model.robot.sensors[s];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.first_point, b.first_point);
    EXPECT_EQ(a.point_count, b.point_count);
    EXPECT_EQ(a.pull_point, b.pull_point);
    EXPECT_EQ(a.measure, b.measure);
    EXPECT_EQ(a.actuator, b.actuator);
    EXPECT_EQ(a.collision_points, b.collision_points);
    EXPECT_EQ(a.noise, b.noise);
    EXPECT_EQ(a.bias, b.bias);
    EXPECT_EQ(a.delay, b.delay);
  }
}

}  // namespace
}  // namespace supple
