// Parameters found again from equilibria of a scene that has them.

#include "engine/calibration/calibrate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <fstream>

#include "engine/mechanics/full/full_mechanics.hpp"
#include "engine/mesh/generate.hpp"
#include "engine/mesh/write.hpp"
#include "engine/model/effectors.hpp"
#include "engine/step/equilibrium.hpp"
#include "tests/engine/mesh/mesh_examples.hpp"

namespace supple {
namespace {

// A beam along x, held at one end, that sags under its weight and is pulled by a force at its tip.
std::string scene_text(double young_kPa, double density) {
  return fmt::format(R"(name = "beam"
[body]
order = 1
mesh = {{file = "beam.msh", unit = "m"}}
density = "{} kg/m^3"
[[body.material]]
model = "stable-neo-hookean"
young = "{} kPa"
poisson = 0.3
[[fix]]
group = "x-"
[[actuator]]
name = "pull"
type = "force"
point = ["200 mm", "20 mm", "20 mm"]
direction = [0, 1, 1]
range = ["0 N", "1 N"]
[[effector]]
name = "tip"
point = ["200 mm", "20 mm", "20 mm"]
[[probe]]
name = "flag"
point = ["100 mm", "20 mm", "80 mm"]
box = [["70 mm", 0, 0], ["130 mm", "40 mm", "40 mm"]]
)",
                     density, young_kPa);
}

class Calibrate : public testing::Test {
 protected:
  void SetUp() override {
    write_msh(folder_.file("beam.msh"), box_hexahedra({{0, 0, 0}}, {{0.2, 0.04, 0.04}}, 8, 2, 2));
    std::ofstream(folder_.file("truth.toml")) << scene_text(300, 1200);
    std::ofstream(folder_.file("guess.toml")) << scene_text(500, 900);
  }
  // What the true beam shows under these forces, through axes that lie at R x + shift, with tip z of one load off.
  void measure(const std::vector<double>& forces, const Registration& axes, double off = 0) {
    const SceneNumbers truth(folder_.file("truth.toml"));
    const FullModel model = build_full_model(truth.scene({}));
    const Mat3d back = transpose(rotation_of_vector(axes.turn));
    std::ofstream file(folder_.file("data.csv"));
    file << "run,pull [N],tip x [mm],tip y [mm],tip z [mm],flag x [mm],flag y [mm],flag z [mm]\n";
    for (std::size_t l = 0; l < forces.size(); ++l) {
      FullMechanics mechanics(model);
      State state = rest_state(mechanics);
      Equilibrium equilibrium(mechanics, {});
      ASSERT_EQ(equilibrium.solve({{forces[l]}, {}}, state).status, StepStatus::ok);
      const std::vector<double> y = equilibrium.outputs();
      file << "load-" << l << "," << forces[l];
      for (const NamedPoint& point : model.robot.reported_points()) {
        const auto at = static_cast<std::size_t>(3 * point.point);
        const Vec3d x = back * (Vec3d{{y[at], y[at + 1], y[at + 2]}} - axes.shift);
        for (int k = 0; k < 3; ++k)
          file << fmt::format(",{:.12g}", 1e3 * x[k] + (l == 1 && point.name == "tip" && k == 2 ? off : 0));
      }
      file << "\n";
    }
  }
  Calibration find(const std::vector<std::pair<std::string, Interval>>& parameters,
                   const CalibrationSettings& settings) {
    SceneNumbers scene(folder_.file("guess.toml"));
    std::vector<Interval> bounds;
    for (const auto& [keys, interval] : parameters) {
      scene.add(keys);
      bounds.push_back(interval);
    }
    measurements_ = read_measurements(folder_.file("data.csv"), build_full_model(scene.scene(starts(scene))).robot);
    return calibrate(scene, bounds, measurements_, settings);
  }
  static std::vector<double> starts(const SceneNumbers& scene) {
    std::vector<double> values;
    for (const SceneNumber& number : scene.numbers()) values.push_back(number.value);
    return values;
  }
  test::TemporaryFolder folder_;
  Measurements measurements_;
};

const std::pair<std::string, Interval> young{"body.material.young", {50, 3000}}, density{"body.density", {100, 9000}};

TEST_F(Calibrate, FindsModulusAndDensityAgain) {
  measure({0, 0.1, 0.2}, {});
  const Calibration found = find({young, density}, {});
  EXPECT_TRUE(found.converged) << found.stopped;
  // Equilibria to 1e-9 and slopes to 1e-4: the last iterations are linear at that rate.
  EXPECT_NEAR(found.values[0], 300, 1e-3);
  EXPECT_NEAR(found.values[1], 1200, 4e-3);
  EXPECT_LT(distance_rms(measurements_, found.predicted, -1, -1), 1e-8);
  EXPECT_GT(distance_rms(measurements_, found.start, -1, -1), 1e-3);
  EXPECT_EQ(measurements_.loads[2], "load-2");
}

TEST_F(Calibrate, FindsHowTheAxesOfTheMeasurementLie) {
  const Registration axes{{{0.02, -0.3, 0.5}}, {{0.1, -0.02, 0.03}}};
  measure({0, 0.1, 0.2}, axes);
  const Calibration found = find({young, density}, {.alignment = Alignment::rigid});
  EXPECT_TRUE(found.converged) << found.stopped;
  // A thousandth of its size: with as many unknown axes the loads tell the parameters less well.
  EXPECT_NEAR(found.values[0], 300, 0.3);
  EXPECT_NEAR(found.values[1], 1200, 1.2);
  EXPECT_LT(norm(found.registration.turn - axes.turn), 1e-4);
  EXPECT_LT(norm(found.registration.shift - axes.shift), 1e-5);
  EXPECT_LT(distance_rms(measurements_, found.predicted, -1, -1), 1e-6);
}

TEST_F(Calibrate, WithoutAnyLoadButItsWeightOnlyTheRatioIsKnown) {
  measure({0, 0}, {});
  const Calibration found = find({young, density}, {});
  // Deflections depend on density over modulus alone; the fit goes through, and the covariance tells.
  EXPECT_NEAR(found.values[1] / found.values[0], 4, 1e-3);
  const double correlation = found.covariance(0, 1) / std::sqrt(found.covariance(0, 0) * found.covariance(1, 1));
  EXPECT_GT(correlation, 0.99);
  EXPECT_GT(found.condition, 1e3);
}

TEST_F(Calibrate, AWrongMarkerIsFoundOut) {
  measure({0, 0.05, 0.1, 0.15, 0.2}, {}, 20);
  const Calibration robust = find({young}, {.loss = Loss::huber});
  // The guess's density is wrong (900 for 1200), so that residuals have a spread; the marker is off by far more.
  int outliers = 0;
  for (std::size_t at = 0; at < robust.size.size(); ++at)
    if (robust.size[at] > outlying(robust.components[at])) ++outliers;
  const std::size_t wrong = 1 * static_cast<std::size_t>(measurements_.places);
  EXPECT_GT(robust.size[wrong], outlying(3));
  EXPECT_LE(outliers, 2);
  EXPECT_LT(robust.weight[wrong], 0.5);
}

TEST_F(Calibrate, TheSameBitsForAnyNumberOfThreads) {
  measure({0, 0.1}, {});
  std::vector<double> values;
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    const Calibration found = find({young}, {});
    if (values.empty()) values = found.values;
    EXPECT_EQ(found.values, values) << threads;
  }
  omp_set_num_threads(before);
}

