// Sensors of parts: a bar on a turntable feels its turn, and its strains do not.

#include <gtest/gtest.h>

#include <cmath>

#include "engine/mechanics/assembly/assembly_robot.hpp"
#include "engine/mechanics/assembly/floating_mechanics.hpp"
#include "engine/mesh/write.hpp"
#include "engine/model/effectors.hpp"
#include "engine/model/on_frame.hpp"
#include "engine/model/reduced_shape.hpp"
#include "engine/reduction/basis/rigid_motion.hpp"
#include "engine/run/sensor_readings.hpp"
#include "engine/sofa/sofa_audit.hpp"
#include "engine/step/forward_step.hpp"
#include "tests/engine/bodies/assembly_files.hpp"
#include "tests/engine/bodies/floating_bodies.hpp"
#include "tests/engine/bodies/sensor_bodies.hpp"

namespace supple {
namespace {

constexpr double h = 0.005;

constexpr const char* bar = R"(time_step = "5 ms"
[body]
order = 1
mesh = {file = "bar.msh", unit = "m"}
density = "1000 kg/m^3"
[[body.material]]
young = "100 MPa"
poisson = 0.3
[[fix]]
group = "x-"
[[actuator]]
name = "cable"
type = "cable"
points = [[0.19, 0.02, 0.04], [0.1, 0.02, 0.04]]
pull_point = [0, 0.02, 0.04]
[[sensor]]
name = "gyro"
type = "gyroscope"
box = [[0.15, -1, -1], [1, 1, 1]]
[[sensor]]
name = "imu"
type = "accelerometer"
point = [0.2, 0.02, 0.02]
[[sensor]]
name = "marker"
type = "position"
point = [0.2, 0.02, 0.02]
[[sensor]]
name = "gauge"
type = "strain"
point = [0.1, 0.02, 0.03]
direction = [0, 1, 1]
[[sensor]]
name = "stretch"
type = "length"
points = [[0.1, 0.02, 0.02], [0.2, 0.02, 0.02]]
[[sensor]]
name = "cell"
type = "tension"
actuator = "cable"
)";

constexpr const char* whole = R"(time_step = "5 ms"
gravity = [0, 0, -9.81]
[[rigid]]
name = "table"
collision = "none"
[[rigid.motion]]
name = "turn"
type = "rotation"
direction = [0, 0, 1]
range = [-10, 10]
[[part]]
name = "bar"
scene = "bar.toml"
on = "table"
collision = "none"
rotation = [0, 0, "90 deg"]
translation = [0, 0.1, 0]
)";

TEST(CarriedSensors, OfAPartFeelTheTurnOfWhatCarriesIt) {
  const reduced_bodies::TemporaryFolder folder;
  write_msh(folder / "bar.msh", box_hexahedra({{0, 0, 0}}, {{0.2, 0.04, 0.04}}, 5, 1, 1));
  std::ofstream(folder / "bar.toml") << bar;
  AssemblyRobot robot(assemblies::scene_of(folder, whole));
  AssemblyMechanics& mechanics = robot.mechanics();
  ASSERT_EQ(mechanics.robot().sensors.size(), 6u);
  EXPECT_EQ(mechanics.robot().sensors[0].name, "bar/gyro");
  SensorReadings readings(mechanics.robot(), 1, h);
  State state = rest_state(mechanics);
  std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs()));
  const auto see = [&](bool begin) {
    mechanics.evaluate_outputs(state.q, state.motions, y);
    if (begin)
      readings.restart(state, y);
    else
      readings.advance(state, y);
  };
  const auto read = [&](const std::string& name) {
    return sensor_bodies::reading(readings.numbers(), readings.values(0), "bar/" + name);
  };
  see(true);
  // Its end is 0.2 m along the part's x, which is the world's y, and beside it by 0.02 m.
  EXPECT_NEAR(read("marker x"), -0.02, 1e-12);
  EXPECT_NEAR(read("marker y"), 0.3, 1e-12);
  EXPECT_NEAR(read("imu acceleration z"), 9.81, 1e-12);
  // Turned at a constant rate. Stiff: it settles within the run.
  const double rate = 2;
  ForwardStep step(mechanics, Integrator::implicit_euler, h);
  Control control = zero_control(mechanics);
  for (int k = 1; k <= 100; ++k) {
    control.motions[0] = rate * k * h;
    ASSERT_EQ(step.step(control, state).status, StepStatus::ok);
    see(false);
  }
  EXPECT_NEAR(read("gyro rate z"), rate, 1e-3);
  EXPECT_NEAR(read("gyro rate x"), 0, 1e-3);
  // Towards the axis: along -x of the part, which it measures in its own axes.
  const double radius = 0.3;
  EXPECT_NEAR(read("imu acceleration x"), -rate * rate * radius, 2e-2);
  EXPECT_NEAR(read("imu acceleration z"), 9.81, 5e-2);
  // Of strains of 1e-4 nothing is due to the turn by 1 rad.
  EXPECT_NEAR(read("gauge strain"), 0, 1e-4);
  EXPECT_NEAR(read("stretch length"), 0.1, 1e-4);
  EXPECT_EQ(read("cell tension"), state.multipliers[0]);
}

