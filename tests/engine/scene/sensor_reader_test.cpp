// Sensors of a scene: what is read, and what is written comes back.
#include <gtest/gtest.h>

#include "engine/scene/reader.hpp"
#include "engine/scene/writer.hpp"
#include "tests/engine/scene/scene_text.hpp"

namespace supple {
namespace {

constexpr const char* of_every_type = R"(
[[actuator]]
name = "north"
type = "cable"
points = [[0, 0, 0], [0, 0, "10 mm"]]
pull_point = [0, 0, "1 m"]
attachment_radius = "2 mm"
[[actuator]]
name = "air"
type = "cavity"
group = "walls"
[[actuator]]
name = "hand"
type = "force"
point = [0, 0, 0]
direction = [0, 0, 1]
[[sensor]]
name = "stretch"
type = "length"
points = [[0, 0, 0], [0, 0, "10 mm"]]
noise = "0.1 mm"
bias = "-1 mm"
delay = "5 ms"
[[sensor]]
name = "tendon"
type = "length"
cable = "north"
[[sensor]]
name = "gauge"
type = "strain"
point = [0, 0, "5 mm"]
direction = [0, 2, 0]
noise = "0.01 %"
[[sensor]]
name = "gauge2"
type = "strain"
point = [0, 0, "5 mm"]
direction = [0, 2, 0]
measure = "engineering"
[[sensor]]
name = "manometer"
type = "pressure"
actuator = "air"
noise = "0.1 kPa"
[[sensor]]
name = "flow"
type = "volume"
actuator = "air"
bias = "1 mL"
[[sensor]]
name = "cell"
type = "tension"
actuator = "north"
[[sensor]]
name = "scale"
type = "force"
actuator = "hand"
[[sensor]]
name = "marker"
type = "position"
point = ["1 m", 0, 0]
group = "tip"
[[sensor]]
name = "imu"
type = "accelerometer"
box = [[0, 0, 0], [1, 1, 1]]
noise = "20 mm/s^2"
[[sensor]]
name = "gyro"
type = "gyroscope"
sphere = {centre = [0, 0, 0], radius = "2 mm"}
noise = "0.1 deg/s"
[[sensor]]
name = "skin"
type = "contact-force"
[[sensor]]
name = "pad"
type = "contact-force"
box = [[0, 0, 0], [1, 1, 1]]
)";

TEST(SceneSensors, EveryTypeIsRead) {
  const Scene scene = parse_scene(test::minimal + of_every_type, "/robots/all.toml");
  ASSERT_EQ(scene.sensors.size(), 13u);
  const SensorScene& stretch = scene.sensors[0];
  EXPECT_EQ(stretch.kind, SensorKind::length);
  EXPECT_EQ(stretch.points.size(), 2u);
  EXPECT_DOUBLE_EQ(stretch.noise, 1e-4);
  EXPECT_DOUBLE_EQ(stretch.bias, -1e-3);
  EXPECT_DOUBLE_EQ(stretch.delay, 5e-3);
  const ActuatorScene& north = scene.actuators[0];
  EXPECT_EQ(scene.sensors[1].points, north.points);
  EXPECT_EQ(scene.sensors[1].pull_point, north.pull_point);
  EXPECT_EQ(scene.sensors[1].attachment_radius, north.attachment_radius);
  EXPECT_EQ(scene.sensors[2].direction, (Vec3d{{0, 1, 0}}));
  EXPECT_EQ(scene.sensors[2].measure, StrainMeasure::green_lagrange);
  EXPECT_DOUBLE_EQ(scene.sensors[2].noise, 1e-4);
  EXPECT_EQ(scene.sensors[3].measure, StrainMeasure::engineering);
  EXPECT_EQ(scene.sensors[4].actuator, "air");
  EXPECT_DOUBLE_EQ(scene.sensors[4].noise, 100);
  EXPECT_DOUBLE_EQ(scene.sensors[5].bias, 1e-6);
  EXPECT_EQ(scene.sensors[8].region->group, "tip");
  EXPECT_DOUBLE_EQ(scene.sensors[9].noise, 0.02);
  EXPECT_NEAR(scene.sensors[10].noise, 0.1 * 3.14159265358979 / 180, 1e-15);
  EXPECT_EQ(scene.sensors[11].kind, SensorKind::contact_force);
  EXPECT_FALSE(scene.sensors[11].region);
  EXPECT_TRUE(scene.sensors[12].region);
}

TEST(SceneSensors, WhatIsWrittenComesBack) {
  const Scene scene = parse_scene(test::minimal + of_every_type, "/robots/all.toml");
  const std::string written = write_scene(scene);
  EXPECT_TRUE(parse_scene(written, "elsewhere.toml") == scene) << written;
  EXPECT_EQ(write_scene(parse_scene(written, "elsewhere.toml")), written);
  // A scene without sensors is written as before there were any.
  EXPECT_EQ(write_scene(parse_scene(test::minimal, "/robots/all.toml")).find("sensor"), std::string::npos);
}

}  // namespace
}  // namespace supple
