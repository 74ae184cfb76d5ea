// What sensors deliver: noise of the right size that is the same for any number of threads, delays, biases; batches that
// are reset, stopped and taken up again read what they would have read.

#include "engine/run/sensor_readings.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <memory>

#include "engine/run/batch_simulation.hpp"
#include "engine/run/live_robot.hpp"
#include "kernels/base/error.hpp"
#include "tests/engine/bodies/sensor_bodies.hpp"

namespace supple {
namespace {

using sensor_bodies::reading;

// A bar with three cables and these sensors, of a full basis.
std::shared_ptr<const ReducedModel> bar(const std::vector<SensorScene>& sensors) {
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.sensors = sensors;
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const int n = full.coordinates.nv;
  return std::make_shared<const ReducedModel>(
      project(full, reduced_bodies::full_basis(n), n, reduced_bodies::some_elements(full)));
}

SensorScene place(const std::string& name, double noise = 0, double delay = 0, double bias = 0) {
  SensorScene of = sensor_bodies::at_point(name, SensorKind::position, {{0.29, 0.05, 0.05}});
  of.noise = noise;
  of.delay = delay;
  of.bias = bias;
  return of;
}

std::vector<SensorScene> one_of_each() {
  std::vector<SensorScene> all =
      sensor_bodies::of_a_bar(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}));
  for (SensorScene& sensor : all) {
    sensor.noise = 0.01;
    sensor.delay = 0.017;
  }
  all[1].delay = all[6].delay = 0;
  return all;
}

std::vector<double> values(BatchSimulation& sim) {
  const std::span<const double> readings = sim.sensors();
  return {readings.begin(), readings.end()};
}

void command(BatchSimulation& sim, double size) {
  for (std::size_t i = 0; i < sim.commands().size(); ++i) sim.commands()[i] = size * (1 + 0.1 * static_cast<double>(i));
}

TEST(SensorReadings, NoiseIsWhiteAndAsLargeAsItIsSaidToBe) {
  const auto model = bar({place("a", 0.002), place("b", 0.002), place("exact"), place("shifted", 0, 0, -0.25)});
  BatchSimulation sim(body_of(model), {.robots = 2});
  SensorReadings readings(model->robot, 2, 0.01, 5);
  readings.restart(sim.state(), sim.outputs());
  constexpr int n = 20'000;
  const Vec3d rest = model->robot.rest_points[static_cast<std::size_t>(model->robot.sensors[0].first_point)];
  std::vector<double> sum(24), square(24), with_next(24), with_b(24), before(24);
  for (int k = 0; k < n; ++k) {
    const std::span<const double> now = readings.values(k);
    ASSERT_EQ(now.size(), 24u);
    for (std::size_t i = 0; i < 24; ++i) {
      const double x = now[i] - rest[static_cast<int>(i % 3)];
      sum[i] += x;
      square[i] += x * x;
      with_next[i] += k > 0 ? x * before[i] : 0;
      with_b[i] += x * (now[(i + 3) % 24] - rest[static_cast<int>(i % 3)]);
      before[i] = x;
    }
  }
  const double s = 0.002, root = std::sqrt(static_cast<double>(n));
  for (const std::size_t robot : {0u, 12u})
    for (std::size_t i = robot; i < robot + 6; ++i) {
      EXPECT_NEAR(sum[i] / n, 0, 5 * s / root);
      EXPECT_NEAR(std::sqrt(square[i] / n), s, 5 * s / std::sqrt(2.0) / root);
      EXPECT_NEAR(with_next[i] / n, 0, 5 * s * s / root);
      if (i < robot + 3) {
        EXPECT_NEAR(with_b[i] / n, 0, 5 * s * s / root);
      }
    }
  for (std::size_t i = 6; i < 9; ++i) EXPECT_NEAR(square[i], 0, 1e-25 * n);
  for (std::size_t i = 9; i < 12; ++i) EXPECT_NEAR(sum[i] / n, -0.25, 1e-12);
}