TEST_F(Calibrate, BadInputIsRefused) {
  measure({0, 0.1}, {});
  EXPECT_THROW((void)find({{"body.material.young", {600, 900}}}, {}), InputError);    // the start is outside
  EXPECT_THROW((void)find({{"body.material.young", {-5, 900}}}, {}), InputError);     // no modulus
  EXPECT_THROW((void)find({{"body.material.poisson", {0.1, 0.6}}}, {}), InputError);  // not stable
  const auto refuse = [&](const std::string& text, int line, const std::string& words) {
    std::ofstream(folder_.file("data.csv")) << text;
    test::expect_input_error([&] { (void)find({young}, {}); }, line, words);
  };
  refuse("pull [N],tip z [mm]\n", 0, "no line of numbers");
  refuse("pull [N],top z [mm]\n0,1\n", 1, "nothing of the robot is called 'top z'");
  refuse("time [s],tip z [mm]\n0,1\n", 1, "each line is a load at rest");
  refuse("pull [N],tip z [N]\n0,1\n", 1, "a length is expected");
  refuse("pull [N],tip z [mm],tip z [mm]\n0,1,1\n", 1, "two columns");
  refuse("pull [N],tip z [mm]\n2,1\n", 2, "beyond the range");
  refuse("pull [N],tip z [mm]\n0.5,\n", 2, "nothing was measured");
  refuse("pull [N],tip z [mm]\n0.5,x\n", 2, "is not a number");
  refuse("pull [N]\n0.5\n", 1, "no column was measured");
  refuse("pull [N],tip z [mm]\n0.5,1\n", 0, "1 numbers are to be found from 1 measured values");
}

}  // namespace
}  // namespace supple
