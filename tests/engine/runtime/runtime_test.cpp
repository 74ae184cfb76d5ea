// The C interface: the bits of the engine, files that are checked, errors instead of exceptions, no memory in steps.

#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "engine/io/runtime_file.hpp"
#include "engine/run/batch_simulation.hpp"
#include "engine/runtime/supple.h"
#include "tests/engine/bodies/contact_models.hpp"
#include "tests/engine/bodies/sensor_bodies.hpp"

namespace supple {
namespace {

using reduced_bodies::TemporaryFolder;

ReducedModel bar(bool in_contact) {
  FullModel full = build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                                    reduced_bodies::bar(false));
  if (in_contact) {
    contact_bodies::place_among(full, {contact_models::floor_at(-0.0005, 0.5)});
    return contact_models::reduced(full);
  }
  const int n = full.coordinates.nv;
  return project(full, reduced_bodies::full_basis(n), n, reduced_bodies::some_elements(full));
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Case {
  const char* name;
  bool in_contact = false;
  int robots = 1, inverse = 0;
  supple_integrator integrator = SUPPLE_INTEGRATOR_OF_MODEL;
};

class Runtime : public testing::TestWithParam<Case> {
 protected:
  Runtime() : model_(std::make_shared<const ReducedModel>(bar(GetParam().in_contact))) {
    write_runtime_file(*model_, folder_ / "bar.supple");
  }
  TemporaryFolder folder_;
  std::shared_ptr<const ReducedModel> model_;
};

TEST_P(Runtime, HasTheBitsOfTheEngine) {
  const Case& c = GetParam();
  BatchSimulationSettings own{.robots = c.robots};
  if (c.inverse != 0) own.inverse = InverseSettings{};
  if (c.integrator == SUPPLE_QUASI_STATIC) own.integrator = Integrator::quasi_static;
  BatchSimulation engine(body_of(model_), own);

  supple_model* model = supple_model_load((folder_ / "bar.supple").c_str());
  ASSERT_NE(model, nullptr) << supple_error();
  supple_settings settings = supple_default_settings();
  settings.robots = c.robots;
  settings.inverse = c.inverse;
  settings.integrator = c.integrator;
  supple_simulation* simulation = supple_simulation_new(model, &settings);
  ASSERT_NE(simulation, nullptr) << supple_error();
  supple_model_free(model);

  std::size_t shape[4];
  double* set = supple_get_array(simulation, c.inverse != 0 ? SUPPLE_GOALS : SUPPLE_COMMANDS, shape);
  const std::span<double> there = c.inverse != 0 ? engine.goals() : engine.commands();
  ASSERT_EQ(shape[0] * shape[1] * shape[2] * shape[3], there.size());
  const double* q = supple_get_array(simulation, SUPPLE_Q, shape);
  EXPECT_EQ(shape[1], engine.state().q.size() / static_cast<std::size_t>(c.robots));
  for (int k = 0; k < 12; ++k) {
    for (std::size_t i = 0; i < there.size(); i += 3) {
      set[i] += 2e-4 * static_cast<double>(i % 5 + 1);
      there[i] += 2e-4 * static_cast<double>(i % 5 + 1);
    }
    ASSERT_EQ(supple_step(simulation, 1), SUPPLE_OK) << supple_error();
    ASSERT_EQ(engine.step().status, StepStatus::ok);
    ASSERT_EQ(supple_hash(simulation), hash(engine.state())) << k;
  }
  EXPECT_EQ(q, supple_get_array(simulation, SUPPLE_Q, shape));  // in place
  EXPECT_EQ(q[0], engine.state().q[0]);
  const double* tips = supple_get_array(simulation, SUPPLE_EFFECTOR_VALUES, shape);
  EXPECT_EQ(std::vector<double>(tips, tips + engine.effectors().size()),
            std::vector<double>(engine.effectors().begin(), engine.effectors().end()));
  const double* forces = supple_get_array(simulation, SUPPLE_CONTACT_FORCES, shape);
  ASSERT_NE(forces, nullptr);
  EXPECT_EQ(shape[1] * shape[2], static_cast<std::size_t>(engine.robot().pairs()));
  if (c.in_contact) {
    double up = 0;
    for (std::size_t i = 2; i < shape[0] * shape[1] * shape[2] * 3; i += 3) up += forces[i];
    EXPECT_GT(up, 0);
  }
  int nodes = 0, triangles = 0;
  ASSERT_EQ(supple_skin_size(simulation, &nodes, &triangles), SUPPLE_OK);
  std::vector<double> at(3 * static_cast<std::size_t>(nodes)), expected(at.size());
  ASSERT_EQ(supple_skin_nodes(simulation, c.robots - 1, at.data()), SUPPLE_OK);
  engine.skin_nodes(c.robots - 1, expected);
  EXPECT_EQ(at, expected);
  // And again from the start.
  const std::uint64_t end = supple_hash(simulation);
  ASSERT_EQ(supple_reset(simulation, nullptr, 0), SUPPLE_OK);
  EXPECT_EQ(supple_time(simulation), 0);
  EXPECT_NE(supple_hash(simulation), end);
  supple_simulation_free(simulation);
}

TEST_P(Runtime, AllocatesNothingInSteps) {
  if (GetParam().integrator == SUPPLE_QUASI_STATIC)
    GTEST_SKIP() << "equilibria allocate: they may take any number of steps";
  const std::string command = std::string(SUPPLE_COUNT_ALLOCATIONS) + " " + (folder_ / "bar.supple") + " " +
                              std::to_string(GetParam().inverse) + " " + std::to_string(GetParam().robots) + " 80 >" +
                              (folder_ / "count");
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << bytes_of(folder_ / "count") << " allocations in 40 steps";
}

INSTANTIATE_TEST_SUITE_P(Cases, Runtime,
                         testing::Values(Case{"forward"}, Case{"batch", false, 3}, Case{"inverse", false, 1, 1},
                                         Case{"inverse_batch", false, 3, 1}, Case{"contact", true},
                                         Case{"contact_inverse", true, 1, 1},
                                         Case{"statics", false, 1, 0, SUPPLE_QUASI_STATIC}),
                         [](const auto& info) { return info.param.name; });

class RuntimeFiles : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(RuntimeFiles, HoldTheModel) {
  for (const bool in_contact : {false, true}) {
    const ReducedModel model = bar(in_contact);
    write_runtime_file(model, folder_ / "bar.supple");
    reduced_bodies::expect_same_model(read_runtime_file(folder_ / "bar.supple"), model);
    const std::string first = bytes_of(folder_ / "bar.supple");
    write_runtime_file(model, folder_ / "bar.supple");
    EXPECT_EQ(bytes_of(folder_ / "bar.supple"), first);  // equal models are equal bytes
  }
}

// Every flipped byte and every cut is an error with a text, never a crash: the sum over all bytes finds them, and the
// head is checked field by field.
TEST_F(RuntimeFiles, DamageIsAnError) {
  write_runtime_file(bar(false), folder_ / "bar.supple");
  const std::string good = bytes_of(folder_ / "bar.supple");
  const auto rejected = [](const std::string& bytes) {
    supple_model* model = supple_model_read(bytes.data(), bytes.size());
    const bool none = model == nullptr;
    supple_model_free(model);
    return none && *supple_error() != '\0';
  };
  EXPECT_FALSE(rejected(good));
  for (std::size_t at = 0; at < good.size(); at += at < 64 ? 1 : 97) {
    if (at >= 48 && at < 64) continue;  // nothing is stored there
    if (at >= 12 && at < 16) continue;
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    EXPECT_TRUE(rejected(bad)) << "byte " << at;
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, std::size_t{63}, std::size_t{64}, good.size() / 2, good.size() - 1})
    EXPECT_TRUE(rejected(good.substr(0, size))) << size;
  EXPECT_TRUE(rejected(good + "x"));
}

TEST(RuntimeErrors, AreCodesAndTexts) {
  EXPECT_EQ(supple_abi_version(), SUPPLE_ABI_VERSION);
  EXPECT_EQ(supple_model_load("/nowhere/robot.supple"), nullptr);
  EXPECT_NE(std::string(supple_error()).find("/nowhere/robot.supple"), std::string::npos);
  EXPECT_EQ(supple_model_load(nullptr), nullptr);
  EXPECT_EQ(supple_step(nullptr, 1), SUPPLE_BAD_INPUT);
  EXPECT_EQ(supple_count(nullptr, SUPPLE_ACTUATORS), SUPPLE_BAD_INPUT);
  supple_model_free(nullptr);
  supple_simulation_free(nullptr);

  const TemporaryFolder folder;
  write_runtime_file(bar(false), folder / "bar.supple");
  supple_model* model = supple_model_load((folder / "bar.supple").c_str());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(supple_count(model, SUPPLE_ACTUATORS), 3);
  EXPECT_EQ(supple_count(model, SUPPLE_EFFECTORS), 2);
  EXPECT_STREQ(supple_name(model, SUPPLE_EFFECTORS, 0), "tip");
  EXPECT_EQ(supple_name(model, SUPPLE_EFFECTORS, 2), nullptr);
  EXPECT_EQ(supple_count(model, 99), SUPPLE_BAD_INPUT);
  supple_settings settings = supple_default_settings();
  settings.robots = 0;
  EXPECT_EQ(supple_simulation_new(model, &settings), nullptr);
  settings = supple_default_settings();
  settings.integrator = static_cast<supple_integrator>(7);
  EXPECT_EQ(supple_simulation_new(model, &settings), nullptr);
  settings = supple_default_settings();
  settings.size -= 8;
  EXPECT_EQ(supple_simulation_new(model, &settings), nullptr);
  settings = supple_default_settings();
  settings.robots = 2;
  supple_simulation* simulation = supple_simulation_new(model, &settings);
  ASSERT_NE(simulation, nullptr);
  EXPECT_EQ(supple_get_array(simulation, SUPPLE_GOALS, nullptr), nullptr);
  double* commands = supple_get_array(simulation, SUPPLE_COMMANDS, nullptr);
  const std::uint64_t before = supple_hash(simulation);
  commands[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(supple_step(simulation, 1), SUPPLE_BAD_INPUT);
  EXPECT_EQ(supple_hash(simulation), before);
  const int beyond[] = {2};
  EXPECT_EQ(supple_reset(simulation, beyond, 1), SUPPLE_BAD_INPUT);
  commands[3] = 0;
  EXPECT_EQ(supple_step(simulation, 3), SUPPLE_OK);
  unsigned char failed[2] = {9, 9};
  EXPECT_EQ(supple_failed(simulation, failed), 0);
  EXPECT_EQ(failed[0] + failed[1], 0);
  supple_simulation_free(simulation);
  supple_model_free(model);
}

TEST(RuntimeStates, GoOnInAnotherSimulation) {
  const TemporaryFolder folder;
  write_runtime_file(bar(true), folder / "bar.supple");
  supple_model* model = supple_model_load((folder / "bar.supple").c_str());
  ASSERT_NE(model, nullptr);
  supple_settings settings = supple_default_settings();
  settings.robots = 2;
  const auto simulation = [&] { return supple_simulation_new(model, &settings); };
  supple_simulation *first = simulation(), *second = simulation();
  settings.inverse = 1;
  supple_simulation* led = simulation();
  settings.robots = 1;
  supple_simulation* one = simulation();
  const auto pull = [](supple_simulation* robots) { supple_get_array(robots, SUPPLE_COMMANDS, nullptr)[0] = 8e-4; };
  pull(first);
  ASSERT_EQ(supple_step(first, 9), SUPPLE_OK) << supple_error();
  for (supple_simulation* other : {second, led}) {
    EXPECT_NE(supple_hash(other), supple_hash(first));
    ASSERT_EQ(supple_copy_state(other, first), SUPPLE_OK) << supple_error();
    EXPECT_EQ(supple_hash(other), supple_hash(first));
    EXPECT_EQ(supple_time(other), supple_time(first));
  }
  pull(second);
  ASSERT_EQ(supple_step(first, 5), SUPPLE_OK);
  ASSERT_EQ(supple_step(second, 5), SUPPLE_OK);
  EXPECT_EQ(supple_hash(second), supple_hash(first));
  // The second effector of robot 0 is 1 mm from its goal, and is not steered.
  std::size_t shape[4];
  double* goals = supple_get_array(led, SUPPLE_GOALS, shape);
  const double* tips = supple_get_array(led, SUPPLE_EFFECTOR_VALUES, nullptr);
  std::copy_n(tips, 12, goals);
  goals[3] += 1e-3;
  const double* errors = supple_get_array(led, SUPPLE_GOAL_ERRORS, shape);
  ASSERT_NE(errors, nullptr) << supple_error();
  EXPECT_EQ(shape[1], 2U);
  EXPECT_NEAR(errors[0], 0, 1e-15);
  EXPECT_GT(errors[1] + errors[0], 0.5e-3);
  EXPECT_EQ(supple_steer(led, 2, 0), SUPPLE_BAD_INPUT);
  EXPECT_EQ(supple_steer(first, 1, 0), SUPPLE_BAD_INPUT);
  EXPECT_EQ(supple_steer(led, 1, 0), SUPPLE_OK);
  ASSERT_EQ(supple_step(led, 1), SUPPLE_OK) << supple_error();
  EXPECT_EQ(supple_get_array(first, SUPPLE_GOAL_ERRORS, nullptr), nullptr);
  const std::uint64_t before = supple_hash(one);
  EXPECT_EQ(supple_copy_state(one, first), SUPPLE_BAD_INPUT);
  EXPECT_EQ(supple_hash(one), before);
  EXPECT_EQ(supple_copy_state(first, nullptr), SUPPLE_BAD_INPUT);
  for (supple_simulation* each : {first, second, led, one}) supple_simulation_free(each);
  supple_model_free(model);
}

TEST(RuntimeSensors, AreReadByName) {
  const TemporaryFolder folder;
  Scene scene = reduced_bodies::bar_scene({"corotational", MaterialModel::corotational});
  scene.sensors = sensor_bodies::of_a_bar(scene);
  scene.sensors[0].noise = 1e-3;
  scene.sensors[0].delay = 0.02;
  const FullModel full = build_full_model(scene, reduced_bodies::bar(false));
  const int n = full.coordinates.nv;
  const auto own = std::make_shared<const ReducedModel>(
      project(full, reduced_bodies::full_basis(n), n, reduced_bodies::some_elements(full)));
  write_runtime_file(*own, folder / "bar.supple");
  supple_model* const model = supple_model_load((folder / "bar.supple").c_str());
  ASSERT_NE(model, nullptr) << supple_error();
  supple_settings settings = supple_default_settings();
  settings.robots = 2;
  supple_simulation* const simulation = supple_simulation_new(model, &settings);
  ASSERT_NE(simulation, nullptr) << supple_error();
  BatchSimulation engine(body_of(own), {.robots = 2});
  const auto numbers = static_cast<int>(engine.sensor_numbers().size());
  ASSERT_EQ(supple_count(model, SUPPLE_SENSORS), numbers);
  EXPECT_STREQ(supple_name(model, SUPPLE_SENSORS, numbers - 1), "gyro rate z");
  EXPECT_EQ(supple_name(model, SUPPLE_SENSORS, numbers), nullptr);
  ASSERT_EQ(supple_step(simulation, 5), SUPPLE_OK) << supple_error();
  (void)engine.step(5);
  std::size_t shape[4];
  const double* const readings = supple_get_array(simulation, SUPPLE_SENSOR_READINGS, shape);
  ASSERT_NE(readings, nullptr) << supple_error();
  ASSERT_EQ(shape[0] * shape[1], engine.sensors().size());
  // Inline functions of this program are its own, compiled for debugging: rotations and accelerations, differences by
  // h^2 = 1e-4, have another last bit.
  for (std::size_t i = 0; i < engine.sensors().size(); ++i) EXPECT_NEAR(readings[i], engine.sensors()[i], 1e-10) << i;
  supple_simulation_free(simulation);
  supple_model_free(model);
}

}  // namespace
}  // namespace supple
