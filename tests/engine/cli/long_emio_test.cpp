// Emio: its legs reduced in the robot, led, and its commands replayed on the full legs.

#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

using nlohmann::json;

class LongEmio : public Cli {};

TEST_F(LongEmio, IsReducedAndLed) {
  const std::string scene = std::string(SUPPLE_SOURCE_DIR) + "/assets/emio";
  const Outcome reduced = run({"reduce", scene, "-o", "emio.reduced", "--json", "reduce.json"});
  ASSERT_EQ(reduced.code, 0) << reduced.err;
  const json report = json::parse(read_text(path("reduce.json")));
  EXPECT_LE(report["validation"]["goal_error_mean"], 0.01);
  EXPECT_EQ(report["validation"]["failed"], 0);
  EXPECT_LE(report["parts"][0]["modes"], 40);
  const Outcome led = run({"inverse", "emio.reduced", "--circle", "20 mm", "--height", "-52 mm", "--replay", scene,
                           "-o", "circle", "--json", "led.json"});
  ASSERT_EQ(led.code, 0) << led.err;
  const json tracking = json::parse(read_text(path("led.json")));
  EXPECT_LT(tracking["tracking_error_max"], 1e-6);
  // What is asked of the robot: 0.2 mm on the full one.
  EXPECT_LT(tracking["replay"]["tracking_error_max"], 2e-4);
}

}  // namespace
}  // namespace supple::test