// A reduced body that nothing holds, on a frame that turns by any angle.
TEST(CarriedSensors, OfAFreeReducedBodyTurnWithIt) {
  Scene scene = floating_bodies::scene(h);
  scene.gravity = {{0, 0, -9.81}};
  SensorScene imu = sensor_bodies::at_point("imu", SensorKind::accelerometer, {{0.35, 0.05, 0.05}});
  scene.sensors = {sensor_bodies::strain("gauge", {{0.1, 0.03, 0.06}}, {{1, 1, 0}}),
                   sensor_bodies::path("stretch", {{{0.05, 0.05, 0.1}}, {{0.35, 0.05, 0.1}}}), imu,
                   sensor_bodies::in_the_end("gyro", SensorKind::gyroscope)};
  const FullModel full = build_full_model(scene, floating_bodies::mesh());
  const int nv = full.coordinates.nv;
  const std::vector<double> rigid = rigid_modes(full);
  std::vector<double> shapes = reduced_bodies::random_basis(nv, 3);
  remove_modes(rigid, nv, shapes);
  const std::vector<double> basis = join_modes(rigid, orthonormalise(shapes, nv, 3).basis, nv);
  const ReducedModel model = put_on_frame(project(full, basis, 9, all_elements(full)));
  FloatingMechanics mechanics(model, shape_model(model));
  SensorReadings readings(mechanics.robot(), 1, h);
  const auto read = [&](const std::string& name) {
    return sensor_bodies::reading(readings.numbers(), readings.values(0), name);
  };
  State state = rest_state(mechanics);
  std::vector<double> y(static_cast<std::size_t>(mechanics.robot().outputs()));
  // Coordinates: modes, then place and quaternion.
  const Vec3d omega{{1, -2, 3}};
  const std::size_t frame = static_cast<std::size_t>(model.modes);
  double strain = 0, length = 0;
  Vec3d own = omega;  // in the axes of the region, which the bend has turned a little
  for (int k = 0; k <= 300; ++k) {
    state.q[0] = 0.02;  // bent a little
    const Quaternion turn = quaternion_exp(k * h * omega);
    state.q[frame + 3] = turn.w;
    for (std::size_t i = 0; i < 3; ++i) state.q[frame + 4 + i] = turn.v[static_cast<int>(i)];
    mechanics.evaluate_outputs(state.q, state.motions, y);
    if (k == 0) {
      readings.restart(state, y);
      strain = read("gauge strain");
      length = read("stretch length");
      own = transpose(region_rotation(y, mechanics.robot().sensors[3].first_point)) * omega;
      EXPECT_GT(std::abs(strain), 1e-6);
      continue;
    }
    readings.advance(state, y);
    EXPECT_NEAR(read("gauge strain"), strain, 1e-12);
    EXPECT_NEAR(read("stretch length"), length, 1e-12);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(read(std::string("gyro rate ") + "xyz"[i]), own[i], 1e-9);
  }
  // Gravity in its axes, and what holds its point on a circle.
  const int point = mechanics.robot().sensors[2].first_point;
  const Mat3d R = rotation_of(quaternion_exp(300 * h * omega)),
              Q = region_rotation(y, point + 1);  // with the turn of the bent body at the point
  Vec3d felt{{0, 0, 0}};
  for (int i = 0; i < 3; ++i) felt[i] = read(std::string("imu acceleration ") + "xyz"[i]);
  Vec3d x{{0, 0, 0}}, centre{{0, 0, 0}};
  for (int i = 0; i < 3; ++i) {
    x[i] = y[static_cast<std::size_t>(3 * point + i)];
    centre[i] = state.q[frame + static_cast<std::size_t>(i)];
  }
  const Vec3d world = R * omega, force = cross(world, cross(world, x - centre)) + Vec3d{{0, 0, 9.81}};
  EXPECT_NEAR(norm(Q * felt - force), 0, 0.05 * norm(force));
}

}  // namespace
}  // namespace supple