TEST(SensorReadings, TheSameSeedGivesTheSameBitsForAnyNumberOfThreads) {
  const auto model = bar(one_of_each());
  const int before = omp_get_max_threads();
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 2, 8}) {
    omp_set_num_threads(threads);
    BatchSimulation sim(body_of(model), {.robots = 5});
    command(sim, 0.0005);
    (void)sim.step(6);
    found.push_back(values(sim));
  }
  EXPECT_TRUE(reduced_bodies::same_bits(found[0], found[1]));
  EXPECT_TRUE(reduced_bodies::same_bits(found[0], found[2]));
  // So many robots that their readings are shared out.
  constexpr int many = 1000;
  BatchSimulation one(body_of(model), {});
  const State state = repeated(one.state(), many);
  std::vector<double> y, later;
  for (int b = 0; b < many; ++b)
    for (const double x : one.outputs()) y.push_back(x * (1 + 1e-4 * b));
  for (const double x : y) later.push_back(1.001 * x);
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    omp_set_num_threads(threads);
    SensorReadings readings(model->robot, many, 0.01);
    readings.restart(state, y);
    readings.advance(state, later);
    const std::span<const double> now = readings.values(1);
    if (threads == 1) first.assign(now.begin(), now.end());
    EXPECT_TRUE(reduced_bodies::same_bits(first, std::vector<double>(now.begin(), now.end()))) << threads;
  }
  omp_set_num_threads(before);
  BatchSimulation other(body_of(model), {.robots = 5, .sensor_seed = 2});
  command(other, 0.0005);
  (void)other.step(6);
  EXPECT_FALSE(reduced_bodies::same_bits(found[0], values(other)));
  // A sensor more changes no noise of the others: it goes by the name.
  std::vector<SensorScene> more = one_of_each();
  more.insert(more.begin(), place("first", 0.1));
  BatchSimulation with_more(body_of(bar(more)), {.robots = 5});
  command(with_more, 0.0005);
  (void)with_more.step(6);
  const std::size_t numbers = with_more.sensor_numbers().size();
  for (std::size_t i = 3; i < numbers; ++i) EXPECT_NEAR(with_more.sensors()[i], found[0][i - 3], 1e-9);
}

TEST(SensorReadings, DelaysGiveWhatWasThere) {
  BatchSimulation sim(body_of(bar({place("now"), place("two", 0, 0.02), place("half", 0, 0.015), place("far", 0, 10)})),
                      {});
  std::vector<double> z;
  const auto read = [&](const char* name) { return reading(sim.sensor_numbers(), sim.sensors(), name); };
  z.push_back(read("now z"));
  const double start = z[0];
  for (int k = 1; k <= 8; ++k) {
    command(sim, 0.001 * k);
    (void)sim.step();
    z.push_back(read("now z"));
    const auto past = [&](int steps) { return k < steps ? start : z[static_cast<std::size_t>(k - steps)]; };
    EXPECT_EQ(read("two z"), past(2)) << k;
    EXPECT_NEAR(read("half z"), (past(1) + past(2)) / 2, 1e-15) << k;
    EXPECT_EQ(read("far z"), start);
  }
  EXPECT_GT(std::abs(z.back() - start), 1e-4);
}

TEST(SensorReadings, AccelerationsAndRatesAreThoseOfPlaces) {
  std::vector<SensorScene> sensors{place("now"),
                                   sensor_bodies::at_point("imu", SensorKind::accelerometer, {{0.29, 0.05, 0.05}})};
  const auto model = bar(sensors);
  BatchSimulation sim(body_of(model), {});
  std::vector<double> x[3];
  const auto read = [&](const std::string& name) { return reading(sim.sensor_numbers(), sim.sensors(), name); };
  const auto see = [&] {
    for (int k = 0; k < 3; ++k) x[k].push_back(read(std::string("now ") + "xyz"[k]));
  };
  see();
  for (int k = 0; k < 3; ++k) {
    command(sim, 0.002);
    (void)sim.step();
    see();
  }
  // Turned back by the rotation, its length is that of a - g.
  Vec3d force{{0, 0, 0}}, felt{{0, 0, 0}};
  for (int k = 0; k < 3; ++k) {
    force[k] = (x[k][3] - 2 * x[k][2] + x[k][1]) / 1e-4 - model->robot.gravity[k];
    felt[k] = read(fmt::format("imu acceleration {}", "xyz"[k]));
  }
  EXPECT_NEAR(norm(felt), norm(force), 1e-6 * norm(force));
}

TEST(SensorReadings, StatesAreTakenUpAgainWithTheSameReadings) {
  const auto model = bar(one_of_each());
  BatchSimulation whole(body_of(model), {.robots = 3}), rest(body_of(model), {.robots = 3});
  command(whole, 0.001);
  command(rest, 0.001);
  (void)whole.step(5);
  const State state = whole.state();
  const std::span<const double> kept = whole.sensor_memory();
  const std::vector<double> memory(kept.begin(), kept.end()), then = values(whole);
  (void)whole.step(4);
  rest.set_state(state);
  rest.set_sensor_memory(memory);
  EXPECT_TRUE(reduced_bodies::same_bits(values(rest), then));
  (void)rest.step(4);
  EXPECT_TRUE(reduced_bodies::same_bits(values(rest), values(whole)));
  EXPECT_THROW(rest.set_sensor_memory(std::vector<double>(3)), InputError);
}

