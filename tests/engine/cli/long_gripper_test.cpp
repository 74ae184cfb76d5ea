// The gripper of the assets: its fingers reduced along the commands that lift a ball, and those replayed.

#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class LongReducedGripper : public Cli {};

TEST_F(LongReducedGripper, LiftsTheBallWithTheForcesOfTheFullOne) {
  const std::string folder = std::string(SUPPLE_SOURCE_DIR) + "/assets/gripper/";
  const Outcome reduced = run({"reduce", folder + "lift.toml", "-o", "lift.reduced", "--json", "reduce.json"});
  ASSERT_EQ(reduced.code, 0) << reduced.err;
  const json report = json::parse(read_text(path("reduce.json")));
  EXPECT_EQ(report["parts"][0]["file"], "finger.rom.h5");
  EXPECT_EQ(report["validation"]["failed"], 0);
  // What is asked of the robot, along variations that did not train it.
  EXPECT_LE(report["validation"]["force_error_mean"], 0.05);
  EXPECT_GT(report["validation"]["force_error_mean"], 0);
  EXPECT_LE(report["validation"]["shape_error_mean"], 0.03);
  // A hundredth of a second in a hundredth of one: slower machines and busy ones too.
  EXPECT_GT(report["speed"]["hrom_steps_per_s"], 100);
  const Outcome lifted = run({"simulate", "lift.reduced", "--actuation", folder + "lift.csv", "--duration", "3 s", "-o",
                              "lift", "--json", "lift.json"});
  ASSERT_EQ(lifted.code, 0) << lifted.err;
  // The ball is held by the three fingers alone, which bear its 20 g.
  const json touches = json::parse(read_text(path("lift.json")))["body_contacts"];
  EXPECT_EQ(touches.size(), 3U) << touches;
  double borne = 0;
  for (const json& touch : touches) {
    EXPECT_TRUE(touch["first"] == "ball" || touch["second"] == "ball") << touch;
    borne += (touch["first"] == "ball" ? 1 : -1) * touch["force"][2].get<double>();
  }
  EXPECT_NEAR(borne, 0.02 * 9.81, 0.01 * 0.02 * 9.81);
}

}  // namespace
}  // namespace supple::test
