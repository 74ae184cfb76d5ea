// Robots that the reduction was not made for, with defaults alone: the error that is asked for by default, in equilibria
// and in motion.
#include <nlohmann/json.hpp>

#include "tests/engine/cli/program.hpp"

namespace supple::test {
namespace {

class LongZoo : public Cli, public testing::WithParamInterface<const char*> {};

TEST_P(LongZoo, DefaultsReachTheErrorOfTheDefault) {
  const std::string robot = GetParam(),
                    folder = std::filesystem::absolute(SUPPLE_SOURCE_DIR) / "assets" / "zoo" / robot;
  const Outcome outcome = run({"reduce", folder, "-o", "m.rom.h5", "--json", "m.json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(read_text(path("m.json")));
  const auto& errors = report["validation"];
  for (const char* mean : {"goal_error_mean", "shape_error_mean"}) EXPECT_LE(errors[mean].get<double>(), 0.01) << mean;
  for (const char* most : {"goal_error_max", "shape_error_max"}) EXPECT_LE(errors[most].get<double>(), 0.05) << most;
  EXPECT_LE(errors["dynamic_goal_error_mean"].get<double>(), 0.02);
  EXPECT_GE(errors["states"].get<int>(), 30);
  EXPECT_EQ(errors["failed"], 0);
  EXPECT_EQ(report["refused"], "");
}

INSTANTIATE_TEST_SUITE_P(Robots, LongZoo,
                         testing::Values("bellows", "chambers", "finray", "leg", "snake", "starfish", "tripod"),
                         [](const auto& robot) { return std::string(robot.param); });

}  // namespace
}  // namespace supple::test