TEST(SensorReadings, RobotsThatAreResetReadAsAtTheStart) {
  std::vector<SensorScene> sensors = one_of_each();
  for (SensorScene& sensor : sensors) sensor.noise = 0;
  const auto model = bar(sensors);
  BatchSimulation sim(body_of(model), {.robots = 2}), fresh(body_of(model), {.robots = 2});
  const std::vector<double> start = values(sim);
  const std::size_t numbers = sim.sensor_numbers().size();
  command(sim, 0.001);
  command(fresh, 0.001);
  (void)sim.step(5);
  EXPECT_FALSE(reduced_bodies::same_bits(values(sim), start));
  const std::vector<double> before = values(sim);
  const int second[] = {1};
  sim.reset(second);
  for (std::size_t i = 0; i < numbers; ++i) {
    EXPECT_EQ(sim.sensors()[i], before[i]);
    EXPECT_EQ(sim.sensors()[numbers + i], start[numbers + i]);
  }
  sim.reset();
  EXPECT_TRUE(reduced_bodies::same_bits(values(sim), start));
  (void)sim.step(3);
  (void)fresh.step(3);
  EXPECT_TRUE(reduced_bodies::same_bits(values(sim), values(fresh)));
}

// Several steps at once see each of them; reading in between changes nothing.
TEST(SensorReadings, AreTheSameHoweverOftenTheyAreRead) {
  for (const bool with_memory : {true, false}) {
    const auto model = bar(with_memory ? one_of_each() : std::vector<SensorScene>{place("a", 0.01)});
    BatchSimulation often(body_of(model), {.robots = 2}), once(body_of(model), {.robots = 2});
    command(often, 0.001);
    command(once, 0.001);
    for (int k = 0; k < 4; ++k) {
      (void)often.step();
      (void)values(often);
      EXPECT_TRUE(reduced_bodies::same_bits(values(often), values(often)));
    }
    (void)once.step(4);
    EXPECT_TRUE(reduced_bodies::same_bits(values(often), values(once)));
  }
}

TEST(SensorReadings, GravityThatVariesIsFelt) {
  const auto model = bar({sensor_bodies::in_the_end("imu", SensorKind::accelerometer)});
  BatchSimulation sim(body_of(model), {.robots = 2});
  sim.set_variations({.gravity = {1, -2, -9.81, 0, 0, 0}});
  const std::vector<double> readings = values(sim);
  EXPECT_NEAR(readings[2], 9.81, 1e-9);
  for (int k = 3; k < 6; ++k) EXPECT_NEAR(readings[static_cast<std::size_t>(k)], 0, 1e-9);
}

TEST(SensorReadings, ARobotThatIsSteppedAtWillReadsAsARun) {
  const auto model = bar(one_of_each());
  BatchSimulation sim(body_of(model), {});
  ReducedMechanics mechanics(*model);
  LiveRobot live(mechanics, {}, rest_state(mechanics), model.get());
  EXPECT_TRUE(reduced_bodies::same_bits(live.frame().sensors, values(sim)));
  command(sim, 0.001);
  LiveRequest request;
  request.commands.assign(sim.commands().begin(), sim.commands().end());
  LiveFrame third;
  for (int k = 1; k <= 5; ++k) {
    (void)sim.step();
    ASSERT_EQ(live.step(request), StepStatus::ok);
    EXPECT_TRUE(reduced_bodies::same_bits(live.frame().sensors, values(sim))) << k;
    if (k == 3) third = live.frame();
  }
  const std::vector<double> fifth = live.frame().sensors;
  live.set(third);
  EXPECT_TRUE(reduced_bodies::same_bits(live.frame().sensors, third.sensors));
  for (int k = 0; k < 2; ++k) ASSERT_EQ(live.step(request), StepStatus::ok);
  EXPECT_TRUE(reduced_bodies::same_bits(live.frame().sensors, fifth));
}

TEST(SensorReadings, DelaysThatAreTooLongAreExplained) {
  EXPECT_THROW(BatchSimulation(body_of(bar({place("late", 0, 5000)})), {}), InputError);
  const auto model = bar({place("many", 0, 900)});
  EXPECT_NO_THROW(SensorReadings(model->robot, 10, 0.01));
  EXPECT_THROW(SensorReadings(model->robot, 1'000'000, 0.01), InputError);
}

}  // namespace
}  // namespace supple
